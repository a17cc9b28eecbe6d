"""Policies whose networks are multilayer perceptrons: see networks.pyx."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from envpool.sampling.draws cimport Draws

cdef extern from *:
    """
    typedef struct ep_dense ep_dense; /* of dense.h, which only networks.pyx includes */
    """
    ctypedef struct ep_dense:
        int64_t inputs
        int64_t outputs
        int64_t panels
        const float* weights
        const float* bias
        int activation
        float alpha

cdef struct Plan:               # a network, for threads without the GIL
    const ep_dense* layers
    int num_layers
    int64_t width

cdef struct Ahead:              # what threads need to compute rows of a batch; see Answers.ahead_of()
    Plan actor
    Plan critic
    const char* rows            # observations (capacity, inputs)
    int64_t item_bytes          # of float32, float64, or uint8 or bool
    int64_t inputs
    int64_t actor_outputs
    int64_t width               # of the wider network
    float* outputs              # (capacity, actor_outputs)
    float* values               # (capacity); NULL without a critic
    float* areas                # (num_areas, area_floats): memory of one thread at a time for a tile; NULL: not made
    int64_t num_areas
    int64_t area_floats
    int64_t computed            # rows; atomic

cdef void compute_rows(void* data, int64_t row, int64_t n) noexcept nogil

cdef class Network:
    cdef ep_dense* layers
    cdef int num_layers
    cdef list memory            # behind the pointers of the layers
    cdef readonly int64_t inputs
    cdef readonly int64_t outputs
    cdef int64_t width          # of the widest layer, panels included
    cdef int64_t cost           # multiplications for one row

    cdef Plan plan(self) noexcept
    cdef void run(self, const float* x, int64_t rows, float* out, float* scratch) noexcept nogil

cdef class Policy:
    cdef readonly Network actor
    cdef readonly Network critic        # or None
    cdef readonly cnp.ndarray log_std   # float32 (outputs,), or None: the actor has logits
    cdef readonly Draws draws

cdef class Answers:
    cdef Policy policy
    cdef readonly int64_t capacity      # rows
    cdef cnp.ndarray inputs             # float32 (rows up to a multiple of those that are computed together, inputs)
    cdef cnp.ndarray outputs            # float32 (capacity, outputs of the actor)
    cdef cnp.ndarray entropies
    cdef cnp.ndarray scratch
    cdef cnp.ndarray weights            # float64 (outputs of the actor,)
    cdef readonly cnp.ndarray actions   # int64 (capacity,) or float32 (capacity, outputs of the actor)
    cdef readonly cnp.ndarray log_probs     # float32 (capacity,)
    cdef readonly cnp.ndarray values        # float32 (capacity,), or None without a critic
    cdef bint is_much                   # the outputs take long enough for several threads
    cdef Ahead ahead

    cdef int answer(self) except -1
    cdef void compute(self) noexcept
    cdef int64_t draw(self) noexcept
    cdef object refusal(self, int64_t bad)
    cdef void read(self, int64_t i, const char* source, int64_t item_bytes) noexcept
    cdef Ahead* ahead_of(self, const char* rows, int64_t item_bytes, int num_threads) except NULL
    cdef bint is_computed(self) noexcept
