"""Field tables of the env ABI, and the sizes that follow from a field."""

from libc.stdint cimport int32_t, int64_t

from envpool.env cimport (
    ENVPOOL_FLOAT32, ENVPOOL_FLOAT64, ENVPOOL_INT16, ENVPOOL_INT32, ENVPOOL_INT64, envpool_env, envpool_field,
)

cdef inline const envpool_field* field_at(const envpool_env* env, const envpool_field* table, int32_t i) noexcept nogil:
    """Entry i of a field table of the env. An env that was built against a later header may have larger entries."""
    return <const envpool_field*>(<const char*>table + <size_t>i * env.field_size)

cdef inline int64_t item_bytes(int32_t dtype) noexcept nogil:
    if dtype == ENVPOOL_INT64 or dtype == ENVPOOL_FLOAT64:
        return 8
    if dtype == ENVPOOL_INT32 or dtype == ENVPOOL_FLOAT32:
        return 4
    return 2 if dtype == ENVPOOL_INT16 else 1

cdef inline int64_t row_items(const envpool_field* field) noexcept nogil:
    """Elements of one env's row; a leading -1 is one player."""
    cdef int64_t n = 1
    cdef int32_t d
    for d in range(field.ndim):
        if field.shape[d] >= 0:
            n *= field.shape[d]
    return n

cdef inline int64_t row_bytes(const envpool_field* field) noexcept nogil:
    return row_items(field) * item_bytes(field.dtype)
