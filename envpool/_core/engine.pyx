# optimize: -O1
"""The memory of the engine: one arena for the queues, the slots and all per-env words; and who frees it.

A native env cannot be interrupted, and a Python env may itself close its pool or drop the last reference to it. The
thread returns from the env at any time, and then touches the engine, the state of the envs and the blocks in flight.
Therefore the pool and the threads of its workers share the ownership of the engine; `owners` counts them, and the last
one frees it. Usually that is the pool, which has joined its threads. If a thread is the last one, Python frees the
engine in the main thread, as a pending call: a block is a Python object, and a thread of the engine must not wait for
the GIL.

Invariants:
- An Orphan has everything that the threads may touch, and a reference to itself, so that nothing frees it earlier: not
  the garbage collector, and not the end of the interpreter. Unfreed engines are reclaimed at exit.
- No thread asks for a pending call once the interpreter exits. `stopped` and `inside` are sequentially consistent: the
  exit sees a thread in `inside` and waits for it, or the thread sees `stopped`.
"""

import atexit

cimport cython
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset, strcmp
from posix.unistd cimport usleep

from envpool._core.atomic cimport (
    ep_add_sc32, ep_futex_wake, ep_load_sc32, ep_store_sc32, ep_use_parking_lot,
)
from envpool._core.calls cimport (
    CreateFailure, create_state, field_at, has_players, moves_in_turn, num_players, row_bytes,
)
from envpool._core.guard cimport fork_generation
from envpool._core.policy cimport FIRST_WAKE, MAX_COPIED, MAX_GROUP
from envpool._core.structs cimport (
    Block, DISABLED, DrawTable, Engine, NEVER, PENDING, PlayerArrays, Queue, REFUSED, Span, Turns, Worker,
)
from envpool.env cimport ENVPOOL_NO_MEMORY, envpool_env, envpool_field
from envpool.numerics.rng cimport ep_pcg64

cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t alignment, size_t size)

ep_use_parking_lot()


cdef void* carve(size_t* used, char* arena, size_t size) noexcept:
    """Returns the next `size` bytes of the arena, aligned to a cache line. If `arena` is NULL, only counts them."""
    cdef void* p = NULL if arena == NULL else arena + used[0]
    used[0] += (size + 63) & ~<size_t>63
    return p


cdef size_t lay_out(Engine* e, char* arena) noexcept:
    cdef size_t used = 0, size, n = e.num_envs
    cdef void* p
    cdef int32_t a, i
    carve(&used, arena, sizeof(Engine))
    e.queues = <Queue*>carve(&used, arena, e.num_queues * sizeof(Queue))
    lay_out_queues(e, arena, &used)
    e.spans = <Span*>carve(&used, arena, (e.span_mask + 1) * sizeof(Span))
    e.next = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.all_ids = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.field_bytes = <int64_t*>carve(&used, arena, e.env_def.num_fields * sizeof(int64_t))
    e.has_players = <uint8_t*>carve(&used, arena, e.env_def.num_fields)
    e.action_bytes = <int64_t*>carve(&used, arena, e.env_def.num_actions * sizeof(int64_t))
    e.actions = <void**>carve(&used, arena, e.env_def.num_actions * sizeof(void*))
    e.reset = <uint8_t*>carve(&used, arena, n)
    e.busy = <uint8_t*>carve(&used, arena, n)
    e.elapsed = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.errors = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.broken = <uint8_t*>carve(&used, arena, n)
    e.held = <uint8_t*>carve(&used, arena, n)
    e.seeds = <uint64_t*>carve(&used, arena, n * sizeof(uint64_t))
    e.seed_pending = <uint8_t*>carve(&used, arena, n)
    e.param_pending = <uint8_t*>carve(&used, arena, n)
    if e.env_def.num_params:
        e.tables = <const DrawTable**>carve(&used, arena, n * sizeof(void*))
        e.streams = carve(&used, arena, n * sizeof(ep_pcg64))
        e.has_stream = <uint8_t*>carve(&used, arena, n)
    e.param_values = <void**>carve(&used, arena, e.env_def.num_params * sizeof(void*))
    e.param_bytes = <int64_t*>carve(&used, arena, e.env_def.num_params * sizeof(int64_t))
    e.blocks = <Block**>carve(&used, arena, e.num_blocks * sizeof(Block*))
    e.scratch = <int32_t*>carve(&used, arena, n * sizeof(int32_t))
    e.workers = <Worker*>carve(&used, arena, e.num_threads * sizeof(Worker))
    if e.step_timeout:
        for i in range(e.num_threads):
            p = carve(&used, arena, MAX_COPIED * sizeof(int32_t))
            if arena != NULL:
                e.workers[i].copied = <int32_t*>p
    for a in range(e.env_def.num_actions):
        size = row_bytes(e.env_def, field_at(e.env_def, e.env_def.actions, a))
        p = carve(&used, arena, n * size)
        if arena != NULL:
            e.action_bytes[a] = size
            e.actions[a] = p
    for a in range(e.env_def.num_params):
        size = row_bytes(e.env_def, field_at(e.env_def, e.env_def.params, a))
        p = carve(&used, arena, n * size)
        if arena != NULL:
            e.param_bytes[a] = size
            e.param_values[a] = p
    if e.num_players:
        lay_out_players(e, arena, &used)
    return used


