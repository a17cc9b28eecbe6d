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

cdef class Network:
    cdef ep_dense* layers
    cdef int num_layers
    cdef list memory            # behind the pointers of the layers
    cdef readonly int64_t inputs
    cdef readonly int64_t outputs
    cdef int64_t width          # of the widest layer, panels included
    cdef int64_t cost           # multiplications for one row

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

    cdef inline float* row(self, int64_t i) noexcept:
        """Returns where the observation of row i is read, float32 (inputs)."""
        return <float*>cnp.PyArray_DATA(self.inputs) + i * self.policy.actor.inputs

    cdef int answer(self) except -1
