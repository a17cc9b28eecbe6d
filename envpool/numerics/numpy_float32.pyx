"""NumPy's own float32 sine and cosine without the GIL: their bits differ from libm's."""

import numpy as np

cimport numpy as cnp
from numpy cimport npy_intp

cnp.import_array()
cnp.import_ufunc()

ctypedef void (*inner_loop)(char** arrays, const npy_intp* n, const npy_intp* steps, void* data) noexcept nogil

cdef struct Loop:
    inner_loop run
    void* data


cdef Loop float32_loop(cnp.ufunc function) except *:
    """Return the inner loop of a ufunc with one argument for float32."""
    cdef Loop found
    cdef int i
    for i in range(function.ntypes):
        if function.types[2 * i] == cnp.NPY_FLOAT and function.types[2 * i + 1] == cnp.NPY_FLOAT:
            found.run = <inner_loop><void*>function.functions[i]
            found.data = function.data[i]
            return found
    raise ImportError(f"this numpy has no float32 loop for {function}")


cdef Loop COS = float32_loop(np.cos)
cdef Loop SIN = float32_loop(np.sin)


cdef inline float call(const Loop* loop, float x) noexcept nogil:
    cdef float y
    cdef char* arrays[2]
    cdef npy_intp n = 1
    cdef npy_intp[2] steps
    arrays[0] = <char*>&x
    arrays[1] = <char*>&y
    steps[0] = steps[1] = sizeof(float)
    loop.run(arrays, &n, steps, loop.data)
    return y


cdef float np_cos32(float x) noexcept nogil:
    return call(&COS, x)


cdef float np_sin32(float x) noexcept nogil:
    return call(&SIN, x)
