"""Noticing workers that are stuck in an env: see watch.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.atomic cimport ep_load_acq64, ep_store_rel64, ep_store_rlx64
from envpool._core.structs cimport Engine, Worker

cdef int check_progress(const Engine* e, const int32_t* ids, int64_t n, int64_t need) except -1

cdef inline bint is_overdue(const Engine* e, const Worker* w, int64_t now) noexcept nogil:
    """Whether a worker has been executing one chunk for longer than the step timeout."""
    cdef int64_t since = ep_load_acq64(&w.since)
    return since != 0 and now - since > e.step_timeout

# Inline, since every chunk of a watched worker passes through these two.

cdef inline void note_start(Worker* w, const int32_t* ids, int64_t n, int64_t now) noexcept nogil:
    """Notes the chunk that a worker begins. `ids` must stay readable as long as the engine exists."""
    ep_store_rel64(<int64_t*>&w.ids, <int64_t>ids)
    ep_store_rel64(&w.num_ids, n)
    ep_store_rel64(&w.since, now)

cdef inline void note_end(Worker* w) noexcept nogil:
    ep_store_rlx64(&w.since, 0)
