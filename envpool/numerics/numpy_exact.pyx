"""NumPy's own arithmetic without the GIL; numpy_exact.pxd documents each function."""

import numpy as np

cimport numpy as cnp
from libc.math cimport fma, sqrt

cnp.import_array()
cnp.import_ufunc()

ctypedef void (*dot_function)(void* a, npy_intp step_a, void* b, npy_intp step_b, void* out, npy_intp n,
                              void* array) noexcept nogil

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_ArrFuncs:
        dot_function dotfunc
    PyArray_ArrFuncs* PyDataType_GetArrFuncs(cnp.dtype descr)

# The inner loop of a ufunc: arrays of arguments and results, number of elements, stride of each array in bytes.
ctypedef void (*inner_loop)(char** arrays, const npy_intp* n, const npy_intp* steps, void* data) noexcept nogil

cdef struct Loop:
    inner_loop run
    void* data

cdef enum:
    STEP = sizeof(double)

cdef enum Pair:     # how np.dot multiplies and adds two pairs
    PLAIN
    FUSED           # the second product is not rounded
    OTHER


cdef Loop loop_of(cnp.ufunc function, int type_num=cnp.NPY_DOUBLE) except *:
    """Return the inner loop of a ufunc whose arguments and results have a type, by its number."""
    cdef Loop found
    cdef int i, k, total = function.nin + function.nout
    for i in range(function.ntypes):
        for k in range(total):
            if function.types[total * i + k] != type_num:
                break
        else:
            found.run = <inner_loop><void*>function.functions[i]
            found.data = function.data[i]
            return found
    raise ImportError(f"this numpy has no loop of {function} for {cnp.PyArray_DescrFromType(type_num)}")


cdef Loop EXP = loop_of(np.exp)
cdef Loop LOG = loop_of(np.log)
cdef Loop LOG1P = loop_of(np.log1p)
cdef Loop ARCSINH = loop_of(np.arcsinh)
cdef Loop TANH = loop_of(np.tanh)
cdef Loop ARCCOS = loop_of(np.arccos)
cdef Loop ARCTAN2 = loop_of(np.arctan2)
cdef Loop MATMUL = loop_of(np.matmul)
cdef Loop COS32 = loop_of(np.cos, cnp.NPY_FLOAT)
cdef Loop SIN32 = loop_of(np.sin, cnp.NPY_FLOAT)
cdef dot_function DOT = PyDataType_GetArrFuncs(np.dtype(np.float64)).dotfunc


cdef inline void unary(const Loop* loop, const double* x, double* y, npy_intp n) noexcept nogil:
    cdef char* arrays[2]
    cdef npy_intp[2] steps
    arrays[0] = <char*>x
    arrays[1] = <char*>y
    steps[0] = steps[1] = STEP
    loop.run(arrays, &n, steps, loop.data)


cdef void np_exp(const double* x, double* y, npy_intp n) noexcept nogil:
    unary(&EXP, x, y, n)


cdef void np_log(const double* x, double* y, npy_intp n) noexcept nogil:
    unary(&LOG, x, y, n)


cdef void np_log1p(const double* x, double* y, npy_intp n) noexcept nogil:
    unary(&LOG1P, x, y, n)


cdef void np_arcsinh(const double* x, double* y, npy_intp n) noexcept nogil:
    unary(&ARCSINH, x, y, n)


cdef void np_tanh(const double* x, double* y, npy_intp n) noexcept nogil:
    unary(&TANH, x, y, n)


cdef void np_arccos(const double* x, double* y, npy_intp n) noexcept nogil:
    unary(&ARCCOS, x, y, n)


cdef void np_arctan2(const double* y, const double* x, double* out, npy_intp n) noexcept nogil:
    cdef char* arrays[3]
    cdef npy_intp[3] steps
    arrays[0] = <char*>y
    arrays[1] = <char*>x
    arrays[2] = <char*>out
    steps[0] = steps[1] = steps[2] = STEP
    ARCTAN2.run(arrays, &n, steps, ARCTAN2.data)


cdef inline float unary32(const Loop* loop, float x) noexcept nogil:
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
    return unary32(&COS32, x)


cdef float np_sin32(float x) noexcept nogil:
    return unary32(&SIN32, x)


cdef double np_dot(const double* a, const double* b, npy_intp n) noexcept nogil:
    cdef double out
    DOT(<void*>a, STEP, <void*>b, STEP, &out, n, NULL)
    return out


cdef inline double square_sum(Pair form, const double* x) noexcept nogil:
    if form == PLAIN:
        return x[0] * x[0] + x[1] * x[1]
    return fma(x[1], x[1], x[0] * x[0])


cdef Pair pair_form():
    """Return how the BLAS of this NumPy, on this CPU, adds the squares of two numbers, for which a call takes long."""
    cdef double[:, ::1] draws = np.random.default_rng(0).standard_normal((500, 2))
    cdef Pair form
    cdef npy_intp i
    for form in (PLAIN, FUSED):
        for i in range(draws.shape[0]):
            if np_dot(&draws[i, 0], &draws[i, 0], 2) != square_sum(form, &draws[i, 0]):
                break
        else:
            return form
    return OTHER


cdef Pair PAIR = pair_form()


