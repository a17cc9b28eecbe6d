"""The data of the scheduling core: blocks, rings, per-env arrays. It contains no Python objects.

How a step flows. The consumer, which is the thread that calls the pool, writes env ids into the rings of the queues and
publishes them (`head`). Workers, and the consumer while it waits, claim chunks of a ring (`claim`), simulate the envs,
and write their rows into a block. A block is ready when all its rows are written, and the consumer hands it out.

Queues. Each queue belongs to a group of about eight workers and to a contiguous range of env ids. A worker turns to
other queues when its own is empty. So few threads meet at one `claim`, and an env tends to be stepped by the same
few threads, which may share a NUMA node. A pool of up to eight threads has one queue for each node.

Who owns what. An env is idle, or in flight from its publication until its row is handed out. While an env is idle, only
the consumer touches its action slot, flags and state; while it is in flight, only the thread that claimed it does.
`claim` only grows and is 64 bits wide, so a successful compare-and-swap proves that no id read before it was
overwritten.

Sync pools (batch_size == num_envs): the row of an env is its position among all envs sent since the last delivery, so
that a block has the order of the sends. Async pools: a row is allocated after its env has been simulated, in order of
completion, so that a slow env delays no other one. Partial batches: an env published at or after ring position
`partial_from` gets row i of one block for env i and is announced on its own (`arrivals`), so that the consumer can take
any env while others are in flight; see partial.pyx.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from envpool.env cimport envpool_env

cdef extern from "threads.h" nogil:
    """
    #define EP_NEVER INT64_MAX
    """
    ctypedef unsigned long pthread_t
    const int64_t NEVER "EP_NEVER"      # the value of Queue.partial_from while no env goes to partial batches

# Arrays of a block that the engine fills, besides the fields of the env.
cdef enum:      # CoreField
    REWARD          # float32
    TERMINATED      # bool
    TRUNCATED       # bool
    ELAPSED_STEP    # int32
    ENV_ID          # int32
    DONE            # bool, terminated or truncated; NULL unless the API style asks for it
    CUT             # bool, truncated and not terminated; NULL unless the API style asks for it
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
    PLAYER_MASK         # bool (num_players); this and the following: NULL unless the envs have players
    PLAYER_REWARD       # float32 (num_players)
    PLAYER_TERMINATED   # bool (num_players)
    PLAYER_TRUNCATED    # bool (num_players)
    EPISODE_PLAYER_RETURN   # float64 (num_players); NULL unless statistics of episodes are on, too
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

# The letter after the # says who owns a field, that is, who may write it. Other threads may read it.
#   K   nobody, once the threads run
#   C   the consumer: the thread that sends or receives
#   G   threads that hold the GIL; nobody else reads it either
#   E   per env: the consumer while the env is idle, the thread that has claimed it while it is in flight
#   W   the worker itself
#   T   all threads, atomically

# Called by the thread that has written rows of a block, before they are counted.
ctypedef void (*rows_fn)(void* data, int64_t row, int64_t n) noexcept nogil

cdef struct Block:
    int64_t written             # T  rows finished; the block is ready when all expected rows are
    int64_t pad[7]
    void* core[24]              # C  arrays of CoreField (capacity)
    void** fields               # C  arrays of the env's fields, in the order of its field table (num_fields)
    void** final                # C  SAME_STEP: arrays of these fields for the last step of an episode, or NULL
    int32_t* final_elapsed      # C  SAME_STEP: elapsed_step of that last step (capacity)
    uint8_t* final_mask         # C  SAME_STEP: whether row r ended an episode (capacity)
    int64_t clears_final        # C  SAME_STEP: the final arrays may hold old data; the writer of row r clears its row
    rows_fn after_rows          # C  sync: called with the rows of each chunk; NULL: nothing is
    void* after_data            # C

cdef struct Span:               # rows that one chunk has written
    int64_t first               # T  1 + position of the first row; 0 once the consumer has moved the rows
    int64_t rows                # T

cdef enum:
    NUM_STEP_TIMES = 40         # buckets of Tally.step_times

cdef struct Counters:           # what every pool counts; accessed in relaxed order
    int64_t wakes               # T  workers that were woken
    int64_t recv_wait           # C  time for which calls waited for batches, ns

cdef struct Tally:              # running statistics of episodes, see statistics.pyx
    # In relaxed order.
    int64_t step_times[NUM_STEP_TIMES]  # T  [k]: steps that took 2**k ns or more, but less than 2**(k+1)
    int64_t queue_wait          # T  time for which envs with a probe waited to be claimed, ns
    int64_t probes              # T  number of these envs
    int64_t pad[8]
    int32_t reward_field        # K  field of the unclipped reward, float32; negative: every episode is a whole game
    int32_t over_field          # K  field that tells whether the game is over, int32
    int32_t lives_field         # K  field of the number of lives, int32
    bint resets_continue_games  # K  whether a reset after an episode that was not the end of a game continues the game
    # Per env, by env id; see Engine.
    double* returns             # E  sum of the rewards of the episode
    double* player_returns      # E  likewise of each player (num_players for each env); NULL without players
    int32_t num_players         # K  as that of the engine
    int64_t* began              # E  when the episode began, ns
    double* game_returns        # E  sum of the rewards of the game, before clipping
    int64_t* game_lengths       # E  steps of the game
    int64_t* game_began         # E
    int64_t* game_lives         # E  lives in the last row
    int64_t* game_ended         # E  whether the last row ended the game
    int64_t sends               # C  sends so far

cdef struct Turns:              # of envs whose players move in turn, see players.pyx
    int32_t movers_only         # K  nonzero: a player whose turn it is not has no row, unless its episode ends
    int32_t checks_moves        # K  nonzero: illegal moves are refused
    int32_t turn_field          # K  index of the field that says whose turn it is
    int32_t legal_field         # K  index of the field that says which moves are legal, if num_moves > 0
    int64_t num_moves           # K  number of moves that the field is about, 0 without the field
    uint8_t* legal              # E  which moves are legal (num_moves for each env)
    float* owed                 # E  rewards of players since their last rows (num_players for each env)


cdef struct PlayerArrays:       # what a step reports of the players: arrays (num_envs, num_players) by env id
    uint8_t* present            # E
    float* reward               # E
    uint8_t* terminated         # E
    uint8_t* truncated          # E

cdef struct Worker:             # one cache line
    void* engine                # K
    pthread_t thread            # K
    int32_t index               # K
    int32_t has_left            # W  nonzero: the thread will not touch the engine again; see engine.pyx
    # With a step timeout: the chunk that the worker executes; see watch.pyx.
    int64_t since               # W  when the chunk began, ns; 0: the worker executes none
    const int32_t* ids          # W  ids of its envs (num_ids)
    int64_t num_ids             # W
    int32_t* copied             # W  ids of a chunk that were copied from a ring (MAX_COPIED)
    int64_t warned_at           # G  when EnvTimeoutError was last raised for the chunk, ns

cdef struct Queue:
    int64_t head                # C  ring positions published
    int64_t tail                # C  ring positions written
    int64_t base                # C  sync: `head` at the last delivery
    int64_t partial_from        # C  envs published from this position on go to partial batches; NEVER: none do
    int64_t pad0[4]
    # Contended by the group at each claim.
    int64_t claim               # T  ring positions claimed
    int64_t pad1[7]
    # Parking of the group. A worker raises `parked`, then looks for work once more, then sleeps on the word.
    int32_t wake_word           # T
    int32_t parked              # T
    int32_t to_wake             # T  workers of the group, still to be woken by the next waker
    int32_t pad2[13]
    int32_t* ring               # K
    int32_t* rows               # K  by ring position: the row of the env (sync pools with several queues; else NULL)
    int32_t* partial_ring       # K  positions from partial_from on: chunks may still read the other ring
    int32_t num_threads         # K  workers of the group
    int32_t pad3[5]
    # With statistics on: an env whose wait in the queue is measured. Read at each claim.
    int64_t probe               # C  its ring position
    int64_t probed_at           # C  when it was published, ns

cdef struct ParamDraw:           # how one parameter is drawn for each episode, see draws.pyx
    int32_t param               # K  index in the table of parameters
    int32_t kind                # K  Kind
    int32_t dtype               # K
    bint is_shared              # K  whether all elements get the same random number
    int64_t items               # K  elements of a value
    const double* first         # K  by element: lower end of a range, or mean; see Kind
    const double* second        # K  by element: upper end of a range, or standard deviation
    const double* low           # K  by element: smallest result, or factor
    const double* high          # K  by element: largest result, or factor
    const int64_t* least        # K  by element: smallest integer
    const uint64_t* span        # K  by element: largest integer - smallest integer
    const char* choices         # K  packed values to choose from (num_choices)
    int64_t num_choices         # K
    const char* nominal         # K  packed values that were passed to make: one for all envs, or one per env
    int64_t nominal_stride      # K  bytes from one env to the next, 0 for one value

cdef struct DrawTable:
    int32_t num_draws           # K
    ParamDraw* draws            # K

cdef struct Engine:
    int64_t sent                # C  envs published since the pool was made
    int64_t base                # C  sync: `sent` at the last delivery
    int64_t expected            # C  rows that a ready block has; async: batch_size
    int64_t pad0[5]
    # Contended in async pools at each completion.
    int64_t alloc               # T  rows allocated since block 0
    int64_t pad1[7]
    # Contended by partial batches: the envs that finished since the consumer last looked, as a stack through `next`.
    int64_t arrivals            # T  number of these envs << 32 | 1 + id of the last one
    int32_t awaited             # C  number of arrivals for which the sleeping consumer waits
    int32_t pad2[13]
    # Parking of the last worker, which works only while the consumer does not; see Queue for the others.
    int32_t reserve_word        # T
    int32_t reserve_parked      # T
    int32_t pad3[14]
    # Parking of the consumer.
    int32_t recv_word           # T
    int32_t recv_waiting        # C
    int32_t pad4[14]
    # Estimates, all accessed in relaxed order: a stale value costs time, never correctness. Every chunk reads the first
    # two, so workers store them only when they have changed materially.
    int64_t ns_per_env          # T  cost of an env step, a low quantile
    int64_t scaled_mean         # T  mean cost of an env step, times 2**MEAN_SHIFT
    int64_t pad5[6]
    int64_t wake_latency        # T  time from publishing to the first instruction of a parked worker
    int64_t published_at        # C  when a parked worker was last woken
    int64_t pad6[6]
    # Rare events, which every chunk looks for.
    int32_t seeds_pending       # T  envs whose generator must be seeded before their next step
    int32_t failures            # T  envs with a nonzero entry in `errors`
    int32_t is_moving           # C  the consumer moves rows from blocks to partial batches: every chunk must wake it
    int32_t params_pending      # T  envs with pending parameters, plus envs that draw parameters at each reset
    int32_t pad7[12]
    # Policy, set in publish().
    int32_t active              # C  workers that may claim: num_threads, or one less when the consumer helps
    int32_t helps               # C  whether the consumer works while it waits
    int32_t stop                # C
    int32_t pad8[13]
    const envpool_env* env_def  # K
    void* state                 # E
    int32_t num_envs            # K
    int32_t batch_size          # K
    int32_t num_threads         # K
    int32_t affinity            # K  worker i is pinned to CPU number affinity + i of `cpus`; negative: none is pinned
    const int32_t* cpus         # K  ids of the CPUs that threads may run on, node by node
    const int32_t* node_ends    # K  where the CPUs of each NUMA node end in `cpus` (num_nodes)
    int32_t num_nodes           # K  1: threads are not bound to nodes
    int32_t num_cpus            # K
    int32_t max_episode_steps   # K
    int32_t autoreset           # K
    bint is_sync                # K
    bint has_final              # K  whether the blocks have arrays for the last steps of episodes, see Block.final
    int32_t num_players         # K  places for players in each env; 0: the envs have none
    int64_t step_timeout        # K  time after which a worker counts as stuck, ns; 0: workers are not watched
    Queue* queues               # K
    int32_t num_queues          # K
    int64_t mask                # K  size of a ring - 1; a power of two, at least twice the number of envs of a queue
    int64_t span_mask           # K  size of `spans` - 1; a power of two, at least 2 * num_envs
    Span* spans                 # K  by position & span_mask: base + row in sync, a value of `alloc` in async pools
    int32_t* all_ids            # K  0 .. num_envs-1
    int64_t* field_bytes        # K  bytes of one row of each env field
    # Per env, by env id.
    void** actions              # E  one packed array per action field
    int64_t* action_bytes       # K  bytes of one env's row of each
    uint8_t* reset              # E  Reset
    uint8_t* busy               # G  nonzero: in flight
    int32_t* elapsed            # E
    int32_t* errors             # E  code of the last failure, zero once reported
    uint8_t* broken             # E  nonzero: the last step or reset failed, nobody may look at the state
    uint8_t* held               # G  Hold
    uint64_t* seeds             # E
    uint8_t* seed_pending       # E
    void** param_values         # E  one packed array per parameter: what set_params() puts into force
    int64_t* param_bytes        # K  bytes of one env's row of each
    uint8_t* param_pending      # E  nonzero: the env's rows of `param_values` are put into force at its next reset
    const DrawTable** tables    # E  which parameters are drawn at each reset; NULL: none
    void* streams               # E  ep_pcg64: the generators of these draws, see draws.pyx
    uint8_t* has_stream         # E  nonzero: the generator was seeded after the env
    int32_t* next               # T  the env below in the stack of arrivals, -1 at the bottom
    Block* partial_block        # C  NULL until partial batches are first used
    # Blocks in flight: sync has one, async num_envs / batch_size + 2, used round robin.
    Block** blocks              # C
    int64_t num_blocks          # K
    int64_t pad9[8]
    int64_t next_block          # C  async: the block to hand out next, counted from the first one
    int64_t full_until          # T  async: blocks from next_block to this one are full; see written_rows()
    int64_t outstanding         # G  envs in flight: rows sent and not handed out
    int32_t num_held            # G  envs that are held
    int32_t* scratch            # G  env ids of the send that is being made (num_envs)
    int64_t sent_at             # G  when send() last returned, ns; 0 after a call that waits
    int64_t absence             # G  usual time between send and recv, ns
    bint cheap                  # G  async policy: the mean cost is below the switch (with hysteresis)
    unsigned long outsider      # G  a thread that is known to be none of the pool's; 0: none is
    # Of the thread that receives or renders.
    int64_t usual_wait          # C  usual time for which the consumer waits when it has nothing left to do, ns
    bint receiver_executes      # C  whether the thread that receives executes envs right now
    bint renderer_executes      # C  whether the thread that renders executes or draws envs right now
    int64_t pad10[8]
    # The statistics of the pool free them.
    Counters* counters          # K
    Tally* tally                # K  NULL unless statistics of episodes are on
    Worker* workers             # K
    int32_t started             # C  workers running
    int32_t owners              # T  the pool and the threads that run workers: the last one frees the engine
    void* orphan                # G  the Orphan that owns the engine after the pool; see engine.pyx
    # Of envs with players.
    PlayerArrays players[2]     # E  of the last step; and of a reset in the same step
    uint8_t* player_flags       # E  (num_players for each env), see players.pxd
    uint8_t* has_players        # K  whether the shape of each env field begins with the players
    Turns* turns                # K  NULL unless the players move in turn
