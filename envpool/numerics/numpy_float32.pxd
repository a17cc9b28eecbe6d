"""NumPy's own float32 arithmetic without the GIL: its sine and cosine have other bits than libm's."""

cdef float np_cos32(float x) noexcept nogil
cdef float np_sin32(float x) noexcept nogil
