"""A pool with one queue item per env step, designed like EnvPool and built on the same env ABI, for comparison.

Every item costs a semaphore post and a wait. A worker takes one item, allocates its row in the next block immediately
(in a sync pool, the row of its position), steps one env, and writes the row. The calling thread never steps envs. The
pool is minimal on purpose: it has no checks, no time limit and no errors, and its arrays are overwritten when their
block is reused.
"""

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from envpool._core.atomic cimport ep_add_sc64
from envpool._core.calls cimport CreateFailure, begin_batch, create_state, seed_envs, write_envs
from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_batch, envpool_env

from envpool.native import describe

cnp.import_array()

cdef extern from "pthread.h" nogil:
    ctypedef unsigned long pthread_t
    int pthread_create(pthread_t* thread, void* attributes, void* (*run)(void*) noexcept nogil, void* arg)
    int pthread_join(pthread_t thread, void** result)

cdef extern from "semaphore.h" nogil:
    ctypedef struct sem_t:
        pass
    int sem_init(sem_t* s, int shared, unsigned int value)
    int sem_post(sem_t* s)
    int sem_wait(sem_t* s)

cdef enum:
    MAX_FIELDS = 16
    MAX_BLOCKS = 512

cdef struct Queue:
    int64_t taken           # items taken; on its own cache line, like `rows`
    int64_t pad0[7]
    int64_t rows            # rows allocated
    int64_t pad1[7]
    int64_t written[MAX_BLOCKS]
    sem_t items
    sem_t ready
    const envpool_env* env
    void* state
    int32_t batch_size
    int32_t num_blocks
    int64_t mask
    int32_t* ring
    uint8_t* reset
    void* actions[1]
    void* fields[MAX_BLOCKS][MAX_FIELDS]
    float* reward[MAX_BLOCKS]
    uint8_t* terminated[MAX_BLOCKS]
    uint8_t* truncated[MAX_BLOCKS]
    int32_t* env_id[MAX_BLOCKS]
    bint is_sync
    bint stop


cdef void* run_worker(void* arg) noexcept nogil:
    cdef Queue* q = <Queue*>arg
    cdef envpool_batch batch
    cdef int64_t position, row
    cdef int32_t id, block, error, first = 0
    cdef uint8_t reset
    begin_batch(&batch)
    batch.n = 1
    batch.contiguous = 1
    batch.ids = &id
    batch.reset = &reset
    batch.resets = &first
    batch.errors = &error
    batch.discount = NULL
    batch.actions = <const void* const*>q.actions
    while True:
        sem_wait(&q.items)
        if q.stop:
            return NULL
        position = ep_add_sc64(&q.taken, 1)
        row = position if q.is_sync else ep_add_sc64(&q.rows, 1)
        block = <int32_t>((row // q.batch_size) % q.num_blocks)
        row %= q.batch_size
        id = q.ring[position & q.mask]
        reset = q.reset[id]
        batch.num_resets = reset
        error = 0
        batch.reward = q.reward[block] + row
        batch.terminated = q.terminated[block] + row
        batch.truncated = q.truncated[block] + row
        batch.truncated[0] = 0
        q.env.step_many(q.state, &batch)
        write_envs(q.env, q.state, &id, 1, q.fields[block], row)
        q.reset[id] = batch.terminated[0] | batch.truncated[0]
        q.env_id[block][row] = id
        if ep_add_sc64(&q.written[block], 1) + 1 == q.batch_size:
            sem_post(&q.ready)


cdef class PlainQueue:
    """A pool of one-action envs.

    Parameters
    ----------
    capsule : PyCapsule
        The env definition, with one action field.
    num_envs, batch_size, num_threads : int
        As in a pool; batch_size must divide num_envs.
    """

    cdef Queue q
    cdef pthread_t threads[64]
    cdef int num_threads
    cdef int64_t head
    cdef int64_t next_block
    cdef list arrays
    cdef object keep
    cdef object actions

    def __init__(self, capsule, int num_envs, int batch_size, int num_threads):
        cdef Queue* q = &self.q
        cdef CreateFailure failure
        cdef int32_t b, i
        about = describe(capsule)
        q.env = <const envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
        q.batch_size = batch_size
        q.is_sync = batch_size == num_envs
        q.num_blocks = num_envs // batch_size + 2
        q.mask = 1
        while q.mask < 2 * num_envs:
            q.mask *= 2
        q.mask -= 1
        ring = np.zeros(q.mask + 1, np.int32)
        reset = np.ones(num_envs, np.uint8)
        self.actions = np.zeros(num_envs, np.int32)
        q.ring = <int32_t*>cnp.PyArray_DATA(ring)
        q.reset = <uint8_t*>cnp.PyArray_DATA(reset)
        q.actions[0] = cnp.PyArray_DATA(self.actions)
        self.keep = [capsule, ring, reset]
        self.arrays = []
        for b in range(q.num_blocks):
            fields = [np.zeros((batch_size, *(s for s in f.shape if s > 0)), f.dtype) for f in about.fields]
            own = [np.zeros(batch_size, t) for t in (np.float32, np.bool_, np.bool_, np.int32)]
            for i in range(len(fields)):
                q.fields[b][i] = cnp.PyArray_DATA(fields[i])
            q.reward[b] = <float*>cnp.PyArray_DATA(own[0])
            q.terminated[b] = <uint8_t*>cnp.PyArray_DATA(own[1])
            q.truncated[b] = <uint8_t*>cnp.PyArray_DATA(own[2])
            q.env_id[b] = <int32_t*>cnp.PyArray_DATA(own[3])
            self.keep += fields
            self.arrays.append((fields[0], own[0], own[1], own[2], own[3]))
        sem_init(&q.items, 0, 0)
        sem_init(&q.ready, 0, 0)
        q.state = create_state(q.env, num_envs, &failure)
        if q.state == NULL:
            raise RuntimeError(f"the envs could not be created: status {failure.status}")
        self.seed(num_envs)
        self.num_threads = num_threads
        for i in range(num_threads):
            pthread_create(&self.threads[i], NULL, run_worker, q)

    def seed(self, int num_envs):
        """Seeds env i with i."""
        cdef int32_t id
        cdef int32_t error = 0
        cdef uint64_t seed
        for id in range(num_envs):
            seed = id
            if seed_envs(self.q.env, self.q.state, &id, 1, &seed, &error):
                raise RuntimeError(f"env {id} could not be seeded: error code {error}")

    def send(self, int32_t[::1] action, int32_t[::1] env_id):
        """Queues one item per env."""
        cdef int32_t[::1] slots = self.actions
        cdef Py_ssize_t i, _i
        for i in range(env_id.shape[0]):
            slots[env_id[i]] = action[i]
            self.q.ring[(self.head + i) & self.q.mask] = env_id[i]
        self.head += env_id.shape[0]
        for _i in range(env_id.shape[0]):
            sem_post(&self.q.items)

    def recv(self):
        """Waits for a batch and returns (first field, reward, terminated, truncated, env_id)."""
        cdef int32_t b = <int32_t>(self.next_block % self.q.num_blocks)
        with nogil:
            sem_wait(&self.q.ready)
        self.q.written[b] = 0
        self.next_block += 1
        return self.arrays[b]

    def close(self):
        """Ends the threads."""
        cdef int i, _i
        self.q.stop = True
        for _i in range(self.num_threads):
            sem_post(&self.q.items)
        for i in range(self.num_threads):
            with nogil:
                pthread_join(self.threads[i], NULL)
        self.q.env.destroy(self.q.state)
