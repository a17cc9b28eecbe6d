"""Writing the rows of a wrapped env definition: see rows.pyx."""

from envpool.env cimport envpool_batch, envpool_rows
from envpool.transforms.layout cimport State

cdef void note_steps(State* s, const envpool_batch* batch) noexcept nogil
cdef void* const* targets_of(State* s, const envpool_rows* rows, void** fields) noexcept nogil
cdef void write_many(void* state, const envpool_rows* rows) noexcept nogil
