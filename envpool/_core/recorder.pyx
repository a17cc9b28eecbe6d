"""Recording what a pool returns, and what the learner adds, into the memory of a rollout.

In a sync pool the workers write in place: before a step is published, a placed block takes the place of the pool's own
one, see rollout_layout.pyx. In an async pool the rows of a batch belong to different time slots. They are copied to the
slot of their env when they are received, which costs one copy of the batch, and the batch itself goes to the policy.

What must hold whenever Python code can run:
- Env i has `lengths[i]` steps in this rollout. Its observation after them, if `has_observation`, has that slot, and so
  has the action with which the learner answers it, if `is_sent`.
- A rollout whose arrays somebody else can see is never written again, apart from rows of its own steps: memory is used
  for the next one only if this object has the only reference to it.
- `known` is the number of actions and resets that the pool has been sent. If the pool has been sent more, somebody else
  has stepped it and the observations here are not those that the next action answers.
"""

import numpy as np

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memmove, memset

from envpool._core.actions cimport ActionField
from envpool._core.batch_block cimport BatchBlock
from envpool._core.batches cimport check_fills
from envpool._core.blocks cimport BlockStore
from envpool._core.env_ids cimport release
from envpool._core.guard cimport begin
from envpool._core.placing cimport place
from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate
from envpool._core.rollout_frames cimport FrameStore
from envpool._core.rollout_layout cimport Lane, RolloutLayout, RolloutMemory, row_of, slot_of
from envpool._core.rollout_rows cimport copy_columns, mark_rows, mark_slot
from envpool._core.structs cimport DISABLED, Engine, NEXT_STEP

from envpool.errors import ConfigError, EnvStepError, PoolStateError

cdef extern from "Python.h":
    PyObject* PyList_GET_ITEM(object items, Py_ssize_t i)   # borrowed: the reference is not counted
    Py_ssize_t Py_REFCNT(PyObject* o)

cnp.import_array()

cdef enum:
    REMEMBERED = 8      # memories of rollouts that are looked at again; further ones are left to their holders


cdef ResultTemplate with_arrays(ResultTemplate form, tuple names, object add_errors):
    """Returns a template of pairs: a result in the given form, and the tuple of all arrays."""
    return ResultTemplate((form.nest, names), names, add_errors)


