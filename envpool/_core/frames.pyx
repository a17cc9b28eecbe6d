"""Drawing pictures of envs: one native batch, drawn by the caller and by helpers that live as long as the call.

What must hold:
- An env is drawn while no thread steps it. `drawn` marks the envs of a call; a send to one of them is refused until the
  call ends. The call begins when everything in flight has been computed, if one of its envs is in flight; that env's
  row stays for recv.
- Signals are looked for between chunks, when the caller itself is outside of native code: a handler may do anything to
  the pool, even close it. close() ends the helpers.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from posix.unistd cimport usleep

from envpool._core.atomic cimport ep_add_sc64, ep_load_rlx32, ep_load_sc32, ep_load_sc64, ep_now, ep_store_rlx32
from envpool._core.consumer cimport SLICE, written_rows
from envpool._core.engine cimport Engine, ep_thread_start, pthread_join, pthread_t, run_chunk
from envpool._core.inputs cimport as_ids
from envpool._core.partial cimport Shelf
from envpool.env cimport envpool_frames

from envpool.errors import ConfigError, EnvIdError, PoolStateError, RenderError

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o)

cnp.import_array()

# Work that pays for starting a thread, ns.
cdef int64_t START = 200000
# Work per chunk, ns: it hides the claim, and balances the threads.
cdef int64_t CLAIM = 100000
# The most pictures in a chunk.
cdef int64_t MAX_CHUNK = 64
# While others compute what is in flight, the caller looks this often, microseconds.
cdef int64_t NAP = 50


cdef bint draw_chunk(Drawing* d) noexcept nogil:
    """Draws one chunk. False: all are begun."""
    cdef envpool_frames part = d.frames
    cdef int32_t k, code
    cdef int64_t first
    if ep_load_rlx32(&d.is_stopped):
        return False
    first = ep_add_sc64(&d.claimed, d.chunk)
    if first >= d.frames.n:
        return False
    part.n = <int32_t>min(<int64_t>d.chunk, d.frames.n - first)
    part.ids += first
    part.pixels += first * d.frame_bytes
    part.errors += first
    code = d.kind.render_many(d.state, &part)
    if code == 0:
        return True
    ep_store_rlx32(&d.has_failed, 1)
    for k in range(part.n):
        if part.errors[k]:
            return True
    for k in range(part.n):     # it does not say which
        part.errors[k] = code
    return True


cdef void* help_drawing(void* drawing) noexcept nogil:
    while draw_chunk(<Drawing*>drawing):
        pass
    return NULL


@cython.no_gc     # as for Handle
cdef class Renderer(Shelf):
    """A pool's drawing side."""

    def __dealloc__(self):
        free(self.helpers)

    def close(self):
        """See Handle.close."""
        Shelf.close(self)
        self.last = self.last_but_one = None

    cdef bint is_left(self) noexcept:
        if self.inside:
            return False
        self.end_helpers()
        return Shelf.is_left(self)

    # ---- envs --------------------------------------------------------------------------------------------------------

    cdef int check_not_drawn(self, const int32_t* ids, int32_t n) except -1:
        """Refuses to send to envs that are being drawn."""
        cdef int32_t i
        if not self.is_drawing:
            return 0
        for i in range(n):
            if self.engine.drawn[ids[i]]:
                raise EnvIdError(
                    f"env_id[{i}] is {ids[i]}, which another thread is rendering at this moment: send to it when "
                    "render() has returned; nothing was sent"
                )
        return 0

    cdef int check_can_draw(self, const int32_t* ids, int32_t n) except -1:
        """Refuses envs that have no state to draw."""
        cdef Engine* e = self.engine
        cdef int32_t i
        for i in range(n):
            if e.broken[ids[i]]:
                raise RenderError({ids[i]: "its last step failed: reset it, or let its next step do so"})
            if e.seed_pending[ids[i]]:
                raise PoolStateError(f"env {ids[i]} has not been reset yet: call reset() before render()")
        return 0

    cdef bint is_computed(self, const int32_t* ids, int32_t n) noexcept:
        """Whether no thread steps these envs, or will before the next send."""
        cdef Engine* e = self.engine
        cdef int64_t rows, arrived
        cdef int32_t i
        for i in range(n):
            if e.busy[ids[i]]:
                break
        else:
            return True
        if self.is_sending:         # by another thread: what it marked is not counted yet
            return False
        rows = written_rows(e)
        if not self.is_shelved:
            return rows == self.outstanding
        arrived = self.num_arrived + (ep_load_sc64(&e.arrivals) >> 32)
        return rows == self.rows_in_blocks and arrived + self.rows_to_move == self.outstanding

    cdef int await_computed(self, const int32_t* ids, int32_t n) except -1:
        """Works and waits until these envs can be drawn."""
        cdef Engine* e
        cdef int64_t deadline
        while True:
            PyErr_CheckSignals()
            self.check_open()
            if self.is_drawing:
                raise PoolStateError("another thread is rendering this pool at this moment: let one thread render")
            if self.is_computed(ids, n):
                return 0
            e = self.engine
            self.inside += 1
            with nogil:
                deadline = ep_now() + SLICE
                while not ep_load_rlx32(&e.stop) and ep_now() < deadline:
                    if not (ep_load_sc32(&e.helps) and run_chunk(e)):
                        usleep(NAP)
                        break
            self.inside -= 1

    # ---- threads -----------------------------------------------------------------------------------------------------

    cdef void start_helpers(self) noexcept:
        """Starts threads for the pictures that are left, as many as pay."""
        cdef Engine* e = self.engine
        cdef int64_t left = self.ns_per_frame * (self.drawing.frames.n - self.drawing.claimed)
        cdef int32_t wanted = <int32_t>min(<int64_t>(e.num_threads - 1), left // START)
        cdef int32_t k
        cdef int64_t share = left // (2 * (wanted + 1))
        self.drawing.chunk = <int32_t>max(min(min(CLAIM, share) // self.ns_per_frame, MAX_CHUNK), 1)
        if self.helpers == NULL:
            self.helpers = <pthread_t*>malloc(e.num_threads * sizeof(pthread_t))
            if self.helpers == NULL:
                return
        while self.num_helpers < wanted:
            k = self.num_helpers
            if ep_thread_start(&self.helpers[k], e.num_threads + k, e.affinity + k if e.affinity >= 0 else -1,
                               help_drawing, &self.drawing):
                return              # none to be had: the others draw more
            self.num_helpers += 1

    cdef void end_helpers(self) noexcept:
        """Lets the helpers finish their chunks, and joins them."""
        cdef int32_t k, n = self.num_helpers
        ep_store_rlx32(&self.drawing.is_stopped, 1)
        self.num_helpers = 0        # nobody else joins them
        self.inside += 1
        with nogil:
            for k in range(n):
                pthread_join(self.helpers[k], NULL)
        self.inside -= 1

    cdef bint draw_some(self, int64_t time) noexcept:
        """Draws on this thread for some ns, at least one chunk. False: all are begun."""
        cdef Drawing* d = &self.drawing
        cdef int64_t began, now, cost
        cdef bint goes_on = True
        self.inside += 1
        with nogil:
            began = now = ep_now()
            while goes_on:
                cost = now
                goes_on = draw_chunk(d)
                now = ep_now()
                if goes_on:
                    cost = max((now - cost) // d.chunk, 1)
                    if self.ns_per_frame == 0 or cost < self.ns_per_frame:
                        self.ns_per_frame = cost
                    else:           # preemption lengthens a sample
                        self.ns_per_frame += (cost - self.ns_per_frame) >> 3
                if now - began >= time:
                    break
        self.inside -= 1
        return goes_on

    cdef int draw_all(self) except -1:
        """Draws what self.drawing says."""
        cdef bint goes_on = True
        self.drawing.chunk = 1
        if self.ns_per_frame == 0:      # how many threads pay is known after the first picture
            goes_on = self.draw_some(0)
            PyErr_CheckSignals()
            self.check_open()
        if goes_on:
            self.start_helpers()
        while goes_on:
            goes_on = self.draw_some(SLICE)
            PyErr_CheckSignals()
            self.check_open()
        self.end_helpers()
        self.check_open()
        return 0

    # ---- the call ----------------------------------------------------------------------------------------------------

    def draw(self, env_ids, int32_t height, int32_t width, int32_t camera, bytes assets=None):
        """Draws pictures of envs, those in flight as soon as all that is in flight has been computed.

        Parameters
        ----------
        env_ids : array_like of int
            (n,) ids, in any order; one that appears twice is drawn once.
        height, width : int
            Size of each picture; the same in every call for one pool.
        camera : int
            See ``envpool_frames`` in ``include/envpool/env.h``.
        assets : bytes, optional
            Likewise.

        Returns
        -------
        numpy.ndarray
            uint8 (n, height, width, 3), yours to keep and to write.

        Raises
        ------
        ConfigError
            This kind of env draws no pictures.
        EnvIdError
            Ids out of range.
        PoolStateError
            Envs that were never reset, another thread that renders, closed, or used after a fork.
        RenderError
            Envs that could not be drawn.
        """
        ids = as_ids(env_ids, "env_ids")
        self.check_open()
        if self.engine.kind.render_many == NULL:
            raise ConfigError(f"env {self.engine.kind.name.decode()} draws no pictures")
        bad = np.flatnonzero((ids < 0) | (ids >= self.engine.num_envs))
        if bad.size:
            raise EnvIdError(f"env_ids[{bad[0]}] is {ids[bad[0]]}, allowed are 0 to {self.engine.num_envs - 1}")
        each, where = np.unique(ids, return_inverse=True)
        if each.size == ids.size:
            return self.draw_each(np.array(ids, np.int32), height, width, camera, assets)
        return self.draw_each(each.astype(np.int32), height, width, camera, assets)[where]

    cdef cnp.ndarray take_memory(self, int64_t n, int64_t height, int64_t width):
        """Memory for n pictures: an earlier call's that nobody holds any more, or fresh.

        The first touch of fresh memory takes several times as long as drawing a cheap picture.
        """
        cdef cnp.ndarray memory = self.last_but_one
        cdef bint is_free = memory is not None and Py_REFCNT(<PyObject*>memory) == 2    # ours, and the variable's
        if not is_free or (<object>memory).shape != (n, height, width, 3):
            memory = np.empty((n, height, width, 3), np.uint8)
        self.last_but_one = self.last
        self.last = memory
        return memory

    cdef object draw_each(self, cnp.ndarray ids, int32_t height, int32_t width, int32_t camera, bytes assets):
        """draw() for ids that nobody else can change, each once."""
        cdef Drawing* d = &self.drawing
        cdef const int32_t* id = <const int32_t*>cnp.PyArray_DATA(ids)
        cdef int32_t i, n = <int32_t>ids.shape[0]
        cdef cnp.ndarray pixels = self.take_memory(n, height, width)
        cdef cnp.ndarray errors = np.zeros(n, np.int32)
        if n == 0:
            return pixels
        self.await_computed(id, n)
        self.check_can_draw(id, n)
        self.is_drawing = True
        for i in range(n):
            self.engine.drawn[id[i]] = 1
        d.frames.ids = id
        d.frames.n = n
        d.frames.height = height
        d.frames.width = width
        d.frames.camera = camera
        d.frames.assets = <const void*>PyBytes_AS_STRING(assets) if assets is not None else NULL
        d.frames.pixels = <uint8_t*>cnp.PyArray_DATA(pixels)
        d.frames.errors = <int32_t*>cnp.PyArray_DATA(errors)
        d.frame_bytes = <int64_t>height * width * 3
        d.kind = self.engine.kind
        d.state = self.engine.state
        d.claimed = d.is_stopped = d.has_failed = 0
        try:
            self.draw_all()
            if d.has_failed:
                self.raise_undrawn(ids, errors)
        finally:
            self.end_helpers()
            if self.engine != NULL:
                for i in range(n):
                    self.engine.drawn[id[i]] = 0
            self.is_drawing = False
        return pixels[:]        # a view, and views of it, keep the memory from being taken again

    cdef int raise_undrawn(self, cnp.ndarray ids, cnp.ndarray errors) except -1:
        failures = {}
        for k in np.flatnonzero(errors):
            self.check_open()       # a text is an object, and making one may start the garbage collector
            failures[int(ids[k])] = self.failure_text(ids[k], errors[k])
        raise RenderError(failures)
