"""The pool as Python sees it: env ids and actions in, batches out.

Everything here runs with the GIL, apart from the waits; so one call at a time changes the pool, and one thread may
send while another waits in recv. What must hold between calls:
- `outstanding` rows were sent and not handed out; `busy` marks their envs, and only those.
- A call that raises before it publishes has changed nothing but action slots of idle envs.
- A wait that is interrupted (Ctrl-C) leaves its batch where it is: the next recv returns it.
"""

import os

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from posix.unistd cimport usleep

from envpool._core.actions cimport ActionTable
from envpool._core.atomic cimport ep_add_sc32, ep_load_rlx32, ep_load_sc32, ep_now, ep_store_rlx64
from envpool._core.blocks cimport BatchBlock, BlockStore
from envpool._core.definition cimport env_of
from envpool._core.engine cimport (
    CLOSED, Engine, ENV_ID, PENDING, READY, REFUSED, engine_free, engine_new, engine_start, engine_stop, enqueue,
    ep_available_cpus, ep_fork_generation, ep_watch_forks, is_ready, publish, run_if_quick, wait_drained, wait_ready,
)
from envpool._core.results cimport Form
from envpool.env cimport envpool_env

from envpool._core.definition import describe
from envpool.errors import ActionError, ConfigError, EnvIdError, EnvStepError, PoolStateError

cnp.import_array()
ep_watch_forks()

# A wait looks for signals this often, ns.
cdef int64_t SLICE = 50000000

NEXT_STEP, SAME_STEP, DISABLED = range(3)
RECV = "call recv() until it has returned them, or close() the pool"


def available_cpus():
    """CPUs that this process may run on."""
    return ep_available_cpus()


