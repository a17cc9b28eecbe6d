"""Making and ending a pool: the engine, its blocks and threads, and what becomes of them at close, fork and exit."""

import os

import numpy as np

cimport cython
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from posix.unistd cimport usleep

from envpool._core.actions cimport ActionTable
from envpool._core.blocks cimport BatchBlock, BlockStore
from envpool._core.definition cimport env_of
from envpool._core.engine cimport (
    Engine, SAME_STEP, engine_free, engine_new, engine_start, engine_stop, ep_available_cpus, ep_fork_generation,
    ep_watch_forks,
)
from envpool._core.results cimport ResultTemplate
from envpool.env cimport envpool_env

from envpool._core.definition import describe
from envpool.errors import PoolStateError

cnp.import_array()
ep_watch_forks()

# What even the smallest env takes besides its rows, bytes.
cdef int64_t PER_ENV = 256


def available_cpus():
    """CPUs that this process may run on."""
    return ep_available_cpus()


# Not for the collector: of a pool that is garbage it may empty the lists of blocks first, to which threads still write.
# Whatever cycle a pool is part of goes through the attributes of a Python subclass, which the collector does see.
@cython.no_gc
cdef class Handle:
    """Environments of one kind, a ring, and the threads that step them: the part of a pool that makes and ends it.

    Parameters
    ----------
    capsule : PyCapsule
        The kind of env.
    num_envs, batch_size, num_threads : int
        Sizes; batch_size is at most num_envs, equal means sync.
    thread_affinity_offset : int
        Worker i is pinned to available CPU number offset + i; negative: not pinned.
    max_episode_steps : int
        Time limit.
    autoreset : int
        0 next step, 1 same step, 2 disabled.
    seeds : callable
        Returns the seeds, uint64 (num_envs,); not called for pools that do not fit into memory.
    style : object
        The API style: ``optional``, names of optional arrays that it uses, and ``forms(names)``, which returns the
        nests of array names that reset and step give.

    Raises
    ------
    MemoryError
        The envs or batches do not fit.
    OSError
        The threads could not be started.
    """

    def __cinit__(self, *args, **kwargs):
        self.engine = NULL
        self.scratch = NULL

    def __init__(self, capsule, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                 int32_t thread_affinity_offset, int32_t max_episode_steps, int32_t autoreset, seeds, style):
        cdef const envpool_env* kind = env_of(capsule)
        cdef BatchBlock block
        cdef int64_t i
        if self.engine != NULL:
            raise PoolStateError("this pool is already initialised")
        about = describe(capsule)
        self.store = BlockStore(about.fields, batch_size, style.optional, autoreset == SAME_STEP)
        self.check_memory(num_envs, batch_size)
        self.actions = ActionTable(about.actions)
        reset_nest, self.step_nest = style.forms(self.store.names)
        self.reset_form = ResultTemplate(reset_nest, self.store.names)
        self.step_form = ResultTemplate(self.step_nest, self.store.names)
        self.capsule = capsule
        self.fork_generation = ep_fork_generation
        self.scratch = <int32_t*>malloc(num_envs * sizeof(int32_t))
        self.engine = engine_new(kind, num_envs, batch_size, min(num_threads, num_envs), thread_affinity_offset,
                                 max_episode_steps, autoreset)
        if self.engine == NULL or self.scratch == NULL:
            raise MemoryError(f"no memory for {num_envs} envs of kind {about.name}")
        seed = np.ascontiguousarray(seeds(), np.uint64)
        memcpy(self.engine.seeds, cnp.PyArray_DATA(seed), num_envs * sizeof(uint64_t))
        self.in_flight = []
        for i in range(self.engine.num_blocks):
            block = self.store.new_block()
            self.in_flight.append(block)
            self.engine.blocks[i] = &block.c
        failed = engine_start(self.engine)
        if failed:
            started = self.engine.started
            self.close()
            raise OSError(
                failed, f"only {started} of num_threads={num_threads} threads could be started: ask for fewer"
            )

    cdef int check_memory(self, int64_t num_envs, int64_t batch_size) except -1:
        """Refuses what could never fit, before the system kills the process for it."""
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        needed = self.store.block_bytes() * (num_envs // batch_size + 2) + PER_ENV * num_envs
        if needed > 0.9 * physical:
            raise MemoryError(
                f"num_envs={num_envs} with batch_size={batch_size} needs at least {needed / 2**30:.1f} GiB, this "
                f"machine has {physical / 2**30:.1f} GiB"
            )

    def __dealloc__(self):
        if self.engine != NULL:
            if self.fork_generation == ep_fork_generation:
                with nogil:
                    engine_stop(self.engine)
                engine_free(self.engine)
            # After a fork the threads are gone and may have held anything: the copy is left alone.
        free(self.scratch)

    def close(self):
        """Stops and joins the threads and frees the envs. Arrays handed out stay valid. May be called again."""
        cdef Engine* e = self.engine
        if e == NULL:
            return
        if self.fork_generation != ep_fork_generation:
            self.engine = NULL
            return
        if self.is_closing:             # by another thread: return when it is done, too
            while self.engine != NULL:
                with nogil:
                    usleep(100)
            return
        self.is_closing = True
        with nogil:
            engine_stop(e)
        while not self.is_left():       # let other threads that are inside notice
            with nogil:
                usleep(100)
        self.engine = NULL
        self.outstanding = 0
        engine_free(e)

    cdef bint is_left(self) noexcept:
        """Whether no other thread uses the envs any more; close() asks until it is so."""
        return not (self.waiting or self.is_sending)

    @property
    def is_closed(self):
        """Whether close() was called."""
        return self.engine == NULL or self.is_closing

    @property
    def num_outstanding(self):
        """Rows sent and not yet received."""
        return self.outstanding

    @property
    def blocks_allocated(self):
        """Batches allocated since the pool was made; constant once recycling has settled."""
        shelved = 0 if self.shelf_store is None or self.shelf_store is self.store else self.shelf_store.allocated
        return self.store.allocated + shelved

    cdef int check_open(self) except -1:
        if self.engine == NULL or self.is_closing:
            raise PoolStateError("the pool is closed: make a new one")
        if self.fork_generation != ep_fork_generation:
            raise PoolStateError(
                "the pool was made before this process was forked, and its threads exist only in the parent: make the "
                "pool in the child, or start processes with the 'spawn' method"
            )
        return 0
