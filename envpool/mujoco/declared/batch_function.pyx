"""Python functions that complete the steps of declared tasks.

After a thread has stepped the environments of a chunk, it takes the GIL and calls the function once for all of them.
"""

import numpy as np

from cpython.exc cimport PyErr_SetInterrupt
from libc.stddef cimport size_t
from libc.stdint cimport int32_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy

from envpool.env cimport envpool_batch
from envpool.mujoco.base.simulation cimport ENV_DEF, Sim
from envpool.mujoco.base.structs cimport SimPool
from envpool.mujoco.declared.program cimport Program, registers_of

#: Results of a function that are not parts of the observation.
REWARD, TERMINATED = "reward", "terminated"


cdef bytes described(object error):
    """Returns type and text of an exception, even if the text cannot be made or encoded."""
    try:
        text = str(error)
    except Exception:
        text = "<no text>"
    return f"{type(error).__name__}: {text}".encode(errors="replace")


cdef void refresh_stack(Sim* s, bint fill) noexcept nogil:
    """Observes again where the stack has the observation from before the call of the function."""
    cdef size_t size = s.config.observation_size
    cdef int32_t k
    s.config.task.observe(s, s.stack + s.newest * size)
    for k in range(s.config.frame_stack if fill else 0):
        if k != s.newest:
            memcpy(s.stack + k * size, s.stack + s.newest * size, size * sizeof(double))


cdef class FunctionCaller:
    """Calls a function with the values of expressions, and puts its results into the observation and the batch.

    Parameters
    ----------
    function : callable
        The function of the user.
    inputs, outputs : list of tuple
        Name, first register, number of numbers, and whether they are a scalar, of each argument and of each part of
        the observation that the function returns.
    """

    def __init__(self, function, list inputs, list outputs):
        self.function, self.inputs, self.outputs = function, inputs, outputs

    cdef dict arguments(self, SimPool* all, list ids):
        """Returns the arguments: arrays (n) of scalars and (n, numbers) of vectors."""
        cdef double[:, ::1] rows
        cdef Py_ssize_t i, first, size
        found = {}
        for name, first, size, is_scalar in self.inputs:
            values = np.empty((len(ids), size))
            rows = values
            for i in range(len(ids)):
                memcpy(&rows[i, 0], registers_of(&all.sims[<int32_t>ids[i]]) + first, size * sizeof(double))
            found[name] = values[:, 0] if is_scalar else values
        return found

    cdef object array_of(self, dict results, str name, tuple shape):
        """Returns a result as float64 of a shape, or raises an error that says what is wrong."""
        if name not in results:
            raise ValueError(f"the function has not returned {name!r}, which the observation needs")
        values = np.asarray(results[name], np.float64, order="C")
        if values.shape != shape:
            raise ValueError(f"the function has returned {name!r} with the shape {values.shape}, needed is {shape}")
        return values

    cdef int run(self, SimPool* all, const envpool_batch* b) except -1:
        """Calls the function for the rows of a batch that have not failed."""
        cdef const double[::1] added
        cdef const double[:, ::1] rows
        cdef Py_ssize_t i, k, first, size
        cdef tuple shape
        cdef Sim* s
        cdef const Program* p
        good = [i for i in range(b.n) if not b.errors[i]]
        ids = [b.ids[i] for i in good]
        n = len(good)
        if not n:
            return 0
        results = self.function(**self.arguments(all, ids))
        if not isinstance(results, dict):
            raise TypeError(f"the function must return a dict, got {type(results).__name__}")
        known = {REWARD, TERMINATED, *[output[0] for output in self.outputs]}
        if unknown := results.keys() - known:
            wrong = min(map(repr, unknown))
            raise ValueError(f"the function has returned {wrong}, allowed are {', '.join(sorted(known))}")
        parts = []
        for name, first, size, is_scalar in self.outputs:
            shape = (n, size)
            parts.append((first, self.array_of(results, name, shape[:1] if is_scalar else shape).reshape(shape)))
        reward = self.array_of(results, REWARD, (n,)) if REWARD in results else np.zeros(n)
        ends = self.array_of(results, TERMINATED, (n,)) if TERMINATED in results else np.zeros(n)
        for first, values in parts:
            rows = values
            for k in range(n):
                memcpy(registers_of(&all.sims[<int32_t>ids[k]]) + first, &rows[k, 0], rows.shape[1] * sizeof(double))
        added = reward
        for k in range(n):
            i = good[k]
            s = &all.sims[b.ids[i]]
            p = <const Program*>s.options
            if s.stack != NULL:
                refresh_stack(s, b.reset[i])
            if not b.reset[i]:
                b.reward[i] = <float>(registers_of(s)[p.total] + added[k])
                if ends[k]:
                    b.terminated[i] = True
        return 0


cdef int call_function(SimPool* all, const envpool_batch* b) noexcept with gil:
    """Calls the function; if it raises an exception, all environments of the chunk fail with its text."""
    cdef const Program* p = <const Program*>all.sims[0].options
    cdef bytes text
    cdef int32_t i
    try:
        return (<FunctionCaller>p.function).run(all, b)
    except BaseException as error:
        text = described(error)
        if isinstance(error, KeyboardInterrupt):
            PyErr_SetInterrupt()        # for the consumer, which has not seen it
    for i in range(b.n):
        if not b.errors[i]:
            snprintf(all.sims[b.ids[i]].error, sizeof(all.sims[0].error), b"%s", <const char*>text)
            all.sims[b.ids[i]].failed = 1
            b.errors[i] = 1
    return 1


cdef int step_many(void* state, const envpool_batch* b) noexcept nogil:
    cdef int failures = ENV_DEF.step_many(state, b)
    return failures | call_function(<SimPool*>state, b)
