"""Recording the results of a pool, and the extras of the learner, into the memory of a rollout.

In a sync pool the workers write in place: before a step is published, a block in the memory of the rollout replaces the
pool's block, see layout.pyx. In an async pool the rows of a batch belong to different time slots. They are copied to
the slot of their env when they are received, which costs one copy of the batch, and the batch itself goes to the
policy.

opponents.pyx has what is different in a pool with opponents, and collecting.pyx lets a policy in native code act.

A row of a batch belongs to a step, if its env was sent an action, or to a reset, which has an observation only.
The arrays of envs with players have a place for each player, and an array tells which players act on an observation.

Invariants whenever Python code can run:
- Env i has `lengths[i]` steps in this rollout. Its observation after them, if `has_observation`, has that slot, and so
  has the action with which the learner answers it, if `is_sent`.
- A rollout whose arrays are referenced elsewhere is never written again, apart from rows of its own steps: memory is
  used for the next one only if this object has the only reference to it.
- `known` is the number of actions and resets that the pool has been sent, see driver.pyx.
"""

from collections.abc import Mapping

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memmove, memset

from envpool._core.actions cimport ActionField
from envpool._core.blocks cimport BatchBlock, BlockStore, PyList_GET_ITEM, Py_REFCNT, is_held_elsewhere
from envpool._core.casts cimport fitted
from envpool._core.guard cimport NOTHING_ELSE, RECEIVING, WAITING
from envpool._core.inputs cimport ResetOptions, as_ids
from envpool._core.players cimport ACTS, flags_of
from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate
from envpool._core.structs cimport DISABLED, Engine, NEXT_STEP
from envpool.rollout.driver cimport PoolDriver
from envpool.rollout.frames cimport FrameStore
from envpool.rollout.layout cimport RolloutLayout, RolloutMemory, Track, row_of, slot_of
from envpool.rollout.networks cimport compute_rows

from envpool._core.casts import CastError
from envpool.errors import ConfigError, EnvStepError, PoolStateError

cnp.import_array()

cdef enum:
    REMEMBERED = 8      # memories of rollouts that are looked at again; further ones are left to their holders


cdef inline void copy_bytes(char* to, const char* source, int64_t size) noexcept:
    if size == 4:               # most columns; a constant size makes memcpy one instruction
        memcpy(to, source, 4)
    elif size == 1:
        to[0] = source[0]
    else:
        memcpy(to, source, size)


cdef tuple whole_shape(ActionField field, int32_t num_places):
    """Returns the shape of the action of one env."""
    return (num_places, *field.shape) if field.players else field.shape


cdef tuple shape_of_row(const Track* track):
    """Returns the shape of the row of one env."""
    cdef int d
    return tuple([track.dims[d] for d in range(1, track.ndim)])