cdef class Recorder:
    """Records the steps of a pool.

    Parameters
    ----------
    pool : Pool
        The pool.
    num_steps, num_slots : int
        Steps of each env in a rollout, on average, and at most. In a sync pool they are equal.
    extras : list of tuple
        What the learner adds to each step: name, dtype, shape of one row.
    pins : bool
        If True, the memory of rollouts is page-locked; two rollouts are made at once, which take turns.
    depth : int
        Frames of a stack, if the observation is an array of stacked frames that are stored once; 0 if it is not.
    """

    def __init__(self, Pool pool, int64_t num_steps, int64_t num_slots, list extras, bint pins=False,
                 int64_t depth=0):
        cdef int64_t n
        pool.guard.check_open()
        store = pool.batches.store
        n = self.num_envs = pool.engine.num_envs
        self.pool, self.num_steps, self.num_slots = pool, num_steps, num_slots
        self.is_sync = self.places = pool.engine.is_sync
        self.autoreset = pool.engine.autoreset
        own = [("rollout:first", np.bool_, (), 1)]
        own += [("rollout:valid", np.bool_, (), 0), ("rollout:done", np.bool_, (), 0)]
        fields = pool.actions.fields
        own += [((<ActionField>f).name, (<ActionField>f).dtype, (<ActionField>f).shape, 1) for f in fields]
        own += [(f"extra:{name}", dtype, shape, 1) for name, dtype, shape in extras]
        if self.autoreset == DISABLED:
            for k in range(store.num_fields):
                own.append(("final:" + store.names[k], store.dtypes[k], store.shapes[k], 0))
            own += [("final:elapsed_step", np.int32, (), 0), ("final:mask", np.bool_, (), 0)]
        if depth:
            own += self.frame_arrays(store, depth)
        self.layout = RolloutLayout(store, own, n, num_slots, ["obs"] if depth else [], pins)
        if depth:
            self.frames = FrameStore(self.layout, self.layout.find("obs"), depth)
            self.places = False
        self.find_arrays()
        self.first_action, self.num_actions = self.marks.done + 1, <int>len(fields)
        self.first_extra = self.first_action + self.num_actions
        self.extra_names = tuple(name for name, _, _ in extras)
        self.add_errors = pool.step_template.add_errors
        self.reset_template = with_arrays(pool.reset_template, store.names, self.note_errors)
        self.step_template = with_arrays(pool.step_template, store.names, self.note_errors)
        self.memories, self.failed = [self.layout.new_memory() for _ in range(2 * pins)], set()
        self.words = np.zeros(18 * n, np.uint8)
        self.envs.lengths = <int64_t*>cnp.PyArray_DATA(self.words)
        self.envs.target = self.envs.lengths + n
        self.envs.has_observation = <uint8_t*>(self.envs.target + n)
        self.envs.is_sent = self.envs.has_observation + n

    cdef list frame_arrays(self, BlockStore store, int64_t depth):
        """Returns the arrays in which stacks of `depth` frames are stored; see rollout_frames.pyx."""
        rows, *rest = store.shapes[store.names.index("obs")]
        most = depth * (2 if self.autoreset == DISABLED else 1)     # a reset takes the place of another stack
        if most * self.num_envs * (self.num_slots + 1) >= 1 << 31:
            raise MemoryError(f"a rollout of {self.num_slots} steps and {self.num_envs} envs has too many frames")
        dtype = store.dtypes[store.names.index("obs")]
        return [
            ("rollout:numbers", np.int32, (depth,), 1), ("rollout:frames", dtype, (most, rows // depth, *rest), 1)
        ]

    cdef void find_arrays(self):
        """Notes the numbers of the arrays that this object fills."""
        cdef RolloutLayout layout = self.layout
        self.env_id, self.reward = layout.find("env_id"), layout.find("reward")
        self.marks.elapsed = layout.find("elapsed_step")
        self.marks.terminated, self.marks.truncated = layout.find("terminated"), layout.find("truncated")
        self.marks.first, self.marks.valid = layout.find("rollout:first"), layout.find("rollout:valid")
        self.marks.done, self.marks.final_mask = layout.find("rollout:done"), layout.find("final:mask")

    # ---- state -------------------------------------------------------------------------------------------------------

    @property
    def is_full(self):
        """Whether the rollout takes no further results."""
        if self.memory is None or self.is_finished:
            return False
        return self.longest == self.num_slots or self.recorded >= self.num_steps * self.num_envs

    @property
    def num_in_flight(self):
        """Number of envs that were sent and not received."""
        return self.in_flight

    cdef int64_t sent_by_pool(self) noexcept:
        return self.pool.statistics.steps + self.pool.statistics.resets

    cdef int enter_rollout(self) except -1:
        """Begins a call, or raises if one is inside, for instance of another thread."""
        if self.is_busy:
            raise PoolStateError("another call is inside this rollout: use it from one thread, one call at a time")
        self.is_busy = True
        return 0

    cdef int check_begun(self) except -1:
        if self.memory is None:
            self.pool.guard.check_open()
            raise PoolStateError("the rollout has no observations yet: call its reset() or begin() first")
        return 0

    cdef int check_has_room(self) except -1:
        """Raises PoolStateError if the results of a step have no place."""
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
        cdef PyObject* held
        cdef Py_ssize_t k
        cdef bint is_present
        free = []
        for k in range(len(self.memories)):
            held = PyList_GET_ITEM(self.memories, k)
            is_present = self.memory is not None and held == <PyObject*>self.memory
            if Py_REFCNT(held) == 1 + is_present and not (fresh and is_present):
                free.insert(0 if is_present else len(free), k)
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
        memset(self.envs.lengths, 0, self.num_envs * sizeof(int64_t))
        self.recorded = self.longest = 0
        self.is_finished = False
        return 0

    cdef void carry(self, RolloutMemory source, RolloutMemory target) noexcept:
        """Copies the last slot of each env, with the action that is in flight, to the first slot."""
        cdef Lane* lane
        cdef int64_t i
        cdef int k
        if self.frames is not None:
            self.frames.carry(source, target, self.envs.lengths)
        for k in range(len(self.layout.names)):
            lane = &self.layout.lanes[k]
            if lane.offset < 0 or lane.shift == 0:
                continue
            if self.frames is not None and (lane == self.frames.frames or lane == self.frames.numbers):
                continue
            if self.is_sync:
                memmove(slot_of(lane, target, 0), slot_of(lane, source, self.longest), lane.slot_bytes)
                continue
            for i in range(self.num_envs):
                memmove(row_of(lane, target, 0, i), row_of(lane, source, self.envs.lengths[i], i), lane.row_bytes)

    # ---- sending -----------------------------------------------------------------------------------------------------

    cdef int32_t send_now(self, object action, object env_id, tuple values, int visit, int activities) except -1:
        """Sends actions, and records them and the extras; see Pool.send_actions()."""
        cdef Pool pool = self.pool
        cdef Engine* e = pool.engine
        cdef const int32_t* ids = NULL
        cdef BatchBlock placed = None
        cdef int32_t n
        if self.is_sync and self.in_flight:
            raise PoolStateError("a step of the rollout is in flight: receive it with recv(); nothing was sent")
        if self.is_finished:
            self.begin_next()
        if self.places and self.longest < self.num_slots:
            placed = self.layout.place(self.memory, self.longest)
        n = pool.actions.load(e, action, env_id, &ids)
        # No Python code runs from here to the launch, unless an exception is raised.
        try:
            pool.guard.check_open()
            self.check_send(ids, n, values, activities)
            begin(pool.guard, visit, activities)
        except BaseException:
            release(e, ids, n)
            raise
        pool.statistics.steps += n
        self.store_sent(ids, n, values)
        if placed is not None:
            place(pool, placed)
        pool.launch(ids, n, activities)
        self.known = self.sent_by_pool()
        return n

    cdef int check_send(self, const int32_t* ids, int32_t n, tuple values, bint receives) except -1:
        """Raises for a send that the rollout cannot record."""
        cdef int32_t i
        cdef int64_t rows
        cdef cnp.ndarray a
        if self.sent_by_pool() != self.known:
            raise PoolStateError(
                "the pool was stepped or reset without the rollout, whose observations are outdated: begin again with "
                "reset() or begin(); nothing was sent"
            )
        if self.is_sync:
            for i in range(0 if ids == self.pool.engine.all_ids else n):
                if ids[i] != i:
                    n = 0
            if n != self.num_envs:
                raise PoolStateError(
                    f"a rollout of a sync pool steps all {self.num_envs} envs at once and in order: leave env_id out; "
                    "nothing was sent"
                )
        else:
            if receives:
                check_fills(self.pool.engine, n)
            for i in range(n):
                if not self.envs.has_observation[ids[i]] or self.envs.is_sent[ids[i]]:
                    raise PoolStateError(
                        f"the rollout has not received an observation of env {ids[i]}: receive with its own recv(); "
                        "nothing was sent"
                    )
        for k, value in enumerate(values):
            a = value
            rows = cnp.PyArray_DIMS(a)[0] if cnp.PyArray_NDIM(a) else 0
            if rows != n:
                raise ConfigError(
                    f"{self.extra_names[k]} has {rows} rows, but there are {n} actions: pass one row for each; nothing "
                    "was sent"
                )
            self.check_unchanged(k, a)
        return 0

    cdef int check_unchanged(self, int k, cnp.ndarray a) except -1:
        """Raises ConfigError if code of the user's has changed the shape of an extra since as_extras()."""
        cdef const Lane* lane = &self.layout.lanes[self.first_extra + k]
        if not cnp.PyArray_ISCARRAY_RO(a) or cnp.PyArray_NBYTES(a) != cnp.PyArray_DIMS(a)[0] * lane.row_bytes:
            raise ConfigError(
                f"{self.extra_names[k]} changed while arguments were being converted; nothing was recorded"
            )
        return 0

    cdef void store_sent(self, const int32_t* ids, int32_t n, tuple values) noexcept:
        """Records the actions, as the envs get them, and the extras of n envs."""
        cdef Engine* e = self.pool.engine
        cdef Lane* lane
        cdef const char* source
        cdef int64_t i
        cdef int k, count = self.num_actions + <int>len(self.extra_names)
        for k in range(count):
            lane = &self.layout.lanes[self.first_action + k]
            if k < self.num_actions:
                source = <const char*>e.actions[k]
            else:
                source = <const char*>cnp.PyArray_DATA(<cnp.ndarray>values[k - self.num_actions])
            if self.is_sync:
                memcpy(slot_of(lane, self.memory, self.longest), source, lane.slot_bytes)
                continue
            for i in range(n):
                memcpy(row_of(lane, self.memory, self.envs.lengths[ids[i]], ids[i]),
                       source + (ids[i] if k < self.num_actions else i) * lane.row_bytes, lane.row_bytes)
        for i in range(n):
            self.envs.is_sent[ids[i]] = 1
        self.in_flight += n

    # ---- receiving ---------------------------------------------------------------------------------------------------

    def note_errors(self, pair, dict errors, count):
        """Add the texts of failed envs to a result, and note the envs."""
        result, arrays = pair
        self.failed.update(int(arrays[self.env_id][row]) for row in errors)
        if self.add_errors is not None:
            self.add_errors(result, errors, count)

    cdef object receive_now(self, ResultTemplate template):
        """Receives the next batch, records it, and returns it in the form of the API style."""
        try:
            pair = self.pool.receive(template, False)
        except EnvStepError as error:
            self.failed.update(error.failures)
            raise
        return self.store(pair)

    cdef object store(self, tuple pair):
        """Records the rows of a batch: those of steps, and those of resets, which have an observation only."""
        cdef tuple arrays = <tuple>pair[1]
        cdef cnp.ndarray env_ids = <cnp.ndarray>arrays[self.env_id]
        cdef const int32_t* ids = <const int32_t*>cnp.PyArray_DATA(env_ids)
        cdef const char* stacks
        cdef int64_t n = cnp.PyArray_DIMS(env_ids)[0], i, k, steps
        cdef bint has_reset_steps = self.autoreset == NEXT_STEP
        for i in range(n):
            if self.envs.has_observation[ids[i]] != self.envs.is_sent[ids[i]]:
                raise PoolStateError(
                    f"env {ids[i]} was stepped without the rollout, whose observations are outdated: begin again with "
                    "reset() or begin()"
                )
        if not self.is_sync:
            self.received = (<object>env_ids).copy()
        self.in_flight -= n
        failed = self.take_failed(ids, n) if self.failed else None
        if (self.places and self.longest < self.num_slots
                and <const char*>ids == slot_of(&self.layout.lanes[self.env_id], self.memory, self.longest + 1)):
            mark_slot(self.layout, self.memory, &self.marks, self.longest, has_reset_steps)
            memset(self.envs.is_sent, 0, n)
            for i in range(n):
                self.envs.lengths[i] += 1
            steps = n
        else:
            for i in range(n):
                self.envs.target[i] = self.envs.lengths[ids[i]] + self.envs.is_sent[ids[i]]
            copy_columns(self.layout, self.memory, arrays, ids, &self.envs, n)
            if self.frames is not None:
                stacks = <const char*>cnp.PyArray_DATA(<cnp.ndarray>arrays[self.frames.column])
                self.frames.store_rows(self.memory, stacks, ids, &self.envs, n)
            steps = mark_rows(self.layout, self.memory, &self.marks, &self.envs, ids, n, has_reset_steps)
        self.recorded += steps
        if steps:
            for i in range(n):
                self.longest = max(self.longest, self.envs.lengths[ids[i]])
        for k in failed or ():
            row_of(&self.layout.lanes[self.marks.valid], self.memory, self.envs.lengths[k] - 1, k)[0] = 0
        return pair[0]

    cdef list take_failed(self, const int32_t* ids, int64_t n):
        """Returns the envs of a batch whose step failed, which is no transition, and forgets all its failures."""
        cdef int64_t i
        found = []
        for i in range(n):
            if ids[i] in self.failed:
                self.failed.remove(ids[i])
                if self.envs.is_sent[ids[i]]:
                    found.append(ids[i])
        return found
