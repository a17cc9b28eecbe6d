"""The rows of a rollout: copying what the workers did not write in place, marks, and what the learner adds.

A row of a batch is that of a step, if its env was sent an action, or that of a reset, which has an observation only.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool._core.rollout_layout cimport Lane, RolloutLayout, RolloutMemory, row_of, slot_of

from envpool.errors import ConfigError

cnp.import_array()


cdef inline void copy_row(char* to, const char* source, int64_t size) noexcept:
    if size == 4:               # most columns; a constant size makes memcpy one instruction
        memcpy(to, source, 4)
    elif size == 1:
        to[0] = source[0]
    else:
        memcpy(to, source, size)


cdef void copy_columns(RolloutLayout layout, RolloutMemory memory, tuple arrays, const int32_t* ids,
                       const Progress* envs, int64_t n) noexcept:
    """Copies the rows of a batch, which has `arrays`, to the slots of their envs.

    The final arrays have zeros where no episode ended; their rows are copied where one did.
    """
    cdef Lane* lane
    cdef const char* source
    cdef const uint8_t* ended = NULL
    cdef int64_t i, size
    cdef int32_t id
    cdef int k
    cdef bint is_final
    if layout.same_step:
        ended = <const uint8_t*>cnp.PyArray_DATA(<cnp.ndarray>arrays[layout.first_core - 1])
    for k in range(layout.num_columns):
        lane = &layout.lanes[k]
        if lane.offset < 0:
            continue
        source = <const char*>cnp.PyArray_DATA(<cnp.ndarray>arrays[k])
        size = lane.row_bytes
        is_final = layout.same_step and layout.num_fields <= k < layout.first_core
        for i in range(n):
            id = ids[i]
            if not (lane.shift or envs.is_sent[id]):
                continue
            if is_final and not ended[i]:
                if memory.clears_final:
                    memset(row_of(lane, memory, envs.target[i] - 1, id), 0, size)
                continue
            copy_row(row_of(lane, memory, envs.target[i] + lane.shift - 1, id), source + i * size, size)


cdef void mark_slot(RolloutLayout layout, RolloutMemory memory, const Marks* marks, int64_t slot,
                    bint has_reset_steps) noexcept:
    """Marks a step of all envs. has_reset_steps: a step with elapsed_step 0 has only begun an episode."""
    cdef Lane* lanes = layout.lanes
    cdef const int32_t* elapsed = <const int32_t*>slot_of(&lanes[marks.elapsed], memory, slot + 1)
    cdef const uint8_t* terminated = <const uint8_t*>slot_of(&lanes[marks.terminated], memory, slot)
    cdef const uint8_t* truncated = <const uint8_t*>slot_of(&lanes[marks.truncated], memory, slot)
    cdef uint8_t* first = <uint8_t*>slot_of(&lanes[marks.first], memory, slot + 1)
    cdef uint8_t* valid = <uint8_t*>slot_of(&lanes[marks.valid], memory, slot)
    cdef uint8_t* done = <uint8_t*>slot_of(&lanes[marks.done], memory, slot)
    cdef int64_t i, n = layout.num_envs
    for i in range(n):
        first[i] = elapsed[i] == 0
    for i in range(n):
        done[i] = terminated[i] | truncated[i]
    if has_reset_steps:
        for i in range(n):
            valid[i] = elapsed[i] != 0
    else:
        memset(valid, 1, n)


cdef int64_t mark_rows(RolloutLayout layout, RolloutMemory memory, const Marks* marks, Progress* envs,
                       const int32_t* ids, int64_t n, bint has_reset_steps) noexcept:
    """Marks the rows of a batch, which are in their slots, and counts them; returns the number of steps."""
    cdef Lane* lanes = layout.lanes
    cdef int64_t i, slot, steps = 0
    cdef int32_t id
    cdef bint begins
    for i in range(n):
        id = ids[i]
        slot = envs.target[i]
        begins = (<const int32_t*>row_of(&lanes[marks.elapsed], memory, slot, id))[0] == 0
        row_of(&lanes[marks.first], memory, slot, id)[0] = begins
        envs.has_observation[id] = 1
        if not envs.is_sent[id]:
            continue
        slot -= 1
        row_of(&lanes[marks.valid], memory, slot, id)[0] = not (has_reset_steps and begins)
        row_of(&lanes[marks.done], memory, slot, id)[0] = (
            row_of(&lanes[marks.terminated], memory, slot, id)[0]
            | row_of(&lanes[marks.truncated], memory, slot, id)[0]
        )
        envs.is_sent[id] = 0
        envs.lengths[id] += 1
        steps += 1
    return steps


cdef void keep_final(RolloutLayout layout, RolloutMemory memory, const Progress* envs, const int32_t* ids,
                     int64_t n) noexcept:
    """DISABLED: copies the observations of ended episodes to the final arrays, before resets take their place.

    An episode that ended before this rollout has its last observation at the end of the previous one.
    """
    cdef int64_t i, slot
    cdef int k, first = layout.find("final:mask") - 1 - layout.num_fields
    cdef Lane* to
    cdef Lane* source
    for i in range(n):
        slot = envs.lengths[ids[i]]
        if slot == 0:
            continue
        for k in range(layout.num_fields + 1):      # elapsed_step is the last one
            to = &layout.lanes[first + k]
            source = &layout.lanes[k if k < layout.num_fields else layout.find("elapsed_step")]
            if source.offset >= 0:      # else the observations are stored as frames
                memcpy(row_of(to, memory, slot - 1, ids[i]), row_of(source, memory, slot, ids[i]), to.row_bytes)
        row_of(&layout.lanes[first + layout.num_fields + 1], memory, slot - 1, ids[i])[0] = 1


cdef void end_lanes(RolloutLayout layout, RolloutMemory memory, const Marks* marks, int reward,
                    const Progress* envs) noexcept:
    """Clears the marks and the rewards behind the last step of each env, where an older rollout has left its own."""
    cdef int[5] lanes = [marks.valid, marks.done, marks.terminated, marks.truncated, reward]
    cdef Lane* lane
    cdef int64_t i, slot
    cdef int k
    for k in range(5):
        lane = &layout.lanes[lanes[k]]
        for slot in range(lane.num_slots):
            for i in range(layout.num_envs):
                if slot >= envs.lengths[i]:
                    memset(row_of(lane, memory, slot, i), 0, lane.row_bytes)


cdef cnp.ndarray as_extra(str name, object value, object dtype, const Lane* lane):
    """Converts what the learner adds to a contiguous array of the declared dtype."""
    cdef cnp.ndarray given
    cdef int d
    try:
        given = np.asarray(value)
    except Exception as error:
        raise ConfigError(
            f"{name} must convert to a NumPy array, got {type(value).__name__} ({error}): detach a tensor from its "
            "graph, and copy it to the CPU"
        ) from error
    shape = tuple([lane.dims[d] for d in range(1, lane.ndim)])
    if given.ndim != lane.ndim or (shape and (<object>given).shape[1:] != shape):
        raise ConfigError(
            f"{name} has shape {(<object>given).shape}, expected {('B', *shape)}: one row for each action"
        )
    if (<object>given).dtype is dtype and cnp.PyArray_ISCARRAY_RO(given):
        return given
    if not np.can_cast((<object>given).dtype, dtype, "same_kind"):
        raise ConfigError(f"{name} has dtype {(<object>given).dtype}, which does not cast to {dtype}, as declared")
    return np.ascontiguousarray(given, dtype)


cdef tuple as_extras(RolloutLayout layout, int first, tuple names, dict extras, bint all_of_them):
    """Converts what the learner adds, in the order of its declaration; None where it is missing."""
    cdef int k
    cdef int found = 0
    values = []
    for k in range(len(names)):
        if names[k] in extras:
            found += 1
            values.append(as_extra(names[k], extras[names[k]], layout.dtypes[first + k], &layout.lanes[first + k]))
        else:
            values.append(None)
    if found != len(extras) or (all_of_them and found != len(names)):
        raise ConfigError(
            f"the rollout was made with extras {list(names)}; missing are {[n for n in names if n not in extras]}, "
            f"unknown are {[n for n in extras if n not in names]}: pass what was declared, or declare it in "
            "Rollout(extras=...)"
        )
    return tuple(values)