cdef void lay_out_players(Engine* e, char* arena, size_t* used) noexcept:
    cdef size_t n = <size_t>e.num_envs * e.num_players
    cdef PlayerArrays* a
    cdef int k
    e.player_flags = <uint8_t*>carve(used, arena, n)
    for k in range(2):
        a = &e.players[k]
        a.present = <uint8_t*>carve(used, arena, n)
        a.reward = <float*>carve(used, arena, n * sizeof(float))
        a.terminated = <uint8_t*>carve(used, arena, n)
        a.truncated = <uint8_t*>carve(used, arena, n)
    if e.turns != NULL:
        lay_out_turns(e, arena, used)


cdef void lay_out_turns(Engine* e, char* arena, size_t* used) noexcept:
    cdef Turns* turns = <Turns*>carve(used, arena, sizeof(Turns))
    cdef float* owed = <float*>carve(used, arena, <size_t>e.num_envs * e.num_players * sizeof(float))
    cdef uint8_t* legal = <uint8_t*>carve(used, arena, <size_t>e.num_envs * e.turns.num_moves)
    if arena != NULL:
        turns[0] = e.turns[0]
        turns.owed, turns.legal = owed, legal
        e.turns = turns


cdef Turns find_turns(const envpool_env* env_def) noexcept:
    """Finds the fields of envs whose players move in turn."""
    cdef const envpool_field* field
    cdef Turns turns
    cdef int32_t i
    memset(&turns, 0, sizeof(Turns))
    for i in range(env_def.num_fields):
        field = field_at(env_def, env_def.fields, i)
        if strcmp(field.name, b"info:current_player") == 0:
            turns.turn_field = i
        elif strcmp(field.name, b"info:legal_action_mask") == 0:
            turns.legal_field = i
            turns.num_moves = field.shape[field.ndim - 1]
    return turns


cdef void lay_out_queues(Engine* e, char* arena, size_t* used) noexcept:
    """Lays out the rings of the queues, and divides the workers among them."""
    cdef size_t size = (e.mask + 1) * sizeof(int32_t)
    cdef int32_t* rings[3]
    cdef int32_t k, r
    cdef Queue* q
    for k in range(e.num_queues):
        for r in range(3):
            rings[r] = NULL
            if r < 2 or (e.is_sync and e.num_queues > 1):
                rings[r] = <int32_t*>carve(used, arena, size)
        if arena != NULL:
            q = &e.queues[k]
            q.ring, q.partial_ring, q.rows = rings[0], rings[1], rings[2]
            q.partial_from = NEVER
            q.num_threads = first_worker(e, k + 1) - first_worker(e, k)


