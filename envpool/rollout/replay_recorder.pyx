"""Stepping a pool and adding its results to the ring of a replay buffer.

Each batch of a sync pool is copied into the ring when it is received: a few bytes beside a simulated step, and the
arrays of the batch are the user's for good, whatever the ring overwrites later.

Invariants whenever Python code can run:
- `pending` says what the pool is doing for this object. The ring has the newest observations, unless a reset of all
  envs is pending, or nothing was ever received.
- `known` is the number of actions and resets that the pool has been sent, see driver.pyx.

In a task with players, each place for a player is an env of the ring: place p of env i is its env i * places + p. A
step is a transition of the players whose turn it was. A pool with opponents returns merged batches, as for the recorder
of rollouts.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from envpool._core.actions cimport ActionField
from envpool._core.blocks cimport BlockStore
from envpool._core.guard cimport NOTHING_ELSE, RECEIVING, WAITING
from envpool._core.inputs cimport ResetOptions
from envpool._core.players cimport ACTS, flags_of
from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate
from envpool._core.structs cimport NEXT_STEP
from envpool.rollout.driver cimport PoolDriver
from envpool.rollout.ring cimport Ring
from envpool.rollout.ring_steps cimport DONE, TERMINATED, VALID

from envpool.errors import EnvStepError, PoolStateError

cnp.import_array()

cdef enum Pending:      # what was sent to the pool, and not received
    NOTHING
    STEP
    RESET_ALL
    RESET_SOME


cdef class ReplayRecorder(PoolDriver):
    """Records the steps of a sync pool in a ring; ``envpool.ReplayBuffer`` inherits its public methods.

    Parameters
    ----------
    pool : Pool
        The pool.
    make_ring : callable
        ``make_ring(obs, actions)`` makes the Ring for arrays of observations and actions: name, dtype and shape of one
        row of each.
    whole : collection of str
        Tasks with players: names of observations of whole environments, which the rows of all their players have.
    shown : numpy.ndarray, optional
        Of a pool with opponents, int32 (num_envs, places): the numbers of the players that the user controls. The pool
        writes to it.
    """

    cdef Ring ring
    cdef Pending pending
    cdef bint has_begun                     # the ring has the observations that the next action answers
    cdef cnp.ndarray ids                    # RESET_SOME: the envs, int32
    cdef cnp.ndarray marks                  # scratch: flags of a step
    cdef int64_t places                     # rows of an env: places for players, 1 without players
    cdef cnp.ndarray shown                  # of a pool with opponents; else None
    cdef cnp.ndarray acts                   # bool (num_envs, places): who acts next; None without players
    cdef cnp.ndarray ended                  # scratch: `final:mask` of each row
    cdef list repeats                       # of each array of observations: how often the ring has its rows
    # Numbers of arrays of the pool.
    cdef int elapsed
    cdef int reward
    cdef int terminated
    cdef int truncated
    cdef int player_terminated              # -1: no players
    cdef int player_truncated
    cdef int final_mask                     # -1: the pool has no final arrays
    cdef tuple obs                          # of the observations
    cdef tuple last_obs
    cdef const char** rows                  # scratch: pointers to the observations
    cdef const char** last_rows

    def __init__(self, Pool pool, make_ring, whole=(), cnp.ndarray shown=None):
        cdef BlockStore store
        cdef bint has_players
        pool.guard.check_open()
        has_players = pool.engine.num_players > 0
        store = pool.batches.store
        names = store.names
        PoolDriver.__init__(self, pool, "replay buffer", names, pool.batches.view)
        self.shown, self.is_entered_again = shown, shown is not None
        self.places = max(1, pool.engine.num_players if shown is None else cnp.PyArray_DIMS(shown)[1])
        self.env_id, self.elapsed = names.index("env_id"), names.index("elapsed_step")
        self.reward = names.index("player:reward" if has_players else "reward")
        self.player_terminated = names.index("player:terminated") if has_players else -1
        self.player_truncated = names.index("player:truncated") if has_players else -1
        self.terminated, self.truncated = names.index("terminated"), names.index("truncated")
        self.final_mask = names.index("final:mask") if store.same_step else -1
        self.obs = tuple([k for k, name in enumerate(names) if name == "obs" or name.startswith("obs:")])
        self.last_obs = tuple([names.index("final:" + names[k]) for k in self.obs]) if store.same_step else ()
        self.rows = <const char**>calloc(len(self.obs), sizeof(char*))
        self.last_rows = <const char**>calloc(len(self.obs), sizeof(char*))
        if self.rows == NULL or self.last_rows == NULL:
            raise MemoryError
        self.marks = np.zeros(self.num_envs * self.places, np.uint8)
        self.ended = np.zeros(self.num_envs * self.places, np.uint8)
        self.acts = np.zeros((self.num_envs, self.places), np.uint8) if has_players else None
        self.repeats = [self.places if names[k] in whole else 1 for k in self.obs]
        self.ring = make_ring(
            tuple([(names[k], store.dtypes[k], store.shapes[k][1 if has_players and names[k] not in whole else 0:])
                   for k in self.obs]),
            tuple([((<ActionField>f).name, np.dtype((<ActionField>f).dtype), (<ActionField>f).shape)
                   for f in pool.actions.fields]),
        )

    def __dealloc__(self):
        free(self.rows)
        free(self.last_rows)

    # ---- state -------------------------------------------------------------------------------------------------------

    @property
    def _ring(self):
        return self.ring

    @property
    def num_in_flight(self):
        """Number of environments in flight."""
        if self.pending == RESET_SOME:
            return self.ids.shape[0]
        return self.num_envs if self.pending != NOTHING else 0

    def _enter_ring(self):
        """Begin a call that uses the ring and not the pool; the caller calls _leave_ring()."""
        self.begin_call()

    def _leave_ring(self):
        """End such a call."""
        self.is_busy = False

    def _check_idle(self, str call):
        """Raise PoolStateError if something is in flight."""
        if self.pending != NOTHING:
            raise PoolStateError(f"{call}() needs an idle replay buffer, but a step is in flight: recv() it first")

    cdef int check_begun(self) except -1:
        if not self.has_begun:
            raise PoolStateError("the replay buffer has no observations yet: call its reset() or begin() first")
        return 0

    # ---- sending -----------------------------------------------------------------------------------------------------

    cdef int send_now(self, object action, int visit, int activities) except -1:
        if self.pending == NOTHING:
            self.check_begun()
        if self.pending != NOTHING:
            if self.pool.num_outstanding == 0:
                raise self.outdated("")
            raise PoolStateError("a step of the replay buffer is in flight: receive it with recv(); nothing was sent")
        if self.shown is not None:
            return self.send_to_games(action)
        self.pool.send_actions(action, None, self, visit, activities)
        self.known = self.sent_by_pool()
        return 0

    cdef int send_to_games(self, object action) except -1:
        """Sends actions to a pool with opponents, and records them."""
        cdef object pool = self.pool
        cdef object stage = pool._games.stage
        cdef cnp.ndarray ids
        cdef list sources
        cdef int k
        self.check_known("; nothing was sent")
        ids, grids, own = pool._prepared(action, None)
        grids = pool._completed(ids, grids)     # opponents may be asked
        self.check(<const int32_t*>cnp.PyArray_DATA(ids), <int32_t>ids.shape[0], False)
        sources = [np.ascontiguousarray(own[(<ActionField>f).name], (<ActionField>f).dtype)
                   for f in self.pool.actions.fields]
        try:
            pool._launch(ids, grids)
        finally:
            if stage[0]:    # also if Ctrl-C has arrived after the send; no Python code runs from here on
                for k in range(self.ring.s.num_actions):
                    self.ring.put_actions(k, <const char*>cnp.PyArray_DATA(<cnp.ndarray>sources[k]))
                self.pending, self.known = STEP, self.sent_by_pool()
        return 0

    cdef int check(self, const int32_t* ids, int32_t n, bint receives) except -1:
        self.check_known("; nothing was sent")
        if not self.are_all_envs(ids, n):
            raise PoolStateError(
                f"a replay buffer steps all {self.num_envs} envs at once and in order: leave env_id out; nothing was "
                "sent"
            )
        self.ring.reserve()
        return 0

    cdef void commit(self, const int32_t* ids, int32_t n) noexcept:
        """Records the actions, as the envs get them."""
        cdef int k
        for k in range(self.ring.s.num_actions):
            self.ring.put_actions(k, <const char*>self.pool.engine.actions[k])
        self.pending = STEP

    # ---- receiving ---------------------------------------------------------------------------------------------------

    cdef object receive_now(self, ResultTemplate template):
        """Receives what is pending, records it, and returns it in the form of the API style."""
        if self.shown is not None:
            return self.receive_from_games()
        try:
            if self.pending == RESET_SOME:
                pair = self.pool.receive_resets(self.ids, template)
            else:
                pair = self.pool.receive(template, False, -1)
        except EnvStepError as error:
            self.failed.update(error.failures)
            raise
        return self.store(pair)

    cdef object receive_from_games(self):
        """receive_now() for a pool with opponents."""
        cdef object pool = self.pool
        env_ids = self.ids if self.pending == RESET_SOME else None
        try:
            result, arrays, errors = pool._receive(self.pending != STEP, pool._request(env_id=env_ids))
        except EnvStepError as error:
            self.failed.update(error.failures)
            raise
        finally:
            self.known = self.sent_by_pool()    # opponents have moved
        self.failed.update([int(arrays[self.env_id][row]) for row in errors])
        return self.store((result, tuple([np.ascontiguousarray(a) for a in arrays])))

    cdef object store(self, tuple pair):
        """Adds a batch to the ring."""
        cdef tuple arrays = <tuple>pair[1]
        cdef cnp.ndarray ids = <cnp.ndarray>arrays[self.env_id]
        cdef int64_t rows = self.num_in_flight, i, p
        cdef int k
        cdef list obs = [self.repeated(arrays[self.obs[k]], k) for k in range(self.ring.s.num_obs)]
        if cnp.PyArray_DIMS(ids)[0] != rows:
            raise self.outdated("")
        self.ring.settle()
        for k in range(self.ring.s.num_obs):
            self.rows[k] = <const char*>cnp.PyArray_DATA(<cnp.ndarray>obs[k])
        if self.pending == STEP:
            self.add_step(arrays)
        elif self.pending == RESET_ALL:
            self.ring.put_obs(self.rows)
        else:
            for i in range(rows):
                for p in range(self.places):
                    self.ring.put_obs_of((<const int32_t*>cnp.PyArray_DATA(self.ids))[i] * self.places + p, self.rows)
                    for k in range(self.ring.s.num_obs):
                        self.rows[k] += self.ring.s.obs[k].row_bytes
        if self.acts is not None:
            self.mark_acts(arrays)
        self.failed.clear()
        self.pending, self.has_begun = NOTHING, True
        return pair[0]

    cdef cnp.ndarray repeated(self, cnp.ndarray array, int k):
        """Returns an array of observations with the rows of the ring: a row of a whole env is repeated per player."""
        return array if self.repeats[k] == 1 else np.repeat(array, self.repeats[k], axis=0)

    cdef void mark_acts(self, tuple arrays) noexcept:
        """Notes who acts in the next step of all envs; `arrays` are the arrays of a batch, or None.

        NEXT_STEP: an episode that has ended is followed by a step in which nobody acts.
        """
        cdef uint8_t* acts = <uint8_t*>cnp.PyArray_DATA(self.acts)
        cdef const int32_t* shown = NULL
        cdef int64_t i, k
        cdef int32_t p
        if self.shown is not None:
            shown = <const int32_t*>cnp.PyArray_DATA(self.shown)
        for i in range(self.num_envs):
            for k in range(self.places):
                p = <int32_t>k if shown == NULL else shown[i * self.places + k]
                acts[i * self.places + k] = p >= 0 and (flags_of(self.pool.engine, <int32_t>i)[p] & ACTS) != 0
        if self.pending != STEP or arrays is None or self.autoreset != NEXT_STEP:
            return
        for i in range(self.num_envs):
            if ((<const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.terminated]))[i]
                    or (<const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.truncated]))[i]):
                memset(acts + i * self.places, 0, self.places)

    cdef int add_step(self, tuple arrays) except -1:
        """Adds a step of all envs to the ring."""
        cdef const int32_t* elapsed = <const int32_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.elapsed])
        cdef const uint8_t* terminated = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.terminated])
        cdef const uint8_t* truncated = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.truncated])
        cdef const uint8_t* ended = NULL
        cdef uint8_t* marks = <uint8_t*>cnp.PyArray_DATA(self.marks)
        cdef const uint8_t* lost = NULL     # whose own episode has ended: of each row
        cdef const uint8_t* cut = NULL
        cdef const uint8_t* acts = NULL
        cdef list last = []
        cdef int64_t i, p, row, places = self.places
        cdef bint done, is_step
        cdef int k
        if self.acts is not None:
            acts = <const uint8_t*>cnp.PyArray_DATA(self.acts)
            lost = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.player_terminated])
            cut = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.player_truncated])
        for i in range(self.num_envs):
            done = terminated[i] or truncated[i]
            # A step with elapsed_step 0 has only begun an episode, unless it has also ended another one (SAME_STEP).
            is_step = elapsed[i] != 0 or (done and self.autoreset != NEXT_STEP)
            if acts == NULL:
                marks[i] = VALID * is_step | DONE * done | TERMINATED * (terminated[i] != 0)
                continue
            for p in range(places):
                row = i * places + p
                marks[row] = VALID * (is_step and acts[row]) | TERMINATED * (lost[row] != 0)
                marks[row] |= DONE * (done or lost[row] or cut[row])
        for id in self.failed:
            for p in range(places):
                marks[<int64_t>id * places + p] = 0
        if self.final_mask >= 0:
            ended = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.final_mask])
            if places > 1:
                for row in range(self.num_envs * places):
                    (<uint8_t*>cnp.PyArray_DATA(self.ended))[row] = ended[row // places]
                ended = <const uint8_t*>cnp.PyArray_DATA(self.ended)
            last = [self.repeated(arrays[self.last_obs[k]], k) for k in range(self.ring.s.num_obs)]
            for k in range(self.ring.s.num_obs):
                self.last_rows[k] = <const char*>cnp.PyArray_DATA(<cnp.ndarray>last[k])
        self.ring.put_step(<const float*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.reward]), marks, self.rows, ended,
                           self.last_rows)
        return 0

    # ---- calls -------------------------------------------------------------------------------------------------------

    def step(self, action):
        """Send actions to all environments, wait for their results, and add the step.

        Parameters
        ----------
        action : array_like or dict
            As for ``step`` of the pool. The buffer records the actions as the environments get them.

        Returns
        -------
        tuple or TimeStep
            The result of ``step`` of the pool, whose arrays the buffer does not read again.

        Raises
        ------
        PoolStateError
            The buffer has no observations yet; the pool was stepped without the buffer; a step is in flight; or the
            pool is closed or forked.
        MemoryError
            There is no memory for the step. Nothing was sent.
        ActionError, EnvStepError, EnvTimeoutError
            As for ``step`` of the pool. After the last two, `recv` returns the batch.
        """
        cdef int visit = self.enter_pool(WAITING, b"step")
        try:
            self.send_now(action, visit, RECEIVING)
            return self.receive_now(self.step_template)
        finally:
            self.leave_pool(visit)

    def send(self, action):
        """Send actions without waiting: `sample` can be called while the environments are simulated. See `step`."""
        cdef int visit = self.enter_pool(NOTHING_ELSE, b"send")
        try:
            self.send_now(action, visit, NOTHING_ELSE)
        finally:
            self.leave_pool(visit)

    def recv(self):
        """Wait for the batch in flight, add it, and return it as ``recv`` of the pool does.

        Raises
        ------
        PoolStateError
            Nothing is in flight, or the pool is closed or forked.
        EnvStepError, EnvTimeoutError
            As for ``recv`` of the pool; the next call returns the batch.
        """
        cdef int visit = self.enter_pool(RECEIVING, b"recv")
        try:
            if self.pending == NOTHING:
                raise PoolStateError(
                    "recv() would wait forever, because nothing of the replay buffer is in flight: call send() first"
                )
            self.check_known("")
            return self.receive_now(self.step_template)
        finally:
            self.leave_pool(visit)

    def _reset_envs(self, env_id, seeds, ResetOptions options):
        """Reset envs and record their observations; see ``ReplayBuffer.reset``."""
        cdef int visit = self.enter_pool(WAITING, b"reset")
        try:
            self.ring.reserve()
            if env_id is not None:
                self._check_idle("reset")
                env_id = self.check_ended(env_id)
            if self.shown is not None:
                (<object>self.pool)._send_reset(env_id, seeds, options)
            else:
                self.pool.send_resets(env_id, seeds, options, visit, RECEIVING)
            if env_id is None:
                self.ring.cut()
                self.failed.clear()
                self.pending, self.has_begun = RESET_ALL, False
            else:
                self.ids, self.pending = env_id, RESET_SOME
            self.known = self.sent_by_pool()
            return self.receive_now(self.reset_template)
        finally:
            self.leave_pool(visit)

    def _begin_with(self, list arrays):
        """Continue with observations that the pool returned to another caller; see ``ReplayBuffer.begin``.

        `arrays` are the arrays of the observations, in their order, C-contiguous and of the right dtypes and shapes;
        nobody else can write to them.
        """
        cdef int visit = self.enter_pool(NOTHING_ELSE, b"begin")
        cdef int k
        try:
            self.check_pool_idle()
            self.ring.reserve()
            for k in range(self.ring.s.num_obs):
                self.rows[k] = <const char*>cnp.PyArray_DATA(<cnp.ndarray>arrays[k])
            if not self.ring.has_newest(self.rows):
                self.ring.cut()
                self.ring.put_obs(self.rows)
            self.failed.clear()
            self.pending, self.has_begun, self.known = NOTHING, True, self.sent_by_pool()
            if self.acts is not None:
                self.mark_acts(None)
        finally:
            self.leave_pool(visit)

    def _forget_pool(self):
        """Require a reset() or begin() before the next step, since the contents were replaced."""
        self.has_begun = False
