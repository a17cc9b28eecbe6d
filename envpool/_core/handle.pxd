"""Making and ending a pool: see handle.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.actions cimport ActionTable
from envpool._core.blocks cimport BatchBlock, BlockStore
from envpool._core.engine cimport Engine
from envpool._core.results cimport ResultTemplate

cdef class Handle:
    cdef Engine* engine
    cdef BlockStore store
    cdef list in_flight             # the BatchBlock behind each of engine.blocks
    cdef BatchBlock shelf           # see partial.pyx; None until it is needed; here, so that it outlives the threads
    cdef BlockStore shelf_store     # of blocks with a row for each env
    cdef ActionTable actions
    cdef ResultTemplate reset_form
    cdef ResultTemplate step_form
    cdef object step_nest           # the nest of array names behind step_form
    cdef object capsule             # keeps the env's tables alive
    cdef int32_t* scratch           # ids of the call being made (num_envs)
    cdef int64_t outstanding
    cdef int64_t fork_generation
    cdef int64_t sent_at            # when send() last returned; 0: step() or nothing
    cdef int waiting                # threads inside a wait
    cdef bint is_sending            # a call is between its first check and its publish
    cdef bint is_closing            # close() has begun

    cdef bint is_left(self) noexcept
    cdef int check_memory(self, int64_t num_envs, int64_t batch_size) except -1
    cdef int check_open(self) except -1
