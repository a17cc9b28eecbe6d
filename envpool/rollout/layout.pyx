# optimize: -Og
"""The memory of a rollout: each array is contiguous over its time slots, and the workers of a pool write into it.

A block is a struct of pointers to its columns. For each step, a block is made whose columns are one slot of the arrays
(slots, num_envs, ...), so that a step of the pool fills slot t and nothing is copied; Pool.redirect() puts the block in
flight.

The results of the action at step t, such as the reward, have slot t. The observation that the action leads to, and what
belongs to it, has slot t + 1, since the observation before step t has slot t: these arrays have one more slot. The
struct of the block lies at the start of the memory and is used again for each step. The memory is the base of every
array that shows it, so that its reference count tells whether anybody can still see it.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from envpool._core.blocks cimport (
    BatchBlock, BlockMemory, BlockStore, ep_clear_pages, EP_PRIVATE_PAGES, MAPPED, PAGE, round_up,
)
from envpool._core.guard cimport fork_generation
from envpool._core.structs cimport Block
from envpool.rollout.pinning cimport pin

from envpool._core.definition import RAW_PREFIX
from envpool.errors import ConfigError
from envpool._support.machine import check_memory

cnp.import_array()

cdef enum:
    LINE = 64                       # every array begins at a multiple, which JAX asks for
    GIVEN_BACK = 256 << 10          # least size of final arrays whose pages are given back

# Arrays of the core that belong to an observation.
WITH_OBSERVATION = ("elapsed_step", "env_id", "step_type", "player:mask")


cdef class RolloutMemory(BlockMemory):
    """The memory of one rollout."""

    def __dealloc__(self):
        # The base class frees the memory after this. A forked child has no part in the locks of its parent.
        if self.unlock != NULL and self.fork_generation == fork_generation():
            with nogil:
                self.unlock(self.base)


cdef class RolloutLayout:
    """Where the arrays of the rollouts of one pool lie.

    Parameters
    ----------
    store : BlockStore
        The blocks of the pool: each of their columns becomes an array.
    own : list of tuple
        Further arrays: name, dtype, shape of one row, and shift.
    num_envs, num_slots : int
        Rows of a slot, and steps of a rollout.
    left_out : list of str
        Columns of the pool that are not stored.
    pins : bool
        If True, memory is page-locked, except for the parts that are mostly untouched.
    shapes : list of tuple, optional
        Shapes of the rows of the columns, if these are not what the rollout records.
    """

    def __init__(self, BlockStore store, list own, num_envs, num_slots, list left_out, bint pins=False,
                 list shapes=None):
        columns = list(zip(store.names, store.dtypes, store.shapes if shapes is None else shapes))
        shifts = [int(name.startswith(("obs", "info")) or name in WITH_OBSERVATION) for name in store.names]
        self.names = (*store.names, *(name for name, _, _, _ in own))
        self.dtypes = (*store.dtypes, *(np.dtype(dtype) for _, dtype, _, _ in own))
        self.index = {name: k for k, name in enumerate(self.names)}
        self.num_columns = len(columns)
        self.store, self.num_fields = store, store.num_fields
        self.first_core = self.num_columns - len(store.core_columns)
        self.num_envs, self.num_slots, self.pins = num_envs, num_slots, pins
        self.lay_out([*(shape for _, _, shape in columns), *(shape for _, _, shape, _ in own)],
                     shifts + [shift for _, _, _, shift in own], left_out)

    def __dealloc__(self):
        free(self.tracks)

    cdef int lay_out(self, list shapes, list shifts, list left_out) except -1:
        """Decides where each array lies. The final arrays come last, on pages of their own."""
        cdef int k, d, n = len(self.names)
        cdef Track* track
        self.tracks = <Track*>calloc(n, sizeof(Track))
        if self.tracks == NULL:
            raise MemoryError
        at = round_up(sizeof(Block), LINE) + round_up(2 * self.num_fields * sizeof(void*), LINE)
        for is_final in (False, True):
            if is_final:
                at = (at + PAGE - 1) // PAGE * PAGE
                self.final_from = at
            for k in range(n):
                if self.names[k].startswith("final:") != is_final:
                    continue
                track = &self.tracks[k]
                row = self.dtypes[k].itemsize * int(np.prod(shapes[k], dtype=object))
                slots = self.num_slots + shifts[k]
                if at + row * self.num_envs * slots >= 1 << 62:
                    raise MemoryError(f"a rollout of {self.num_slots} steps and {self.num_envs} envs is too large")
                track.row_bytes, track.slot_bytes, track.num_slots = row, row * self.num_envs, slots
                if RAW_PREFIX in self.names[k]:     # nobody sees these arrays: all slots share their memory
                    track.slot_bytes, size = 0, row * self.num_envs
                else:
                    size = row * self.num_envs * slots
                track.shift = shifts[k]
                track.ndim = 1 + len(shapes[k])
                track.dims[0] = self.num_envs
                for d in range(len(shapes[k])):
                    track.dims[1 + d] = shapes[k][d]
                if self.names[k] in left_out:
                    track.offset = -1
                    continue
                track.offset = at
                at = (at + size + LINE - 1) // LINE * LINE
        self.num_bytes = at
        self.needed = self.final_from
        k = self.find("rollout:frames")
        if k >= 0:      # they come last but for the final arrays; usually an env has a new frame in each step
            track = &self.tracks[k]
            frame_bytes = track.row_bytes // track.dims[1]
            depth = self.tracks[self.find("rollout:numbers")].dims[1]
            self.needed = track.offset + self.num_envs * (self.num_slots + depth) * frame_bytes
            self.needed = min(self.needed, self.final_from)
        check_memory(
            self.needed, f"a rollout of {self.num_slots} steps and {self.num_envs} envs", "ask for fewer steps"
        )
        return 0

    cdef int find(self, str name) except -2:
        """Returns the number of an array; -1 if the rollout does not have it."""
        return self.index.get(name, -1)

    cdef RolloutMemory new_memory(self):
        """Makes zeroed memory; pages that are never written take no physical memory unless they are locked.

        Locked memory is a mapping of its own: two locks must not share a page.
        """
        cdef RolloutMemory memory
        try:
            memory = RolloutMemory(max(self.num_bytes, MAPPED) if self.pins else self.num_bytes)
        except MemoryError:
            raise MemoryError(
                f"no memory for a rollout of {self.num_bytes} bytes: ask for fewer steps or envs, or release the "
                "arrays of earlier rollouts"
            ) from None
        if self.pins:
            memory.unlock = pin(memory.base, self.needed)
            memory.fork_generation = fork_generation()
        return memory

    cdef void clean(self, RolloutMemory memory) noexcept:
        """Makes the final arrays of memory that was used before ready: they must be zero where no episode ends."""
        cdef int64_t size = self.num_bytes - self.final_from
        memory.clears_final = False
        if size == 0:
            return
        if (memory.is_mapped and size >= GIVEN_BACK
                and ep_clear_pages(memory.base + self.final_from, size, EP_PRIVATE_PAGES) == 0):
            return
        if self.store.same_step:
            memory.clears_final = True
        else:
            memset(memory.base + self.final_from, 0, size)

    cdef BatchBlock block_of(self, RolloutMemory memory, int64_t step):
        """Returns a block whose columns are those of a step, with the arrays that show it."""
        cdef BatchBlock batch = BatchBlock.__new__(BatchBlock)
        cdef Block* b = <Block*>memory.base
        cdef Track* track
        cdef cnp.ndarray array
        cdef void* data
        cdef int k
        batch.block, batch.memory, batch.arrays = b, memory, []
        self.store.begin_block(b, <void**>(memory.base + round_up(sizeof(Block), LINE)))
        b.clears_final, b.after_rows = memory.clears_final, NULL
        for k in range(self.num_columns):
            track = &self.tracks[k]
            data = slot_of(track, memory, step + track.shift)
            array = cnp.PyArray_SimpleNewFromData(track.ndim, track.dims, (<cnp.dtype>self.dtypes[k]).num, data)
            cnp.set_array_base(array, memory)
            batch.arrays.append(array)
            self.store.point(b, k, data)
        return batch

    def array(self, RolloutMemory memory, str name, first=0, count=None):
        """Return the slots `first` to ``first + count - 1`` of an array, by default all: (count, num_envs, ...).

        It shows the memory, but for "rollout:numbers", which is copied: these numbers are positions in memory.
        """
        cdef int k = self.find(name), d
        cdef Track* track
        cdef cnp.npy_intp dims[9]
        cdef int64_t start
        if k < 0 or self.tracks[k].offset < 0 or RAW_PREFIX in name:
            names = ", ".join(n for n in self.names if RAW_PREFIX not in n)
            raise ConfigError(f"the rollout has no array {name!r}; its arrays are {names}")
        track = &self.tracks[k]
        slots = track.num_slots - first if count is None else count
        if first < 0 or slots < 0 or first + slots > track.num_slots:    # of Python, which has no largest integer
            raise ConfigError(
                f"slots of array {name!r} must be between 0 and {track.num_slots - 1}, got {first} to "
                f"{first + slots - 1}"
            )
        start, dims[0] = first, slots
        for d in range(track.ndim):
            dims[1 + d] = track.dims[d]
        array = cnp.PyArray_SimpleNewFromData(
            1 + track.ndim, dims, (<cnp.dtype>self.dtypes[k]).num, slot_of(track, memory, start)
        )
        cnp.set_array_base(array, memory)
        return array.copy() if name == "rollout:numbers" else array
