"""Stacked observations of a rollout with each frame stored once.

A stack of k frames shares k - 1 frames with the one before it, so that an array of stacks has each frame k times. Here
the frames lie one after another, as they come, and a stack is k numbers of frames. A frame is compared with those that
the stack is expected to share: the next one of the previous stack, and its neighbour, which it repeats after a reset.
A frame that equals none of them is stored. Therefore stacks are exact whatever an environment does; only the memory
that they take depends on it.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp, memcpy

from envpool.rollout.layout cimport Track, RolloutLayout, RolloutMemory, row_of

from envpool.errors import ConfigError

cnp.import_array()


cdef extern from "gather.h" nogil:
    ctypedef struct ep_gather:
        const char* source
        const int32_t* index
        const int64_t* ids
        int64_t count
        int64_t pieces
        int64_t piece_bytes
        void* out
        int32_t casts
        float scale
    void ep_gather_all(const ep_gather* job, int threads)


cdef class FrameStore:
    """The frames of one rollout after another.

    Parameters
    ----------
    layout : RolloutLayout
        Has the arrays "rollout:frames" and "rollout:numbers".
    column : int
        Number of the array of stacks.
    depth : int
        Frames of a stack.
    """

    def __init__(self, RolloutLayout layout, int column, int64_t depth):
        self.layout, self.column, self.depth = layout, column, depth
        self.stacks = &layout.tracks[column]
        self.frames = &layout.tracks[layout.find("rollout:frames")]
        self.numbers = &layout.tracks[layout.find("rollout:numbers")]
        self.frame_bytes = self.stacks.row_bytes // depth

    cdef int32_t append(self, RolloutMemory memory, const char* frame) noexcept:
        """Stores a frame, for which there is room: the array of frames has room for all frames of all stacks."""
        memcpy(memory.base + self.frames.offset + self.count * self.frame_bytes, frame, self.frame_bytes)
        self.count += 1
        return <int32_t>(self.count - 1)

    cdef void store(self, RolloutMemory memory, int64_t slot, int64_t env, const char* stack) noexcept:
        """Stores the stack of an env in a slot. A slot that is stored again keeps the frames of its first stack."""
        cdef int32_t* numbers = <int32_t*>row_of(self.numbers, memory, slot, env)
        cdef const int32_t* before = NULL
        cdef const char* frames = memory.base + self.frames.offset
        cdef int64_t j, expected, size = self.frame_bytes
        if slot > 0:
            before = <const int32_t*>row_of(self.numbers, memory, slot - 1, env)
        for j in range(self.depth):
            expected = 0 if before == NULL else before[min(j + 1, self.depth - 1)]
            if before != NULL and memcmp(frames + expected * size, stack + j * size, size) == 0:
                numbers[j] = <int32_t>expected
            elif j > 0 and memcmp(stack + (j - 1) * size, stack + j * size, size) == 0:
                numbers[j] = numbers[j - 1]
            else:
                numbers[j] = self.append(memory, stack + j * size)

    cdef void load(self, RolloutMemory memory, int64_t slot, int64_t env, char* stack) noexcept:
        """Copies the stack of an env."""
        cdef const int32_t* numbers = <const int32_t*>row_of(self.numbers, memory, slot, env)
        cdef int64_t j
        for j in range(self.depth):
            memcpy(stack + j * self.frame_bytes, memory.base + self.frames.offset + numbers[j] * self.frame_bytes,
                   self.frame_bytes)

    cdef void store_rows(self, RolloutMemory memory, const char* stacks, const int32_t* ids,
                         const int64_t* slots, int64_t n) noexcept:
        """Stores the stacks of a batch, each in a slot of its env."""
        cdef int64_t i
        for i in range(n):
            self.store(memory, slots[i], ids[i], stacks + i * self.stacks.row_bytes)

    cdef void carry(self, RolloutMemory source, RolloutMemory target, const int64_t* lengths) noexcept:
        """Begins the next rollout, in other memory, with the last stacks of this one."""
        cdef const int32_t* last
        cdef int32_t* first
        cdef int64_t env, j
        self.count = 0
        for env in range(self.layout.num_envs):
            last = <const int32_t*>row_of(self.numbers, source, lengths[env], env)
            first = <int32_t*>row_of(self.numbers, target, 0, env)
            for j in range(self.depth):
                if j > 0 and last[j] == last[j - 1]:
                    first[j] = first[j - 1]
                else:
                    first[j] = self.append(
                        target, source.base + self.frames.offset + last[j] * self.frame_bytes
                    )


cdef inline bint overlap(const char* a, int64_t a_bytes, const char* b, int64_t b_bytes) noexcept:
    return a < b + b_bytes and b < a + a_bytes


def gather(RolloutLayout layout, RolloutMemory memory, str name, depth, cnp.ndarray ids, cnp.ndarray out, scale,
           num_threads):
    """Copy rows of an array of observations to `out`, on threads.

    Parameters
    ----------
    layout, memory : RolloutLayout, RolloutMemory
        The rollout.
    name : str
        The array.
    depth : int
        Frames of a stack, if each is stored once, or 0.
    ids : numpy.ndarray
        int64 (B,): ``slot * num_envs + env`` of each row. Nobody else may be able to write to it.
    out : numpy.ndarray
        (B, ...), C-contiguous, of the dtype of the array; or float32, if the array has bytes. It must not overlap the
        memory of the rollout.
    scale : float or None
        Factor of the values of `out`, which is float32; None copies them as they are.
    num_threads : int
        Threads to use, the calling one included.
    """
    cdef ep_gather job
    cdef int k = layout.find(name), threads = num_threads
    cdef Track* track = &layout.tracks[k]
    cdef Track* frames = NULL
    cdef int64_t i, limit = track.num_slots * layout.num_envs
    job.ids = <const int64_t*>cnp.PyArray_DATA(ids)
    job.count = cnp.PyArray_SIZE(ids)
    job.out = cnp.PyArray_DATA(out)
    if overlap(<char*>job.out, cnp.PyArray_NBYTES(out), memory.base, layout.num_bytes):
        raise ConfigError("out must not overlap the memory of the rollout: pass memory of its own")
    for i in range(job.count):
        if not 0 <= job.ids[i] < limit:
            raise ConfigError(f"ids[{i}] must be between 0 and {limit - 1}, got {job.ids[i]}")
    job.pieces = depth or 1
    job.piece_bytes = track.row_bytes // job.pieces
    job.index = NULL
    job.source = memory.base + track.offset
    if depth:
        frames = &layout.tracks[layout.find("rollout:frames")]
        job.source = memory.base + frames.offset
        job.index = <const int32_t*>(memory.base + layout.tracks[layout.find("rollout:numbers")].offset)
    job.casts = layout.dtypes[k] != (<object>out).dtype or scale is not None
    job.scale = 1 if scale is None else scale
    with nogil:
        ep_gather_all(&job, threads)
