"""The calls of a rollout: each enters the rollout and the guard of its pool, and leaves both."""

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from envpool._core.env_ids cimport checked_ids
from envpool._core.guard cimport enter, NOTHING_ELSE, RECEIVING, WAITING
from envpool._core.recorder cimport Recorder
from envpool._core.rollout_layout cimport Lane, RolloutMemory, row_of, slot_of
from envpool._core.rollout_rows cimport as_extras, end_lanes, keep_final
from envpool._core.structs cimport DISABLED, Engine, REFUSED

from envpool.errors import ConfigError, EnvIdError, PoolStateError

cnp.import_array()


cdef class RolloutCalls(Recorder):
    """What a learner may call; see ``envpool.Rollout``."""

    def step(self, action, env_id=None, **extras):
        """Send actions, record them with the extras, and wait for the next batch, which is recorded.

        Parameters
        ----------
        action : array_like or dict
            As for ``step`` of the pool. The rollout records the actions as the environments get them.
        env_id : array_like of int, optional
            Async pools: (B,) ids of the environments, as for ``step`` of the pool. A sync pool steps all environments.
        **extras
            What was declared: (B, ...) arrays, one row for each action. Anything that NumPy converts, for instance a
            torch tensor without a graph.

        Returns
        -------
        tuple or TimeStep
            What ``step`` of the pool returns. In a sync pool, the arrays are slots of the rollout.

        Raises
        ------
        PoolStateError
            The rollout is full, or it was never reset; somebody else has stepped the pool; a step is in flight; or the
            pool is closed or forked.
        ConfigError
            Extras are missing, unknown, or have a wrong dtype or shape.
        ActionError, EnvIdError, EnvStepError, EnvTimeoutError
            As for ``step`` of the pool. After the last two, `recv` returns the batch.
        """
        cdef int visit
        self.enter_rollout()
        try:
            self.check_begun()
            self.check_has_room()
            values = as_extras(self.layout, self.first_extra, self.extra_names, extras, True)
            visit = enter(self.pool.guard, WAITING, b"step")
            try:
                self.send_now(action, env_id, values, visit, RECEIVING)
                return self.receive_now(self.step_template)
            finally:
                self.pool.end_visit(visit)
        finally:
            self.is_busy = False

    def send(self, action, env_id=None, **extras):
        """Send actions and record them with the extras, without waiting. See `step`.

        In an async pool, environments may be sent actions while the rollout is full: they are in flight when the next
        rollout begins, and their results belong to it.
        """
        cdef int visit
        self.enter_rollout()
        try:
            self.check_begun()
            if self.is_sync:
                self.check_has_room()
            values = as_extras(self.layout, self.first_extra, self.extra_names, extras, True)
            visit = enter(self.pool.guard, NOTHING_ELSE, b"send")
            try:
                self.send_now(action, env_id, values, visit, NOTHING_ELSE)
            finally:
                self.pool.end_visit(visit)
        finally:
            self.is_busy = False

    def recv(self):
        """Wait for the next batch and record it.

        Returns
        -------
        tuple or TimeStep
            What ``recv`` of the pool returns. Rows of environments that were reset, and not stepped, begin the time
            slots of these environments.

        Raises
        ------
        PoolStateError
            Nothing is in flight, the rollout is full, or the pool is closed or forked.
        EnvStepError, EnvTimeoutError
            As for ``recv`` of the pool; the next call returns the batch.
        """
        cdef int visit
        self.enter_rollout()
        try:
            self.check_begun()
            visit = enter(self.pool.guard, RECEIVING, b"recv")
            try:
                if not self.in_flight:
                    raise PoolStateError(
                        "recv() would wait forever, because nothing of the rollout is in flight: call send() first"
                    )
                if self.is_finished:
                    self.begin_next()
                self.check_has_room()
                return self.receive_now(self.step_template)
            finally:
                self.pool.end_visit(visit)
        finally:
            self.is_busy = False

    # ---- beginning ---------------------------------------------------------------------------------------------------

    cdef void start_over(self, RolloutMemory memory) noexcept:
        """Begins a rollout without observations. What was recorded since the last finish() is dropped."""
        self.memory = memory
        memset(cnp.PyArray_DATA(self.words), 0, cnp.PyArray_NBYTES(self.words))
        self.recorded = self.longest = self.in_flight = 0
        self.is_finished = False
        self.failed.clear()
        if self.frames is not None:
            self.frames.count = 0

    def reset_envs(self, env_id, seeds):
        """Reset envs and record their observations; see ``Rollout.reset``."""
        cdef int visit
        self.enter_rollout()
        try:
            visit = enter(self.pool.guard, WAITING, b"reset")
            try:
                if env_id is None:
                    return self.reset_all(seeds, visit)
                return self.reset_some(env_id, seeds, visit)
            finally:
                self.pool.end_visit(visit)
        finally:
            self.is_busy = False

    cdef object reset_all(self, object seeds, int visit):
        cdef RolloutMemory memory = self.take_memory(True)
        self.pool.send_resets(None, seeds, None, visit, RECEIVING)
        self.start_over(memory)
        self.in_flight = self.num_envs
        self.known = self.sent_by_pool()
        return self.receive_now(self.reset_template)

    cdef object reset_some(self, object env_id, object seeds, int visit):
        """Replaces the observations of ended episodes by those of new ones."""
        cdef cnp.ndarray ids
        cdef const int32_t* id
        cdef int64_t i, n
        self.check_begun()
        ids = self.check_ended(env_id)
        if self.is_finished:
            self.begin_next()
        self.pool.send_resets(ids, seeds, None, visit, RECEIVING)
        id, n = <const int32_t*>cnp.PyArray_DATA(ids), ids.shape[0]
        self.known = self.sent_by_pool()
        self.in_flight += n
        keep_final(self.layout, self.memory, &self.envs, id, n)
        if self.frames is not None:
            self.keep_final_stacks(id, n)
        for i in range(n):
            self.envs.has_observation[id[i]] = 0
        return self.store(self.pool.receive_resets(ids, self.reset_template))

    cdef void keep_final_stacks(self, const int32_t* ids, int64_t n) noexcept:
        """Does for stacks of frames what keep_final() does for other observations."""
        cdef Lane* lane = &self.layout.lanes[self.layout.find("final:obs")]
        cdef int64_t i, slot
        for i in range(n):
            slot = self.envs.lengths[ids[i]]
            if slot:
                self.frames.load(self.memory, slot, ids[i], row_of(lane, self.memory, slot - 1, ids[i]))

    cdef cnp.ndarray check_ended(self, object env_id):
        """Returns ids of envs that may be reset alone: their episodes have ended and nobody else resets them."""
        cdef Engine* e = self.pool.engine
        cdef cnp.ndarray ids
        cdef int64_t i
        cdef int32_t id
        if self.autoreset != DISABLED:
            raise ConfigError(
                "reset(env_id=...) of a rollout needs autoreset_mode='disabled', since the pool resets ended episodes "
                "itself in other modes: leave env_id out to reset all envs"
            )
        if self.sent_by_pool() != self.known:
            raise PoolStateError(
                "the pool was stepped or reset without the rollout, whose observations are outdated: begin again with "
                "reset() or begin()"
            )
        ids = np.array(checked_ids(e, env_id, "env_id"), np.int32)
        for i in range(ids.shape[0]):
            id = (<const int32_t*>cnp.PyArray_DATA(ids))[i]
            if not self.envs.has_observation[id] or self.envs.is_sent[id] or e.reset[id] != REFUSED:
                raise EnvIdError(
                    f"the episode of env {id} has not ended in a row that the rollout received: reset ended episodes, "
                    "or all envs"
                )
        return ids

    def begin_with(self, dict arrays):
        """Record observations that the pool returned to somebody else; see ``Rollout.begin``. Arrays by name."""
        cdef RolloutMemory memory
        cdef Lane* lane
        cdef cnp.ndarray a
        cdef cnp.ndarray stacks = None
        cdef const char* data
        cdef int64_t i
        cdef int visit, k
        self.enter_rollout()
        try:
            visit = enter(self.pool.guard, NOTHING_ELSE, b"begin")
            try:
                memory = self.take_memory(True)
                for name, value in arrays.items():
                    k = self.layout.find(name)
                    lane = &self.layout.lanes[k]
                    shape = tuple([lane.dims[d] for d in range(lane.ndim)])
                    a = np.ascontiguousarray(value, self.layout.dtypes[k])
                    if (<object>a).shape != shape:
                        raise ConfigError(f"{name} has shape {(<object>a).shape}, expected {shape}")
                    if lane.offset >= 0:
                        memcpy(slot_of(lane, memory, 0), cnp.PyArray_DATA(a), lane.slot_bytes)
                    else:       # a copy: code of the user's may run before it is stored
                        stacks = a.copy()
                self.pool.guard.check_open()
                if self.pool.engine.outstanding:
                    raise PoolStateError(
                        f"begin() needs an idle pool, but {self.pool.engine.outstanding} envs are in flight: receive "
                        "them first"
                    )
                self.start_over(memory)
                for i in range(self.num_envs if stacks is not None else 0):
                    data = <const char*>cnp.PyArray_DATA(stacks)
                    self.frames.store(memory, 0, i, data + i * self.frames.stacks.row_bytes)
                memset(self.envs.has_observation, 1, self.num_envs)
                self.known = self.sent_by_pool()
            finally:
                self.pool.end_visit(visit)
        finally:
            self.is_busy = False

    # ---- finishing ---------------------------------------------------------------------------------------------------

    def take_finished(self, dict extras, make):
        """End the rollout and return what ``make(memory, lengths)`` makes of it; see ``Rollout.finish``.

        `lengths` are the steps of each env, int64 (num_envs,). If `make` raises, the rollout is as it was. The next
        call that sends or receives begins the next rollout with the last observations of this one.
        """
        cdef Lane* lane
        cdef cnp.ndarray a
        cdef int k
        self.enter_rollout()
        try:
            self.check_begun()
            values = as_extras(self.layout, self.first_extra, self.extra_names, extras, False)
            self.check_complete(values)
            for k, value in enumerate(values):
                if value is not None:
                    a = value
                    lane = &self.layout.lanes[self.first_extra + k]
                    memcpy(slot_of(lane, self.memory, self.longest), cnp.PyArray_DATA(a), lane.slot_bytes)
            if not self.is_sync:
                end_lanes(self.layout, self.memory, &self.marks, self.reward, &self.envs)
            lengths = np.empty(self.num_envs, np.int64)
            memcpy(cnp.PyArray_DATA(lengths), self.envs.lengths, self.num_envs * sizeof(int64_t))
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
                    "finish() of an async pool takes no extras: those of the last observations were given to send()"
                )
            for i in range(self.num_envs):
                if self.envs.has_observation[i] and not self.envs.is_sent[i]:
                    raise PoolStateError(
                        f"env {i} was received and not sent an action: send it one before finish(), so that the extras "
                        "of its last observation are known"
                    )
        for k, value in enumerate(values):
            if value is not None:
                a = value
                rows = cnp.PyArray_DIMS(a)[0] if cnp.PyArray_NDIM(a) else 0
                if rows != self.num_envs:
                    raise ConfigError(f"{self.extra_names[k]} has {rows} rows, expected {self.num_envs}")
                self.check_unchanged(<int>k, a)
        return 0
