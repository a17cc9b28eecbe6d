"""NumPy's own float32 sine and cosine without the GIL: their bits differ from libm's."""

cdef float np_cos32(float x) noexcept nogil
cdef float np_sin32(float x) noexcept nogil
