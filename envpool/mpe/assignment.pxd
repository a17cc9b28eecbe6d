"""assignment.h: optimal assignments of agents to places."""

from libc.stdint cimport int32_t

cdef extern from "envpool/mpe/assignment.h" nogil:
    enum:
        ASSIGNMENT_MAX
    int32_t assign(const double* costs, int32_t n, int32_t* chosen)
