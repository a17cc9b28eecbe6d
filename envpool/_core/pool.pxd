"""The pool as Python sees it: see pool.pyx."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from envpool._core.results cimport ResultTemplate
from envpool._core.sending cimport Sender

cdef class Pool(Sender):
    cdef int wait(self) except -1
    cdef object deliver(self, ResultTemplate form)
    cdef object empty(self, ResultTemplate form)
    cdef object get(self, ResultTemplate form, bint may_be_empty)
    cdef object pick_some(self, ResultTemplate form, cnp.ndarray ids, int64_t need, int64_t timeout_ns)
    cdef object get_some(self, ResultTemplate form, object min_ready, object timeout, object env_ids)
