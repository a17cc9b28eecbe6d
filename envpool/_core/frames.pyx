"""Drawing frames of envs: one native batch, drawn by the caller and by helper threads that live as long as the call.

Invariants:
- No thread steps an env that is being drawn. `held` marks the envs of a call; a send to one of them is refused until
  the call ends. If one of the envs is in flight, drawing begins when everything in flight has been computed; the rows
  stay for recv().
- Signals are checked between chunks, on the calling thread and outside of native code. Whatever a signal handler does,
  the helpers are joined by the call that started them, before the memory they use is freed. If a handler raises while
  the call waits for helpers, whose envs may hang, they are left behind with all of it, which is never freed.
"""

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from posix.unistd cimport usleep

from envpool._core.atomic cimport (
    ep_add_sc32, ep_add_sc64, ep_futex_wait, ep_futex_wake, ep_load_rlx32, ep_load_sc32, ep_now, ep_store_rlx32,
    ep_use_parking_lot,
)
from envpool._core.blocks cimport is_held_elsewhere
from envpool._core.calls cimport has_failures
from envpool._core.failures cimport failure_of
from envpool._core.guard cimport Guard
from envpool._core.inputs cimport checked_ids, hold, holding_call, unhold
from envpool._core.partial cimport PartialBatches
from envpool._core.policy cimport CLAIM, MAX_CHUNK, NAP, PATIENCE, SLICE, START, drawing_cost, interval
from envpool._core.scheduler cimport ep_thread_start, help_out, pthread_detach, pthread_join
from envpool._core.structs cimport DRAWN, Engine, pthread_t
from envpool._core.watch cimport check_progress
from envpool.env cimport envpool_frames

from envpool.errors import ConfigError, PoolStateError, RenderError

cnp.import_array()
ep_use_parking_lot()


cdef bint draw_chunk(FrameJob* job) noexcept nogil:
    """Draws one chunk. False: every frame has been begun, or the job is stopped."""
    cdef envpool_frames part = job.frames
    cdef int64_t first
    cdef int status
    if ep_load_rlx32(&job.is_stopped) or ep_load_rlx32(&job.engine.stop):
        return False
    first = ep_add_sc64(&job.claimed, job.chunk)
    if first >= job.frames.n:
        return False
    part.n = <int32_t>min(<int64_t>job.chunk, job.frames.n - first)
    part.ids += first
    part.pixels += first * job.frame_bytes
    part.errors += first
    status = job.engine.env_def.render_many(job.engine.state, &part)
    if has_failures(status, part.errors, part.n):
        ep_store_rlx32(&job.has_failed, 1)
    return True


cdef void* help_drawing(void* job) noexcept nogil:
    cdef int32_t* num_running = &(<FrameJob*>job).num_running
    while draw_chunk(<FrameJob*>job):
        pass
    ep_add_sc32(num_running, -1)
    ep_futex_wake(num_running, 1)
    return NULL


