"""Transforms of whole batches: see batch_transforms.pyx."""

from libc.stdint cimport int32_t, int64_t

from envpool._core.structs cimport Block, Engine

cdef extern from "envpool/_core/moments.h" nogil:
    enum:
        EP_TILE
    ctypedef struct ep_moments:
        double* mean
        double* var
        double* center
        double count
        int64_t size
        int32_t single

cdef struct ArrayPlan:          # the transforms of one array of an observation
    int32_t source              # the field that the envs write
    int32_t target              # the field that is handed out; equal to source: the rows are changed in place
    int32_t dtype               # an envpool_dtype, of the source
    int64_t items               # elements of a row
    bint has_players            # whether each player of an env has a row
    bint normalizes
    bint clips
    ep_moments moments

cdef class BatchTransforms:
    cdef object memory          # behind the arrays below
    cdef ArrayPlan* arrays      # (num_arrays)
    cdef int32_t num_arrays
    cdef int64_t num_envs
    cdef int32_t num_players    # places for players in each env; 0: the envs have none
    cdef object gathered_memory     # behind `gathered`
    cdef char* gathered         # the rows of the players that are present, one after the other
    cdef readonly tuple names   # of the arrays
    cdef double obs_epsilon
    cdef double obs_low         # bounds of observations that are clipped
    cdef double obs_high
    cdef readonly bint normalizes_reward
    cdef bint scales_reward
    cdef bint clips_reward
    cdef float scale
    cdef double gamma
    cdef double reward_epsilon
    cdef float reward_low
    cdef float reward_high
    cdef ep_moments returns     # of the discounted rewards
    cdef float* discounted      # by env, or by env and player: discounted sum of its rewards
    cdef float* chosen          # those of the rows that count, in their order
    cdef public bint is_frozen  # whether the moments stay as they are

    cdef void apply(self, const Engine* e, Block* b, int64_t first, int64_t end) noexcept
    cdef void note_resets(self, const int32_t* ids, int32_t n) noexcept
    cdef bint changes_observations(self) noexcept

    cdef void transform_rows(self, const ArrayPlan* a, void** fields, int64_t row, int64_t n) noexcept
    cdef void transform_rewards(self, const Engine* e, Block* b, int64_t row, int64_t n) noexcept
    cdef void apply_to_players(self, const Engine* e, Block* b, const ArrayPlan* a, int64_t first,
                               int64_t end) noexcept
    cdef void transform_rewards_of_players(self, const Engine* e, Block* b, int64_t first, int64_t end) noexcept
    cdef int64_t discount_rewards(self, const Engine* e, const Block* b, int64_t row, int64_t n) noexcept
    cdef ep_moments* find(self, str name) except NULL
