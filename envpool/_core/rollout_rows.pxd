"""Writing rows of batches to the slots of their envs, and marking them: see rollout_rows.pyx."""

from libc.stdint cimport int64_t, int32_t, uint8_t

from envpool._core.rollout_layout cimport RolloutLayout, RolloutMemory

cdef struct Progress:               # of the envs of a rollout, by env id
    int64_t* lengths                # steps in this rollout: the observation of the env has this slot
    int64_t* target                 # scratch: by row of a batch, the slot of its observation
    uint8_t* has_observation        # the slot is filled
    uint8_t* is_sent                # the env was sent an action and not received

cdef struct Marks:                  # numbers of arrays
    int elapsed
    int terminated
    int truncated
    int first                       # bool: the observation of the slot is the first of an episode
    int valid                       # bool: the step of the slot is a transition
    int done                        # bool: terminated or truncated
    int final_mask                  # negative: there are no final arrays

cdef void copy_columns(RolloutLayout layout, RolloutMemory memory, tuple arrays, const int32_t* ids,
                       const Progress* envs, int64_t n) noexcept
cdef void mark_slot(RolloutLayout layout, RolloutMemory memory, const Marks* marks, int64_t slot,
                    bint has_reset_steps) noexcept
cdef int64_t mark_rows(RolloutLayout layout, RolloutMemory memory, const Marks* marks, Progress* envs,
                       const int32_t* ids, int64_t n, bint has_reset_steps) noexcept
cdef void keep_final(RolloutLayout layout, RolloutMemory memory, const Progress* envs, const int32_t* ids,
                     int64_t n) noexcept
cdef void end_lanes(RolloutLayout layout, RolloutMemory memory, const Marks* marks, int reward,
                    const Progress* envs) noexcept
cdef tuple as_extras(RolloutLayout layout, int first, tuple names, dict extras, bint all_of_them)
