"""A random generator that fills arrays: see draws.pyx."""

from libc.stdint cimport int64_t

from envpool.numerics.rng cimport ep_pcg64

cdef class Draws:
    cdef ep_pcg64 g

    cdef int64_t choose_rows(self, const float* logits, int64_t rows, int64_t n, double* weights, int64_t* actions,
                             float* log_probs, float* entropies) noexcept
    cdef int64_t normal_rows(self, const float* mean, const float* log_std, int64_t rows, int64_t items, double* std,
                             float* actions, float* log_probs, float* entropies) noexcept
