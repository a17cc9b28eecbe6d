"""Statistics of episodes and of the engine: see statistics.pyx."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from envpool._core.structs cimport Block, Counters, Engine, Queue, Tally

cdef enum:      # entries of a dict that a batch contains; bits
    EPISODES = 1    # an episode has ended
    GAMES = 2       # a whole game has ended

cdef enum:
    HISTORY = 128   # episodes of which the last values are kept: a power of two, at least LAST

cdef struct Recent:             # what the last episodes were
    int64_t count               # episodes that have ended since the pool was made
    double returns[HISTORY]        # by the number of the episode, modulo HISTORY
    int64_t lengths[HISTORY]

cdef struct Sums:               # what the statistics keep of an env, in a saved state
    double episode_return
    int64_t episode_ns          # time since the episode began
    double game_return
    int64_t game_length
    int64_t game_ns
    int32_t game_lives
    int32_t game_ended

# By the threads that simulate, without the GIL.
cdef void count_rewards(Engine* e, const int32_t* ids, int32_t n, bint contiguous, const float* reward,
                        const int32_t* resets, int32_t num_resets, int64_t started) noexcept nogil
cdef void clear_entries(Block* b, int64_t row, int64_t n) noexcept nogil
cdef void mark_ends_of_episodes(Engine* e, Block* b, const int32_t* ids, int32_t n, int64_t row, void** fields,
                                int64_t field_row) noexcept nogil
cdef void note_step_time(Tally* tally, int64_t n, int64_t cost) noexcept nogil
cdef void note_claim(Tally* tally, const Queue* q) noexcept nogil
cdef void set_probe(Tally* tally, Queue* q) noexcept nogil

# By the consumer, for idle envs.
cdef double* player_returns(const Tally* tally, int32_t id) noexcept
cdef void save_sums(const Engine* e, int32_t id, Sums* sums) noexcept
cdef bint are_possible(const Sums* sums) noexcept
cdef void restore_sums(Engine* e, int32_t id, const Sums* sums) noexcept

# By the consumer, for rows that were completed.
cdef int entries_of(const Block* b, int64_t row) noexcept

cdef class Statistics:
    cdef Counters counters
    cdef Tally tally
    cdef object memory              # behind the arrays of the tally
    cdef object player_memory       # behind those of players
    cdef bint counts_episodes
    cdef Recent episodes
    cdef Recent games
    cdef double* last_player_returns    # of the last episodes (HISTORY, num_players), see Recent; NULL without players
    cdef readonly int64_t steps     # actions that were sent
    cdef readonly int64_t resets    # resets that the user has sent

    cdef void attach(self, Engine* e) noexcept
    cdef int record(self, Block* b, int64_t first, int64_t end) noexcept
    cdef int record_games(self, Block* b, int64_t first, int64_t end) noexcept
    cdef void note_resets(self, Engine* e, const int32_t* ids, int32_t n, const uint8_t* has_seed, uint8_t how) noexcept
    cdef dict totals(self, tuple block_counts)
