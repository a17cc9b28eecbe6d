"""Publishing entries, and waiting for their answers: see exchange.pyx."""

from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t

from envpool.python_envs.arena cimport View, epy_pace

cdef enum Wait:
    ANSWERED
    INTERRUPTED                 # by an exception of a signal handler
    CLOSING                     # the pool is being closed

cdef struct Exchange:
    View v
    PyObject* supervisor        # a Supervisor
    int32_t lock                # of the rings: several threads may publish
    int32_t is_closing
    epy_pace pace

cdef void publish(Exchange* x, const int32_t* entries, int32_t n, int64_t* at, int64_t* last) noexcept nogil
cdef int wait_for(Exchange* x, int32_t w, int64_t at) noexcept nogil