cdef double np_norm(const double* x, npy_intp n) noexcept nogil:
    return sqrt(square_sum(PAIR, x) if n == 2 and PAIR != OTHER else np_dot(x, x, n))


cdef void np_dot_matrix(const double* x, const double* m, npy_intp rows, npy_intp columns, double* y) noexcept nogil:
    np_matrix_product(x, m, 1, rows, columns, y)


cdef void np_matrix_product(const double* a, const double* b, npy_intp rows, npy_intp inner, npy_intp columns,
                            double* y) noexcept nogil:
    # matmul makes the same BLAS call as dot, also for a single row.
    cdef char* arrays[3]
    cdef npy_intp[4] sizes
    cdef npy_intp[9] steps
    arrays[0] = <char*>a
    arrays[1] = <char*>b
    arrays[2] = <char*>y
    sizes[0] = 1
    sizes[1] = rows
    sizes[2] = inner
    sizes[3] = columns
    steps[0] = steps[1] = steps[2] = 0
    steps[3] = inner * STEP
    steps[4] = STEP
    steps[5] = columns * STEP
    steps[6] = STEP
    steps[7] = columns * STEP
    steps[8] = STEP
    MATMUL.run(arrays, sizes, steps, MATMUL.data)


cdef void np_matrix_vector(const double* m, const double* x, npy_intp rows, npy_intp columns, double* y) noexcept nogil:
    np_matrix_product(m, x, rows, columns, 1, y)         # a matrix of one column: the same BLAS call


cdef double pairwise_sum(const double* x, npy_intp n) noexcept nogil:
    cdef double eight[8]
    cdef double total
    cdef npy_intp i, k, half
    if n < 8:
        total = 0
        for i in range(n):
            total += x[i]
        return total
    if n > 128:
        half = n // 2
        half -= half % 8
        return pairwise_sum(x, half) + pairwise_sum(x + half, n - half)
    for k in range(8):
        eight[k] = x[k]
    for i in range(8, n - n % 8, 8):
        for k in range(8):
            eight[k] += x[i + k]
    total = ((eight[0] + eight[1]) + (eight[2] + eight[3])) + ((eight[4] + eight[5]) + (eight[6] + eight[7]))
    for i in range(n - n % 8, n):
        total += x[i]
    return total


cdef double np_sum(const double* x, npy_intp n) noexcept nogil:
    return 0.0 + pairwise_sum(x, n)         # the sum of numbers that are all -0.0 is 0.0


def call(str name, *arrays):
    """Call one of the functions on arrays; tests compare the result with NumPy's.

    Parameters
    ----------
    name : str
        "exp", "log", "log1p", "arcsinh", "tanh", "arccos", "arctan2", "cos32", "sin32", "dot", "norm", "dot_matrix",
        "matrix_product", "matrix_vector" or "sum".
    *arrays : numpy.ndarray
        float64: vectors, of float32 values for "cos32" and "sin32"; for "dot_matrix" a vector (rows) and a matrix
        (rows, columns), for "matrix_product" two matrices, for "matrix_vector" a matrix (rows, columns) and a vector
        (columns).

    Returns
    -------
    float or numpy.ndarray
        The result, float64.
    """
    cdef double[::1] x = np.ascontiguousarray(arrays[0], np.float64).ravel()
    cdef double[::1] y, out
    cdef double[:, ::1] m, product
    if name == "norm":
        return np_norm(&x[0], x.shape[0])
    if name == "sum":
        return np_sum(&x[0], x.shape[0])
    if name == "dot_matrix":
        m = np.ascontiguousarray(arrays[1], np.float64)
        out = np.empty(m.shape[1])
        np_dot_matrix(&x[0], &m[0, 0], m.shape[0], m.shape[1], &out[0])
        return np.asarray(out)
    if name == "matrix_vector":
        y = np.ascontiguousarray(arrays[1], np.float64)
        out = np.empty(x.shape[0] // y.shape[0])
        np_matrix_vector(&x[0], &y[0], out.shape[0], y.shape[0], &out[0])
        return np.asarray(out)
    if name == "matrix_product":
        m = np.ascontiguousarray(arrays[1], np.float64)
        product = np.empty((x.shape[0] // m.shape[0], m.shape[1]))
        np_matrix_product(&x[0], &m[0, 0], product.shape[0], m.shape[0], m.shape[1], &product[0, 0])
        return np.asarray(product)
    out = np.empty(x.shape[0])
    if name in ("dot", "arctan2"):
        y = np.ascontiguousarray(arrays[1], np.float64)
        if name == "dot":
            return np_dot(&x[0], &y[0], x.shape[0])
        np_arctan2(&x[0], &y[0], &out[0], x.shape[0])
    elif name == "exp":
        np_exp(&x[0], &out[0], x.shape[0])
    elif name == "log":
        np_log(&x[0], &out[0], x.shape[0])
    elif name == "arccos":
        np_arccos(&x[0], &out[0], x.shape[0])
    elif name == "log1p":
        np_log1p(&x[0], &out[0], x.shape[0])
    elif name == "arcsinh":
        np_arcsinh(&x[0], &out[0], x.shape[0])
    elif name in ("cos32", "sin32"):
        return np.array([np_cos32(<float>v) if name == "cos32" else np_sin32(<float>v) for v in x])
    else:
        np_tanh(&x[0], &out[0], x.shape[0])
    return np.asarray(out)
