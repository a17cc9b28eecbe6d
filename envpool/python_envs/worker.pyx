# optimize: -Og
"""The side of a worker process: it answers the entries of its ring, and sleeps when there are none."""

import os
import pickle

import numpy as np

from libc.stdint cimport int32_t, int64_t, INT64_MAX, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envpool._core.guard cimport fork_generation
from envpool.env cimport envpool_batch
from envpool.python_envs.arena cimport (
    Arena, copy_report, EPY_COMMAND, epy_end_strays, EPY_FAILED, epy_follow, EPY_ID, epy_load, epy_load32, epy_mailbox,
    epy_note_wait, epy_now, EPY_OPTIONS, epy_outcome, epy_pace, EPY_READY, epy_release, EPY_RESET, epy_sleep,
    epy_spin, epy_store, epy_store32, epy_wake, FATAL, KEPT, loss_after, outcome_of, row_of, USED, View, WAITING,
)
from envpool.python_envs.envs cimport Envs, State, end_copy

from envpool._support.text import shown
from envpool.python_envs.faults import LOST_TEXT, failure_of, restart_seed

# Async pools: the longest time for which answers stay unannounced, ns. A sync pool waits for all of them.
cdef int64_t ANNOUNCE = 20000
# The longest sleep, ns: a bell that was lost, if that is possible at all, costs this much.
cdef int64_t NAP = 1000000000


def follow(int handle):
    """End this process and its process group as soon as another one ends, see `processes.parent_of_workers`."""
    if epy_follow(handle):
        raise OSError("no thread could be started that watches the process of the pool")


def end_strays(int root):
    """End the processes that a worker, by its pid, has started and that have left its process group.

    The worker is this process, or one that is stopped.
    """
    with nogil:
        epy_end_strays(root)