cdef class Recorder(PoolDriver):
    """Records the steps of a pool; ``envpool.Rollout`` inherits its public methods.

    Parameters
    ----------
    pool : Pool
        The pool.
    num_steps, num_slots : int
        Steps of each env in a rollout, on average, and at most. In a sync pool they are equal.
    extras : list of tuple
        Arrays that the learner adds to each step: name, dtype, shape of one row.
    pins : bool
        If True, the memory of rollouts is page-locked; two rollouts are made at once, which take turns.
    depth : int
        Frames of a stack, if the observation is an array of stacked frames that are stored once; 0 if it is not.
    shown : numpy.ndarray, optional
        Of a pool with opponents, int32 (num_envs, places): the numbers of the players that the user controls. The pool
        keeps it up to date.
    begun : numpy.ndarray, optional
        Of such a pool, bool (num_envs,): True where the last result of an env begins an episode. The pool keeps it up
        to date.
    shapes : list of tuple, optional
        Of such a pool, the shapes of the rows of its arrays.
    spread : callable, optional
        ``spread(value, shape, env_id, action)`` returns an extra with a place for each player, if it is in the form of
        the pool's option `players`; `shape` is the declared shape.
    """

    def __init__(self, Pool pool, int64_t num_steps, int64_t num_slots, list extras, bint pins=False,
                 int64_t depth=0, cnp.ndarray shown=None, cnp.ndarray begun=None, list shapes=None,
                 object spread=None):
        cdef int64_t n
        pool.guard.check_open()
        store = pool.batches.store
        PoolDriver.__init__(self, pool, "rollout", store.names, pool.batches.view)
        n, self.num_steps, self.num_slots = self.num_envs, num_steps, num_slots
        self.is_sync = pool.engine.is_sync
        self.shown, self.begun, self.spread = shown, begun, spread
        self.is_entered_again = shown is not None
        self.writes_in_place = self.is_sync and shown is None
        self.num_places = pool.engine.num_players if shown is None else <int32_t>cnp.PyArray_DIMS(shown)[1]
        own = [("rollout:first", np.bool_, (), 1)]
        own += [("rollout:valid", np.bool_, (), 0), ("rollout:done", np.bool_, (), 0)]
        fields = pool.actions.fields
        own += [((<ActionField>f).name, (<ActionField>f).dtype, whole_shape(<ActionField>f, self.num_places), 1)
                for f in fields]
        own += [(f"extra:{name}", dtype, shape, 1) for name, dtype, shape in extras]
        if pool.engine.num_players:
            own.append(("rollout:acts", np.bool_, (self.num_places,), 1))
        if shown is not None:
            own.append(("rollout:players", np.int32, (self.num_places,), 1))
        if pool.engine.turns != NULL and pool.engine.turns.num_moves:
            own.append(("rollout:legal", np.bool_, (pool.engine.turns.num_moves,), 1))
        if self.autoreset == DISABLED:
            for k in range(store.num_fields):
                own.append(("final:" + store.names[k], store.dtypes[k], store.shapes[k], 0))
            own += [("final:elapsed_step", np.int32, (), 0), ("final:mask", np.bool_, (), 0)]
        if depth:
            own += self.frame_arrays(store, depth)
        self.layout = RolloutLayout(store, own, n, num_slots, ["obs"] if depth else [], pins, shapes)
        if depth:
            self.frames = FrameStore(self.layout, self.layout.find("obs"), depth)
            self.writes_in_place = False
        self.find_arrays()
        self.first_action, self.num_actions = self.done + 1, <int>len(fields)
        self.first_extra = self.first_action + self.num_actions
        self.extra_names = tuple(name for name, _, _ in extras)
        self.bare_template = ResultTemplate(((), store.names), store.names, self._note_failed)
        self.memories = [self.layout.new_memory() for _ in range(2 * pins)]
        self.words = np.zeros(18 * n, np.uint8)
        self.lengths = <int64_t*>cnp.PyArray_DATA(self.words)
        self.target = self.lengths + n
        self.has_observation = <uint8_t*>(self.target + n)
        self.is_sent = self.has_observation + n

    cdef list frame_arrays(self, BlockStore store, int64_t depth):
        """Returns the arrays in which stacks of `depth` frames are stored; see frames.pyx."""
        rows, *rest = store.shapes[store.names.index("obs")]
        limit = depth * (2 if self.autoreset == DISABLED else 1)    # a reset replaces another stack
        if limit * self.num_envs * (self.num_slots + 1) >= 1 << 31:
            raise MemoryError(f"a rollout of {self.num_slots} steps and {self.num_envs} envs has too many frames")
        dtype = store.dtypes[store.names.index("obs")]
        return [
            ("rollout:numbers", np.int32, (depth,), 1), ("rollout:frames", dtype, (limit, rows // depth, *rest), 1)
        ]

    cdef void find_arrays(self):
        """Notes the numbers of the arrays that this object fills."""
        cdef RolloutLayout layout = self.layout
        self.env_id, self.elapsed = layout.find("env_id"), layout.find("elapsed_step")
        self.terminated, self.truncated = layout.find("terminated"), layout.find("truncated")
        self.first, self.valid = layout.find("rollout:first"), layout.find("rollout:valid")
        self.done, self.acts = layout.find("rollout:done"), layout.find("rollout:acts")
        self.legal, self.players = layout.find("rollout:legal"), layout.find("rollout:players")

    # ---- state -------------------------------------------------------------------------------------------------------

    @property
    def is_full(self):
        """Whether the rollout takes no further results."""
        if self.memory is None or self.is_finished:
            return False
        return self.longest == self.num_slots or self.recorded >= self.num_steps * self.num_envs

    @property
    def _layout(self):
        return self.layout

    @property
    def num_in_flight(self):
        """Number of envs that were sent and not received."""
        return self.in_flight

    @property
    def _needs_actions(self):
        """Whether envs were received that have not been sent an action."""
        cdef int64_t i
        for i in range(self.num_envs):
            if self.has_observation[i] and not self.is_sent[i]:
                return True
        return False

    cdef int check_begun(self) except -1:
        if self.memory is None:
            self.pool.guard.check_open()
            raise PoolStateError("the rollout has no observations yet: call its reset() or begin() first")
        return 0

    cdef int check_has_room(self) except -1:
        """Raises PoolStateError if the rollout has no room for the results of a step."""
        if self.is_full:
            raise PoolStateError(
                f"the rollout is full: it has {self.recorded} env steps, and {self.longest} of at most "
                f"{self.num_slots} of one env; call finish() to get its arrays and to begin the next one"
            )
        return 0

    # ---- memory ------------------------------------------------------------------------------------------------------

    cdef RolloutMemory take_memory(self, bint fresh):
        """Returns memory that nobody else can see: if possible the present one, unless it must be a `fresh` one."""
        cdef RolloutMemory found
        cdef Py_ssize_t k
        cdef PyObject* present = <PyObject*>self.memory
        free = []
        for k in range(len(self.memories)):
            if PyList_GET_ITEM(self.memories, k) == present:
                if not fresh and Py_REFCNT(present) == 2:       # the list and the attribute
                    free.insert(0, k)
            elif not is_held_elsewhere(self.memories, k):
                free.append(k)
        if free:
            found = <RolloutMemory>self.memories[free[0]]
            self.layout.clean(found)
        else:
            found = self.layout.new_memory()
            self.memories.append(found)
        for k in sorted(free[2:], reverse=True):    # one more is kept for the next rollout
            del self.memories[k]
        del self.memories[:-REMEMBERED]
        return found

    cdef int begin_next(self) except -1:
        """Begins the next rollout with the last observations of this one."""
        cdef RolloutMemory target = self.take_memory(self.frames is not None)   # frames cannot be moved in place
        self.carry(self.memory, target)
        self.memory = target
        memset(self.lengths, 0, self.num_envs * sizeof(int64_t))
        self.recorded = self.longest = 0
        self.is_finished = False
        return 0

    cdef bint has_first(self, const Track* track) noexcept:
        """Whether an array has rows of first observations that the recorder itself writes.

        FrameStore has two arrays of its own: it writes before it reads, and the one of frames is large.
        """
        if self.frames is not None and (track == self.frames.frames or track == self.frames.numbers):
            return False
        return track.offset >= 0 and track.shift != 0

    cdef void carry(self, RolloutMemory source, RolloutMemory target) noexcept:
        """Copies the last slot of each env, with the action that is in flight, to the first slot."""
        cdef Track* track
        cdef int64_t i
        cdef int k
        if self.frames is not None:
            self.frames.carry(source, target, self.lengths)
        for k in range(len(self.layout.names)):
            track = &self.layout.tracks[k]
            if not self.has_first(track):
                continue
            if self.is_sync:
                memmove(slot_of(track, target, 0), slot_of(track, source, self.longest), track.slot_bytes)
                continue
            for i in range(self.num_envs):
                memmove(row_of(track, target, 0, i), row_of(track, source, self.lengths[i], i), track.row_bytes)

    # ---- extras ------------------------------------------------------------------------------------------------------

    cdef cnp.ndarray as_extra(self, int k, object value, object env_id, object action):
        """Converts what the learner adds to a contiguous array of the declared dtype."""
        cdef const Track* track = &self.layout.tracks[self.first_extra + k]
        cdef object name = self.extra_names[k], dtype = self.layout.dtypes[self.first_extra + k]
        cdef cnp.ndarray given
        cdef tuple shape
        try:
            given = np.asarray(value)
        except Exception as error:
            raise ConfigError(
                f"{name} must convert to a NumPy array, got {type(value).__name__} ({error}): detach a tensor from its "
                "graph, and copy it to the CPU"
            ) from error
        shape = shape_of_row(track)
        if given.ndim != track.ndim or (shape and (<object>given).shape[1:] != shape):
            raise ConfigError(
                f"{name} must have shape {(self.count_rows(env_id, action), *shape)}, one row for each action, got "
                f"{(<object>given).shape}"
            )
        if (<object>given).dtype is dtype and cnp.PyArray_ISCARRAY_RO(given):
            return given
        if not np.can_cast((<object>given).dtype, dtype, "same_kind"):
            raise ConfigError(f"{name} must cast to {dtype}, as declared, got dtype {(<object>given).dtype}")
        try:
            return fitted(given, dtype)
        except CastError as error:
            raise ConfigError(
                f"{name} must have values that {dtype} holds, as declared, got {error}; nothing was recorded"
            ) from None

    cdef object count_rows(self, object env_id, object action):
        """Returns the number of envs that arguments of step() name."""
        if env_id is None and isinstance(action, Mapping):
            env_id = action.get("env_id")
        ids = as_ids(env_id)
        return self.num_envs if ids is None else len(ids)

    cdef tuple as_extras(self, dict extras, bint all_of_them, object env_id=None, object action=None):
        """Converts what the learner adds, in the order of its declaration; None where it is missing."""
        cdef int k, found = 0
        cdef tuple names = self.extra_names
        values = []
        for k in range(len(names)):
            value = None
            if names[k] in extras:
                found += 1
                value = extras[names[k]]
                if self.spread is not None:
                    shape = shape_of_row(&self.layout.tracks[self.first_extra + k])
                    value = self.spread(names[k], value, shape, env_id, action)
                value = self.as_extra(k, value, env_id, action)
            values.append(value)
        if found != len(extras) or (all_of_them and found != len(names)):
            raise ConfigError(
                f"extras must be {list(names)}, as declared; missing are {[n for n in names if n not in extras]}, "
                f"unknown are {[n for n in extras if n not in names]}: pass what was declared, or declare it in "
                "Rollout(extras=...)"
            )
        return tuple(values)

    # ---- sending -----------------------------------------------------------------------------------------------------

    cdef int begin_send(self) except -1:
        """Begins the next rollout if this one was finished. Raises PoolStateError if nothing may be sent."""
        if self.is_sync and self.in_flight:
            raise PoolStateError("a step of the rollout is in flight: receive it with recv(); nothing was sent")
        if self.is_finished:
            self.begin_next()
        return 0

    cdef int send_now(self, object action, object env_id, tuple values, int visit, int activities) except -1:
        """Sends actions, and records them and the extras; see Pool.send_actions()."""
        self.begin_send()
        self.values, self.block = values, None
        if self.writes_in_place and self.longest < self.num_slots:
            self.block = self.layout.block_of(self.memory, self.longest)
            if self.ahead is not None:
                self.compute_ahead(self.block)
        try:
            self.pool.send_actions(action, env_id, self, visit, activities)
        finally:
            self.values = self.block = None
        self.known = self.sent_by_pool()
        self._unanswered = None
        return 0

    cdef int compute_ahead(self, BatchBlock block) except -1:
        """Lets the threads that write the rows of a block compute what the policy answers to them."""
        cdef const char* rows = column(self, self.ahead_reads, self.longest + 1)
        cdef Engine* e = self.pool.engine
        cdef int num_threads = e.num_threads + 2    # threads that wait, or render, execute chunks as well
        block.block.after_data = self.ahead.ahead_of(
            rows, self.layout.tracks[self.ahead_reads].row_bytes // self.ahead.policy.actor.inputs, num_threads
        )
        block.block.after_rows = compute_rows
        block.after_owner = self.ahead
        return 0

    cdef int record_sent(self, const int32_t* ids, int32_t n, list sources) except -1:
        """Records the actions of n envs that were sent, and the extras: arrays with a row for each."""
        cdef Track* track
        cdef int64_t i
        cdef int k
        for k in range(len(sources)):
            track = &self.layout.tracks[self.first_action + k]
            for i in range(n):
                memcpy(row_of(track, self.memory, self.lengths[ids[i]], ids[i]),
                       <const char*>cnp.PyArray_DATA(<cnp.ndarray>sources[k]) + i * track.row_bytes, track.row_bytes)
        for i in range(n):
            self.is_sent[ids[i]] = 1
        self.in_flight += n
        return 0

    cdef int check(self, const int32_t* ids, int32_t n, bint receives) except -1:
        cdef int32_t i
        cdef int64_t rows
        cdef cnp.ndarray a
        self.check_known("; nothing was sent")
        if self.is_sync:
            if not self.are_all_envs(ids, n):
                raise PoolStateError(
                    f"a rollout of a sync pool steps all {self.num_envs} envs at once and in order: leave env_id out; "
                    "nothing was sent"
                )
        else:
            for i in range(n):
                if not self.has_observation[ids[i]] or self.is_sent[ids[i]]:
                    raise PoolStateError(
                        f"the rollout has not received an observation of env {ids[i]}: receive with its own recv(); "
                        "nothing was sent"
                    )
        for k, value in enumerate(self.values):
            a = value
            rows = cnp.PyArray_DIMS(a)[0] if cnp.PyArray_NDIM(a) else 0
            if rows != n:
                raise ConfigError(
                    f"{self.extra_names[k]} must have {n} rows, one for each action, got {rows}; nothing was sent"
                )
            self.check_unchanged(k, a)
        return 0

    cdef int check_unchanged(self, int k, cnp.ndarray a) except -1:
        """Raises ConfigError if code of the user's has changed the shape of an extra since as_extras()."""
        cdef const Track* track = &self.layout.tracks[self.first_extra + k]
        if not cnp.PyArray_ISCARRAY_RO(a) or cnp.PyArray_NBYTES(a) != cnp.PyArray_DIMS(a)[0] * track.row_bytes:
            raise ConfigError(
                f"{self.extra_names[k]} changed while arguments were being converted; nothing was recorded"
            )
        return 0

    cdef void commit(self, const int32_t* ids, int32_t n) noexcept:
        """Records the actions, as the envs get them, and the extras of n envs."""
        cdef Engine* e = self.pool.engine
        cdef Track* track
        cdef const char* source
        cdef int64_t i
        cdef int k, count = self.num_actions + <int>len(self.extra_names)
        for k in range(count):
            track = &self.layout.tracks[self.first_action + k]
            if k < self.num_actions:
                source = <const char*>e.actions[k]
            else:
                source = <const char*>cnp.PyArray_DATA(<cnp.ndarray>self.values[k - self.num_actions])
            if self.is_sync:
                memcpy(slot_of(track, self.memory, self.longest), source, track.slot_bytes)
                continue
            for i in range(n):
                memcpy(row_of(track, self.memory, self.lengths[ids[i]], ids[i]),
                       source + (ids[i] if k < self.num_actions else i) * track.row_bytes, track.row_bytes)
        for i in range(n):
            self.is_sent[ids[i]] = 1
        self.in_flight += n
        if self.block is not None:
            self.pool.redirect(self.block)

    # ---- receiving ---------------------------------------------------------------------------------------------------

    cdef object receive_now(self, ResultTemplate template):
        """Receives the next batch, records it, and returns it in the form of the API style."""
        try:
            pair = self.pool.receive(template, False, -1)
        except EnvStepError as error:
            self.failed.update(error.failures)
            raise
        return self.store(pair)

    cdef object store(self, tuple pair):
        """Records the rows of a batch: rows of steps, and rows of resets, which have an observation only."""
        cdef tuple arrays = <tuple>pair[1]
        cdef cnp.ndarray env_ids = <cnp.ndarray>arrays[self.env_id]
        cdef const int32_t* ids = <const int32_t*>cnp.PyArray_DATA(env_ids)
        cdef const char* stacks
        cdef int64_t n = cnp.PyArray_DIMS(env_ids)[0], i, k, steps
        for i in range(n):
            if self.has_observation[ids[i]] != self.is_sent[ids[i]]:
                raise PoolStateError(
                    f"env {ids[i]} was stepped without the rollout, whose observations are outdated: begin again with "
                    "reset() or begin()"
                )
        if not self.is_sync:
            self.received = (<object>env_ids).copy()
        self.in_flight -= n
        if self.acts >= 0:
            self.mark_players(ids, n)
        failed = self.take_failed(ids, n) if self.failed else None
        if (self.writes_in_place and self.longest < self.num_slots
                and <const char*>ids == slot_of(&self.layout.tracks[self.env_id], self.memory, self.longest + 1)):
            self.mark_slot(self.longest)
            memset(self.is_sent, 0, n)
            for i in range(n):
                self.lengths[i] += 1
            steps = n
        else:
            for i in range(n):
                self.target[i] = self.lengths[ids[i]] + self.is_sent[ids[i]]
            self.copy_columns(arrays, ids, n)
            if self.frames is not None:
                stacks = <const char*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.frames.column])
                self.frames.store_rows(self.memory, stacks, ids, self.target, n)
            steps = self.mark_rows(ids, n)
        self.recorded += steps
        if steps:
            for i in range(n):
                self.longest = max(self.longest, self.lengths[ids[i]])
        for k in failed or ():
            row(self, self.valid, self.lengths[k] - 1, k)[0] = 0
        return pair[0]

    cdef list take_failed(self, const int32_t* ids, int64_t n):
        """Returns the envs of a batch whose step failed, so that it is not a transition, and forgets all failures."""
        cdef int64_t i
        found = []
        for i in range(n):
            if ids[i] in self.failed:
                self.failed.remove(ids[i])
                if self.is_sent[ids[i]]:
                    found.append(ids[i])
        return found

    # ---- rows --------------------------------------------------------------------------------------------------------

    cdef void copy_columns(self, tuple arrays, const int32_t* ids, int64_t n) noexcept:
        """Copies the rows of a batch, which has `arrays`, to the slots of their envs.

        The final arrays have zeros where no episode ended; their rows are copied where one did.
        """
        cdef RolloutLayout layout = self.layout
        cdef Track* track
        cdef const char* source
        cdef const uint8_t* ended = NULL
        cdef int64_t i, size, slot
        cdef int32_t id
        cdef int k
        cdef bint is_final
        if layout.store.same_step:
            ended = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[layout.first_core - 1])
        for k in range(layout.num_columns):
            track = &layout.tracks[k]
            if track.offset < 0:
                continue
            source = <const char*>cnp.PyArray_DATA(<cnp.ndarray>arrays[k])
            size = track.row_bytes
            is_final = layout.store.same_step and layout.num_fields <= k < layout.first_core
            for i in range(n):
                id = ids[i]
                if not (track.shift or self.is_sent[id]):
                    continue
                if is_final and not ended[i]:
                    if self.memory.clears_final:
                        memset(row_of(track, self.memory, self.target[i] - 1, id), 0, size)
                    continue
                slot = self.target[i] + track.shift - 1
                copy_bytes(row_of(track, self.memory, slot, id), source + i * size, size)

    cdef void mark_players(self, const int32_t* ids, int64_t n) noexcept:
        """Notes who acts on the observations of envs that were received, and are idle, and which moves are legal. The
        observations may not be counted yet."""
        cdef Engine* e = self.pool.engine
        cdef uint8_t* acts
        cdef uint8_t* legal
        cdef const int32_t* shown = NULL
        cdef int64_t i, slot
        cdef int32_t p, k
        for i in range(n):
            slot = self.lengths[ids[i]] + self.is_sent[ids[i]]
            acts = <uint8_t*>row(self, self.acts, slot, ids[i])
            if self.shown is not None:
                shown = <const int32_t*>cnp.PyArray_DATA(self.shown) + ids[i] * self.num_places
                memcpy(row(self, self.players, slot, ids[i]), shown, self.num_places * sizeof(int32_t))
            for k in range(self.num_places):
                p = k if shown == NULL else shown[k]
                acts[k] = p >= 0 and (flags_of(e, ids[i])[p] & ACTS) != 0
            if self.legal < 0:
                continue
            legal = <uint8_t*>row(self, self.legal, slot, ids[i])
            for k in range(e.turns.num_moves):
                legal[k] = e.turns.legal[ids[i] * e.turns.num_moves + k] != 0

    cdef void mark_slot(self, int64_t slot) noexcept:
        """Marks a step of all envs."""
        cdef const int32_t* elapsed = <const int32_t*>column(self, self.elapsed, slot + 1)
        cdef const uint8_t* terminated = <const uint8_t*>column(self, self.terminated, slot)
        cdef const uint8_t* truncated = <const uint8_t*>column(self, self.truncated, slot)
        cdef uint8_t* first = <uint8_t*>column(self, self.first, slot + 1)
        cdef uint8_t* valid = <uint8_t*>column(self, self.valid, slot)
        cdef uint8_t* done = <uint8_t*>column(self, self.done, slot)
        cdef int64_t i, n = self.num_envs
        for i in range(n):
            first[i] = elapsed[i] == 0
        for i in range(n):
            done[i] = terminated[i] | truncated[i]
        if self.autoreset == NEXT_STEP:     # a step with elapsed_step 0 has only begun an episode
            for i in range(n):
                valid[i] = elapsed[i] != 0
        else:
            memset(valid, 1, n)

    cdef int64_t mark_rows(self, const int32_t* ids, int64_t n) noexcept:
        """Marks the rows of a batch, which are in their slots, and counts them; returns the number of steps."""
        cdef const uint8_t* begun = NULL if self.begun is None else <const uint8_t*>cnp.PyArray_DATA(self.begun)
        cdef int64_t i, slot, steps = 0
        cdef int32_t id
        cdef bint begins
        for i in range(n):
            id = ids[i]
            slot = self.target[i]
            if begun != NULL:       # opponents may have moved since
                begins = begun[id] != 0
            else:
                begins = (<const int32_t*>row(self, self.elapsed, slot, id))[0] == 0
            row(self, self.first, slot, id)[0] = begins
            self.has_observation[id] = 1
            if not self.is_sent[id]:
                continue
            slot -= 1
            row(self, self.valid, slot, id)[0] = not (begins and self.autoreset == NEXT_STEP)
            row(self, self.done, slot, id)[0] = (
                row(self, self.terminated, slot, id)[0] | row(self, self.truncated, slot, id)[0]
            )
            self.is_sent[id] = 0
            self.lengths[id] += 1
            steps += 1
        return steps

    cdef void keep_final(self, const int32_t* ids, int64_t n) noexcept:
        """DISABLED: copies the observations of ended episodes to the final arrays, before a reset replaces them.

        An episode that ended before this rollout has its last observation at the end of the previous one.
        """
        cdef RolloutLayout layout = self.layout
        cdef int64_t i, slot
        cdef int k, mask = layout.find("final:mask"), first = mask - 1 - layout.num_fields, source
        cdef int obs = layout.find("final:obs")
        for i in range(n):
            slot = self.lengths[ids[i]]
            if slot == 0:
                continue
            for k in range(layout.num_fields + 1):      # elapsed_step is the last one
                source = k if k < layout.num_fields else self.elapsed
                if layout.tracks[source].offset >= 0:
                    memcpy(row(self, first + k, slot - 1, ids[i]), row(self, source, slot, ids[i]),
                           layout.tracks[source].row_bytes)
            if self.frames is not None:
                self.frames.load(self.memory, slot, ids[i], row(self, obs, slot - 1, ids[i]))
            row(self, mask, slot - 1, ids[i])[0] = 1

    cdef int end_tracks(self) except -1:
        """Clears the marks and the rewards behind the last step of each env, which belong to an older rollout."""
        cdef Track* track
        cdef int64_t i, slot
        names = ["rollout:valid", "rollout:done", "terminated", "truncated", "reward"]
        if self.acts >= 0:
            names += ["player:terminated", "player:truncated", "player:reward"]
        for name in names:
            track = &self.layout.tracks[self.layout.find(name)]
            for slot in range(track.num_slots):
                for i in range(self.num_envs):
                    if slot >= self.lengths[i]:
                        memset(row_of(track, self.memory, slot, i), 0, track.row_bytes)
        return 0

    # ---- calls -------------------------------------------------------------------------------------------------------

    def step(self, action, env_id=None, **extras):
        """Send actions, record them with the extras, and wait for the next batch, which is recorded.

        Parameters
        ----------
        action : array_like or dict
            As for ``step`` of the pool. The rollout records the actions as the environments get them.
        env_id : array_like of int, optional
            Async pools: (B,) ids of the environments, as for ``step`` of the pool. A sync pool steps all environments.
        **extras
            The declared extras: (B, ...) arrays, one row for each action. Anything that NumPy converts, for instance a
            torch tensor without a graph.

        Returns
        -------
        tuple or TimeStep
            The result of ``step`` of the pool. In a sync pool, the arrays are slots of the rollout.

        Raises
        ------
        PoolStateError
            The rollout is full, or it was never reset; the pool was stepped without the rollout; a step is in flight;
            or the pool is closed or forked.
        ConfigError
            Extras are missing, unknown, or have a wrong dtype or shape, or values that the declared dtype cannot hold.
        ActionError, EnvIdError, EnvStepError, EnvTimeoutError
            As for ``step`` of the pool. After the last two, `recv` returns the batch.
        """
        cdef int visit = self.enter_pool(WAITING, b"step")
        try:
            self.check_begun()
            self.check_has_room()
            self.send_now(action, env_id, self.as_extras(extras, True, env_id, action), visit, RECEIVING)
            return self.receive_now(self.step_template)
        finally:
            self.leave_pool(visit)

    def send(self, action, env_id=None, **extras):
        """Send actions and record them with the extras, without waiting. See `step`.

        In an async pool, environments may be sent actions while the rollout is full: they are in flight when the next
        rollout begins, and their results belong to it.
        """
        cdef int visit = self.enter_pool(NOTHING_ELSE, b"send")
        try:
            self.check_begun()
            if self.is_sync:
                self.check_has_room()
            self.send_now(action, env_id, self.as_extras(extras, True, env_id, action), visit, NOTHING_ELSE)
        finally:
            self.leave_pool(visit)

    def recv(self):
        """Wait for the next batch and record it.

        Returns
        -------
        tuple or TimeStep
            The result of ``recv`` of the pool. Rows of environments that were reset, and not stepped, begin the time
            slots of these environments.

        Raises
        ------
        PoolStateError
            Nothing is in flight, the rollout is full, or the pool is closed or forked.
        EnvStepError, EnvTimeoutError
            As for ``recv`` of the pool; the next call returns the batch.
        """
        return self.receive_step(self.step_template)

    cdef object receive_step(self, ResultTemplate template):
        """Waits for the next batch of steps; see recv()."""
        cdef int visit = self.enter_pool(RECEIVING, b"recv")
        try:
            self.check_begun()
            if not self.in_flight:
                raise PoolStateError(
                    "recv() would wait forever, because nothing of the rollout is in flight: call send() first"
                )
            if self.is_finished:
                self.begin_next()
            self.check_has_room()
            return self.receive_now(template)
        finally:
            self.leave_pool(visit)

    cdef void start_over(self, RolloutMemory memory) noexcept:
        """Begins a rollout without observations, and drops the steps since the last finish()."""
        self.memory = memory
        memset(cnp.PyArray_DATA(self.words), 0, cnp.PyArray_NBYTES(self.words))
        self.recorded = self.longest = self.in_flight = 0
        self.is_finished = False
        self._unanswered = None
        self.failed.clear()
        if self.frames is not None:
            self.frames.count = 0

    def _reset_envs(self, env_id, seeds, ResetOptions options):
        """Reset envs and record their observations; see ``Rollout.reset``."""
        cdef int visit = self.enter_pool(WAITING, b"reset")
        try:
            return (
                self.reset_all(seeds, options, visit) if env_id is None else
                self.reset_some(env_id, seeds, options, visit)
            )
        finally:
            self.leave_pool(visit)

    cdef object reset_all(self, object seeds, ResetOptions options, int visit):
        cdef RolloutMemory memory = self.take_memory(True)
        self.send_resets(None, seeds, options, visit)
        self.start_over(memory)
        self.in_flight = self.num_envs
        self.known = self.sent_by_pool()
        return self.receive_now(self.reset_template)

    cdef object reset_some(self, object env_id, object seeds, ResetOptions options, int visit):
        """Replaces the last observations of ended episodes by the first ones of new episodes."""
        cdef cnp.ndarray ids
        cdef const int32_t* id
        cdef int64_t i, n
        ids = self.check_ended(env_id)
        if self.is_finished:
            self.begin_next()
        self.send_resets(ids, seeds, options, visit)
        id, n = <const int32_t*>cnp.PyArray_DATA(ids), ids.shape[0]
        self.known = self.sent_by_pool()
        self.in_flight += n
        self.keep_final(id, n)
        for i in range(n):
            self.has_observation[id[i]] = 0
        return self.receive_resets(ids)

    cdef int send_resets(self, object env_id, object seeds, ResetOptions options, int visit) except -1:
        """Sends resets to the pool; None: to all envs."""
        self.pool.send_resets(env_id, seeds, options, visit, RECEIVING)
        return 0

    cdef object receive_resets(self, object env_id):
        """Receives and records the rows of envs that were reset; `env_id` are their ids."""
        return self.store(self.pool.receive_resets(env_id, self.reset_template))

    cdef bint may_reset(self, int32_t id) noexcept:
        return self.has_observation[id] and not self.is_sent[id] and PoolDriver.may_reset(self, id)

    cdef void clear_observations(self, RolloutMemory memory) noexcept:
        """Clears the arrays of the first observations: reused memory contains an older rollout."""
        cdef Track* track
        cdef int k
        for k in range(len(self.layout.names)):
            track = &self.layout.tracks[k]
            if not self.has_first(track):
                continue
            memset(slot_of(track, memory, 0), 0, track.slot_bytes)

    def _begin_with(self, dict arrays, mask_of):
        """Record observations that the pool returned to another caller; see ``Rollout.begin``. Arrays by name.

        ``mask_of(ids)`` returns which places have an observation, bool (num_envs, places); None without players.
        """
        cdef RolloutMemory memory
        cdef Track* track
        cdef cnp.ndarray a
        cdef cnp.ndarray stacks = None
        cdef const char* data
        cdef int64_t i
        cdef int visit = self.enter_pool(NOTHING_ELSE, b"begin"), k
        try:
            memory = self.take_memory(True)
            self.clear_observations(memory)
            for name, value in arrays.items():
                k = self.layout.find(name)
                track = &self.layout.tracks[k]
                shape = tuple([track.dims[d] for d in range(track.ndim)])
                a = np.ascontiguousarray(value, self.layout.dtypes[k])
                if (<object>a).shape != shape:
                    raise ConfigError(f"{name} must have shape {shape}, got {(<object>a).shape}")
                if track.offset >= 0:
                    memcpy(slot_of(track, memory, 0), cnp.PyArray_DATA(a), track.slot_bytes)
                else:       # a copy: code of the user's may run before it is stored
                    stacks = a.copy()
            self.check_pool_idle()
            if mask_of is not None:
                a = mask_of(np.arange(self.num_envs, dtype=np.int32))
                track = &self.layout.tracks[self.layout.find("player:mask")]
                memcpy(slot_of(track, memory, 0), cnp.PyArray_DATA(a), track.slot_bytes)
            self.start_over(memory)
            self.received = None
            for i in range(self.num_envs if stacks is not None else 0):
                data = <const char*>cnp.PyArray_DATA(stacks)
                self.frames.store(memory, 0, i, data + i * self.frames.stacks.row_bytes)
            memset(self.has_observation, 1, self.num_envs)
            if self.acts >= 0:
                self.mark_players(self.pool.engine.all_ids, self.num_envs)
            self.known = self.sent_by_pool()
        finally:
            self.leave_pool(visit)

    def _take_finished(self, dict extras, make):
        """End the rollout and return what ``make(memory, lengths)`` makes of it; see ``Rollout.finish``.

        `lengths` are the steps of each env, int64 (num_envs,). If `make` raises, the rollout is as it was. The next
        call that sends or receives begins the next rollout with the last observations of this one.
        """
        cdef Track* track
        cdef cnp.ndarray a
        cdef int k
        self.begin_call()
        try:
            self.check_begun()
            values = self.as_extras(extras, False)
            self.check_complete(values)
            for k, value in enumerate(values):
                if value is not None:
                    a = value
                    track = &self.layout.tracks[self.first_extra + k]
                    memcpy(slot_of(track, self.memory, self.longest), cnp.PyArray_DATA(a), track.slot_bytes)
            if not self.is_sync:
                self.end_tracks()
            lengths = np.empty(self.num_envs, np.int64)
            memcpy(cnp.PyArray_DATA(lengths), self.lengths, self.num_envs * sizeof(int64_t))
            data = make(self.memory, lengths)
            PyErr_CheckSignals()    # here: an exception that Python raises as the call returns would lose the arrays
            self.is_finished = True
            return data
        finally:
            self.is_busy = False

    cdef int check_complete(self, tuple values) except -1:
        """Raises unless the rollout can be finished with these extras."""
        cdef cnp.ndarray a
        cdef int64_t i, rows
        if self.is_finished:
            raise PoolStateError("this rollout was finished already: record the steps of the next one first")
        if self.is_sync and (self.longest != self.num_slots or self.in_flight):
            raise PoolStateError(
                f"the rollout has {self.longest} of {self.num_slots} steps"
                f"{' and one in flight' if self.in_flight else ''}: record the others before finish()"
            )
        if not self.is_sync:
            if any(value is not None for value in values):
                raise ConfigError(
                    "finish() of an async pool takes no extras: send() got the extras of the last observations"
                )
            for i in range(self.num_envs):
                if self.has_observation[i] and not self.is_sent[i]:
                    raise PoolStateError(
                        f"env {i} was received and not sent an action: send it one before finish(), so that the extras "
                        "of its last observation are known"
                    )
        for k, value in enumerate(values):
            if value is not None:
                a = value
                rows = cnp.PyArray_DIMS(a)[0] if cnp.PyArray_NDIM(a) else 0
                if rows != self.num_envs:
                    raise ConfigError(f"{self.extra_names[k]} must have {self.num_envs} rows, got {rows}")
                self.check_unchanged(<int>k, a)
        return 0
