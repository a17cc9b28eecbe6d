"""Parameters that are drawn for each episode: see draws.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.structs cimport DrawTable, Engine

cdef enum:      # Kind
    UNIFORM     # between `first` and `second`
    LOGUNIFORM  # exp of a number between `first` and `second`
    SCALE       # the nominal value times a factor between `first` and `second`
    NORMAL      # mean `first`, standard deviation `second`
    INTEGERS    # `least` + 0 ... `span`
    CHOICE      # one of `choices`
    NUM_KINDS

cdef void draw_params(Engine* e, const int32_t* ids, int32_t n) noexcept nogil
cdef bint keeps_stream(const Engine* e, int32_t id) noexcept
cdef void save_stream(const Engine* e, int32_t id, void* saved) noexcept
cdef bint is_stream(const void* saved) noexcept
cdef void restore_stream(Engine* e, int32_t id, const void* saved) noexcept
cdef void forget_stream(Engine* e, int32_t id) noexcept nogil

cdef enum:
    STREAM_BYTES = 48           # of a saved generator: a multiple of 16, so that what follows is aligned


cdef class ParamDraws:
    cdef DrawTable table
    cdef readonly object ranges     # what the table was made of, for get_randomize()
    cdef list arrays                # the memory that the table points to
