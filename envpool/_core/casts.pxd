"""Casts that keep every value: see casts.pyx."""

cimport numpy as cnp

cpdef cnp.ndarray fitted(object values, cnp.dtype dtype)
