"""Random numbers equal to those of np.random.RandomState, for Cython; see include/envpool/rng_legacy.h."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef extern from "envpool/rng_legacy.h" nogil:
    const int EP_MT19937_WORDS

    ctypedef struct ep_mt19937:
        uint32_t key[624]
        int32_t position
        int32_t has_normal
        double normal

    void ep_mt19937_seed(ep_mt19937* r, uint32_t seed)
    void ep_mt19937_seed_words(ep_mt19937* r, const uint32_t* words, size_t n)

    int ep_mt19937_is_valid(const ep_mt19937* r)

    uint64_t ep_legacy_next64(ep_mt19937* r)
    uint32_t ep_legacy_next32(ep_mt19937* r)
    double ep_legacy_random_sample(ep_mt19937* r)
    double ep_legacy_uniform(ep_mt19937* r, double low, double high)
    uint64_t ep_legacy_interval(ep_mt19937* r, uint64_t last)
    int64_t ep_legacy_randint(ep_mt19937* r, int64_t low, int64_t high)
    double ep_legacy_standard_normal(ep_mt19937* r)
    double ep_legacy_normal(ep_mt19937* r, double loc, double scale)

    int64_t ep_legacy_choice(ep_mt19937* r, int64_t n)
    int64_t ep_legacy_choice_p(ep_mt19937* r, const double* cdf, int64_t n)
    void ep_legacy_shuffle(ep_mt19937* r, void* items, int64_t n, size_t itemsize)
    void ep_legacy_permutation(ep_mt19937* r, int64_t n, int64_t* out)