cdef inline int32_t first_worker(const Engine* e, int32_t k) noexcept:
    """Returns the index of the first worker in the group of queue k; see home_of() in scheduler.pyx."""
    return <int32_t>((<int64_t>k * e.num_threads + e.num_queues - 1) // e.num_queues)


cdef int32_t ceil_div(int32_t a, int32_t b) noexcept:
    return (a + b - 1) // b


cdef int64_t power_of_two(int64_t least) noexcept:
    cdef int64_t n = 1
    while n < least:
        n *= 2
    return n


cdef Engine* engine_new(const envpool_env* env_def, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                        int32_t affinity, int32_t num_nodes, int32_t max_episode_steps, int32_t autoreset,
                        int64_t step_timeout, CreateFailure* failure) noexcept:
    """Returns an engine with its env state, but without blocks and threads; or NULL, and why, in `failure`."""
    cdef Engine plan
    cdef Turns turns
    cdef Engine* e
    cdef size_t size
    cdef int32_t i
    memset(&plan, 0, sizeof(Engine))
    plan.env_def = env_def
    plan.num_players = num_players(env_def)
    if moves_in_turn(env_def):
        turns = find_turns(env_def)
        plan.turns = &turns
    plan.num_envs = num_envs
    plan.batch_size = batch_size
    plan.num_threads = num_threads
    plan.affinity = affinity
    plan.max_episode_steps = max_episode_steps
    plan.autoreset = autoreset
    plan.step_timeout = step_timeout
    plan.owners = 1
    plan.is_sync = batch_size == num_envs
    plan.num_blocks = 1 if plan.is_sync else num_envs // batch_size + 2
    plan.expected = 0 if plan.is_sync else batch_size
    plan.wake_latency = FIRST_WAKE
    plan.seeds_pending = num_envs
    plan.num_nodes = min(num_nodes, num_threads)
    plan.num_queues = plan.num_nodes * ceil_div(ceil_div(num_threads, plan.num_nodes), MAX_GROUP)
    # A queue has at most num_envs // num_queues + 1 envs. PartialBatches.begin() puts envs into the ring a second time.
    plan.mask = power_of_two(2 * (<int64_t>num_envs // plan.num_queues + 1)) - 1
    plan.span_mask = power_of_two(2 * <int64_t>num_envs) - 1
    size = lay_out(&plan, NULL)
    e = <Engine*>aligned_alloc(64, size)
    if e == NULL:
        failure.status = ENVPOOL_NO_MEMORY
        return NULL
    memset(e, 0, size)
    memcpy(e, &plan, sizeof(Engine))
    lay_out(e, <char*>e)
    for i in range(env_def.num_fields):
        e.field_bytes[i] = row_bytes(env_def, field_at(env_def, env_def.fields, i))
        e.has_players[i] = has_players(env_def, field_at(env_def, env_def.fields, i))
    for i in range(num_envs):
        e.all_ids[i] = i
    memset(e.seed_pending, 1, num_envs)
    memset(e.reset, REFUSED if autoreset == DISABLED else PENDING, num_envs)
    e.state = create_state(env_def, num_envs, failure)
    if e.state == NULL:
        free(e)
        return NULL
    return e


cdef void engine_free(Engine* e) noexcept:
    e.env_def.destroy(e.state)
    free(e)


# ---- ownership -------------------------------------------------------------------------------------------------------

cdef extern from "Python.h":
    int Py_AddPendingCall(int (*function)(void*) noexcept, void* argument) nogil

cdef int32_t stopped = 0            # nonzero: the interpreter exits
cdef int32_t inside = 0             # number of threads that may be asking for a pending call
cdef int64_t born = fork_generation()
cdef int64_t num_orphans = 0        # engines that only threads own; accessed with the GIL only


# Hidden from the garbage collector, as are the pools: threads may write to the blocks.
@cython.no_gc
cdef class Orphan:
    """The owner of an engine whose pool has ended, and of everything that its remaining threads may touch.

    Parameters
    ----------
    capsule : PyCapsule
        The env definition.
    """

    def __init__(self, capsule):
        self.capsule = capsule

    cdef void adopt(self, Engine* e, list blocks, object partial, object statistics) noexcept:
        """Takes the engine over from a pool that was stopped, and frees it unless threads are still in it."""
        global num_orphans
        self.engine = e
        self.blocks = blocks
        self.partial = partial
        self.statistics = statistics
        e.orphan = <void*>self
        Py_INCREF(self)
        num_orphans += 1
        if ep_add_sc32(&e.owners, -1) == 1:
            free_orphan(<void*>self)


cdef int free_orphan(void* argument) noexcept:
    """Frees an engine that has no owner any more."""
    global num_orphans
    cdef Orphan orphan = <Orphan>argument
    engine_free(orphan.engine)
    orphan.engine = NULL
    orphan.blocks = None
    orphan.partial = None
    orphan.statistics = None
    orphan.tables = None
    num_orphans -= 1
    Py_DECREF(orphan)
    return 0


cdef void leave_engine(Worker* w) noexcept nogil:
    """Ends the ownership of a worker's thread, which must not touch the engine afterwards."""
    cdef Engine* e = <Engine*>w.engine
    cdef int32_t* owners = &e.owners
    cdef void* orphan
    ep_store_sc32(&w.has_left, 1)
    if ep_add_sc32(owners, -1) > 1:
        ep_futex_wake(owners, INT32_MAX)        # this only uses the address: the engine may be gone
        return
    orphan = e.orphan
    while True:
        ep_add_sc32(&inside, 1)
        if ep_load_sc32(&stopped) or Py_AddPendingCall(free_orphan, orphan) == 0:
            ep_add_sc32(&inside, -1)
            return
        ep_add_sc32(&inside, -1)
        usleep(1000)                            # the interpreter's list of pending calls is full


def count_orphans():
    """Return the number of closed pools whose memory is still in use by threads that are inside of an env."""
    return num_orphans


@atexit.register
def stop():
    """Leave engines that threads still own to the end of the process."""
    ep_store_sc32(&stopped, 1)
    while fork_generation() == born and ep_load_sc32(&inside) > 0:
        with nogil:
            usleep(100)
