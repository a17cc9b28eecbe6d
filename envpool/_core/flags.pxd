"""Indices of set flags: see flags.h."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "envpool/_core/flags.h" nogil:
    int32_t ep_find_flags(const uint8_t* flags, int64_t n, int32_t* found)