cdef class Worker:
    """The environments of one process.

    Parameters
    ----------
    arena : Arena
        The shared memory.
    index : int
        Number of the worker; it has the environments whose id is `index` modulo the number of workers.
    source : envpool.python_envs.source.EnvSource
        Makes the environments.
    is_successor : bool
        If True, the worker replaces one that has died.
    """

    cdef Arena arena
    cdef Envs envs
    cdef epy_mailbox* box
    cdef int32_t* ring
    cdef int32_t first
    cdef int64_t generation     # fork_generation() of this process
    cdef bint is_sync
    # One env as a batch for `Envs.step`.
    cdef envpool_batch batch
    cdef int32_t id, error
    cdef uint8_t reset
    # Of the env that is being stepped: a copy of this process must not write to the arena.
    cdef epy_outcome fresh
    cdef float[::1] rewards     # (num_envs, num_players), like the others
    cdef uint8_t[:, ::1] flags  # present, terminated, truncated

    def __init__(self, Arena arena, int32_t index, source, bint is_successor):
        cdef int64_t generation = fork_generation()
        self.arena = arena
        if arena.region_bytes:
            arena.map_region(arena.region_bytes)
        self.box = &arena.v.boxes[index]
        self.ring = arena.v.rings + <int64_t>index * (arena.v.mask + 1)
        self.first, self.is_sync = index, source.processes.is_sync
        self.batch.struct_size, self.batch.n = sizeof(envpool_batch), 1
        self.batch.ids, self.batch.reset, self.batch.errors = &self.id, &self.reset, &self.error
        self.batch.actions = <const void* const*>arena.v.actions
        self.batch.reward, self.batch.discount = &self.fresh.reward, &self.fresh.discount
        self.batch.terminated, self.batch.truncated = &self.fresh.terminated, &self.fresh.truncated
        if source.num_players:
            places = arena.num_envs * source.num_players
            self.rewards, self.flags = np.zeros(places, np.float32), np.zeros((3, places), np.uint8)
            self.batch.player_reward, self.batch.player_present = &self.rewards[0], &self.flags[0, 0]
            self.batch.player_terminated, self.batch.player_truncated = &self.flags[1, 0], &self.flags[2, 0]
        ids = range(index, arena.num_envs, arena.v.num_workers)
        try:
            self.envs = Envs(source, arena.num_envs, ids, is_successor)
        except BaseException as error:
            end_copy(generation)
            arena.put(index, pickled_error(error, arena.window))
            epy_store32(&self.box.readiness, EPY_FAILED)
            raise
        end_copy(generation)
        self.generation = generation
        epy_store32(&self.box.readiness, EPY_READY)
        epy_wake(&self.box.reply, &self.box.waiting)

    # ---- one entry ---------------------------------------------------------------------------------------------------

    cdef int answer(self, int32_t entry) except -1:
        """Steps or resets an env, or executes a command; what users learn of it is in the arena afterwards."""
        cdef Arena a = self.arena
        cdef int32_t id = entry & EPY_ID
        outcome_of(&a.v, id).failed = 0
        if a.v.lost[id] == FATAL or (a.v.lost[id] != KEPT and not entry & (EPY_RESET | EPY_COMMAND)):
            a.v.lost[id] = loss_after(entry)
            self.fail(id, LOST_TEXT)
        elif entry & EPY_COMMAND:
            self.execute(id)
        elif entry & EPY_OPTIONS:
            try:
                self.envs.options[id] = pickle.loads(a.get(id))
            except Exception as problem:
                self.fail(id, f"the options of the reset cannot be unpickled: {failure_of(problem)}")
                return 0
            self.step(id, True)
        else:
            self.step(id, (entry & EPY_RESET) != 0)
        return 0

    cdef int step(self, int32_t id, bint resets) except -1:
        cdef Arena a = self.arena
        cdef Envs envs = self.envs
        cdef envpool_batch* b = &self.batch
        cdef bint failed
        if resets:
            if a.v.has_seed[id] == WAITING:
                envs.seeds[id] = <uint64_t>a.v.seeds[id]
            elif a.v.has_seed[id] == USED and a.v.lost[id] != KEPT:
                envs.seeds[id] = restart_seed(<uint64_t>a.v.last_seeds[id], a.v.restarts[id])
            a.v.lost[id] = KEPT
        self.id, self.reset, self.error = id, resets, 0
        memset(&self.fresh, 0, sizeof(epy_outcome))
        self.fresh.discount = 1
        failed = envs.step(b)
        end_copy(self.generation)
        outcome_of(&a.v, id)[0] = self.fresh
        if failed:
            self.fail(id, envs.texts[id].pop(self.error))
            return 0
        if resets and envs.last_seeds[id] is not None:
            a.v.last_seeds[id] = <int64_t><uint64_t>envs.last_seeds[id]
        self.write_row(id)
        if self.envs.num_players:
            copy_report(&a.v, b, id, True)
        if envs.infos[id] is not None or envs.objects:
            try:
                a.put(id, packed(envs.infos[id], envs.carried[id]))
            except Exception as problem:
                envs.broken[id] = envs.rebuilds
                self.fail(id, failure_of(problem))
        return 0

    cdef void write_row(self, int32_t id) noexcept:
        """Writes the fields of an env to where the pool wants them: into the block in flight, or to the env's own row.

        If the pool has stopped waiting for this answer, nobody looks at the place, see blocks.pyx.
        """
        cdef View* v = &self.arena.v
        cdef const State* s = &self.envs.state
        cdef int32_t k
        cdef int64_t target
        cdef const void* value
        cdef char* to
        for k in range(s.num_fields):
            value = s.source[<int64_t>id * s.num_fields + k]
            target = v.targets[<int64_t>k * self.arena.num_envs + id]
            to = v.region + target if target else row_of(v, k, id)
            if value != NULL:
                memcpy(to, value, v.row_bytes[k])

    cdef int fail(self, int32_t id, text) except -1:
        self.arena.put(id, text.encode())
        outcome_of(&self.arena.v, id).failed = 1
        return 0

    cdef int execute(self, int32_t id) except -1:
        """Executes the command in the window of an env, and replaces it by the result."""
        try:
            method, args = pickle.loads(self.arena.get(id))
            result = getattr(self.envs, method)([id], *args)[0]
            end_copy(self.generation)
            self.arena.put(id, dumped((True, result), f"the result of {method}({shown(args[0])})", result))
        except BaseException as error:
            end_copy(self.generation)
            self.arena.put(id, pickled_error(error, self.arena.window))
        return 0

    # ---- the loop ----------------------------------------------------------------------------------------------------

    cdef bint drain(self) except -1:
        """Answers what is published; False if nothing was."""
        cdef epy_mailbox* m = self.box
        cdef int64_t tail = m.tail, head = epy_load(&m.head), now, since
        if head == tail:
            return False
        since = 0 if self.is_sync else epy_now()
        while tail < head:
            m.begun = tail + 1
            self.answer(self.ring[tail & self.arena.v.mask])
            tail += 1
            epy_release(&m.tail, tail)
            if tail == head:
                head = epy_load(&m.head)
            if tail < head:
                if self.is_sync:
                    continue
                now = epy_now()
                if now - since <= ANNOUNCE:
                    continue
                since = now
            epy_store(&m.announced, tail)
            epy_wake(&m.reply, &m.waiting)
        return True

    def serve(self):
        """Answer entries until the pool says stop; then close the environments."""
        cdef epy_mailbox* m = self.box
        cdef int32_t seen
        cdef int64_t began
        cdef epy_pace pace
        memset(&pace, 0, sizeof(pace))
        pace.yields_until = 0 if self.envs.source.processes.keeps_cpus else INT64_MAX
        while True:
            seen = epy_load32(&m.bell)
            if self.drain():
                continue
            if epy_load32(&m.stop):
                break
            with nogil:
                began = epy_now()
                epy_spin(&m.head, m.tail + 1, &pace)
                if epy_load(&m.head) == m.tail:
                    epy_store32(&m.parked, 1)
                    if epy_load(&m.head) == m.tail and not epy_load32(&m.stop):
                        epy_sleep(&m.bell, seen, NAP)
                    epy_store32(&m.parked, 0)
                epy_note_wait(&pace, epy_now() - began)
        self.envs.source.close_envs(self.envs.envs)
        end_copy(self.generation)
        end_strays(os.getpid())


def packed(info, carried):
    """Return an info and the objects of an observation pickled; see `dumped`."""
    try:
        return pickle.dumps((info, carried), 5)
    except Exception:
        dumped(info, "the info", info)
        return dumped((info, carried), "the observation", carried)


def dumped(value, name, returned):
    """Return a value pickled, or raise TypeError that names what the environment has returned, and the way out."""
    try:
        return pickle.dumps(value, 5)
    except Exception as error:
        raise TypeError(
            f"{name} must be picklable for environments in other processes, got {shown(returned)}: leave out what is "
            "not, or use workers='inline'"
        ) from error


def pickled_error(error, window):
    """Return ``(False, traceback, error)`` pickled for a window, with None for an exception that cannot be pickled."""
    text = failure_of(error)
    try:
        data = pickle.dumps((False, text, error), 5)
        if len(data) <= window and type(pickle.loads(data)[2]) is type(error):
            return data
    except Exception:
        pass
    return pickle.dumps((False, text, None), 5)
