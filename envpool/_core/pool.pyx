"""The pool as Python sees it: its life cycle, what goes in and what comes out.

A pool owns its parts: the engine with its threads, the guard, the action table, whole and partial batches, and the
frame renderer. Every public call enters through the guard, uses each part it needs once, and leaves through the guard;
see guard.pyx for what that ensures. Everything here runs with the GIL held, apart from waits.

Invariants whenever Python code can run:
- `outstanding` rows have been sent and not handed out; `busy` marks their envs, and no others.
- A call that raises before it publishes has changed nothing but action slots of idle envs.
- A wait that is interrupted, e.g. by Ctrl-C, leaves its batch in the pool: the next recv() returns it.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envpool._core.actions cimport ActionTable
from envpool._core.atomic cimport ep_add_sc32, ep_now
from envpool._core.batches cimport Batches, check_can_fill, check_fills, check_fits
from envpool._core.blocks cimport BatchBlock, BlockStore
from envpool._core.definition cimport env_of
from envpool._core.engine cimport Orphan, engine_new
from envpool._core.failures cimport CreateFailure, FailureReports, raise_create_failure, raise_start_failure
from envpool._core.frames cimport FrameRenderer
from envpool._core.guard cimport (
    CLOSED, CLOSING, Guard, NEW, NOTHING_ELSE, OPEN, RECEIVING, RENDERING, STOPPED, WAITING, PyThread_get_thread_ident,
    begin, enter, is_open, leave,
)
from envpool._core.inputs cimport (
    ResetOptions, as_ids, as_seeds, check_idle, checked_ids, hold, release, take_idle, unhold,
)
from envpool._core.partial cimport ENDING, PartialBatches, WHOLE
from envpool._core.pending cimport NO_SEED
from envpool._core.player_actions cimport PlayerTable
from envpool._core.players cimport ACTS, HAS_ROW
from envpool._core.policy cimport PATIENCE, SLICE
from envpool._core.results cimport ResultTemplate
from envpool._core.scheduler cimport await_workers, engine_start, publish, release_workers, stop_workers
from envpool._core.structs cimport DISABLED, Engine, GIVEN_UP, PENDING, REFUSED, RUNNING, SAME_STEP, USED

from envpool._core.definition import describe
from envpool.errors import EnvIdError, PoolStateError

cnp.import_array()


cdef enum BytesOfEnv:
    PLAYER_FLAGS    # of its places for players, see players.pxd
    LEGAL_MOVES     # nonzero for each legal move
    IS_BROKEN       # whether its last step or reset failed


cdef object assign_cpus(Engine* e, object nodes):
    """Sets the CPUs of the workers, by NUMA node; returns what must live as long as the engine."""
    cpus = np.concatenate(nodes).astype(np.int32)
    ends = np.cumsum([len(node) for node in nodes[: e.num_nodes]], dtype=np.int32)
    e.cpus = <const int32_t*>cnp.PyArray_DATA(cpus)
    e.num_cpus = <int32_t>cnp.PyArray_SIZE(cpus)
    e.node_ends = <const int32_t*>cnp.PyArray_DATA(ends)
    return cpus, ends


cdef class SendPart:
    """Additional work of a send, such as recording its actions; see Pool.send_actions()."""

    cdef int check(self, const int32_t* ids, int32_t n, bint receives) except -1:
        """Raises unless the part accepts a send to these envs, of which nothing has been sent yet. It runs no code of
        the user's."""
        raise NotImplementedError

    cdef void commit(self, const int32_t* ids, int32_t n) noexcept:
        """Does the part of a send that is certain, right before it is published. It runs no Python code."""


