"""The scheduling core: a ring of env ids, chunked claims, worker threads. No Python objects in here.

How a step flows. The caller writes env ids into the ring and publishes them (`head`). Workers, and the caller while it
waits, claim chunks of the ring (`claim`), simulate them, and write rows into a block. A block whose rows are all
written is ready, and the caller hands it out.

Who owns what. An env is idle, or in flight from publish until its row is handed out. While it is idle only the caller
touches its action slot, flags and state; while it is in flight only the thread that claimed it does. `claim` is
monotonic and 64 bits wide, so a successful compare-and-swap proves that the ids read before it were not overwritten.

Sync (batch_size == num_envs): a row is the env's position in the send, so a block comes out in the order asked for.
Async: rows are allocated after simulating, in completion order, so that a slow env delays nobody.
On the shelf: what is sent from ring position `shelf_from` on gets row i of one block for env i, and is announced env by
env (`arrivals`), so that the caller can take any of them while others are in flight; see partial.pyx.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool._core.atomic cimport ep_load_sc64
from envpool.env cimport envpool_env

cdef extern from "threads.h" nogil:
    ctypedef unsigned long pthread_t
    int pthread_join(pthread_t thread, void** result)
    int ep_available_cpus()
    int ep_thread_start(pthread_t* thread, int index, int k, void* (*run)(void*) noexcept nogil, void* arg)
    int64_t ep_fork_generation
    void ep_watch_forks()

# Arrays of a block that the engine itself fills, besides the env's own fields.
cdef enum:      # CoreField
    REWARD          # float32
    TERMINATED      # bool
    TRUNCATED       # bool
    ELAPSED_STEP    # int32
    ENV_ID          # int32
    DONE            # bool, terminated or truncated; NULL where the API style does not ask for it
    DISCOUNT        # float32, likewise
    STEP_TYPE       # int32, likewise
    NUM_CORE

cdef enum:      # AutoReset
    NEXT_STEP       # the step after the last one resets and ignores its action
    SAME_STEP       # the last step resets at once; what it saw goes to the final arrays
    DISABLED        # the caller resets

# Values of Engine.reset.
cdef enum:      # Reset
    RUNNING = 0     # the next step simulates
    PENDING = 1     # the next step starts an episode
    REFUSED = 2     # as PENDING, but the caller may not step before a reset (DISABLED)

cdef struct Block:
    int64_t written             # rows finished; the block is ready at the number of rows expected
    int64_t pad[7]
    void* core[8]               # arrays of CoreField (capacity)
    void** fields               # the env's own arrays, in the order of its field table (num_fields)
    void** final                # SAME_STEP: the same arrays for the last step of an episode; else NULL
    int32_t* final_elapsed      # SAME_STEP: elapsed_step of that last step (capacity)
    uint8_t* final_mask         # SAME_STEP: whether row r ended an episode (capacity)

cdef struct Span:               # rows that one chunk has written
    int64_t first               # 1 + position of the first of them; 0 once the caller has moved them to the shelf
    int64_t rows

cdef struct Worker:
    void* engine
    int32_t index
    pthread_t thread

cdef struct Engine:
    # Written by the caller at each send.
    int64_t head                # ring positions published
    int64_t base                # sync: ring position of row 0 of the current block
    int64_t shelf_from          # what is published from this position on goes to the shelf; NEVER: nothing
    int64_t pad0[5]
    # Fought over by all threads at each claim.
    int64_t claim               # ring positions claimed
    int64_t pad1[7]
    # Fought over in async mode at each completion.
    int64_t alloc               # rows given out since block 0
    int64_t pad2[7]
    # Fought over for the shelf: the envs that have arrived there since the caller took them, as a stack through `next`.
    int64_t arrivals            # their number << 32 | 1 + id of the last one
    int32_t awaited             # how many of them the sleeping caller wants
    int32_t pad7[13]
    # Parking of workers. A worker raises `parked`, then looks for work once more, then sleeps on the word.
    int32_t wake_word
    int32_t parked
    int32_t reserve_word
    int32_t reserve_parked
    int32_t pad3[12]
    # Parking of the caller.
    int32_t recv_word
    int32_t recv_waiting
    int32_t pad4[14]
    # Shared estimates, all relaxed: a stale value costs time, never correctness.
    int64_t ns_per_env          # cost of one env step
    int64_t wake_latency        # from publishing to a parked worker's first instruction
    int64_t published_at        # when a parked worker was last woken
    int32_t seeds_pending       # envs whose generator must be seeded before their next step
    int32_t failures            # envs with a nonzero `error`
    int32_t is_moving           # the caller moves rows from blocks to the shelf: tell it of every chunk
    int32_t pad5[7]
    # Policy, set by the caller in publish().
    int32_t active              # workers that may claim: num_threads, or one less when the caller helps
    int32_t helps               # whether the caller works while it waits
    int32_t stop
    int32_t pad6[13]
    # Constant once the threads run.
    const envpool_env* kind
    void* state
    int32_t num_envs
    int32_t batch_size
    int32_t num_threads
    int32_t affinity
    int32_t max_episode_steps
    int32_t autoreset
    bint is_sync
    int64_t mask                # ring size - 1; the size is a power of two, at least 2 * num_envs
    int32_t* ring
    int32_t* shelf_ring         # the same for positions from shelf_from on: chunks may still read the ring then
    Span* spans                 # by position (of the ring in sync, of `alloc` in async mode) & mask
    int32_t* all_ids            # 0 .. num_envs-1
    int64_t* field_bytes        # bytes of one row of each env field
    # Per env, by env id.
    void** actions              # one packed array per action field
    int64_t* action_bytes       # bytes of one env's row of each
    uint8_t* reset              # Reset
    uint8_t* busy               # in flight; only the caller reads or writes it
    int32_t* elapsed
    int32_t* errors             # code of the last failure, zero once reported
    uint8_t* broken             # its last step or reset failed: nobody may look at its state
    uint8_t* drawn              # a picture of it is being drawn; only the caller reads or writes it
    uint64_t* seeds
    uint8_t* seed_pending
    int32_t* next               # the env below in the stack of arrivals, -1 at the bottom
    Block* shelf                # NULL until it is needed
    # Blocks in flight: sync has one, async num_envs / batch_size + 2, used round robin.
    Block** blocks
    int64_t num_blocks
    int64_t next_block          # async: the block to hand out next, counted from the start
    int64_t expected            # rows a block has when it is ready; async: batch_size
    # Threads, started by the caller only.
    Worker* workers
    int32_t started             # workers running
    int64_t absence             # caller: usual time between send and recv, ns
    bint cheap                  # async policy: mean cost below the switch (with hysteresis)

cdef int64_t NEVER

cdef Engine* engine_new(const envpool_env* kind, int32_t num_envs, int32_t batch_size, int32_t num_threads,
                        int32_t affinity, int32_t max_episode_steps, int32_t autoreset) noexcept
cdef int engine_start(Engine* e) noexcept
cdef void engine_stop(Engine* e) noexcept nogil
cdef void engine_free(Engine* e) noexcept
cdef bint run_chunk(Engine* e) noexcept nogil
cdef int start_workers(Engine* e, int32_t count) noexcept
cdef void wake(Engine* e, int64_t count) noexcept nogil

cdef inline bint has_work(Engine* e) noexcept nogil:
    return ep_load_sc64(&e.head) > ep_load_sc64(&e.claim)
