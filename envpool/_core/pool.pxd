"""The pool as Python sees it: see pool.pyx."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.actions cimport ActionTable
from envpool._core.batches cimport Batches
from envpool._core.blocks cimport BatchBlock
from envpool._core.engine cimport Orphan
from envpool._core.frames cimport FrameRenderer
from envpool._core.guard cimport Guard
from envpool._core.inputs cimport ResetOptions
from envpool._core.partial cimport PartialBatches
from envpool._core.results cimport ResultTemplate
from envpool._core.statistics cimport Statistics
from envpool._core.structs cimport Engine

cdef class SendPart:
    cdef int check(self, const int32_t* ids, int32_t n, bint receives) except -1
    cdef void commit(self, const int32_t* ids, int32_t n) noexcept

cdef class Pool:
    cdef Engine* engine             # NULL when the pool is closed
    cdef Guard guard
    cdef ActionTable actions
    cdef Batches batches
    cdef PartialBatches partial
    cdef FrameRenderer frames
    cdef Statistics statistics
    cdef ResultTemplate reset_template
    cdef ResultTemplate step_template
    cdef object step_nest           # the nest of array names behind step_template
    cdef object placement           # behind engine.cpus and engine.node_ends
    cdef object capsule             # keeps the tables of the env alive
    cdef Orphan orphan              # owns the engine once the pool has dropped it
    cdef public bint _continues_games   # whether the caller has to reset ended episodes: their games may continue

    # Parts of calls, for a caller that has entered the guard.
    cdef void end_visit(self, int visit) noexcept
    cdef int32_t send_actions(self, object action, object env_id, SendPart part, int visit, int activities) except -1
    cdef int check_send(self, const int32_t* ids, int32_t n, SendPart part, int visit, int activities) except -1
    cdef bint redirect(self, BatchBlock block) noexcept
    cdef void launch(self, const int32_t* ids, int32_t n, bint returns_at_once) noexcept
    cdef object receive(self, ResultTemplate template, bint may_be_empty, int64_t rows)

    cdef int32_t send_resets(self, object env_id, object seeds, ResetOptions options, int visit,
                             int activities) except -1
    cdef object receive_resets(self, object env_id, ResultTemplate template)
    cdef cnp.ndarray bytes_of_idle(self, object env_id, int what, bint are_known=*)
    cdef int end(self, bint waits) except -1
    cdef int stop(self, bint waits) except -1
    cdef void drop_engine(self) noexcept
