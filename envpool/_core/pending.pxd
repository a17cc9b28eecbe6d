"""Preparation of an env before a worker steps or resets it: see pending.pyx."""

from libc.stdint cimport int32_t

from envpool._core.structs cimport Engine

# Values of Engine.seed_pending besides 0: the env gets its entry of `seeds`, or it is stepped without a seed.
cdef enum:
    SEED = 1
    NO_SEED = 2

cdef bint apply_seeds(Engine* e, const int32_t* ids, int32_t n, int32_t* errors) noexcept nogil
cdef bint apply_params(Engine* e, const int32_t* ids, int32_t n, const int32_t* resets, int32_t num_resets,
                       int32_t* errors) noexcept nogil
