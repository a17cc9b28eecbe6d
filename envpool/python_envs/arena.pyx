# optimize: -Og
"""The memory that the processes of a pool share: mailboxes, rings, action slots, rows, and a window for each env.

Env i belongs to worker ``i % num_workers`` for good, so there is nothing to claim between processes. A ring has an
entry for each env that is being stepped; it outlives a worker that dies, and the worker's successor answers what is
left in it.
"""

import ctypes
import os

from cpython.exc cimport PyErr_SetFromErrno
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from posix.mman cimport (
    MAP_FAILED, MAP_NORESERVE, MAP_SHARED, mmap, mprotect, munlock, munmap, PROT_NONE, PROT_READ, PROT_WRITE,
)

from envpool._support.descriptors import map_file
from envpool._support.memory_files import memory_file

cdef extern from "envpool/_core/pages.h":
    const int64_t PAGE "EP_PAGE"

cdef enum:
    LINE = 64                   # bytes of a cache line
    REPORT = 7                  # bytes of a player in a report, see copy_report


cdef int64_t in_lines(int64_t size) noexcept:
    """Returns a size in bytes, rounded up to whole cache lines."""
    return (size + LINE - 1) // LINE * LINE


cdef class Arena:
    """The shared memory of one pool.

    Parameters
    ----------
    num_envs, num_workers : int
        Sizes.
    action_bytes, row_bytes : sequence of int
        Bytes of one env's value of each action leaf and of each field.
    window : int
        Bytes of an env's window. Pages are taken with the first write.
    num_players : int
        Places for players in each env; 0 if the envs have one player.
    region_bytes : int
        Bytes of the region for batch blocks of an arena that exists, see `Arena.map_region`.
    fd : int, optional
        The file of an arena that exists; by default it is made.
    """

    def __init__(self, int32_t num_envs, int32_t num_workers, action_bytes, row_bytes, int64_t window,
                 int32_t num_players=0, int64_t region_bytes=0, int fd=-1):
        cdef int64_t ring = 1, per_worker = (num_envs + num_workers - 1) // num_workers     # at most
        cdef int32_t k
        self.sizes = (num_envs, num_workers, tuple(action_bytes), tuple(row_bytes), window, num_players)
        self.num_envs, self.region_bytes, self.v.num_workers, self.window = num_envs, region_bytes, num_workers, window
        self.v.num_actions, self.v.num_fields = <int32_t>len(action_bytes), <int32_t>len(row_bytes)
        self.v.num_players = num_players
        row_bytes = [*row_bytes, REPORT * num_players]
        while ring < 4 * (num_envs // num_workers + 1):   # room for entries that a Ctrl-C has left
            ring *= 2
        self.v.mask = <int32_t>ring - 1
        self.v.outcomes_bytes = in_lines(per_worker * sizeof(epy_outcome))
        rows_bytes = [in_lines(per_worker * size) for size in row_bytes]
        sizes = [num_workers * sizeof(epy_mailbox), num_workers * ring * sizeof(int32_t)]
        sizes += [num_envs * size for size in (1, 1, 8, 8, 4, 8 * self.v.num_fields, *action_bytes)]
        sizes += [num_workers * size for size in (self.v.outcomes_bytes, *rows_bytes)]
        starts, at = [], 0
        for size in sizes:
            starts.append(at)
            at = in_lines(at + size)
        windows = (at + PAGE - 1) // PAGE * PAGE
        total = self.region_at = windows + num_envs * window
        self.fd = memory_file("envpool") if fd < 0 else fd
        try:
            if fd < 0:
                os.ftruncate(self.fd, total)
            self.map = map_file(self.fd, total)
        except BaseException:
            self.close()
            raise
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        places = [base + start for start in starts]
        self.v.boxes = <epy_mailbox*><size_t>places[0]
        self.v.rings = <int32_t*><size_t>places[1]
        self.v.lost = <uint8_t*><size_t>places[2]
        self.v.has_seed = <uint8_t*><size_t>places[3]
        self.v.seeds = <int64_t*><size_t>places[4]
        self.v.last_seeds = <int64_t*><size_t>places[5]
        self.v.restarts = <int32_t*><size_t>places[6]
        self.v.targets = <int64_t*><size_t>places[7]
        for k in range(self.v.num_actions):
            self.v.actions[k] = <void*><size_t>places[8 + k]
            self.v.action_bytes[k] = action_bytes[k]
        self.v.outcomes = <char*><size_t>places[8 + self.v.num_actions]
        for k in range(self.v.num_fields + 1):
            self.v.rows[k] = <char*><size_t>places[9 + self.v.num_actions + k]
            self.v.row_bytes[k], self.v.rows_bytes[k] = row_bytes[k], rows_bytes[k]
        self.v.windows = <char*><size_t>(base + windows)

    @property
    def plan(self):
        """The arguments, besides `fd`, with which another process maps this arena."""
        return (*self.sizes, self.region_bytes)

    cdef int map_region(self, int64_t size) except -1:
        """Maps the region of the file in which batch blocks lie, after making it if there is none.

        Its pages are taken with the first write, so it may be as large as the memory of the machine. Every process maps
        it itself: after a fork, parts of the pool's own mapping are private, see blocks.pyx. A process that locks its
        memory would take all pages at once, so they become accessible after they were unlocked.
        """
        cdef void* region
        if self.region_bytes == 0:
            os.ftruncate(self.fd, self.region_at + size)
        region = mmap(NULL, size, PROT_NONE, MAP_SHARED | MAP_NORESERVE, self.fd, self.region_at)
        if region == MAP_FAILED:
            PyErr_SetFromErrno(OSError)
        munlock(region, size)
        if mprotect(region, size, PROT_READ | PROT_WRITE) < 0:
            munmap(region, size)
            PyErr_SetFromErrno(OSError)
        self.v.region, self.region_bytes = <char*>region, size
        return 0

    cdef int put(self, int32_t id, bytes data) except -1:
        """Writes the window of an env; raises ValueError for more bytes than it has."""
        cdef int64_t size = len(data)
        if size > self.window:
            raise ValueError(
                f"{size} bytes of pickled infos, objects or results do not fit into the {self.window} bytes that an "
                "environment in another process has for them: return less, or use workers='inline'"
            )
        memcpy(self.v.windows + id * self.window, <const char*>data, size)
        outcome_of(&self.v, id).extra = <int32_t>size
        return 0

    cpdef bytes get(self, int32_t id):
        """Returns what the window of an env contains."""
        cdef const char* start = self.v.windows + id * self.window
        return start[:outcome_of(&self.v, id).extra]

    def readiness(self, int32_t worker):
        """Return 0 while a worker starts, 1 when it serves, and 2 if it could not make its environments."""
        return epy_load32(&self.v.boxes[worker].readiness)

    def text(self, int32_t id):
        """Return the text in the window of an env."""
        return self.get(id).decode(errors="replace")

    def unfinished(self, int32_t worker):
        """Return the ids of the envs that a worker has not answered, in their order."""
        cdef epy_mailbox* m = &self.v.boxes[worker]
        cdef int64_t k
        cdef int32_t* ring = self.v.rings + <int64_t>worker * (self.v.mask + 1)
        return [ring[k & self.v.mask] & EPY_ID for k in range(epy_load(&m.tail), epy_load(&m.head))]

    def stop(self):
        """Tell all workers to end, and wake them."""
        cdef int32_t w
        for w in range(self.v.num_workers):
            epy_store32(&self.v.boxes[w].stop, 1)
            epy_wake(&self.v.boxes[w].bell, &self.v.boxes[w].parked)

    def bury(self, int32_t worker):
        """Note that a worker's process is gone with the states of its envs; a successor may be started afterwards."""
        cdef epy_mailbox* m = &self.v.boxes[worker]
        cdef int32_t id
        for id in range(worker, self.num_envs, self.v.num_workers):
            self.v.lost[id] = LOST
            self.v.restarts[id] += 1
        if epy_load(&m.begun) > epy_load(&m.tail):
            self.v.lost[self.unfinished(worker)[0]] = FATAL
        epy_store(&m.announced, epy_load(&m.tail))
        epy_store32(&m.parked, 0)
        epy_store32(&m.readiness, EPY_STARTING)

    def give_up(self, int32_t worker, text):
        """Let all entries of a worker that has no process fail."""
        cdef epy_mailbox* m = &self.v.boxes[worker]
        cdef int32_t* ring = self.v.rings + <int64_t>worker * (self.v.mask + 1)
        cdef int64_t k, head = epy_load(&m.head)
        cdef int32_t entry
        for k in range(epy_load(&m.tail), head):
            entry = ring[k & self.v.mask]
            self.put(entry & EPY_ID, text.encode())
            outcome_of(&self.v, entry & EPY_ID).failed = 1
            self.v.lost[entry & EPY_ID] = loss_after(entry)
        epy_store(&m.tail, head)
        epy_store(&m.announced, head)
        epy_wake(&m.reply, &m.waiting)

    def close(self):
        """Close the file. The memory is unmapped with the last reference."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
