"""The memory that the processes of a pool share: see arena.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from envpool.env cimport envpool_batch

cdef extern from "shared.h" nogil:
    int32_t EPY_RESET
    int32_t EPY_COMMAND
    int32_t EPY_OPTIONS
    int32_t EPY_ID

    enum:
        EPY_STARTING
        EPY_READY
        EPY_FAILED

    ctypedef struct epy_mailbox:
        int64_t head
        int32_t bell
        int32_t waiting
        int32_t stop
        int64_t tail
        int64_t begun
        int64_t announced
        int32_t reply
        int32_t parked
        int32_t readiness

    ctypedef struct epy_outcome:
        float reward
        float discount
        uint8_t terminated
        uint8_t truncated
        uint8_t failed
        int32_t extra

    ctypedef struct epy_pace:
        int64_t yields_until

    int64_t epy_now()
    int64_t epy_load(const int64_t* p)
    int32_t epy_load32(const int32_t* p)
    void epy_store(int64_t* p, int64_t v)
    void epy_release(int64_t* p, int64_t v)
    void epy_store32(int32_t* p, int32_t v)
    void epy_add32(int32_t* p, int32_t v)
    void epy_lock(int32_t* p)
    void epy_unlock(int32_t* p)
    void epy_sleep(int32_t* word, int32_t seen, int64_t ns)
    void epy_wake(int32_t* word, const int32_t* asleep)
    void epy_spin(const int64_t* word, int64_t at, epy_pace* pace)
    void epy_note_wait(epy_pace* pace, int64_t ns)
    void epy_copy_pages(char* at, size_t size)
    int epy_follow(int handle)
    void epy_end_strays(int root)

cdef enum Loss:                 # Arena.lost
    KEPT                        # the worker has the env
    LOST                        # the env went with its process: its next step fails
    FATAL                       # the same, and its process ended in an entry of the env, which fails, even a reset
    REPORTED                    # that was reported: its next reset gets a seed of its own

cdef enum SeedUse:              # Arena.has_seed; 0: the env was never given a seed
    WAITING = 1                 # the next reset passes the seed
    USED                        # a reset has passed it

cdef struct View:               # the arena, as this process maps it
    int32_t num_workers
    int32_t mask                # size of a ring - 1
    int32_t num_actions
    int32_t num_fields
    int32_t num_players         # places for players in each env; 0: the envs have one player
    epy_mailbox* boxes          # (num_workers)
    int32_t* rings              # (num_workers, mask + 1), pool
    void* actions[64]           # by leaf: (num_envs, ...), pool
    int64_t action_bytes[64]    # by leaf
    # By field, and for the report of the players behind them.
    char* rows[65]              # the rows of each worker from a cache line of its own on, see row_of; worker
    int64_t row_bytes[65]
    int64_t rows_bytes[65]      # of all rows of a worker
    char* outcomes              # an epy_outcome per env, like a row; worker
    int64_t outcomes_bytes      # of all outcomes of a worker
    int64_t* targets            # (num_fields, num_envs), pool: where in the region a row goes; 0: to `rows`
    char* region                # NULL if there is none
    # By env.
    uint8_t* lost               # Loss; pool, while the env has no worker, else worker
    uint8_t* has_seed           # SeedUse; pool
    int64_t* seeds              # pool
    int64_t* last_seeds         # worker: the seed that the env got last
    int32_t* restarts           # pool: how often its process was replaced
    char* windows               # (num_envs, window): pickled infos, objects and commands; the texts of failures

cdef class Arena:
    cdef readonly int fd
    cdef readonly int32_t num_envs
    cdef readonly int64_t window        # bytes of an env's window
    cdef readonly int64_t region_bytes  # of the region of the file in which batch blocks lie; 0 if there is none
    cdef int64_t region_at              # where it begins
    cdef tuple sizes
    cdef object map
    cdef View v

    cdef int map_region(self, int64_t size) except -1
    cdef int put(self, int32_t id, bytes data) except -1
    cpdef bytes get(self, int32_t id)

# Where a worker writes what a step returned: no cache line has values of two workers.
cdef inline char* row_of(const View* v, int32_t field, int32_t id) noexcept nogil:
    return v.rows[field] + id % v.num_workers * v.rows_bytes[field] + id // v.num_workers * v.row_bytes[field]

cdef inline epy_outcome* outcome_of(const View* v, int32_t id) noexcept nogil:
    return <epy_outcome*>(v.outcomes + id % v.num_workers * v.outcomes_bytes) + id // v.num_workers

# The report of a step on the players of an env, one array after the other: `envpool_batch.player_*` of the env. If
# `stores`, it is written to the arena, else read from there.
cdef inline void copy_report(const View* v, const envpool_batch* b, int32_t id, bint stores) noexcept nogil:
    cdef int64_t size = v.num_players, at = id * size
    cdef char* report = row_of(v, v.num_fields, id)
    copy_part(report, <char*>(b.player_reward + at), size * sizeof(float), stores)
    copy_part(report + size * sizeof(float), <char*>(b.player_present + at), size, stores)
    copy_part(report + size * (sizeof(float) + 1), <char*>(b.player_terminated + at), size, stores)
    copy_part(report + size * (sizeof(float) + 2), <char*>(b.player_truncated + at), size, stores)

cdef inline void copy_part(char* shared, char* own, int64_t size, bint stores) noexcept nogil:
    memcpy(shared if stores else own, own if stores else shared, size)

# The Loss after an entry of the env has failed because of it. A command is not a step: the next step still fails.
cdef inline uint8_t loss_after(int32_t entry) noexcept nogil:
    return LOST if entry & EPY_COMMAND else REPORTED
