"""Python functions that complete the steps of declared tasks: batch_function.pyx describes them."""

from envpool.env cimport envpool_batch
from envpool.mujoco.base.structs cimport SimPool

# envpool_env.step_many of tasks with a function.
cdef int step_many(void* state, const envpool_batch* b) noexcept nogil


cdef class FunctionCaller:
    """Calls the function of a pool; Program.function points to it."""
    cdef object function        # Callable
    cdef list inputs            # (name, first register, numbers, whether it is a scalar)
    cdef list outputs           # (name, first register, numbers, whether it is a scalar)
    cdef dict arguments(self, SimPool* all, list ids)
    cdef object array_of(self, dict results, str name, tuple shape)
    cdef int run(self, SimPool* all, const envpool_batch* b) except -1
