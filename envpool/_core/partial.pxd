"""Receiving some of the envs in flight: see partial.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

from envpool._core.blocks cimport BatchBlock
from envpool._core.handle cimport Handle
from envpool._core.results cimport ResultTemplate

cdef struct SendOrder:
    int64_t sent_no
    int32_t id

cdef struct RecvRequest:               # what a call wants to receive
    const int32_t* ids          # these envs, each once (num_ids); NULL: any
    int64_t num_ids
    int64_t need                # how many of them are enough; negative: a whole batch
    int64_t timeout_ns          # or what has come by then; negative: no limit

cdef class Shelf(Handle):
    cdef bint is_shelved            # what is sent now goes to the shelf
    cdef bint keeps_shelf           # the last call that received asked for less than a batch
    cdef bint is_spare_out          # the spare block was handed out
    cdef BatchBlock spare           # the block to hand out next
    cdef cnp.ndarray memory         # behind the arrays below
    cdef int64_t* sent_no           # by env: counts up with each env that is sent
    cdef int32_t* arrived           # envs on the shelf, in the order of their arrival (num_arrived)
    cdef uint8_t* is_there          # by env: whether it is among `arrived`
    cdef SendOrder* chosen               # envs to hand out (num_chosen)
    cdef int32_t num_arrived
    cdef int32_t num_chosen
    cdef int64_t first_in_blocks    # position (see Engine.spans) of the first row in flight when shelving began
    cdef int64_t rows_in_blocks     # how many such rows there were that go to blocks
    cdef int64_t rows_to_move       # how many of them have not come to the shelf yet

    cdef int check_alone(self) except -1
    cdef int check_outstanding(self) except -1
    cdef str failure_text(self, int32_t id, int32_t code)
    cdef int raise_failures(self, const char* ids, size_t stride, int64_t n) except -1
    cdef int begin_shelf(self) except -1
    cdef void note_sent(self, const int32_t* ids, int32_t n) noexcept
    cdef void end_shelf(self) noexcept
    cdef void empty_blocks(self) noexcept
    cdef void collect(self) noexcept
    cdef void move_from_blocks(self) noexcept
    cdef int drop_arrivals(self) except -1
    cdef object take_wanted(self, object env_ids)
    cdef int check_wish(self, const RecvRequest* wish) except -1
    cdef int32_t choose(self, const RecvRequest* wish) noexcept
    cdef object pick(self, ResultTemplate form, const RecvRequest* wish)
    cdef int prepare(self) except -1
    cdef object hand_out(self, ResultTemplate form)
