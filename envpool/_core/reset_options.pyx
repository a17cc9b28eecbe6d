"""Options of resets, which hold for the reset with which they are passed and for no later one."""

from libc.stdint cimport int32_t


cdef class ResetOptions:
    """The options of one call of reset(), converted and checked.

    A subclass knows how they reach the envs. An instance is used once.
    """

    cdef int put(self, Engine* e, const int32_t* ids, int32_t n) except -1:
        """Leaves the options for the envs that are about to be reset.

        The envs (n) are marked as busy, but not published yet; the call that raises changes none of them. No Python
        code of the user's may run in here.
        """
        raise NotImplementedError
