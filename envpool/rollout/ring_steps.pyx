"""The steps in a ring: their places, stacks of frames, and the transitions that begin with them, without Python.

Step g of the envs, counted from the first one, has slot g % num_slots: the observations before it, the actions, the
rewards and the flags. The observations after the last step, which no action answers yet, have slot `head`. An
observation is therefore stored once, although it is the next observation of one transition and the observation of
another. There is one exception: the last observation of an episode whose successor in the ring is the first one of the
next episode. It is a row of `last`, which is taken when it comes, and given back when its step leaves the ring.

Transitions. A step is not a transition if the env was only reset in it, or has failed, or if the ring was cut there,
since the user has reset the envs. The transition from step g has the rewards of up to n steps: it ends after n of them,
with the episode, or before a step that is not a transition. It can be sampled as soon as its last step is known.

Frames. Of stacked observations, each slot has the newest frame, and the numbers of the others, mostly frames of the
slots before. Any other frame, such as an older frame of a first observation, is a *stray*: a row of its own, which
counts its references. Frames are compared byte by byte, so stacks are exact whatever an environment does.
Frames are needed for depth - 1 steps longer than their steps, which is why there are more slots than steps.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memcpy

from envpool.numerics.rng cimport ep_bounded, ep_pcg64
from envpool.rollout.row_store cimport give_row, row_at
from envpool.rollout.sum_tree cimport set_priority

cdef enum:
    TRIES = 64              # draws of a step before the transitions are counted


# ---- stacks ----------------------------------------------------------------------------------------------------------

cdef void release_stack(Steps* s, int32_t* numbers) noexcept nogil:
    cdef int64_t j
    for j in range(s.depth):
        if numbers[j] < 0:
            give_row(s.strays, -1 - numbers[j])
        numbers[j] = 0


cdef void store_stack(Steps* s, int32_t* numbers, const int32_t* before, int64_t home,
                      const char* stack) noexcept nogil:
    """Stores a stack, whose newest frame becomes the frame `home`, or a stray if `home` is negative.

    `before` is the stack of the observation before, NULL if there is none: frame j of it is expected to be frame j - 1
    now. A frame that equals the newest one is shared as well: a first observation may repeat its frame.
    """
    cdef int64_t size = s.frame_bytes, j
    cdef const char* newest = stack + (s.depth - 1) * size
    cdef const char* frame
    cdef int32_t last
    if home >= 0:
        memcpy(s.frames + home * size, newest, size)
        last = <int32_t>home
    else:
        last = add_stray(s, newest)
    numbers[s.depth - 1] = last
    for j in range(s.depth - 1):
        frame = stack + j * size
        if before != NULL and memcmp(frame_of(s, before[j + 1]), frame, size) == 0:
            numbers[j] = share(s, before[j + 1])
        elif memcmp(newest, frame, size) == 0:
            numbers[j] = share(s, last)
        elif j > 0 and numbers[j - 1] < 0 and memcmp(frame_of(s, numbers[j - 1]), frame, size) == 0:
            numbers[j] = share(s, numbers[j - 1])
        else:
            numbers[j] = add_stray(s, frame)


cdef void load_stack(const Steps* s, const int32_t* numbers, char* out) noexcept nogil:
    cdef int64_t j
    for j in range(s.depth):
        memcpy(out + j * s.frame_bytes, frame_of(s, numbers[j]), s.frame_bytes)


# ---- transitions -----------------------------------------------------------------------------------------------------

cdef inline void make_ready(Steps* s, int64_t at) noexcept nogil:
    s.flags[at] |= READY
    s.num_ready += 1
    if s.tree != NULL:
        set_priority(s.tree, s.leaves, at, s.highest)


cdef void find_ready(Steps* s, int64_t step, int64_t env) noexcept nogil:
    """Marks the transitions whose last step is known now that `step`, the newest one, is in the ring."""
    cdef int64_t at = position(s, step, env), from_step = step - 1
    cdef uint8_t flags = s.flags[at]
    cdef bint ends = flags & DONE or not flags & VALID
    if flags & VALID and (ends or s.n_step == 1):
        make_ready(s, at)
    while from_step > step - s.n_step and from_step >= s.head - s.live:
        at = position(s, from_step, env)
        if not s.flags[at] & VALID or s.flags[at] & DONE:
            return
        if ends or from_step == step - s.n_step + 1:
            make_ready(s, at)
        from_step -= 1


cdef void drop_oldest(Steps* s) noexcept nogil:
    cdef int64_t step = s.head - s.live, env, at
    for env in range(s.num_envs):
        at = position(s, step, env)
        if s.flags[at] & READY:
            s.num_ready -= 1
            if s.tree != NULL:
                set_priority(s.tree, s.leaves, at, 0)
        s.flags[at] = 0
        if s.lasts[at]:
            if s.depth:
                release_stack(s, <int32_t*>row_at(s.last, s.lasts[at] - 1))
            give_row(s.last, s.lasts[at] - 1)
            s.lasts[at] = 0
        if s.depth:
            release_stack(s, s.numbers + at * s.depth)
    s.live -= 1


cdef inline int64_t draw_one(const Steps* s, ep_pcg64* g) noexcept nogil:
    """Draws one transition; at least one must be ready."""
    cdef int64_t first = (s.head - s.live) * s.num_envs, index, k
    for _ in range(TRIES):
        index = first + <int64_t>ep_bounded(g, s.live * s.num_envs - 1)
        if is_ready(s, index):
            return index
    k = <int64_t>ep_bounded(g, s.num_ready - 1)
    index = first
    while True:
        if is_ready(s, index):
            if k == 0:
                return index
            k -= 1
        index += 1


cdef void draw_uniform(const Steps* s, ep_pcg64* g, int64_t* index, int64_t n) noexcept nogil:
    """Draws n transitions with replacement; at least one must be ready."""
    cdef int64_t k
    for k in range(n):
        index[k] = draw_one(s, g)


# ---- minibatches -----------------------------------------------------------------------------------------------------

cdef void copy_obs(const Steps* s, int64_t step, int64_t env, char** out, int64_t row) noexcept nogil:
    cdef int64_t at = position(s, step, env), size
    cdef int k
    for k in range(s.num_obs):
        size = s.obs[k].row_bytes
        if s.depth:
            load_stack(s, s.numbers + at * s.depth, out[k] + row * size)
        else:
            memcpy(out[k] + row * size, s.obs[k].data + at * size, size)


cdef void copy_last(const Steps* s, int32_t last, char** out, int64_t row) noexcept nogil:
    cdef const char* source = row_at(s.last, last)
    cdef int k
    for k in range(s.num_obs):
        if s.depth:
            load_stack(s, <const int32_t*>source, out[k] + row * s.obs[k].row_bytes)
        else:
            memcpy(out[k] + row * s.obs[k].row_bytes, source + s.obs[k].at, s.obs[k].row_bytes)


cdef void fill_rows(const void* job, int64_t first, int64_t last) noexcept nogil:
    """Fills some rows of a minibatch."""
    cdef const Batch* b = <const Batch*>job
    cdef const Steps* s = b.s
    cdef int64_t row, step, env, at, end
    cdef double reward, factor
    cdef int k
    for row in range(first, last):
        step, env = b.index[row] // s.num_envs, b.index[row] % s.num_envs
        at = position(s, step, env)
        copy_obs(s, step, env, b.obs, row)
        for k in range(s.num_actions):
            memcpy(b.actions[k] + row * s.actions[k].row_bytes, s.actions[k].data + at * s.actions[k].row_bytes,
                   s.actions[k].row_bytes)
        reward, factor, end = 0, 1, step
        while True:
            reward += factor * s.rewards[at]
            factor *= s.gamma
            if s.flags[at] & DONE or end - step + 1 == s.n_step or end + 1 == s.head:
                break
            if not s.flags[position(s, end + 1, env)] & VALID:
                break
            end += 1
            at = position(s, end, env)
        b.rewards[row] = <float>reward
        b.terminated[row] = s.flags[at] & TERMINATED != 0
        b.discounts[row] = 0 if s.flags[at] & TERMINATED else <float>factor
        if s.lasts[at]:
            copy_last(s, s.lasts[at] - 1, b.next_obs, row)
        else:
            copy_obs(s, end + 1, env, b.next_obs, row)