cdef class FrameRenderer:
    """Draws the frames of a pool.

    Parameters
    ----------
    guard : Guard
        The guard of the pool.
    partial : PartialBatches
        Knows when everything in flight has been computed.
    """

    def __init__(self, Guard guard, PartialBatches partial):
        self.guard = guard
        self.partial = partial
        self.earlier = []

    def __dealloc__(self):
        free(self.helpers)

    cdef void drop_memory(self) noexcept:
        """Forgets the memory of earlier frames."""
        self.earlier = []

    # ---- envs --------------------------------------------------------------------------------------------------------

    cdef int check_drawable(self, const int32_t* ids, int32_t n) except -1:
        """Raises for envs that have no state to draw."""
        cdef Engine* e = self.engine
        cdef int32_t i
        for i in range(n):
            if e.broken[ids[i]]:
                raise RenderError({ids[i]: "its last step failed: reset it, or let its next step reset it"})
            if e.held[ids[i]]:
                raise PoolStateError(f"env {ids[i]} cannot be rendered, since {holding_call(e, ids[i])}")
            if e.seed_pending[ids[i]]:
                raise PoolStateError(f"env {ids[i]} has not been reset yet: call reset() before render()")
        return 0

    cdef bint is_computed(self, const int32_t* ids, int32_t n) noexcept:
        """Whether no thread steps these envs, or will step them before the next send."""
        cdef int32_t i
        for i in range(n):
            if self.engine.busy[ids[i]]:
                return self.partial.is_computed()
        return True

    cdef int await_computed(self, const int32_t* ids, int32_t n) except -1:
        """Works and waits until these envs can be drawn."""
        cdef Engine* e = self.engine
        cdef int64_t deadline
        cdef bint has_waited = False
        while True:
            PyErr_CheckSignals()
            self.guard.check_open()
            if self.is_computed(ids, n):
                return 0
            if has_waited:
                check_progress(e, NULL, 0, e.outstanding)
            has_waited = True
            with nogil:
                deadline = ep_now() + interval(e)
                while not ep_load_rlx32(&e.stop) and ep_now() < deadline:
                    if not (ep_load_sc32(&e.helps) and help_out(e, &e.renderer_executes)):
                        usleep(NAP)
                        break

    # ---- threads -----------------------------------------------------------------------------------------------------

    cdef void start_helpers(self) noexcept:
        """Starts as many threads as pay off for the remaining frames."""
        cdef Engine* e = self.engine
        cdef int64_t left = self.ns_per_frame * (self.job.frames.n - self.job.claimed)
        cdef int32_t wanted = <int32_t>min(<int64_t>(e.num_threads - 1), left // START)
        cdef int32_t k
        cdef int64_t share = left // (2 * (wanted + 1))
        self.job.chunk = <int32_t>max(min(min(CLAIM, share) // self.ns_per_frame, MAX_CHUNK), 1)
        if self.helpers == NULL:
            self.helpers = <pthread_t*>malloc(e.num_threads * sizeof(pthread_t))
            if self.helpers == NULL:
                return
        while self.num_helpers < wanted:
            k = self.num_helpers
            ep_add_sc32(&self.job.num_running, 1)
            if ep_thread_start(&self.helpers[k], e.num_threads + k, e.affinity + k if e.affinity >= 0 else -1,
                               e.cpus, e.num_cpus, help_drawing, &self.job):
                ep_add_sc32(&self.job.num_running, -1)
                return              # no thread can be started: the running ones draw more
            self.num_helpers += 1
            self.guard.helpers, self.guard.num_helpers = self.helpers, self.num_helpers
            e.outsider = 0          # the helper may be a thread with this number

    cdef int end_helpers(self, bint is_interrupted) except -1:
        """Lets the helpers finish their chunks, and joins them; after a fork by a signal handler, there are none.

        `is_interrupted`: an exception has ended the call already. Once a signal handler has raised one, helpers that
        do not end in time, or before the next signal, are left behind.
        """
        cdef int64_t deadline = ep_now() + PATIENCE
        cdef int32_t k, left
        interrupt = None
        ep_store_rlx32(&self.job.is_stopped, 1)
        while self.num_helpers and not self.guard.is_forked():
            left = ep_load_sc32(&self.job.num_running)
            if left == 0:
                break
            if is_interrupted and ep_now() >= deadline:
                self.leave_helpers()
                if interrupt is not None:
                    raise interrupt
                return 0
            with nogil:
                ep_futex_wait(&self.job.num_running, left, SLICE)
            if ep_load_sc32(&self.job.num_running):
                try:
                    PyErr_CheckSignals()
                except BaseException as error:
                    if is_interrupted:
                        self.leave_helpers()
                        raise
                    interrupt, is_interrupted, deadline = error, True, ep_now() + PATIENCE
        if not self.guard.is_forked():
            with nogil:
                for k in range(self.num_helpers):
                    pthread_join(self.helpers[k], NULL)
        self.num_helpers = self.guard.num_helpers = 0
        if interrupt is not None:
            raise interrupt
        return 0

    cdef void leave_helpers(self) noexcept:
        """Lets the helpers run on after the call, with the envs that it holds: the pool can only be closed then."""
        cdef int32_t k
        if self.guard.is_forked():
            return
        for k in range(self.num_helpers):
            pthread_detach(self.helpers[k])
        self.num_helpers = 0
        ep_add_sc32(&self.engine.owners, 1)
        self.has_lost = True
        Py_INCREF(self)         # it has the job and `in_use`

    cdef bint draw_some(self, int64_t time) noexcept:
        """Draws on this thread for `time` ns, at least one chunk. False: every frame has been begun."""
        cdef FrameJob* job = &self.job
        cdef int64_t began, now, began_chunk
        cdef bint is_left = True
        with nogil:
            began = now = ep_now()
            self.engine.renderer_executes = True
            while is_left:
                began_chunk = now
                is_left = draw_chunk(job)
                now = ep_now()
                if is_left:
                    self.ns_per_frame = drawing_cost(self.ns_per_frame, max((now - began_chunk) // job.chunk, 1))
                if now - began >= time:
                    break
            self.engine.renderer_executes = False
        return is_left

    cdef int draw_all(self) except -1:
        """Draws the frames of the job, and raises for a signal or a pool that was closed."""
        cdef bint is_left = True
        self.job.chunk = 1
        if self.ns_per_frame == 0:      # the number of threads that pay off is known after the first frame
            is_left = self.draw_some(0)
            PyErr_CheckSignals()
            self.guard.check_open()
        if is_left:
            self.start_helpers()
        while is_left:
            is_left = self.draw_some(SLICE)
            PyErr_CheckSignals()
            self.guard.check_open()
        self.end_helpers(False)
        self.guard.check_open()
        return 0

    # ---- the call ----------------------------------------------------------------------------------------------------

    cdef object render(self, object env_id, int32_t height, int32_t width, int32_t camera, bytes assets):
        """See Pool._render_frames()."""
        cdef cnp.ndarray ids = checked_ids(self.engine, env_id)
        self.guard.check_open()
        if self.has_lost:
            raise PoolStateError("render() was interrupted while an environment hung in it: close the pool")
        if self.engine.env_def.render_many == NULL:
            raise ConfigError(f"env {self.engine.env_def.name.decode()} has no renderer")
        distinct, where = np.unique(ids, return_inverse=True)
        if distinct.size == ids.shape[0]:
            return self.draw_each(ids, height, width, camera, assets)
        return self.draw_each(distinct, height, width, camera, assets)[where]

    cdef cnp.ndarray take_memory(self, int64_t n, int64_t height, int64_t width):
        """Returns memory for n frames: that of an earlier call which nobody holds any more, or fresh memory.

        The first touch of fresh memory takes several times as long as drawing a simple frame.
        """
        memory = None
        if len(self.earlier) == 2:      # the user may still look at the frames of the last call only
            if not is_held_elsewhere(self.earlier, 0) and self.earlier[0].shape == (n, height, width, 3):
                memory = self.earlier[0]
            del self.earlier[0]
        if memory is None:
            memory = np.empty((n, height, width, 3), np.uint8)
        self.earlier.append(memory)
        return memory

    cdef object draw_each(self, cnp.ndarray ids, int32_t height, int32_t width, int32_t camera, bytes assets):
        """Draws the frames of distinct envs; nobody else may hold `ids`."""
        cdef FrameJob* job = &self.job
        cdef const int32_t* id = <const int32_t*>cnp.PyArray_DATA(ids)
        cdef int32_t n = <int32_t>ids.shape[0]
        cdef cnp.ndarray pixels = self.take_memory(n, height, width)
        cdef cnp.ndarray errors = np.zeros(n, np.int32)
        if n == 0:
            return pixels
        self.await_computed(id, n)
        self.check_drawable(id, n)
        hold(self.engine, id, n, DRAWN)
        job.frames.struct_size = sizeof(envpool_frames)
        job.frames.kind = 0
        job.frames.ids = id
        job.frames.n = n
        job.frames.height = height
        job.frames.width = width
        job.frames.camera = camera
        job.frames.assets = <const void*>PyBytes_AS_STRING(assets) if assets is not None else NULL
        job.frames.pixels = <uint8_t*>cnp.PyArray_DATA(pixels)
        job.frames.errors = <int32_t*>cnp.PyArray_DATA(errors)
        job.frame_bytes = <int64_t>height * width * 3
        job.engine = self.engine
        job.claimed = job.is_stopped = job.has_failed = job.num_running = 0
        self.in_use = (ids, pixels, errors, assets)
        try:
            self.draw_all()
            if job.has_failed:
                self.raise_failed(ids, errors)
        finally:
            self.end_helpers(True)      # unless draw_all() has done so
            if not self.has_lost:
                self.in_use = None
                unhold(self.engine, id, n)
        return pixels[:]        # a view, and views of it, keep the memory from being taken again

    cdef int raise_failed(self, cnp.ndarray ids, cnp.ndarray errors) except -1:
        found = {int(ids[k]): failure_of(self.engine, ids[k], errors[k]) for k in np.flatnonzero(errors)}
        error = RenderError({id: text for id, (text, _) in found.items()})
        error.__cause__ = next((cause for _, cause in found.values() if cause is not None), None)
        raise error
