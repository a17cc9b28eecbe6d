"""The pool as Python sees it: env ids and actions in, batches out.

Everything here runs with the GIL, apart from the waits; so one call at a time changes the pool, and one thread may
send while another waits in recv. What must hold between calls:
- `outstanding` rows were sent and not handed out; `busy` marks their envs, and only those.
- A call that raises before it publishes has changed nothing but action slots of idle envs.
- A wait that is interrupted (Ctrl-C) leaves its batch where it is: the next recv returns it.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from envpool._core.atomic cimport ep_add_sc32, ep_load_rlx32, ep_now, ep_store_rlx64
from envpool._core.blocks cimport BatchBlock
from envpool._core.engine cimport (
    CLOSED, DISABLED, ENV_ID, Engine, PENDING, READY, REFUSED, enqueue, is_ready, publish, run_if_quick, wait_drained,
    wait_ready,
)
from envpool._core.handle cimport Handle
from envpool._core.inputs cimport as_array, as_ids, flatten
from envpool._core.results cimport Form

from envpool.errors import EnvIdError, EnvStepError, PoolStateError

cnp.import_array()

# A wait looks for signals this often, ns.
cdef int64_t SLICE = 50000000

cdef str RECV = "call recv() until it has returned them, or close() the pool"


@cython.no_gc_clear     # as for Handle: the collector must not empty a pool whose threads run
cdef class Pool(Handle):
    """A pool: what was made by Handle, and the calls that step it."""

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

    cdef inline int begin_send(self) except -1:
        """Casting an array may let other threads run: they must not send meanwhile."""
        if self.is_sending:
            raise PoolStateError("another thread is sending to this pool at this moment: let one thread send")
        self.is_sending = True
        return 0

    cdef void launch(self, const int32_t* ids, int32_t n, bint returns_at_once) noexcept:
        if n:
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
        """Sends resets; with seeds (uint64, one per id), reseeds first. Without env_id, drops rows in flight first."""
        cdef Engine* e
        cdef const int32_t* ids = NULL
        cdef int32_t n, i, reseeded = 0
        env_id = as_ids(env_id)
        self.check_open()
        e = self.engine
        if returns_at_once:
            self.check_batch_follows(env_id)
        if env_id is None:
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

    cdef int drain(self) except -1:
        """Waits until nothing is in flight and drops the rows nobody has received."""
        cdef Engine* e = self.engine
        cdef bint done
        cdef int64_t k, awaited
        if self.outstanding:
            self.check_alone()
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
            self.outstanding = 0
            memset(e.busy, 0, e.num_envs)
            memset(e.errors, 0, e.num_envs * sizeof(int32_t))
            e.failures = 0
            e.next_block = 0
            e.alloc = 0
            e.base = e.head
            if e.is_sync:
                ep_store_rlx64(&e.expected, 0)
            for k in range(e.num_blocks):
                e.blocks[k].written = 0
        return 0

    # ---- receiving ---------------------------------------------------------------------------------------------------

    cdef int wait(self) except -1:
        """Waits for the next batch. Raises for a signal, a closed pool, failed envs; the batch stays in all cases."""
        cdef Engine* e = self.engine
        cdef int result
        if self.sent_at:
            e.absence += (ep_now() - self.sent_at - e.absence) >> 2
            self.sent_at = 0
        while True:
            result = READY
            if not run_if_quick(e):
                self.waiting += 1
                with nogil:
                    result = wait_ready(e, SLICE)
                self.waiting -= 1
            # Also when ready: an exception that Python raises as the call returns would take the batch with it.
            PyErr_CheckSignals()
            if self.engine == NULL or result == CLOSED:     # by another thread, or by a signal handler
                raise PoolStateError("the pool was closed while recv() waited")
            self.check_outstanding()
            if result == READY and is_ready(e):     # again: another thread, or a handler, may have used the pool since
                break
        if ep_load_rlx32(&e.failures) > 0:
            self.report_failures()
        return 0

    cdef int report_failures(self) except -1:
        """Raises EnvStepError for the failed envs of the ready batch, if any; once."""
        cdef Engine* e = self.engine
        cdef BatchBlock block = <BatchBlock>self.in_flight[e.next_block % e.num_blocks]
        cdef const int32_t* ids = <const int32_t*>block.c.core[ENV_ID]
        cdef int64_t i, n = self.outstanding if e.is_sync else e.batch_size
        cdef char text[256]
        failures = {}
        for i in range(n):
            code = e.errors[ids[i]]
            if code:
                text[0] = 0
                if e.kind.error_text != NULL:
                    e.kind.error_text(e.state, ids[i], code, text, sizeof(text))
                failures[ids[i]] = (<bytes>text).decode(errors="replace") or f"error code {code}"
                e.errors[ids[i]] = 0
        if failures:
            ep_add_sc32(&e.failures, -<int32_t>len(failures))
            raise EnvStepError(failures)
        return 0

    cdef object deliver(self, Form form):
        """Hands out the ready batch and puts a fresh block in its place."""
        cdef Engine* e = self.engine
        cdef int64_t slot = e.next_block % e.num_blocks, i, n
        cdef BatchBlock block = <BatchBlock>self.in_flight[slot]
        cdef BatchBlock fresh = self.store.exchange(block)
        if self.engine == NULL:         # making a block may start the garbage collector, and that anything
            raise PoolStateError("the pool was closed while recv() waited")
        n = self.outstanding if e.is_sync else e.batch_size
        cdef const int32_t* ids = <const int32_t*>block.c.core[ENV_ID]
        if n == e.num_envs:
            memset(e.busy, 0, n)
        else:
            for i in range(n):
                e.busy[ids[i]] = 0
        e.blocks[slot] = &fresh.c
        self.in_flight[slot] = fresh
        self.outstanding -= n
        if e.is_sync:
            e.base = e.head
            ep_store_rlx64(&e.expected, 0)
        else:
            e.next_block += 1
        if n == e.batch_size:
            return form.build(block.arrays)
        return form.build([a[:n] for a in block.arrays])

    cdef object empty(self, Form form):
        """A batch without rows."""
        return form.build([np.empty((0, *s), d) for s, d in zip(self.store.shapes, self.store.dtypes)])

    cdef object get(self, Form form, bint may_be_empty):
        self.check_open()
        self.check_alone()
        if may_be_empty and self.outstanding == 0:
            return self.empty(form)
        self.check_outstanding()
        self.wait()
        return self.deliver(form)

    cdef inline int check_alone(self) except -1:
        if self.waiting:
            raise PoolStateError(
                "another thread is waiting in recv(), reset() or step() of this pool: let one thread receive"
            )
        return 0

    cdef inline int check_outstanding(self) except -1:
        """Refuses a wait that could never end."""
        cdef Engine* e = self.engine
        if self.outstanding == 0:
            raise PoolStateError(
                "recv() would wait for ever: nothing is in flight, call send(), async_reset() or step() first"
            )
        if not e.is_sync and self.outstanding < e.batch_size:
            raise PoolStateError(
                f"recv() would wait for ever: {self.outstanding} envs are in flight and a batch needs {e.batch_size}: "
                f"send to {e.batch_size - self.outstanding} more envs first"
            )
        return 0

    def recv(self, bint reset=False, bint return_info=True):
        """Waits for the next batch.

        Parameters
        ----------
        reset : bool
            Give the batch the form that reset() returns.
        return_info : bool
            Unused; EnvPool's signature.

        Returns
        -------
        tuple or TimeStep
            As step(), or as reset(). Fresh arrays, yours to keep and to write.

        Raises
        ------
        PoolStateError
            Fewer envs in flight than a batch needs, closed, or used after a fork.
        EnvStepError
            Envs failed; the next recv() returns the batch.
        """
        return self.get(self.reset_form if reset else self.step_form, False)

    def step(self, action, env_id=None):
        """Sends actions and waits for the next batch: ``send(action, env_id)``, then ``recv()``.

        Parameters
        ----------
        action : array_like or dict
            See send().
        env_id : array_like of int, optional
            See send().

        Returns
        -------
        tuple or TimeStep
            Sync: the rows of env_id, in that order. Async: the next batch_size rows that are done.

        Raises
        ------
        ActionError, EnvIdError, PoolStateError, EnvStepError
            See send() and recv().
        """
        return self.get(self.step_form, self.put(action, env_id, True) == 0)

    cdef int check_batch_follows(self, env_id) except -1:
        """Refuses a step() or reset() that could not receive, before anything is sent."""
        self.check_alone()
        if self.engine.is_sync:
            return 0
        n = self.engine.num_envs if env_id is None else env_id.shape[0]
        if n and n + self.outstanding < self.engine.batch_size:
            raise PoolStateError(
                f"step() or reset() with {n} envs and {self.outstanding} in flight cannot give a batch of "
                f"{self.engine.batch_size}: nothing was sent"
            )
        return 0

    def recv_reset(self, bint may_be_empty):
        """Waits for the next batch in the form of reset()."""
        return self.get(self.reset_form, may_be_empty)