# Hidden from the garbage collector, which could clear the lists of blocks while threads still write to the blocks. It
# sees a cycle that contains a pool through the attributes of a Python subclass.
@cython.no_gc
cdef class Pool:
    """Environments of one definition and the threads that step them.

    Parameters
    ----------
    capsule : PyCapsule
        The env definition.
    num_envs, batch_size, num_threads : int
        Sizes; a batch_size equal to num_envs makes the pool sync, a smaller one makes it async.
    thread_affinity_offset : int
        Worker i is pinned to CPU number offset + i of `nodes`; a negative offset pins no worker.
    nodes : list of list of int
        CPUs of each NUMA node among which workers and envs are divided; a single list binds the workers to no node.
    max_episode_steps : int
        Time limit in steps.
    autoreset : int
        Auto-reset mode: 0 next step, 1 same step, 2 disabled.
    seeds : callable
        Returns the seeds, uint64 (num_envs,), or None for envs that are not seeded. It is not called if the pool does
        not fit into memory.
    style : object
        The API style: ``optional``, the names of optional arrays that it uses; ``returns_final``, whether it uses the
        fields of last steps; ``raises_causes``, whether exceptions of Python environments are raised themselves;
        ``statistics``, where the pool counts; ``transforms`` of batches, or None;
        ``forms(names)``, which returns the nests of reset() and step(); ``add_errors``, which adds texts of failures;
        ``finish``, which completes results; ``flatten_action``, which makes arrays of structured actions, or None;
        ``view(names, of_players)`` and ``groups``, of envs with players.
    restarts : bool
        If True, failures of envs become texts in the results, else exceptions.
    step_timeout : int
        Time after which a worker counts as stuck in an env, in nanoseconds; 0: workers are not watched.
    refused : int
        Floats that actions must not contain: 0 none, 1 NaN, 2 NaN and infinity.
    movers_only : bool
        Where players move in turn: if True, only the player whose turn it is has a row, until the episode ends.
    checks_moves : bool
        Where players move in turn: if True, moves that are not legal are refused.

    Raises
    ------
    MemoryError, EnvCreateError, OSError
        The envs or the batches do not fit, the envs could not be created, or the threads could not be started.
    """

    def __cinit__(self, *args, **kwargs):
        self.guard = Guard()        # also for a pool whose __init__ never runs: its calls raise

    def __init__(self, capsule, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                 int32_t thread_affinity_offset, list nodes, int32_t max_episode_steps, int32_t autoreset, seeds,
                 style, bint restarts=False, int64_t step_timeout=0, int refused=0, bint movers_only=False,
                 bint checks_moves=True):
        cdef Engine* e
        cdef cnp.ndarray seed
        cdef CreateFailure failure
        cdef Guard guard = self.guard
        if guard.state != NEW or self.engine != NULL:
            raise PoolStateError("this pool is already initialized")
        about = describe(capsule)
        store = BlockStore(about.fields, batch_size, style.optional, autoreset == SAME_STEP, style.returns_final,
                           about.num_players)
        check_fits(store, num_envs)
        view = style.view(store.names, store.of_players)
        names = store.names if view is None else view.names
        reset_nest, step_nest = style.forms(names)
        given = seeds()
        seed = as_seeds(given, num_envs)[0]
        if about.num_players:
            self.actions = PlayerTable(about.actions, refused, style.flatten_action, about.num_players, style.groups,
                                       about.is_turn_based)
        else:
            self.actions = ActionTable(about.actions, refused, style.flatten_action)
        self.statistics = style.statistics
        failures = FailureReports(restarts, style.raises_causes)
        self.batches = Batches(guard, store, failures, self.statistics, style.transforms, view)
        self.partial = PartialBatches(guard, self.batches)
        self.frames = FrameRenderer(guard, self.partial)
        self.reset_template = ResultTemplate(reset_nest, names, style.add_errors, style.finish)
        self.step_template = ResultTemplate(step_nest, names, style.add_errors, style.finish)
        self.step_nest = step_nest
        if view is None:
            store.use_prototypes(self.step_template)
        self.capsule = capsule
        self.orphan = Orphan(capsule)
        e = engine_new(env_of(capsule), num_envs, batch_size, min(num_threads, num_envs), thread_affinity_offset,
                       <int32_t>len(nodes), max_episode_steps, autoreset, step_timeout, &failure)
        if e == NULL:
            raise_create_failure(about.name, num_envs, &failure)
        self.engine = self.partial.engine = self.frames.engine = guard.engine = e
        self.placement = assign_cpus(e, nodes)
        if e.turns != NULL:
            e.turns.movers_only, e.turns.checks_moves = movers_only, checks_moves
        memcpy(e.seeds, cnp.PyArray_DATA(seed), num_envs * sizeof(uint64_t))
        if given is None:
            memset(e.seed_pending, NO_SEED, num_envs)
        self.batches.attach(e, style.block_source())
        self.statistics.attach(e)
        failed = engine_start(e)
        if failed:
            raise_start_failure(failed, e.started, num_threads)
        guard.state = OPEN

    def __dealloc__(self):
        # After a fork the threads are gone and may have held any lock, so the child leaves its copy alone.
        if self.engine == NULL or self.guard.is_forked():
            return
        # The last reference may die anywhere: in an env, or where an env waits for a lock that this thread has.
        with nogil:
            stop_workers(self.engine)
        if not self.guard.is_in_env():
            with nogil:
                await_workers(self.engine, PATIENCE)
        with nogil:
            release_workers(self.engine)
        self.drop_engine()

    def close(self):
        """Stop and join the threads and free the envs. Arrays handed out stay valid. It may be called again.

        A call that another thread is inside of raises PoolStateError, and close() returns after it. If this thread is
        inside of a call, which a signal handler or a destructor has interrupted, the envs are freed when that call
        ends. Threads are left to themselves, with all that they use, if they are stuck in an env for longer than the
        step timeout, if a signal handler raises an exception while close() waits for them, or if an env closes its own
        pool.
        """
        self.end(True)

    def _close_at_once(self):
        """Do what close() does, but leave threads to themselves rather than wait for them."""
        self.end(False)

    cdef int end(self, bint waits) except -1:
        """Closes the pool."""
        if self.engine == NULL or self.guard.state == NEW:
            return 0
        if self.guard.state == OPEN and not self.guard.is_forked():
            self.guard.state = CLOSING
            self.guard.closer = PyThread_get_thread_ident()
            try:
                self.stop(waits and not self.guard.is_in_env())
            finally:
                self.guard.closer = 0
                if not self.guard.is_forked():      # by a signal handler
                    with nogil:
                        release_workers(self.engine)
                    self.guard.state = STOPPED
                    if not self.guard.used:
                        self.drop_engine()
        return self.guard.await_closed() if waits else 0

    cdef int stop(self, bint waits) except -1:
        """Tells the workers to leave the engine, and waits for those that are not stuck. Raises for a signal."""
        cdef bint have_left = False
        with nogil:
            stop_workers(self.engine)
        while waits and not have_left and not self.guard.is_forked():
            with nogil:
                have_left = await_workers(self.engine, SLICE)
            if not have_left:
                PyErr_CheckSignals()
        return 0

    cdef void drop_engine(self) noexcept:
        """Frees the engine of a stopped pool that no call is inside, or leaves it to threads that are still in it."""
        cdef Engine* e = self.engine
        self.guard.state = CLOSED
        self.engine = self.guard.engine = NULL
        self.orphan.adopt(e, self.batches.in_flight, self.partial.block_memory, self.statistics)
        self.frames.drop_memory()
        self.partial.drop_memory()

    cdef void end_visit(self, int visit) noexcept:
        """Ends what enter() began; the last call that leaves a stopped pool drops its engine."""
        if leave(self.guard, visit):
            self.drop_engine()

    @property
    def _is_closed(self):
        """Whether close() was called."""
        return self.guard.state not in (NEW, OPEN)

    @property
    def num_outstanding(self):
        """Number of rows sent and not yet received."""
        return 0 if self.engine == NULL else self.engine.outstanding

    @property
    def _blocks_allocated(self):
        """Number of batches allocated since the pool was made; constant once recycling has settled."""
        return 0 if self.batches is None else self.partial.block_counts()[0]

    def _totals(self):
        """Return what the pool has counted, also if it is closed: a dict, see ``Statistics.totals``."""
        if self.engine == NULL and self.guard.state != CLOSED:
            self.guard.check_open()
        return self.statistics.totals(self.partial.block_counts())

    # ---- sending -----------------------------------------------------------------------------------------------------

    cdef void launch(self, const int32_t* ids, int32_t n, bint returns_at_once) noexcept:
        """Publishes n envs that are marked as busy."""
        cdef Engine* e = self.engine
        if n:
            if self.partial.mode != WHOLE:
                self.partial.note_sent(ids, n)
            e.outstanding += n
            publish(e, ids, n, returns_at_once)
        e.sent_at = 0 if returns_at_once else ep_now()

    cdef int32_t send_actions(self, object action, object env_id, SendPart part, int visit,
                              int activities) except -1:
        """Sends actions and returns the number of rows. With RECEIVING, the visit receives from then on.

        If `part` is not None, it must accept the send. No code of the user's runs from the conversion of the actions to
        the launch, unless an exception is raised, in which case nothing was sent.
        """
        cdef Engine* e = self.engine
        cdef const int32_t* ids = NULL
        cdef int32_t n = self.actions.load(e, action, env_id, &ids)
        cdef bint is_short = activities and not e.is_sync and n and n + e.outstanding < e.batch_size
        if part is not None or not is_open(self.guard) or self.guard.activities & activities or is_short:
            self.check_send(ids, n, part, visit, activities)
        begin(self.guard, visit, activities)
        self.statistics.steps += n
        if part is not None:
            part.commit(ids, n)
        self.launch(ids, n, activities)
        return n

    cdef int check_send(self, const int32_t* ids, int32_t n, SendPart part, int visit, int activities) except -1:
        """Raises, with the envs idle again, unless a send whose envs are marked as busy may be launched."""
        try:
            self.guard.check_open()
            self.guard.check_free(activities, self.guard.visits[visit].call)
            if activities:
                check_fills(self.engine, n)
            if part is not None:
                part.check(ids, n, activities)
        except BaseException:
            release(self.engine, ids, n)
            raise
        return 0

    cdef bint redirect(self, BatchBlock block) noexcept:
        """Lets the envs of a sync pool that are sent next write to a block of the caller; returns whether.

        It does nothing if the rows of the next batch go elsewhere: other envs are in flight, or partial batches are on.
        """
        if self.engine.outstanding:
            return False
        if self.partial.mode == ENDING:
            self.partial.end()
        if self.partial.mode != WHOLE:
            return False
        self.batches.redirect(block)
        return True

    cdef int32_t send_resets(self, object env_id, object seeds, ResetOptions options, int visit,
                             int activities) except -1:
        """Sends resets and returns the number of rows; without env_id, drops the rows in flight first.

        `env_id` is a result of as_ids(); `options` may be None. With RECEIVING, the visit receives from then on.
        """
        cdef Engine* e = self.engine
        cdef const int32_t* ids = NULL
        cdef int32_t n, i, reseeded = 0
        cdef uint8_t how = PENDING if self._continues_games or e.autoreset == DISABLED else GIVEN_UP
        cdef const uint64_t* values
        cdef const uint8_t* has_seed
        seed_values, seed_mask = as_seeds(seeds, e.num_envs if env_id is None else env_id.shape[0])
        values = <const uint64_t*>cnp.PyArray_DATA(seed_values)
        has_seed = <const uint8_t*>cnp.PyArray_DATA(seed_mask)
        self.guard.check_open()
        begin(self.guard, visit, activities)
        if env_id is None:
            self.partial.drop_in_flight()
        n = take_idle(e, env_id, &ids, True)
        if n != cnp.PyArray_SIZE(seed_mask):
            release(e, ids, n)
            raise EnvIdError("env_id changed its shape while the seeds were being converted; nothing was sent")
        if options is not None:
            try:
                options.put(e, ids, n)
            except BaseException:
                release(e, ids, n)
                raise
        self.batches.note_resets(ids, n, has_seed, how)
        for i in range(n):
            e.reset[ids[i]] = how
            if has_seed[i]:
                e.seeds[ids[i]] = values[i]
                reseeded += not e.seed_pending[ids[i]]
                e.seed_pending[ids[i]] = 1
        ep_add_sc32(&e.seeds_pending, reseeded)
        self.launch(ids, n, activities)
        return n

    def _continue(self, env_id):
        """Let envs be stepped whose episodes have ended, if ``autoreset_mode`` is "disabled": the episodes continue.

        Parameters
        ----------
        env_id : array_like of int
            (n,) ids of idle envs, each once. Nothing happens to envs that were never reset or have failed.
        """
        cdef int visit = enter(self.guard, NOTHING_ELSE, b"step")
        cdef Engine* e = self.engine
        cdef cnp.ndarray ids
        cdef const int32_t* id
        cdef int64_t i
        try:
            ids = checked_ids(e, env_id)
            self.guard.check_open()
            id = <const int32_t*>cnp.PyArray_DATA(ids)
            check_idle(e, id, ids.shape[0], False)
            for i in range(ids.shape[0]):
                if e.reset[id[i]] == REFUSED and not e.seed_pending[id[i]] and not e.broken[id[i]]:
                    e.reset[id[i]] = RUNNING
        finally:
            self.end_visit(visit)

    def send(self, action, env_id=None):
        """Send actions without waiting.

        Parameters
        ----------
        action : array_like or dict
            (n, *action shape), cast to the dtype of the action; or a dict of such arrays, which are not cast, and
            optionally "env_id".
        env_id : array_like of int, optional
            (n,) ids of idle envs, each once; all envs by default.

        Raises
        ------
        ActionError
            Actions with a wrong dtype, shape, number or value.
        EnvIdError
            Ids that are out of range, repeated, or in flight.
        PoolStateError
            The pool is closed or forked.
        """
        cdef int visit = enter(self.guard, NOTHING_ELSE, b"send")
        try:
            self.send_actions(action, env_id, None, visit, NOTHING_ELSE)
        finally:
            self.end_visit(visit)

    def _check_actions(self, action, env_id):
        """Raise what send() would raise for these actions, and send nothing."""
        cdef const int32_t* ids = NULL
        cdef int32_t n
        cdef int visit = enter(self.guard, NOTHING_ELSE, b"send")
        try:
            n = self.actions.load(self.engine, action, env_id, &ids)
            release(self.engine, ids, n)
        finally:
            self.end_visit(visit)

    def _send_reset(self, env_id=None, seeds=None, ResetOptions options=None):
        """Send resets without waiting, and return the number of envs.

        Parameters
        ----------
        env_id : array_like of int, optional
            (n,) ids of idle envs, each once. By default all envs; rows in flight are dropped.
        seeds : sequence of int or None, optional
            (n,) seeds; None keeps the generator of an env.
        options : ResetOptions, optional
            Options of these resets.
        """
        # Dropping the rows in flight is receiving them.
        cdef int visit = enter(self.guard, RECEIVING if env_id is None else NOTHING_ELSE, b"async_reset")
        try:
            return self.send_resets(as_ids(env_id), seeds, options, visit, NOTHING_ELSE)
        finally:
            self.end_visit(visit)

    # ---- receiving ---------------------------------------------------------------------------------------------------

    cdef object receive_resets(self, object env_id, ResultTemplate template):
        """Returns the rows of envs that reset, and of no others; without env_id, the next batch."""
        if env_id is None:
            return self.receive(template, False, -1)
        if self.engine.is_sync and self.engine.outstanding == env_id.shape[0] > 0 and self.partial.mode == WHOLE:
            batch = self.receive(template, False, env_id.shape[0])
            if batch is not None:
                return batch
        return self.partial.receive_some(template, None, None, env_id)

    cdef object receive(self, ResultTemplate template, bint may_be_empty, int64_t rows):
        """Returns the next batch. may_be_empty: an empty batch if nothing is in flight.

        None: other threads have changed which envs are in flight, so the batch would not have `rows` rows; it stays in
        the pool. `rows` is the number of envs that must be in flight; a negative number stands for any, which a batch
        of an async pool needs unless it is empty.
        """
        if may_be_empty and self.engine.outstanding == 0:
            return self.batches.empty(template)
        check_can_fill(self.engine)
        if self.partial.mode != WHOLE:
            return self.partial.receive(template, None, -1, -1, rows)
        batch = None
        while batch is None and (rows < 0 or rows == self.engine.outstanding):
            self.batches.wait()
            batch = self.batches.deliver(template, rows)
        return batch

    def recv(self, bint reset=False, bint return_info=True, *, min_ready=None, timeout=None, env_id=None, env_ids=None):
        """Wait for the next batch; or for certain envs, for a number of envs, or for some time.

        Parameters
        ----------
        reset, return_info : bool
            With reset=True, the batch has the form that reset() returns. EnvPool's return_info has no effect.
        min_ready : int, optional
            Wait until this many envs are ready, and return all that are ready by then. While no env is in flight, 0
            returns no rows, and from then on the rows of envs that are sent together become ready one by one.
        timeout : float, optional
            Wait at most this many seconds, and return the results that are ready by then, possibly none.
        env_id : array_like of int, optional
            (n,) ids of envs in flight, each once: wait for these envs and return no others.

        Returns
        -------
        tuple or TimeStep
            In the form of step() or reset(); fresh arrays, yours to keep and to write. With env_id, the rows have that
            order; otherwise, in a sync pool, the order in which the envs were sent. Envs that are not returned stay in
            flight.

        Raises
        ------
        PoolStateError
            Fewer envs are in flight than were asked for, another thread receives, or the pool is closed or forked.
        EnvIdError
            Ids that are out of range, repeated, or not in flight.
        ConfigError, TypeError
            A bad min_ready or timeout.
        EnvStepError
            Envs failed; the next recv() returns the batch.
        EnvTimeoutError
            The call waits for envs that have been running for longer than the step timeout.
        """
        cdef int visit = enter(self.guard, RECEIVING, b"recv")
        cdef ResultTemplate template = self.reset_template if reset else self.step_template
        try:
            if env_ids is not None:
                if env_id is not None:
                    raise TypeError("recv() takes env_id or env_ids, two names of one argument, not both")
                env_id = env_ids
            if min_ready is None and timeout is None and env_id is None:
                return self.receive(template, False, -1)
            return self.partial.receive_some(template, min_ready, timeout, env_id)
        finally:
            self.end_visit(visit)

    def step(self, action, env_id=None):
        """Send actions and wait for the next batch: ``send(action, env_id)``, then ``recv()``, with their exceptions.

        Returns
        -------
        tuple or TimeStep
            Sync pools: the rows of env_id, in that order. Async pools: the next batch_size rows that are ready.
        """
        cdef int32_t n
        cdef int visit = enter(self.guard, WAITING, b"step")
        try:
            n = self.send_actions(action, env_id, None, visit, RECEIVING)
            return self.receive(self.step_template, n == 0, -1)
        finally:
            self.end_visit(visit)

    def _reset_envs(self, env_id=None, seeds=None, ResetOptions options=None):
        """Send resets and wait for the rows of these envs, or without env_id for the next batch. See _send_reset()."""
        cdef int visit = enter(self.guard, WAITING, b"reset")
        try:
            env_id = as_ids(env_id)
            self.send_resets(env_id, seeds, options, visit, RECEIVING)
            return self.receive_resets(env_id, self.reset_template)
        finally:
            self.end_visit(visit)

    # ---- Python environments -----------------------------------------------------------------------------------------

    def _use_envs(self, bytes call, env_id, function):
        """Call a function with a list of idle envs, by id, and return its result; no other call may use them meanwhile.

        Parameters
        ----------
        call : bytes
            Name of the public call, for messages.
        env_id : array_like of int, optional
            (n,) ids, each once; all envs by default.
        function : callable
            It may wait without the GIL, and may run any code.

        Raises
        ------
        EnvIdError
            Ids that are out of range, repeated, or in flight.
        PoolStateError
            Another call uses one of the envs, or the pool is closed or forked.
        """
        cdef int visit = enter(self.guard, NOTHING_ELSE, call)
        cdef cnp.ndarray ids
        cdef const int32_t* id
        try:
            ids = checked_ids(self.engine, env_id)
            id = <const int32_t*>cnp.PyArray_DATA(ids)
            self.guard.check_open()
            check_idle(self.engine, id, ids.shape[0], False)
            hold(self.engine, id, ids.shape[0], USED)
            try:
                return function(ids.tolist())
            finally:
                unhold(self.engine, id, ids.shape[0])
        finally:
            self.end_visit(visit)

    # ---- players -----------------------------------------------------------------------------------------------------

    cdef cnp.ndarray bytes_of_idle(self, object env_id, int what, bint are_known=False):
        """Returns what the engine notes of idle envs, see BytesOfEnv: a row for each env.

        `are_known`: the caller knows that the envs are idle; somebody may be rendering them.
        """
        cdef int visit = enter(self.guard, NOTHING_ELSE, b"sample_actions")
        cdef Engine* e = self.engine
        cdef const uint8_t* source = e.broken
        cdef int64_t i, size = 1
        cdef cnp.ndarray ids, rows
        cdef const int32_t* id
        if what == PLAYER_FLAGS:
            source, size = e.player_flags, e.num_players
        elif what == LEGAL_MOVES:
            source, size = e.turns.legal, e.turns.num_moves
        try:
            ids = checked_ids(e, env_id)
            rows = np.empty((ids.shape[0], size), np.uint8)
            self.guard.check_open()
            id = <const int32_t*>cnp.PyArray_DATA(ids)
            if not are_known:
                check_idle(e, id, ids.shape[0], True)
            for i in range(ids.shape[0]):
                memcpy(<char*>cnp.PyArray_DATA(rows) + i * size, source + id[i] * size, size)
            return rows
        finally:
            self.end_visit(visit)

    def _player_mask(self, env_id):
        """Return which players have a row in the last results of idle envs, bool (n, places for players).

        Parameters
        ----------
        env_id : array_like of int
            (n,) ids; they may repeat.
        """
        return (<object>self.bytes_of_idle(env_id, PLAYER_FLAGS) & HAS_ROW).astype(np.bool_)

    def _acting(self, env_id):
        """Return which players of envs whose rows were received act in the next step, bool (n, places for players).

        Parameters
        ----------
        env_id : array_like of int
            (n,) ids; they may repeat.
        """
        return (<object>self.bytes_of_idle(env_id, PLAYER_FLAGS, True) & ACTS).astype(np.bool_)

    def _legal_mask(self, env_id):
        """Return which moves are legal for the players whose turn it is in idle envs, bool (n, moves); all of them
        where it is nobody's turn. None if the env does not say.

        Parameters
        ----------
        env_id : array_like of int
            (n,) ids; they may repeat.
        """
        legal = self.bytes_of_idle(env_id, LEGAL_MOVES).astype(np.bool_)
        legal[~legal.any(1)] = True
        return legal if legal.shape[1] else None

    def _have_failed(self, env_id):
        """Return which idle envs cannot be drawn, since their last step or reset failed, bool (n,).

        Parameters
        ----------
        env_id : array_like of int
            (n,) ids; they may repeat.
        """
        return self.bytes_of_idle(env_id, IS_BROKEN)[:, 0].astype(np.bool_)

    # ---- rendering ---------------------------------------------------------------------------------------------------

    def _render_frames(self, env_id, int32_t height, int32_t width, int32_t camera, bytes assets=None):
        """Draw frames of envs; see ``EnvPool.render`` for ids, results and errors.

        Parameters
        ----------
        env_id : array_like of int
            (n,) ids, in any order; an id that appears twice is drawn once.
        height, width : int
            Size of every frame, in pixels; the same in all calls for one pool.
        camera, assets
            See ``envpool_frames`` in ``include/envpool/env.h``.
        """
        cdef int visit = enter(self.guard, RENDERING, b"render")
        try:
            return self.frames.render(env_id, height, width, camera, assets)
        finally:
            self.end_visit(visit)
