"""Random numbers equal to those of np.random.Generator, for Cython; include/envpool/rng.h documents each function.

Draws from ``ep_pcg64`` equal those of ``gymnasium.utils.seeding.np_random(seed)``. No function needs the GIL.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t

# numpy's struct is declared here again, because cimporting it would make every user import numpy.random.
cdef extern from "numpy/random/bitgen.h" nogil:
    ctypedef struct bitgen_t:
        pass

cdef extern from "envpool/rng.h" nogil:
    ctypedef struct ep_pcg64:
        uint64_t state_high
        uint64_t state_low
        uint64_t step_high
        uint64_t step_low
        uint32_t half
        uint32_t has_half

    void ep_generate_state(const uint32_t* words, size_t n, uint32_t* out, size_t count)
    void ep_pcg64_seed(ep_pcg64* g, uint64_t seed)
    void ep_pcg64_seed_words(ep_pcg64* g, const uint32_t* words, size_t n)
    bint ep_pcg64_is_valid(const ep_pcg64* g)
    void ep_pcg64_bind(ep_pcg64* g, bitgen_t* bitgen)

    uint64_t ep_next64(ep_pcg64* g)
    uint32_t ep_next32(ep_pcg64* g)
    double ep_next_double(ep_pcg64* g)
    double ep_uniform(ep_pcg64* g, double low, double high)
    uint64_t ep_bounded(ep_pcg64* g, uint64_t last)
    uint64_t ep_interval(ep_pcg64* g, uint64_t last)
    int64_t ep_integers(ep_pcg64* g, int64_t low, int64_t high)
    int64_t ep_integers_closed(ep_pcg64* g, int64_t low, int64_t last)
    double ep_standard_normal(ep_pcg64* g)
    double ep_normal(ep_pcg64* g, double loc, double scale)

    int64_t ep_choice(ep_pcg64* g, int64_t n)
    void ep_choice_cdf(const double* p, int64_t n, double* cdf)
    int64_t ep_choice_p(ep_pcg64* g, const double* cdf, int64_t n)
    int64_t ep_choice_scratch_size(int64_t n, int64_t k)
    void ep_choice_without_replacement(ep_pcg64* g, int64_t n, int64_t k, bint shuffle, int64_t* out, int64_t* scratch)
    void ep_shuffle(ep_pcg64* g, void* items, int64_t n, size_t itemsize)
    void ep_permutation(ep_pcg64* g, int64_t n, int64_t* out)