@cython.no_gc_clear     # the threads write into the blocks until __dealloc__ has stopped them
cdef class Pool:
    """Environments of one kind, a ring, and the threads that step them.

    Parameters
    ----------
    capsule : PyCapsule
        The kind of env.
    num_envs, batch_size, num_threads : int
        Sizes; batch_size is at most num_envs, equal means sync.
    thread_affinity_offset : int
        Worker i is pinned to available CPU number offset + i; negative: not pinned.
    max_episode_steps : int
        Time limit.
    autoreset : int
        0 next step, 1 same step, 2 disabled.
    seeds : callable
        Returns one seed for each env; not called for pools that do not fit into memory.
    style : object
        The API style: ``optional``, names of optional arrays that it uses, and ``forms(names)``, which returns the nests of array names that reset and
        step give.

    Raises
    ------
    MemoryError
        The envs or batches do not fit.
    OSError
        The threads could not be started.
    """

    cdef Engine* engine
    cdef BlockStore store
    cdef list in_flight             # the BatchBlock behind each of engine.blocks
    cdef ActionTable actions
    cdef Form reset_form
    cdef Form step_form
    cdef object capsule             # keeps the env's tables alive
    cdef int32_t* scratch           # ids of the call being made (num_envs)
    cdef int64_t outstanding
    cdef int64_t fork_generation
    cdef int64_t sent_at            # when send() last returned; 0: step() or nothing
    cdef int waiting                # threads inside a wait
    cdef bint is_sending            # a call is between its first check and its publish
    cdef bint is_closing            # close() has begun

    def __cinit__(self, *args, **kwargs):
        self.engine = NULL
        self.scratch = NULL

    def __init__(self, capsule, int32_t num_envs, int32_t batch_size, int32_t num_threads, int32_t thread_affinity_offset,
                 int32_t max_episode_steps, int32_t autoreset, seeds, style):
        cdef const envpool_env* kind = env_of(capsule)
        cdef BatchBlock block
        cdef int64_t i
        if self.engine != NULL:
            raise PoolStateError("this pool is already initialised")
        kind_name, fields, actions = describe(capsule)
        self.store = BlockStore(fields, batch_size, style.optional, autoreset == SAME_STEP)
        self.check_memory(kind, num_envs, batch_size)
        self.actions = ActionTable(actions)
        reset_nest, step_nest = style.forms(self.store.names)
        self.reset_form = Form(reset_nest, self.store.names)
        self.step_form = Form(step_nest, self.store.names)
        self.capsule = capsule
        self.fork_generation = ep_fork_generation
        self.scratch = <int32_t*>malloc(num_envs * sizeof(int32_t))
        self.engine = engine_new(kind, num_envs, batch_size, min(num_threads, num_envs), thread_affinity_offset,
                                 max_episode_steps, autoreset)
        if self.engine == NULL or self.scratch == NULL:
            raise MemoryError(f"no memory for {num_envs} envs of kind {kind_name}")
        for i, seed in enumerate(seeds()):
            self.engine.seeds[i] = <uint64_t>seed
        self.in_flight = []
        for i in range(self.engine.num_blocks):
            block = self.store.new_block()
            self.in_flight.append(block)
            self.engine.blocks[i] = &block.c
        failed = engine_start(self.engine)
        if failed:
            started = self.engine.started
            self.close()
            raise OSError(failed, f"only {started} of num_threads={num_threads} threads could be started: ask for fewer")

    cdef int check_memory(self, const envpool_env* kind, int64_t num_envs, int64_t batch_size) except -1:
        """Refuses what could never fit, before the system kills the process for it."""
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        blocks = self.store.block_bytes() * (num_envs // batch_size + 2)
        if blocks + 64 * num_envs > physical:
            raise MemoryError(
                f"num_envs={num_envs} with batch_size={batch_size} needs {(blocks + 64 * num_envs) / 2**30:.1f} GiB for its "
                f"batches alone, this machine has {physical / 2**30:.1f} GiB"
            )

    def __dealloc__(self):
        if self.engine != NULL:
            if self.fork_generation == ep_fork_generation:
                with nogil:
                    engine_stop(self.engine)
                engine_free(self.engine)
            # After a fork the threads are gone and may have held anything: the copy is left alone.
        free(self.scratch)

    def close(self):
        """Stops and joins the threads and frees the envs. Arrays handed out stay valid. May be called again."""
        cdef Engine* e = self.engine
        if e == NULL:
            return
        if self.fork_generation != ep_fork_generation:
            self.engine = NULL
            return
        if self.is_closing:             # by another thread: return when it is done, too
            while self.engine != NULL:
                with nogil:
                    usleep(100)
            return
        self.is_closing = True
        with nogil:
            engine_stop(e)
        while self.waiting or self.is_sending:      # let other threads that are inside notice
            with nogil:
                usleep(100)
        self.engine = NULL
        self.outstanding = 0
        engine_free(e)

    @property
    def is_closed(self):
        """Whether close() was called."""
        return self.engine == NULL or self.is_closing

    @property
    def num_outstanding(self):
        """Rows sent and not yet received."""
        return self.outstanding

    @property
    def blocks_allocated(self):
        """Batches allocated since the pool was made; constant once recycling has settled."""
        return self.store.allocated

    # ---- checks ------------------------------------------------------------------------------------------------------

    cdef inline int check_open(self) except -1:
        if self.engine == NULL or self.is_closing:
            raise PoolStateError("the pool is closed: make a new one")
        if self.fork_generation != ep_fork_generation:
            raise PoolStateError(
                "the pool was made before this process was forked, and its threads exist only in the parent: make the pool in the "
                "child, or start processes with the 'spawn' method"
            )
        return 0

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
                    f"{self.outstanding} of {e.num_envs} envs are still in flight (e.g. env {self.first_busy()}) and cannot be sent "
                    f"to again: pass env_id with the ids that were received, or {RECV}"
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
        if not cnp.PyArray_ISCARRAY_RO(a) or (cnp.PyArray_TYPE(a) != cnp.NPY_INT64 and cnp.PyArray_TYPE(a) != cnp.NPY_INT32):
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
                f"env {id} has no running episode and autoreset_mode is 'disabled': call reset(env_id) for it first; nothing was sent"
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
                raise EnvIdError(f"players.env_id must equal env_id, one player per env; got {players!r} for env_id {expected!r}")
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
            (n, *action shape), cast to the action's dtype; or a dict of such arrays, not cast, optionally with "env_id".
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
        while not run_if_quick(e):
            self.waiting += 1
            with nogil:
                result = wait_ready(e, SLICE)
            self.waiting -= 1
            if result == READY and is_ready(e):     # again: another thread may have sent more since
                break
            PyErr_CheckSignals()                    # a handler may use the pool, too
            if self.engine == NULL or result == CLOSED:
                raise PoolStateError("the pool was closed while recv() waited")
            self.check_outstanding()
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
            raise PoolStateError("another thread is waiting in recv(), reset() or step() of this pool: let one thread receive")
        return 0

    cdef inline int check_outstanding(self) except -1:
        """Refuses a wait that could never end."""
        cdef Engine* e = self.engine
        if self.outstanding == 0:
            raise PoolStateError("recv() would wait for ever: nothing is in flight, call send(), async_reset() or step() first")
        if not e.is_sync and self.outstanding < e.batch_size:
            raise PoolStateError(
                f"recv() would wait for ever: {self.outstanding} envs are in flight and a batch needs {e.batch_size}: send to "
                f"{e.batch_size - self.outstanding} more envs first"
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
                f"step() or reset() with {n} envs and {self.outstanding} in flight cannot give a batch of {self.engine.batch_size}: nothing was sent"
            )
        return 0

    def recv_reset(self, bint may_be_empty):
        """Waits for the next batch in the form of reset()."""
        return self.get(self.reset_form, may_be_empty)


cdef object as_array(str name, object values):
    """An action as an array, whose dtype and shape are yet to be checked."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ActionError(f"action {name!r} must be an array, got {values!r}: {error}") from error


def as_ids(env_id):
    """Env ids as a 1-D array of integers, whose values are yet to be checked; None stays None."""
    cdef cnp.ndarray a
    try:
        if env_id is None:
            return None
        a = env_id if cnp.PyArray_CheckExact(env_id) else np.asarray(env_id)
    except (TypeError, ValueError) as error:
        raise EnvIdError(f"env_id must be a 1-D array of integers, got {env_id!r}: {error}") from error
    if cnp.PyArray_NDIM(a) == 0:
        a = a.reshape(1)
    if cnp.PyArray_NDIM(a) != 1 or (not cnp.PyArray_ISINTEGER(a) and a.size):
        raise EnvIdError(f"env_id must be a 1-D array of integers, got shape {np.shape(a)} and dtype {a.dtype}")
    return a


cdef dict flatten(dict nest):
    """Joins the keys of nested dicts with dots."""
    flat = {}
    for k, v in nest.items():
        if isinstance(v, dict):
            for inner, value in flatten(v).items():
                flat[f"{k}.{inner}"] = value
        else:
            flat[k] = v
    return flat
