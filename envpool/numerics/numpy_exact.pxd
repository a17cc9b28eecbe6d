"""NumPy's own arithmetic without the GIL: where its bits differ from libm's, its code is called.

NumPy picks an implementation for the CPU at import, and its dot product is a BLAS's, so neither can be reimplemented.
The function pointers are read once, when this module is imported.
"""

# NumPy's type of sizes. Cimporting numpy for it would make every module that uses this one compile NumPy's headers.
ctypedef Py_ssize_t npy_intp

# ufunc(x) for arrays of n doubles. There is no sqrt, sin, cos, fabs or arithmetic here: libm and C give the same bits.
cdef void np_exp(const double* x, double* y, npy_intp n) noexcept nogil
cdef void np_log(const double* x, double* y, npy_intp n) noexcept nogil
cdef void np_log1p(const double* x, double* y, npy_intp n) noexcept nogil
cdef void np_arcsinh(const double* x, double* y, npy_intp n) noexcept nogil
cdef void np_tanh(const double* x, double* y, npy_intp n) noexcept nogil
cdef void np_arccos(const double* x, double* y, npy_intp n) noexcept nogil
cdef void np_arctan2(const double* y, const double* x, double* out, npy_intp n) noexcept nogil

# ufunc(x) of a float32.
cdef float np_cos32(float x) noexcept nogil
cdef float np_sin32(float x) noexcept nogil

# np.dot(a, b) of two vectors (n).
cdef double np_dot(const double* a, const double* b, npy_intp n) noexcept nogil
# np.linalg.norm(x) of a vector (n).
cdef double np_norm(const double* x, npy_intp n) noexcept nogil
# np.dot(x, m) of a vector (rows) and a matrix (rows, columns) in C order, into y (columns); y overlaps neither.
cdef void np_dot_matrix(const double* x, const double* m, npy_intp rows, npy_intp columns, double* y) noexcept nogil
# np.dot(a, b) of two different matrices (rows, inner) and (inner, columns), into y (rows, columns).
cdef void np_matrix_product(const double* a, const double* b, npy_intp rows, npy_intp inner, npy_intp columns,
                            double* y) noexcept nogil
# m @ x of a matrix (rows, columns) in C order and a vector (columns), into y (rows); y overlaps neither.
cdef void np_matrix_vector(const double* m, const double* x, npy_intp rows, npy_intp columns, double* y) noexcept nogil
# np.sum(x) of a contiguous vector (n), also as the sum in np.mean; pairwise from 8 elements on.
cdef double np_sum(const double* x, npy_intp n) noexcept nogil
