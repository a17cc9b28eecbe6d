"""The memory of a replay buffer: a ring of the last steps of all envs, from which transitions are drawn; ring_steps.pyx
says where a step lies in it and what a transition is.

Invariants:
- Memory for all rows that a step may need is reserved before it is sent, so that adding a step cannot fail.
- A stack in the slot of a step that the ring has, or in slot `head`, or in a row of `last`, owns its references.
- The helper, which gathers the next minibatch, only reads the ring; the ring changes only after settle().
- Numbers that a user passes, also in a saved state, are compared before they are used.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport pow
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from envpool._core.blocks cimport BlockMemory, is_held_elsewhere
from envpool._core.guard cimport fork_generation
from envpool.numerics.rng cimport ep_next_double, ep_pcg64, ep_pcg64_is_valid, ep_pcg64_seed_words
from envpool.rollout.ring_steps cimport (
    Batch, DONE, Leaf, READY, Steps, TERMINATED, VALID, add_stray, draw_uniform, drop_oldest, fill_rows, find_ready,
    frame_of, index_at, is_ready, position, release_stack, share, store_stack,
)
from envpool.rollout.row_store cimport RowStore, Rows, give_row, row_at, take_row
from envpool.rollout.sum_tree cimport find_item, set_priority

from envpool._support.machine import check_memory
from envpool.errors import ConfigError, PoolStateError, StateError

cnp.import_array()

# The largest priority: the sum of the priorities of any number of transitions is finite.
LARGEST_PRIORITY = 1e200

cdef enum:
    LINE = 64               # every array begins at a multiple, which JAX asks for
    REMEMBERED = 4          # memories of minibatches that are looked at again

cdef extern from "envpool/split.h" nogil:
    void ep_split(int64_t n, int64_t multiple, int threads, ep_items_fn run, const void* job)


cdef cnp.ndarray array_at(BlockMemory memory, int64_t at, int64_t rows, dtype, tuple shape):
    """Returns an array (rows, *shape) that shows memory."""
    cdef cnp.npy_intp dims[16]
    cdef int d
    dims[0] = rows
    for d in range(<int>len(shape)):
        dims[1 + d] = shape[d]
    array = cnp.PyArray_SimpleNewFromData(1 + <int>len(shape), dims, (<cnp.dtype>dtype).num, memory.base + at)
    cnp.set_array_base(array, memory)
    return array


# ---- the ring --------------------------------------------------------------------------------------------------------

cdef object bytes_of(tuple arrays):
    """Returns the bytes of one row of each array, ints."""
    return [np.dtype(dtype).itemsize * int(np.prod(shape, dtype=object)) for _, dtype, shape in arrays]


cdef class Ring:
    """The last steps of all envs of a pool.

    Parameters
    ----------
    obs, actions : tuple
        Name, dtype and shape of one row of each array of observations and actions.
    num_envs, num_steps : int
        Envs, and steps of each that are kept.
    depth : int
        Frames of a stack, if the only array of observations has stacked frames, which are stored once; 0 if not.
    n_step, gamma : int, float
        Steps of a transition, and the discount of each.
    prioritized : bool
        If True, transitions have priorities, and are drawn in proportion to these.
    prefetches : bool
        If True, a helper thread gathers the next minibatch.
    seed : numpy.ndarray
        uint32 (n,): the seed of the generator that draws.
    """

    def __init__(self, tuple obs, tuple actions, num_envs, num_steps, int64_t depth, int64_t n_step, double gamma,
                 bint prioritized, bint prefetches, cnp.ndarray seed):
        cdef Steps* s = &self.s
        self.obs, self.actions, self.batches, self.planned = obs, actions, [], -1
        s.num_envs, s.n_step, s.gamma, s.depth, s.highest = num_envs, n_step, gamma, depth, 1
        if num_steps * num_envs >= 1 << 40:
            raise MemoryError(
                f"a replay buffer of {num_steps * num_envs} transitions is too large: ask for a smaller capacity"
            )
        s.num_steps = num_steps
        s.num_slots = s.num_steps + max(depth, 1)
        ep_pcg64_seed_words(&self.generator, <const uint32_t*>cnp.PyArray_DATA(seed), cnp.PyArray_SIZE(seed))
        self.lay_out(prioritized)
        self.pointers = <char**>malloc((2 * s.num_obs + s.num_actions + 4) * sizeof(char*))
        if self.pointers == NULL:
            raise MemoryError
        if prefetches:
            self.helper_generation = fork_generation()
            if ep_helper_start(&self.helper):
                raise MemoryError("no thread could be started to prefetch minibatches: leave prefetch out")
            self.has_helper = True

    def __dealloc__(self):
        if self.has_helper and self.helper_generation == fork_generation():
            with nogil:
                ep_helper_stop(&self.helper)
        free(self.s.obs)
        free(self.s.actions)
        free(self.pointers)

    cdef int lay_out(self, bint prioritized) except -1:
        """Decides where each array lies, and makes the memory. Pages that are never written take no memory."""
        cdef Steps* s = &self.s
        cdef int k
        obs, actions = bytes_of(self.obs), bytes_of(self.actions)
        rows, depth = <object>(s.num_slots * s.num_envs), <object>s.depth
        leaves = 1 << (rows - 1).bit_length()
        parts = [("observations", rows * size) for size in ([obs[0] // depth] if depth else obs)]
        parts += [("actions", rows * size) for size in actions]
        parts += [("rewards", 4 * rows), ("flags", rows), ("last observations", 4 * rows)]
        parts += [("frame numbers", 4 * depth * rows), ("priorities", 16 * leaves if prioritized else 0)]
        sizes = [(size + LINE - 1) // LINE * LINE for _, size in parts]
        check_memory(sum(size for _, size in parts), self.described(parts), "ask for a smaller capacity")
        if rows * max(depth, 1) >= INT32_MAX:
            raise MemoryError(
                f"a replay buffer has at most {INT32_MAX // max(depth, 1)} transitions, but {rows} were asked for: ask "
                "for a smaller capacity"
            )
        self.num_bytes = sum(sizes)
        try:
            self.memory = BlockMemory(self.num_bytes)
        except MemoryError:
            raise MemoryError(f"no memory for {self.described(parts)}: ask for a smaller capacity") from None
        starts = [sum(sizes[:k]) for k in range(len(sizes))]
        s.num_obs, s.num_actions = <int>len(obs), <int>len(actions)
        s.obs, s.actions = <Leaf*>calloc(len(obs), sizeof(Leaf)), <Leaf*>calloc(len(actions), sizeof(Leaf))
        if s.obs == NULL or s.actions == NULL:
            raise MemoryError
        last_bytes = 0
        for k in range(s.num_obs):
            s.obs[k].row_bytes, s.obs[k].at = obs[k], last_bytes
            s.obs[k].data = NULL if depth else self.memory.base + <int64_t>starts[k]
            last_bytes += obs[k]
        for k in range(s.num_actions):
            s.actions[k].row_bytes = actions[k]
            s.actions[k].data = self.memory.base + <int64_t>starts[s.num_obs + k]
        rest = starts[s.num_obs + s.num_actions:]
        s.rewards = <float*>(self.memory.base + <int64_t>rest[0])
        s.flags = <uint8_t*>(self.memory.base + <int64_t>rest[1])
        s.lasts = <int32_t*>(self.memory.base + <int64_t>rest[2])
        self.last = RowStore(4 * depth if depth else max(last_bytes, 1))
        s.last = &self.last.rows
        if depth:
            s.frame_bytes = obs[0] // depth
            s.frames = self.memory.base
            s.numbers = <int32_t*>(self.memory.base + <int64_t>rest[3])
            self.strays = RowStore(max(s.frame_bytes, 1))
            s.strays = &self.strays.rows
        if prioritized:
            s.tree, s.leaves = <double*>(self.memory.base + <int64_t>rest[4]), leaves
        return 0

    cdef str described(self, list parts):
        """Returns a text about the arrays, names and sizes."""
        sizes = {}
        for name, size in parts:
            sizes[name] = sizes.get(name, 0) + size
        large = ", ".join(f"{name} {size / 2**30:.2f} GiB" for name, size in sizes.items() if size >= 2**30 // 200)
        return f"a replay buffer of {self.s.num_steps * self.s.num_envs} transitions{f' ({large})' if large else ''}"

    # ---- adding steps ------------------------------------------------------------------------------------------------

    cdef int reserve(self) except -1:
        """Makes sure that the next step, and the reset of any envs, find memory for their rows."""
        cdef Steps* s = &self.s
        self.settle()
        self.last.reserve(2 * s.num_envs)
        if s.depth:
            self.strays.reserve(3 * s.depth * s.num_envs)
        return 0

    cdef void put_actions(self, int k, const char* rows) noexcept:
        """Stores the actions that answer the newest observations."""
        cdef Leaf* leaf = &self.s.actions[k]
        memcpy(leaf.data + position(&self.s, self.s.head, 0) * leaf.row_bytes, rows, self.s.num_envs * leaf.row_bytes)

    cdef void put_obs(self, const char* const* rows) noexcept:
        """Stores the observations of all envs after a reset: the newest ones."""
        cdef Steps* s = &self.s
        cdef int64_t env, at
        cdef int k
        for env in range(s.num_envs if s.depth else 0):
            at = position(s, s.head, env)
            if self.has_obs:
                release_stack(s, s.numbers + at * s.depth)
            store_stack(s, s.numbers + at * s.depth, NULL, at, rows[0] + env * s.obs[0].row_bytes)
        for k in range(0 if s.depth else s.num_obs):
            memcpy(s.obs[k].data + position(s, s.head, 0) * s.obs[k].row_bytes, rows[k],
                   s.num_envs * s.obs[k].row_bytes)
        self.has_obs = True

    cdef void put_obs_of(self, int64_t env, const char* const* rows) noexcept:
        """Replaces the newest observation of an env whose episode has ended by the first one of the next episode.

        `rows` are the arrays of this env. The last observation of the episode moves to a row of its own.
        """
        cdef Steps* s = &self.s
        cdef int64_t at = position(s, s.head, env), before, j
        cdef int32_t* numbers = s.numbers + at * s.depth
        cdef int32_t* kept
        cdef int32_t row, stray = 0
        cdef int k
        before = position(s, s.head - 1, env)
        if s.live and s.flags[before] & VALID and s.flags[before] & DONE and not s.lasts[before]:
            row = take_row(s.last)
            s.lasts[before] = row + 1
            if s.depth:
                kept = <int32_t*>row_at(s.last, row)
                for j in range(s.depth):
                    kept[j] = numbers[j]            # with its reference
                    if numbers[j] == at:            # the frame is about to be overwritten
                        stray = add_stray(s, frame_of(s, numbers[j])) if stray == 0 else share(s, stray)
                        kept[j] = stray
            for k in range(0 if s.depth else s.num_obs):
                memcpy(row_at(s.last, row) + s.obs[k].at, s.obs[k].data + at * s.obs[k].row_bytes, s.obs[k].row_bytes)
        elif s.depth:
            release_stack(s, numbers)
        if s.depth:
            store_stack(s, numbers, NULL, at, rows[0])
        for k in range(0 if s.depth else s.num_obs):
            memcpy(s.obs[k].data + at * s.obs[k].row_bytes, rows[k], s.obs[k].row_bytes)

    cdef void put_step(self, const float* rewards, const uint8_t* flags, const char* const* obs,
                       const uint8_t* ended, const char* const* last_obs) noexcept:
        """Adds a step of all envs: its results, and the observations after it. Its actions are there already.

        Where an env has `ended` (num_envs), its observation is the first one of the next episode, and `last_obs` has
        the last one of the episode; `ended` may be NULL.
        """
        cdef Steps* s = &self.s
        cdef int64_t env, at, after, size
        cdef int32_t row
        cdef int k
        if s.live == s.num_steps:
            drop_oldest(s)
        memcpy(s.rewards + position(s, s.head, 0), rewards, s.num_envs * sizeof(float))
        memcpy(s.flags + position(s, s.head, 0), flags, s.num_envs)
        for env in range(s.num_envs if ended != NULL else 0):
            if not ended[env] or not flags[env] & VALID:
                continue
            at = position(s, s.head, env)
            row = take_row(s.last)
            s.lasts[at] = row + 1
            if s.depth:
                store_stack(s, <int32_t*>row_at(s.last, row), s.numbers + at * s.depth, -1,
                            last_obs[0] + env * s.obs[0].row_bytes)
            for k in range(0 if s.depth else s.num_obs):
                size = s.obs[k].row_bytes
                memcpy(row_at(s.last, row) + s.obs[k].at, last_obs[k] + env * size, size)
        for env in range(s.num_envs if s.depth else 0):
            at, after = position(s, s.head, env), position(s, s.head + 1, env)
            store_stack(s, s.numbers + after * s.depth, s.numbers + at * s.depth, after,
                        obs[0] + env * s.obs[0].row_bytes)
        for k in range(0 if s.depth else s.num_obs):
            size = s.obs[k].row_bytes
            memcpy(s.obs[k].data + position(s, s.head + 1, 0) * size, obs[k], s.num_envs * size)
        s.head += 1
        s.live += 1
        for env in range(s.num_envs):
            find_ready(s, s.head - 1, env)

    cdef void cut(self) noexcept:
        """Ends the trajectories of all envs: the next observations do not follow from the newest ones.

        A step that is not a transition takes the newest observations, if a step has led to them.
        """
        cdef Steps* s = &self.s
        cdef int64_t env
        if not self.has_obs or s.live == 0 or not self.has_step_before():
            return
        if s.live == s.num_steps:
            drop_oldest(s)
        memset(s.rewards + position(s, s.head, 0), 0, s.num_envs * sizeof(float))
        memset(s.flags + position(s, s.head, 0), 0, s.num_envs)
        s.head += 1
        s.live += 1
        self.has_obs = False
        for env in range(s.num_envs):
            find_ready(s, s.head - 1, env)

    cdef bint has_step_before(self) noexcept:
        """Returns whether the newest observations are those after a transition of any env."""
        cdef Steps* s = &self.s
        cdef int64_t env
        for env in range(s.num_envs):
            if s.flags[position(s, s.head - 1, env)] & VALID:
                return True
        return False

    cdef bint has_newest(self, const char* const* rows) noexcept:
        """Returns whether the newest observations are these."""
        cdef Steps* s = &self.s
        cdef int64_t env, j, at = position(s, s.head, 0)
        cdef int k
        if not self.has_obs:
            return False
        for env in range(s.num_envs if s.depth else 0):
            for j in range(s.depth):
                if memcmp(frame_of(s, s.numbers[(at + env) * s.depth + j]),
                          rows[0] + (env * s.depth + j) * s.frame_bytes, s.frame_bytes):
                    return False
        for k in range(0 if s.depth else s.num_obs):
            if memcmp(s.obs[k].data + at * s.obs[k].row_bytes, rows[k], s.num_envs * s.obs[k].row_bytes):
                return False
        return True

    # ---- sampling ----------------------------------------------------------------------------------------------------

    @property
    def num_ready(self):
        """Number of transitions that can be sampled."""
        return self.s.num_ready

    @property
    def capacity(self):
        """Number of steps of envs that are kept."""
        return self.s.num_steps * self.s.num_envs

    @property
    def num_slots(self):
        """Number of slots."""
        return self.s.num_slots

    @property
    def num_row_bytes(self):
        """Bytes of the memory for last observations and strays."""
        cdef int64_t size = self.last.rows.size * self.last.rows.row_bytes
        return size + (self.strays.rows.size * self.strays.rows.row_bytes if self.s.depth else 0)

    cdef bint can_draw(self) noexcept:
        """Returns whether there is a transition to draw."""
        return self.s.num_ready > 0 and (self.s.tree == NULL or self.s.tree[1] > 0)

    def draw(self, int64_t n):
        """Return the numbers of n transitions, int64 (n,), drawn with replacement. There must be some."""
        cdef Steps* s = &self.s
        cdef cnp.ndarray out = np.empty(n, np.int64)
        cdef int64_t* index = <int64_t*>cnp.PyArray_DATA(out)
        cdef int64_t k
        cdef double total
        if not self.can_draw():
            raise PoolStateError(
                "the replay buffer has no transition to sample yet: step its environments first"
                if s.num_ready == 0 else "all transitions have the priority 0: give some of them a higher one"
            )
        with nogil:
            if s.tree == NULL:
                draw_uniform(s, &self.generator, index, n)
            else:
                total = s.tree[1]
                for k in range(n):
                    index[k] = index_at(s, find_item(
                        s.tree, s.leaves, (k + ep_next_double(&self.generator)) / n * total
                    ))
        return out

    def sample(self, int64_t n, int threads, double beta):
        """Draw n transitions; return their numbers and what gather() returns.

        With a helper, these are the transitions that the previous call has drawn, if there were as many, and the helper
        gathers the next ones.
        """
        cdef cnp.ndarray index
        cdef list arrays
        self.settle()
        if self.prepared is not None and cnp.PyArray_SIZE(self.prepared) == n:
            index, arrays, priorities = self.prepared, self.prepared_arrays, self.prepared_priorities
        else:
            index = self.draw(n)
            arrays, priorities = self.new_batch(index), self.priorities_of(index)
            self.fill(threads)
        self.prepared = self.prepared_arrays = self.prepared_priorities = None
        if self.has_helper and self.helper_generation == fork_generation() and self.can_draw():
            self.prepare(n)
        return index, self.finished(arrays, priorities, beta)

    cdef int prepare(self, int64_t n) except -1:
        """Draws the next minibatch, and lets the helper gather it."""
        index = self.draw(n)
        arrays, priorities = self.new_batch(index), self.priorities_of(index)
        self.prepared, self.prepared_arrays, self.prepared_priorities = index, arrays, priorities
        self.is_gathering = True
        ep_helper_give(&self.helper, fill_rows, &self.batch, n)
        return 0

    cdef void settle(self) noexcept:
        """Waits until the helper has stopped reading: before the ring changes, and before its arrays are used.

        In a child process, which has no helper, what it was gathering is dropped.
        """
        if not self.is_gathering:
            return
        self.is_gathering = False
        if self.helper_generation == fork_generation():
            with nogil:
                ep_helper_wait(&self.helper)
        else:
            self.prepared = self.prepared_arrays = self.prepared_priorities = None

    def gather(self, cnp.ndarray index, int threads, double beta):
        """Return the arrays of transitions: obs, actions, rewards, next obs, terminated, discounts, weights or None.

        `index`, int64 (n,), are their numbers; nobody else may be able to write to it. obs, next obs and actions are
        lists of arrays. The memory is used again once nobody holds any of these arrays.
        """
        cdef const int64_t* ids = <const int64_t*>cnp.PyArray_DATA(index)
        cdef int64_t k
        cdef list arrays
        for k in range(cnp.PyArray_SIZE(index)):
            if not is_ready(&self.s, ids[k]):
                raise ConfigError(
                    f"index[{k}] must be the index of a transition that the replay buffer has, got {ids[k]}: "
                    "indices() returns all of them"
                )
        self.settle()
        arrays = self.new_batch(index)
        self.fill(threads)
        return self.finished(arrays, self.priorities_of(index), beta)

    cdef list new_batch(self, cnp.ndarray index):
        """Returns the arrays of a minibatch, to which `batch` points from now on."""
        cdef Steps* s = &self.s
        cdef Batch* b = &self.batch
        cdef int64_t n = cnp.PyArray_SIZE(index), k
        cdef BlockMemory memory
        if self.planned != n:
            self.plan(n)
        memory = self.batch_memory(self.plan_bytes)
        arrays = [array_at(memory, start, n, dtype, shape) for start, dtype, shape in self.parts]
        for k in range(<int64_t>len(arrays)):
            self.pointers[k] = <char*>cnp.PyArray_DATA(<cnp.ndarray>arrays[k])
        k = 2 * s.num_obs + s.num_actions
        b.s, b.index, b.count = s, <const int64_t*>cnp.PyArray_DATA(index), n
        b.obs, b.next_obs, b.actions = self.pointers, self.pointers + s.num_obs, self.pointers + 2 * s.num_obs
        b.rewards, b.terminated = <float*>self.pointers[k], <uint8_t*>self.pointers[k + 1]
        b.discounts = <float*>self.pointers[k + 2]
        return arrays

    cdef void fill(self, int threads) noexcept:
        """Gathers the minibatch to which `batch` points."""
        with nogil:
            ep_split(self.batch.count, 1, threads, fill_rows, &self.batch)

    cdef object priorities_of(self, cnp.ndarray index):
        """Returns the priorities of transitions, float64 (n,); None if sampling is uniform."""
        cdef Steps* s = &self.s
        cdef const int64_t* ids = <const int64_t*>cnp.PyArray_DATA(index)
        cdef cnp.ndarray out
        cdef int64_t k
        if s.tree == NULL:
            return None
        out = np.empty(cnp.PyArray_SIZE(index))
        for k in range(cnp.PyArray_SIZE(index)):
            (<double*>cnp.PyArray_DATA(out))[k] = s.tree[s.leaves + position(s, ids[k] // s.num_envs,
                                                                             ids[k] % s.num_envs)]
        return out

    cdef tuple finished(self, list arrays, object priorities, double beta):
        """Returns a minibatch that was gathered; its weights are (p / lowest p) ** -beta."""
        cdef int64_t k, n
        cdef const double* p
        cdef float* weights
        cdef double lowest = -1
        cdef int first = self.s.num_obs, second = 2 * self.s.num_obs, third = second + self.s.num_actions
        if priorities is not None:
            n, p = cnp.PyArray_SIZE(priorities), <const double*>cnp.PyArray_DATA(priorities)
            weights = <float*>cnp.PyArray_DATA(<cnp.ndarray>arrays[third + 3])
            for k in range(n):
                lowest = p[k] if p[k] > 0 and (lowest < 0 or p[k] < lowest) else lowest
            for k in range(n):
                weights[k] = <float>pow(lowest / p[k], beta) if p[k] > 0 else 1
        return (arrays[:first], arrays[second:third], arrays[third], arrays[first:second], arrays[third + 1],
                arrays[third + 2], arrays[third + 3] if priorities is not None else None)

    cdef int plan(self, int64_t n) except -1:
        """Decides where the arrays of a minibatch of n transitions lie in its memory."""
        kinds = [(dtype, shape) for arrays in (self.obs, self.obs, self.actions) for _, dtype, shape in arrays]
        kinds += [(np.dtype(np.float32), ()), (np.dtype(np.bool_), ()), (np.dtype(np.float32), ())]
        if self.s.tree != NULL:
            kinds.append((np.dtype(np.float32), ()))
        parts, end = [], 0
        for (dtype, shape), size in zip(kinds, bytes_of(tuple([(None, *kind) for kind in kinds])), strict=True):
            parts.append((end, dtype, shape))
            end += (n * size + LINE - 1) // LINE * LINE
        if end >= 1 << 62:
            raise MemoryError(f"a minibatch of {n} transitions is too large")
        self.parts, self.plan_bytes, self.planned = parts, max(end, 1), n
        return 0

    cdef BlockMemory batch_memory(self, size_t size):
        """Returns memory for a minibatch: the memory of an earlier one, if nobody holds its arrays."""
        cdef Py_ssize_t k
        for k in range(len(self.batches)):
            if (<BlockMemory>self.batches[k]).size >= size and not is_held_elsewhere(self.batches, k):
                return <BlockMemory>self.batches[k]
        memory = BlockMemory(size)
        self.batches.append(memory)
        del self.batches[:-REMEMBERED]
        return memory

    def indices(self):
        """Return the numbers of all transitions that can be sampled, int64, the oldest first."""
        cdef Steps* s = &self.s
        cdef cnp.ndarray out = np.empty(s.num_ready, np.int64)
        cdef int64_t* index = <int64_t*>cnp.PyArray_DATA(out)
        cdef int64_t k, found = 0
        for k in range((s.head - s.live) * s.num_envs, s.head * s.num_envs):
            if is_ready(s, k):
                index[found] = k
                found += 1
        return out

    def set_priorities(self, cnp.ndarray index, cnp.ndarray priorities):
        """Set the priorities, float64 (n,), of transitions, int64 (n,); those that have left the ring are ignored.

        Nobody else may be able to write to the arrays. Priorities must be between 0 and LARGEST_PRIORITY. Raises
        ConfigError, and changes nothing, if the ring has never had one of the transitions.
        """
        cdef Steps* s = &self.s
        cdef const int64_t* ids = <const int64_t*>cnp.PyArray_DATA(index)
        cdef const double* values = <const double*>cnp.PyArray_DATA(priorities)
        cdef int64_t k, end = s.head * s.num_envs
        for k in range(cnp.PyArray_SIZE(index)):
            if not 0 <= ids[k] < end:
                raise ConfigError(
                    f"index[{k}] must be the index of a transition, 0 to {end - 1}, got {ids[k]}; no priority was "
                    "changed"
                )
        with nogil:
            for k in range(cnp.PyArray_SIZE(index)):
                if is_ready(s, ids[k]):
                    set_priority(s.tree, s.leaves, position(s, ids[k] // s.num_envs, ids[k] % s.num_envs), values[k])
                    s.highest = max(s.highest, values[k])

    # ---- saving ------------------------------------------------------------------------------------------------------

    def views(self):
        """Return the arrays that a saved state contains, by name; they show the memory of the ring."""
        cdef Steps* s = &self.s
        cdef int k
        arrays = []
        for k, (name, dtype, shape) in enumerate(self.obs):
            if s.depth:
                frame = (shape[0] // s.depth, *shape[1:])
                arrays.append(("frames", s.frames - self.memory.base, dtype, frame))
                arrays.append(("numbers", <char*>s.numbers - self.memory.base, np.dtype(np.int32), (s.depth,)))
            else:
                arrays.append((name, s.obs[k].data - self.memory.base, dtype, shape))
        for k, (name, dtype, shape) in enumerate(self.actions):
            arrays.append((name, s.actions[k].data - self.memory.base, dtype, shape))
        arrays.append(("reward", <char*>s.rewards - self.memory.base, np.dtype(np.float32), ()))
        arrays.append(("flags", <char*>s.flags - self.memory.base, np.dtype(np.uint8), ()))
        arrays.append(("lasts", <char*>s.lasts - self.memory.base, np.dtype(np.int32), ()))
        if s.tree != NULL:
            arrays.append(("priorities", <char*>(s.tree + s.leaves) - self.memory.base, np.dtype(np.float64), ()))
        slots = min(s.head + 1, s.num_slots)
        return {
            name: array_at(self.memory, start, slots, dtype, (s.num_envs, *shape))
            for name, start, dtype, shape in arrays
        }

    def get_counts(self):
        """Return the numbers that a saved state contains: head, live, whether there are newest observations."""
        return self.s.head, self.s.live, int(self.has_obs)

    def get_rows(self, bint strays):
        """Return the rows of last observations, or of strays, uint8 (rows, bytes): a copy."""
        cdef Rows* r = &self.strays.rows if strays else &self.last.rows
        cdef cnp.ndarray out = np.empty((r.used, r.row_bytes), np.uint8)
        cdef int64_t k
        for k in range(r.used):
            memcpy(<char*>cnp.PyArray_DATA(out) + k * r.row_bytes, row_at(r, k), r.row_bytes)
        return out

    def get_generator(self):
        """Return the state of the generator, bytes."""
        return (<const char*>&self.generator)[:sizeof(ep_pcg64)]

    @property
    def highest(self):
        """The priority of new transitions."""
        return self.s.highest

    def set_state(self, int64_t head, int64_t live, bint has_obs, dict arrays, cnp.ndarray last, cnp.ndarray strays,
                  bytes generator, double highest):
        """Load the contents of a saved state.

        `arrays` are the arrays of `views()` for `head`; `last` and `strays` are results of `get_rows()`, the latter is
        None without frames. All are C-contiguous, have the right dtypes, and nobody else can write to them. Raises
        StateError, and changes nothing, if the numbers in them contradict each other.
        """
        cdef Steps* s = &self.s
        cdef double largest = LARGEST_PRIORITY
        cdef ep_pcg64 g
        cdef cnp.ndarray view, given
        if len(generator) != sizeof(ep_pcg64):
            raise StateError("the generator of the saved replay buffer is damaged")
        memcpy(&g, <const char*>generator, sizeof(ep_pcg64))
        if not ep_pcg64_is_valid(&g):
            raise StateError("the generator of the saved replay buffer is damaged")
        if not (0 <= live <= min(head, s.num_steps) and head < <int64_t>1 << 40 and 0 < highest <= largest):
            raise StateError(f"the saved replay buffer is damaged: it has {live} of {head} steps")
        self.check_rows(head, live, has_obs, arrays, last, strays.shape[0] if s.depth else 0)
        self.settle()
        while self.last.rows.size < last.shape[0]:
            self.last.grow()
        while s.depth and self.strays.rows.size < strays.shape[0]:
            self.strays.grow()
        self.prepared = self.prepared_arrays = self.prepared_priorities = None
        self.generator, self.has_obs, s.highest = g, has_obs, highest
        s.head = head       # views() shows as many slots
        for name, view in self.views().items():
            given = arrays[name]
            memcpy(cnp.PyArray_DATA(view), cnp.PyArray_DATA(given), cnp.PyArray_NBYTES(view))
        self.restore(head, live, last, strays)
        return None

    cdef int check_rows(self, int64_t head, int64_t live, bint has_obs, dict arrays, cnp.ndarray last,
                        int64_t num_strays) except -1:
        """Raises StateError unless the flags and rows that a saved state names exist, each last observation once."""
        cdef Steps* s = &self.s
        cdef int64_t at, step, env, num_last = last.shape[0]
        cdef const int32_t* lasts = <const int32_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays["lasts"])
        cdef const uint8_t* flags = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays["flags"])
        cdef const int32_t* numbers = NULL
        cdef const double* priorities = NULL
        cdef double largest = LARGEST_PRIORITY
        cdef cnp.ndarray seen = np.zeros(num_last + 1, np.uint8)
        cdef uint8_t* is_seen = <uint8_t*>cnp.PyArray_DATA(seen)
        if s.depth:
            numbers = <const int32_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays["numbers"])
            check_numbers(s, <const int32_t*>cnp.PyArray_DATA(last), num_last, num_strays)
        if s.tree != NULL:
            priorities = <const double*>cnp.PyArray_DATA(<cnp.ndarray>arrays["priorities"])
        for step in range(head - live, head + has_obs):
            at = position(s, step, 0)
            if s.depth:
                check_numbers(s, numbers + at * s.depth, s.num_envs, num_strays)
            for env in range(at, at + s.num_envs if step < head else at):
                if not 0 <= lasts[env] <= num_last or (lasts[env] and is_seen[lasts[env]]):
                    raise StateError(f"the saved replay buffer is damaged: it names last observation {lasts[env]}")
                is_seen[lasts[env]] = 1
                if flags[env] > VALID | DONE | TERMINATED | READY:
                    raise StateError(f"the saved replay buffer is damaged: a step has the flags {flags[env]}")
                if priorities != NULL and not 0 <= priorities[env] <= largest:
                    raise StateError(f"the saved replay buffer is damaged: it has the priority {priorities[env]}")
        return 0

    cdef int restore(self, int64_t head, int64_t live, cnp.ndarray last, cnp.ndarray strays) except -1:
        """Fills the rows, and derives everything that follows from the arrays of the ring: who uses which rows, which
        transitions are ready, and the sums of priorities."""
        cdef Steps* s = &self.s
        cdef int64_t env, at, k, rows = s.num_slots * s.num_envs
        self.last.clear()
        load_rows(s.last, last)
        if s.depth:
            self.strays.clear()
            load_rows(s.strays, strays)
        priorities = None
        if s.tree != NULL:
            priorities = array_at(self.memory, <char*>(s.tree + s.leaves) - self.memory.base, rows,
                                  np.dtype(np.float64), ()).copy()
            memset(s.tree, 0, 2 * s.leaves * sizeof(double))
        # Slots of no step: nothing in them is used.
        for at in range(rows):
            k = (at // s.num_envs - (head - live) % s.num_slots + s.num_slots) % s.num_slots     # its step - the first
            if k < live:
                s.flags[at] &= VALID | DONE | TERMINATED
                continue
            s.flags[at] = s.lasts[at] = 0
            if s.depth and not (k == live and self.has_obs):
                memset(s.numbers + at * s.depth, 0, s.depth * sizeof(int32_t))
        for at in range(rows):
            if s.depth:
                count_strays(s, s.numbers + at * s.depth)
            if s.lasts[at]:
                s.last.words[s.lasts[at] - 1] += 1
                if s.depth:
                    count_strays(s, <int32_t*>row_at(s.last, s.lasts[at] - 1))
        free_unused(s.last)
        if s.depth:
            free_unused(s.strays)
        s.head, s.live, s.num_ready = head - live, 0, 0
        for _ in range(live):
            s.head += 1
            s.live += 1
            for env in range(s.num_envs):
                find_ready(s, s.head - 1, env)
        for at in range(rows if s.tree != NULL else 0):
            if s.flags[at] & READY:
                set_priority(s.tree, s.leaves, at, priorities[at])
        return 0


cdef void load_rows(Rows* r, cnp.ndarray rows) noexcept:
    """Fills rows that have memory, and that nobody uses yet."""
    cdef int64_t k
    for k in range(cnp.PyArray_DIMS(rows)[0]):
        memcpy(row_at(r, k), <const char*>cnp.PyArray_DATA(rows) + k * r.row_bytes, r.row_bytes)
        r.words[k] = 0
    r.used = cnp.PyArray_DIMS(rows)[0]


cdef void free_unused(Rows* r) noexcept:
    """Gives back the rows that nobody uses."""
    cdef int64_t k
    for k in range(r.used):
        if r.words[k] == 0:
            r.words[k] = 1
            give_row(r, <int32_t>k)


cdef int check_numbers(const Steps* s, const int32_t* numbers, int64_t stacks, int64_t num_strays) except -1:
    """Raises StateError unless the frames of stacks exist."""
    cdef int64_t j
    for j in range(stacks * s.depth):
        if not -num_strays <= numbers[j] < s.num_slots * s.num_envs:
            raise StateError(f"the saved replay buffer is damaged: it names frame {numbers[j]}")
    return 0


cdef void count_strays(Steps* s, const int32_t* numbers) noexcept:
    cdef int64_t j
    for j in range(s.depth):
        if numbers[j] < 0:
            s.strays.words[-1 - numbers[j]] += 1
