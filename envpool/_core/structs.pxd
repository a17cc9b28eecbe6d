"""The data of the scheduling core: blocks, rings, per-env arrays. It contains no Python objects.

How a step flows. The consumer, which is the thread that calls the pool, writes env ids into the rings of the queues and
publishes them (`head`). Workers, and the consumer while it waits, claim chunks of a ring (`claim`), simulate the envs,
and write their rows into a block. A block is ready when all its rows are written, and the consumer hands it out.

Queues. Each queue belongs to a group of about eight workers and to a contiguous range of env ids. A worker turns to
other queues when its own one is empty. So few threads meet at one `claim`, and an env tends to be stepped by the same
few threads, which may share a NUMA node. A pool of up to eight threads has one queue for each node.

Who owns what. An env is idle, or in flight from its publication until its row is handed out. While an env is idle, only
the consumer touches its action slot, flags and state; while it is in flight, only the thread that claimed it does.
`claim` only grows and is 64 bits wide, so a successful compare-and-swap proves that no id read before it was
overwritten.

Sync pools (batch_size == num_envs): the row of an env is its place among all envs sent since the last delivery, so that
a block has the order of the sends. Async pools: a row is allocated after its env has been simulated, in order of
completion, so that a slow env delays no other one. Partial batches: an env published at or after ring position
`partial_from` gets row i of one block for env i and is announced on its own (`arrivals`), so that the consumer can take
any env while others are in flight; see partial.pyx.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool.env cimport envpool_env

cdef extern from "threads.h" nogil:
    ctypedef unsigned long pthread_t

# Arrays of a block that the engine fills, besides the fields of the env.
cdef enum:      # CoreField
    REWARD          # float32
    TERMINATED      # bool
    TRUNCATED       # bool
    ELAPSED_STEP    # int32
    ENV_ID          # int32
    DONE            # bool, terminated or truncated; NULL unless the API style asks for it
    DISCOUNT        # float32; NULL unless the API style asks for it
    STEP_TYPE       # int32; NULL unless the API style asks for it
    EPISODE_RETURN  # float64; this and the following: NULL unless statistics of episodes are on, see statistics.pyx
    EPISODE_LENGTH  # int64
    EPISODE_TIME    # float64
    EPISODE_MASK    # bool, terminated or truncated
    GAME_RETURN     # float64; this and the following: NULL unless an episode may be a part of a game
    GAME_LENGTH     # int64
    GAME_TIME       # float64
    GAME_MASK       # bool
    NUM_CORE

cdef enum:      # AutoReset
    NEXT_STEP       # the step after the last one of an episode resets and ignores its action
    SAME_STEP       # the last step of an episode resets at once; its own observation goes to the final arrays
    DISABLED        # the user resets

# Values of Engine.reset.
cdef enum:      # Reset
    RUNNING = 0     # the next step simulates
    PENDING = 1     # the next step starts an episode; ENVPOOL_NEXT_EPISODE
    REFUSED = 2     # the next step starts an episode, but only a reset may be sent (DISABLED)
    GIVEN_UP = 3    # in flight: the user resets an env that the pool would reset; ENVPOOL_NEW_GAME

# Values of Engine.held: what a call does without the GIL with an env that is not in flight. No other call may use it.
cdef enum:      # Hold
    FREE = 0
    DRAWN = 1       # its frame is being drawn
    RESTORED = 2    # its state is being restored, or copied
    USED = 3        # Python code is using it, such as call() of a pool of Python environments

cdef struct Block:
    int64_t written             # rows finished; the block is ready when all expected rows are
    int64_t pad[7]
    void* core[16]              # arrays of CoreField (capacity)
    void** fields               # arrays of the env's fields, in the order of its field table (num_fields)
    void** final                # SAME_STEP: arrays of these fields for the last step of an episode, or NULL
    int32_t* final_elapsed      # SAME_STEP: elapsed_step of that last step (capacity)
    uint8_t* final_mask         # SAME_STEP: whether row r ended an episode (capacity)
    int64_t clears_final        # SAME_STEP: rows of the final arrays may hold old data; whoever writes row r clears it

cdef struct Span:               # rows that one chunk has written
    int64_t first               # 1 + position of the first row; 0 once the consumer has moved the rows
    int64_t rows

cdef enum:
    NUM_STEP_TIMES = 40         # buckets of Tally.step_times

cdef struct Counters:           # what every pool counts; accessed in relaxed order
    int64_t wakes               # workers that were woken
    int64_t recv_wait           # time for which calls waited for batches, ns

cdef struct Tally:              # running statistics of episodes, see statistics.pyx
    # Contended; accessed in relaxed order.
    int64_t step_times[NUM_STEP_TIMES]      # [k]: steps that took 2**k ns or more, but less than 2**(k+1)
    int64_t queue_wait          # time for which envs with a probe waited to be claimed, ns
    int64_t probes              # number of these envs
    int64_t pad[8]
    # Constant once the threads run.
    int32_t reward_field        # fields with the reward before clipping, float32, with whether the game is over, int32,
    int32_t over_field          # and with the number of lives, int32; negative if an episode is always a whole game
    int32_t lives_field
    bint resets_continue_games  # whether a reset after an episode that was not the end of a game continues the game
    # Per env, by env id; see Engine.
    double* returns             # sum of the rewards of the episode
    int64_t* began              # when the episode began, ns
    double* game_returns        # sum of the rewards of the game, before clipping
    int64_t* game_lengths       # steps of the game
    int64_t* game_began
    int64_t* game_lives         # lives in the last row
    int64_t* game_ended         # whether the last row ended the game
    int64_t sends               # of the consumer

cdef struct Worker:             # one cache line
    void* engine
    pthread_t thread
    int32_t index
    int32_t has_left            # nonzero: the thread will not touch the engine again; see orphans.pyx
    # With a step timeout: the chunk that the worker executes; see watch.pyx.
    int64_t since               # when the chunk began, ns; 0: the worker executes none
    const int32_t* ids          # ids of its envs (num_ids)
    int64_t num_ids
    int32_t* copied             # memory for the ids of a chunk that are copied from a ring
    int64_t told                # when the user was last told that the chunk takes too long, ns; of the consumer

cdef struct Queue:
    # Written by the consumer at each send.
    int64_t head                # ring positions published
    int64_t tail                # ring positions written; the consumer's own
    int64_t base                # sync: `head` at the last delivery
    int64_t partial_from        # envs published from this position on go to partial batches; NEVER: none do
    int64_t pad0[4]
    # Contended by the threads of the group at each claim.
    int64_t claim               # ring positions claimed
    int64_t pad1[7]
    # Parking of the group. A worker raises `parked`, then looks for work once more, then sleeps on the word.
    int32_t wake_word
    int32_t parked
    int32_t to_wake             # workers of the group that are still to be woken by the next one to wake up
    int32_t pad2[13]
    # Constant once the threads run.
    int32_t* ring
    int32_t* rows               # by ring position: the row of the env (sync pools with several queues; else NULL)
    int32_t* partial_ring       # the ring for positions from partial_from on, since chunks may still read the other one
    int32_t num_threads         # workers of the group
    int32_t pad3[5]
    # With statistics on: an env whose wait in the queue is measured. Written by the consumer, read at each claim.
    int64_t probe               # its ring position
    int64_t probed_at           # when it was published, ns

cdef struct Engine:
    # Written by the consumer at each send and delivery.
    int64_t sent                # envs published since the pool was made
    int64_t base                # sync: `sent` at the last delivery
    int64_t expected            # rows that a ready block has; async: batch_size
    int64_t pad0[5]
    # Contended in async mode at each completion.
    int64_t alloc               # rows allocated since block 0
    int64_t pad1[7]
    # Contended by partial batches: the envs that finished since the consumer last looked, as a stack through `next`.
    int64_t arrivals            # number of these envs << 32 | 1 + id of the last one
    int32_t awaited             # number of arrivals for which the sleeping consumer waits
    int32_t pad2[13]
    # Parking of the last worker, which works only while the consumer does not; see Queue for the others.
    int32_t reserve_word
    int32_t reserve_parked
    int32_t pad3[14]
    # Parking of the consumer.
    int32_t recv_word
    int32_t recv_waiting
    int32_t pad4[14]
    # Estimates, all accessed in relaxed order: a stale value costs time, never correctness. Every chunk reads the first
    # two, so workers store them only when they have changed materially.
    int64_t ns_per_env          # cost of an env step, a low quantile
    int64_t scaled_mean         # mean cost of an env step, times 2**MEAN_SHIFT
    int64_t pad5[6]
    int64_t wake_latency        # time from publishing to the first instruction of a parked worker
    int64_t published_at        # when a parked worker was last woken
    int64_t pad6[6]
    # Rare events, which every chunk looks for.
    int32_t seeds_pending       # envs whose generator must be seeded before their next step
    int32_t failures            # envs with a nonzero entry in `errors`
    int32_t is_moving           # the consumer moves rows from blocks to partial batches: every chunk must wake it
    int32_t params_pending      # envs whose parameters change at their next reset
    int32_t pad7[12]
    # Policy, set by the consumer in publish().
    int32_t active              # workers that may claim: num_threads, or one less when the consumer helps
    int32_t helps               # whether the consumer works while it waits
    int32_t stop
    int32_t pad8[13]
    # Constant once the threads run.
    const envpool_env* env_def
    void* state
    int32_t num_envs
    int32_t batch_size
    int32_t num_threads
    int32_t affinity            # worker i is pinned to CPU number affinity + i of `cpus`; negative: none is pinned
    const int32_t* cpus         # ids of the CPUs that threads may run on, node by node; belongs to the pool
    const int32_t* node_ends    # where the CPUs of each NUMA node end in `cpus` (num_nodes); belongs to the pool
    int32_t num_nodes           # 1: threads are not bound to nodes
    int32_t num_cpus
    int32_t max_episode_steps
    int32_t autoreset
    bint is_sync
    bint has_final              # whether the blocks have arrays for the last steps of episodes, see Block.final
    int64_t step_timeout        # time after which a worker counts as stuck in a chunk, ns; 0: workers are not watched
    Queue* queues
    int32_t num_queues
    int64_t mask                # size of a ring - 1; a power of two, at least twice the number of envs of a queue
    int64_t span_mask           # size of `spans` - 1; a power of two, at least 2 * num_envs
    Span* spans                 # by position & span_mask: base + row in sync, a value of `alloc` in async pools
    int32_t* all_ids            # 0 .. num_envs-1
    int64_t* field_bytes        # bytes of one row of each env field
    # Per env, by env id.
    void** actions              # one packed array per action field
    int64_t* action_bytes       # bytes of one env's row of each
    uint8_t* reset              # Reset
    uint8_t* busy               # nonzero: in flight; accessed with the GIL only
    int32_t* elapsed
    int32_t* errors             # code of the last failure, zero once reported
    uint8_t* broken             # nonzero: the last step or reset failed, so that nobody may look at the state
    uint8_t* held               # Hold; accessed with the GIL only
    uint64_t* seeds
    uint8_t* seed_pending
    void** param_values         # one packed array per parameter: what set_params() puts into force
    int64_t* param_bytes        # bytes of one env's row of each
    uint8_t* param_pending      # nonzero: the env's rows of `param_values` are put into force at its next reset
    int32_t* next               # the env below in the stack of arrivals, -1 at the bottom
    Block* partial_block        # NULL until partial batches are first used
    # Blocks in flight: sync has one, async num_envs / batch_size + 2, used round robin.
    Block** blocks
    int64_t num_blocks
    int64_t pad9[8]
    # Of the consumer.
    int64_t next_block          # async: the block to hand out next, counted from the first one; changed with the GIL
    int64_t full_until          # async: the blocks from next_block to this one are known to be full; see written_rows()
    # Of the consumer; accessed with the GIL only.
    int64_t outstanding         # envs in flight: rows sent and not handed out
    int32_t num_held            # envs that are held
    int32_t* scratch            # env ids of the send that is being made (num_envs)
    int64_t sent_at             # when send() last returned, ns; 0 after a call that waits
    int64_t absence             # usual time between send and recv, ns
    bint cheap                  # async policy: the mean cost is below the switch (with hysteresis)
    unsigned long outsider      # a thread that is known to be none of the pool's; 0: none is
    # Of the thread that receives or renders, without the GIL as well.
    int64_t usual_wait          # usual time for which the consumer waits when it has nothing left to do, ns
    bint receiver_executes      # whether the thread that receives executes envs right now
    bint renderer_executes      # whether the thread that renders executes or draws envs right now
    int64_t pad10[8]
    # Owned by the statistics of the pool.
    Counters* counters
    Tally* tally                # NULL unless statistics of episodes are on
    # Threads, started by the consumer only.
    Worker* workers
    int32_t started             # workers running
    int32_t owners              # the pool and the threads that run workers: the last one frees the engine
    void* orphan                # the Orphan that owns the engine when the pool has let go of it; see orphans.pyx
