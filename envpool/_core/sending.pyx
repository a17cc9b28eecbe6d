"""What goes into a pool: env ids, actions and resets, checked before anything is published."""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_add_sc32, ep_now
from envpool._core.consumer cimport SLICE, enqueue, publish, wait_drained
from envpool._core.engine cimport DISABLED, Engine, PENDING, REFUSED
from envpool._core.inputs cimport as_array, as_ids, flatten
from envpool._core.frames cimport Renderer

from envpool.errors import EnvIdError, PoolStateError

cnp.import_array()

cdef str RECV = "call recv() until it has returned them, or close() the pool"


@cython.no_gc     # as for Handle
cdef class Sender(Renderer):
    """A pool's sending side."""

    # ---- env ids -----------------------------------------------------------------------------------------------------

    cdef int take_ids(self, object env_id, const int32_t** ids, bint explicit_reset) except -1:
        """Checks the ids of a call (see as_ids), marks their envs busy, and returns how many there are."""
        cdef Engine* e = self.engine
        cdef cnp.ndarray a
        cdef const int64_t* wide
        cdef const int32_t* narrow
        cdef int64_t n, i, id
        if env_id is None:
            if self.outstanding:
                raise EnvIdError(
                    f"{self.outstanding} of {e.num_envs} envs are still in flight (e.g. env {self.first_busy()}) and "
                    f"cannot be sent to again: pass env_id with the ids that were received, or {RECV}"
                )
            if e.autoreset == DISABLED and not explicit_reset:
                for i in range(e.num_envs):
                    self.check_running(i)
            self.check_not_drawn(e.all_ids, e.num_envs)
            memset(e.busy, 1, e.num_envs)
            ids[0] = e.all_ids
            return e.num_envs
        n = env_id.shape[0]
        if n > e.num_envs:
            raise EnvIdError(f"env_id has {n} entries, but the pool has {e.num_envs} envs, and each may appear once")
        a = env_id
        if not (cnp.PyArray_ISCARRAY_RO(a) and cnp.PyArray_TYPE(a) in (cnp.NPY_INT64, cnp.NPY_INT32)):
            a = np.ascontiguousarray(env_id, np.int64)      # what does not fit becomes negative, and is refused
        wide = <const int64_t*>cnp.PyArray_DATA(a)
        narrow = <const int32_t*>cnp.PyArray_DATA(a)
        is_wide = cnp.PyArray_TYPE(a) == cnp.NPY_INT64
        for i in range(n):
            id = wide[i] if is_wide else narrow[i]
            if id < 0 or id >= e.num_envs or e.busy[id]:
                self.release(self.scratch, <int32_t>i)
                self.refuse_id(env_id, i)
            if e.autoreset == DISABLED and not explicit_reset and e.reset[id] == REFUSED:
                self.release(self.scratch, <int32_t>i)
                self.check_running(id)
            e.busy[id] = 1
            self.scratch[i] = <int32_t>id
        if self.is_drawing:
            try:
                self.check_not_drawn(self.scratch, <int32_t>n)
            except BaseException:
                self.release(self.scratch, <int32_t>n)
                raise
        ids[0] = self.scratch
        return <int>n

    cdef int refuse_id(self, object env_id, int64_t at) except -1:
        cdef int64_t n = self.engine.num_envs
        id = int(env_id[at])
        if not 0 <= id < n:
            raise EnvIdError(f"env_id[{at}] is {id}, allowed are 0 to {n - 1}; nothing was sent")
        if id in env_id[:at].tolist():
            raise EnvIdError(f"env_id[{at}] is {id}, which appears twice: send one action per env; nothing was sent")
        raise EnvIdError(f"env_id[{at}] is {id}, which is still in flight: {RECV}; nothing was sent")

    cdef int check_running(self, int64_t id) except -1:
        if self.engine.reset[id] == REFUSED:
            raise EnvIdError(
                f"env {id} has no running episode and autoreset_mode is 'disabled': call reset(env_id) for it first; "
                "nothing was sent"
            )
        return 0

    def first_busy(self):
        return next((i for i in range(self.engine.num_envs) if self.engine.busy[i]), None)

    cdef void release(self, const int32_t* ids, int32_t n) noexcept:
        cdef int32_t i
        for i in range(n):
            self.engine.busy[ids[i]] = 0

    cdef int check_players(self, object action, object env_id) except -1:
        """A dict may name the env of each player; with one player per env those are the env ids themselves."""
        players = action.pop("players.env_id", None)
        if players is not None:
            expected = np.arange(self.engine.num_envs) if env_id is None else env_id
            if not np.array_equal(np.atleast_1d(players), expected):
                raise EnvIdError(
                    f"players.env_id must equal env_id, one player per env; got {players!r} for env_id {expected!r}"
                )
        return 0

    # ---- sending -----------------------------------------------------------------------------------------------------

    cdef int put(self, object action, object env_id, bint returns_at_once) except -1:
        """Sends actions. Returns the number of rows."""
        cdef const int32_t* ids = NULL
        cdef int32_t n
        # Arrays first: a user's object may run any code while it becomes one, even close() this pool.
        is_dict = isinstance(action, dict)
        if is_dict:
            action = flatten(action)
            own_ids = action.pop("env_id", None)
            env_id = own_ids if env_id is None else env_id
            action = {k: as_array(k, v) for k, v in action.items()}
        elif not cnp.PyArray_CheckExact(action):
            action = as_array("action", action)
        env_id = as_ids(env_id)
        self.check_open()
        if is_dict:
            self.check_players(action, env_id)
        if returns_at_once:
            self.check_batch_follows(env_id)
        self.begin_send()
        try:
            n = self.take_ids(env_id, &ids, False)
            try:
                self.actions.load(self.engine, action, ids, n)
            except BaseException:
                self.release(ids, n)
                raise
            self.launch(ids, n, returns_at_once)
        finally:
            self.is_sending = False
        return n

    cdef int check_batch_follows(self, env_id) except -1:
        """Refuses a step() that could not receive, before anything is sent."""
        self.check_alone()
        if self.engine.is_sync:
            return 0
        n = self.engine.num_envs if env_id is None else env_id.shape[0]
        if n and n + self.outstanding < self.engine.batch_size:
            raise PoolStateError(
                f"step() with {n} envs and {self.outstanding} in flight cannot give a batch of "
                f"{self.engine.batch_size}: nothing was sent"
            )
        return 0

    cdef int begin_send(self) except -1:
        """Casting an array may let other threads run: they must not send meanwhile."""
        if self.is_sending:
            raise PoolStateError("another thread is sending to this pool at this moment: let one thread send")
        self.is_sending = True
        return 0

    cdef void launch(self, const int32_t* ids, int32_t n, bint returns_at_once) noexcept:
        if n:
            if self.is_shelved:
                if self.outstanding == 0 and not self.keeps_shelf:
                    self.end_shelf()
                self.note_sent(ids, n)
            self.outstanding += n
            enqueue(self.engine, ids, n)
            publish(self.engine, n, returns_at_once)
        self.sent_at = 0 if returns_at_once else ep_now()

    def send(self, action, env_id=None):
        """Sends actions without waiting.

        Parameters
        ----------
        action : array_like or dict
            (n, *action shape), cast to the action's dtype; or a dict of such arrays, not cast, optionally with
            "env_id".
        env_id : array_like of int, optional
            (n,) ids of idle envs, each once; default all envs.

        Raises
        ------
        ActionError
            Wrong dtype, shape, number or value.
        EnvIdError
            Ids out of range, repeated, or in flight.
        PoolStateError
            Closed, or used after a fork.
        """
        self.put(action, env_id, False)

    def send_reset(self, env_id=None, seeds=None, bint returns_at_once=False):
        """Sends resets; with seeds (uint64, one per id), reseeds first. Without env_id, drops rows in flight first.

        returns_at_once: recv_reset() follows.
        """
        cdef Engine* e
        cdef const int32_t* ids = NULL
        cdef int32_t n, i, reseeded = 0
        env_id = as_ids(env_id)
        self.check_open()
        e = self.engine
        if returns_at_once:
            self.check_alone()
        if env_id is None:
            self.check_not_drawn(e.all_ids, e.num_envs)     # before rows are dropped
            self.drain()
        self.begin_send()
        try:
            n = self.take_ids(env_id, &ids, True)
            for i in range(n):
                e.reset[ids[i]] = PENDING
                if seeds is not None and seeds[i] is not None:
                    e.seeds[ids[i]] = <uint64_t>seeds[i]
                    reseeded += not e.seed_pending[ids[i]]
                    e.seed_pending[ids[i]] = 1
            ep_add_sc32(&e.seeds_pending, reseeded)
            self.launch(ids, n, returns_at_once)
        finally:
            self.is_sending = False
        return n

    # ---- dropping what is in flight ----------------------------------------------------------------------------------

    cdef int drain(self) except -1:
        """Waits until nothing is in flight and drops the rows nobody has received."""
        cdef Engine* e = self.engine
        cdef bint done
        cdef int64_t awaited
        if self.outstanding or self.is_shelved:
            self.check_alone()
        if self.is_shelved:
            self.drop_arrivals()
            self.keeps_shelf = False
            self.forget_in_flight()
        while self.outstanding:
            awaited = self.outstanding
            self.waiting += 1
            with nogil:
                done = wait_drained(e, awaited, SLICE)
            self.waiting -= 1
            PyErr_CheckSignals()
            self.check_open()
            if not done or self.outstanding != awaited or self.is_sending:      # another thread sends meanwhile
                continue
            self.forget_in_flight()
        return 0

    cdef void forget_in_flight(self) noexcept:
        """Makes all envs idle, none of which is being stepped."""
        cdef Engine* e = self.engine
        self.outstanding = 0
        memset(e.busy, 0, e.num_envs)
        memset(e.errors, 0, e.num_envs * sizeof(int32_t))
        e.failures = 0
        self.empty_blocks()
