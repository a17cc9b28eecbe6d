"""Transforms that see a whole batch: running statistics, normalisation, scaling and clipping.

The consumer applies them when it hands a batch out, once per row, in the order of the rows. So the results do not
depend on threads. Transforms of single rows, such as stacks of frames, belong to the env definition; see
``envpool/transforms/wrapped.pyx``.

Invariant: in a sync pool whose batches have all envs, observations and moments equal the results of gymnasium's
``wrappers.vector.NormalizeObservation`` around the same pool, and rewards equal the results of
``wrappers.vector.NormalizeReward``, rounded to float32; see moments.h for the arithmetic.

If an array changes its dtype, the envs write their rows to a field of their own, which is not handed out. The final
observations of SAME_STEP are normalised by the moments that the batch has left, and do not count in them.

Envs with players have a row for each player that is present: each player is transformed as if it were an env, and all
have the same moments. The row of a player that joins counts as a step without a reward.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from envpool._core.batches cimport BatchTransforms
from envpool._core.calls cimport is_contiguous, item_bytes
from envpool._core.players cimport ACTS, HAS_ROW, LAST, flags_of
from envpool._core.structs cimport (
    Block, ELAPSED_STEP, Engine, ENV_ID, PLAYER_MASK, PLAYER_REWARD, PLAYER_TERMINATED, PLAYER_TRUNCATED, REWARD,
    SAME_STEP, TERMINATED, TRUNCATED,
)
from envpool.env cimport ENVPOOL_FLOAT32, ENVPOOL_FLOAT64

cnp.import_array()

cdef extern from "moments.h" nogil:
    enum:
        EP_TILE
    ctypedef struct ep_moments:
        double* mean
        double* var
        double* center
        double count
        int64_t size
        int32_t single
    void ep_update(ep_moments* m, int32_t dtype, const void* x, int64_t n)
    void ep_normalize(const ep_moments* m, int32_t dtype, const void* x, float* out, int64_t n, double epsilon)
    void ep_update_scalar(ep_moments* m, const float* x, int64_t n)
    int64_t ep_discount(float* sums, const float* reward, const int32_t* elapsed, const uint8_t* terminated,
                        const uint8_t* truncated, int64_t n, float gamma, bint resets_at_once, float* chosen)
    void ep_divide(float* io, int64_t n, double deviation)
    void ep_clip_float32(float* io, int64_t n, float low, float high)
    void ep_clip_float64(double* io, int64_t n, double low, double high)

cdef struct ArrayPlan:          # the transforms of one array of an observation
    int32_t source              # the field that the envs write
    int32_t target              # the field that is handed out; equal to source: the rows are changed in place
    int32_t dtype               # an envpool_dtype, of the source
    int64_t items               # elements of a row
    bint has_players            # each player of an env has a row
    bint normalizes
    bint clips
    ep_moments moments

# The count with which gymnasium's RunningMeanStd begins.
cdef double FIRST_COUNT = 1e-4


cdef class BatchScaling(BatchTransforms):
    """The transforms of the batches of one pool, and their running statistics.

    Parameters
    ----------
    num_envs : int
        Number of envs.
    arrays : sequence of tuple
        One (name, source, target, dtype, items, has_players) per array of the observation: its name, the numbers of the
        field that the envs write and of the field that is handed out, the number of the source's envpool_dtype, the
        elements of a row, and True if each player has a row. The dtype of the target is float32, or, if both fields are
        the same, the dtype of the source.
    obs_epsilon : float or None
        Added to the variances of observations in normalisation; None: observations are not normalised.
    obs_bounds, reward_bounds : (float, float) or None
        Bounds to clip to after normalisation; None: no clipping.
    scale : float
        Factor of the rewards.
    returns : (float, float) or None
        Discount factor and epsilon of the normalisation of rewards; None: rewards are not normalised.
    num_players : int
        Places for players in each env; 0 if the envs have none.
    """

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
    cdef float* chosen          # the sums of the rows that count, in their order
    cdef public bint is_frozen  # the moments stay as they are

    def __init__(self, num_envs, arrays, obs_epsilon, obs_bounds, scale, returns, reward_bounds, num_players=0):
        cdef ArrayPlan* a
        cdef char* at
        self.num_envs, self.num_players = num_envs, num_players
        self.names = tuple(name for name, *_ in arrays)
        self.num_arrays = <int32_t>len(self.names)
        doubles = [4 * items + 2 * EP_TILE for *_, items, _ in arrays] + [4 + 2 * EP_TILE]
        places = num_envs * max(num_players, 1)
        self.memory = np.zeros(
            self.num_arrays * sizeof(ArrayPlan) + 8 * sum(doubles) + places * 2 * sizeof(float), np.uint8
        )
        if num_players and arrays:
            self.gathered_memory = np.empty(places * max(8 * items for *_, items, _ in arrays), np.uint8)
            self.gathered = cnp.PyArray_BYTES(self.gathered_memory)
        at = cnp.PyArray_BYTES(self.memory)
        self.arrays = <ArrayPlan*>at
        at += self.num_arrays * sizeof(ArrayPlan)
        for k, (_, source, target, dtype, items, has_players) in enumerate(arrays):
            a = &self.arrays[<int>k]
            a.source, a.target, a.dtype, a.items, a.has_players = source, target, dtype, items, has_players
            a.normalizes, a.clips = obs_epsilon is not None, obs_bounds is not None
            at = begin_moments(&a.moments, items, at)
            a.moments.single = 1
        at = begin_moments(&self.returns, 1, at)
        self.discounted = <float*>at
        self.chosen = self.discounted + <int64_t>places
        self.obs_epsilon = obs_epsilon or 0
        self.obs_low, self.obs_high = obs_bounds or (0, 0)
        self.scale, self.scales_reward = scale, scale != 1
        self.normalizes_reward = returns is not None
        self.gamma, self.reward_epsilon = returns or (0, 0)
        self.clips_reward = reward_bounds is not None
        self.reward_low, self.reward_high = reward_bounds or (0, 0)

    # ---- batches -----------------------------------------------------------------------------------------------------

    cdef void apply(self, const Engine* e, Block* b, int64_t first, int64_t end) noexcept:
        """Transforms rows first to end - 1 of a block."""
        cdef ArrayPlan* a
        cdef int64_t r, n = end - first
        cdef int32_t k
        if n == 0:
            return
        for k in range(self.num_arrays):
            a = &self.arrays[k]
            if a.has_players:
                self.apply_to_players(e, b, a, first, end)
                continue
            if a.normalizes and not self.is_frozen:
                ep_update(&a.moments, a.dtype,
                          <const char*>b.fields[a.source] + first * a.items * item_bytes(a.dtype), n)
            self.transform_rows(a, b.fields, first, n)
            if b.final != NULL:
                for r in range(first, end):
                    if b.final_mask[r]:
                        self.transform_rows(a, b.final, r, 1)
        if not (self.scales_reward or self.normalizes_reward or self.clips_reward):
            return
        if self.num_players:
            self.transform_rewards_of_players(e, b, first, end)
        else:
            self.transform_rewards(e, b, first, n)

    cdef bint changes_observations(self) noexcept:
        cdef int32_t k
        for k in range(self.num_arrays):
            if self.arrays[k].normalizes or self.arrays[k].clips or self.arrays[k].source != self.arrays[k].target:
                return True
        return False

    cdef void transform_rows(self, const ArrayPlan* a, void** fields, int64_t row, int64_t n) noexcept:
        """Transforms rows of an array by the moments as they are."""
        cdef const char* x = <const char*>fields[a.source] + row * a.items * item_bytes(a.dtype)
        cdef bint is_float64 = a.source == a.target and a.dtype == ENVPOOL_FLOAT64
        cdef char* out = <char*>fields[a.target] + row * a.items * (8 if is_float64 else 4)
        if a.normalizes:
            ep_normalize(&a.moments, a.dtype, x, <float*>out, n, self.obs_epsilon)
        if a.clips and is_float64:
            ep_clip_float64(<double*>out, n * a.items, self.obs_low, self.obs_high)
        elif a.clips:
            ep_clip_float32(<float*>out, n * a.items, <float>self.obs_low, <float>self.obs_high)

    cdef void transform_rewards(self, const Engine* e, Block* b, int64_t row, int64_t n) noexcept:
        cdef float* reward = <float*>b.core[REWARD] + row
        cdef double deviation
        cdef int64_t i, count
        if self.scales_reward:
            for i in range(n):
                reward[i] *= self.scale
        if self.normalizes_reward:
            count = self.discount_rewards(e, b, row, n)
            if not self.is_frozen:
                ep_update_scalar(&self.returns, self.chosen, count)
            deviation = sqrt(self.returns.var[0] + self.reward_epsilon)
            ep_divide(reward, n, deviation)
        if self.clips_reward:
            ep_clip_float32(reward, n, self.reward_low, self.reward_high)

    cdef int64_t discount_rewards(self, const Engine* e, const Block* b, int64_t row, int64_t n) noexcept:
        """Adds the rewards of steps, as opposed to resets, to the discounted sums. Returns the number of steps, whose
        sums are `chosen`.

        The row of a reset has elapsed_step 0. With SAME_STEP, so has the row of a last step, whose env begins another
        sum.
        """
        cdef const int32_t* ids = <const int32_t*>b.core[ENV_ID] + row
        cdef const int32_t* elapsed = <const int32_t*>b.core[ELAPSED_STEP] + row
        cdef const uint8_t* terminated = <const uint8_t*>b.core[TERMINATED] + row
        cdef const float* reward = <const float*>b.core[REWARD] + row
        cdef const uint8_t* truncated = <const uint8_t*>b.core[TRUNCATED] + row
        cdef float gamma = <float>self.gamma
        cdef int64_t i, count = 0
        cdef bint at_once = e.autoreset == SAME_STEP
        if is_contiguous(ids, <int32_t>n):
            return ep_discount(self.discounted + ids[0], reward, elapsed, terminated, truncated, n, gamma, at_once,
                               self.chosen)
        for i in range(n):
            count += ep_discount(self.discounted + ids[i], reward + i, elapsed + i, terminated + i, truncated + i, 1,
                                 gamma, at_once, self.chosen + count)
        return count

    cdef void note_resets(self, const int32_t* ids, int32_t n) noexcept:
        """Restarts the discounted sums of envs that the user resets."""
        cdef int64_t size = max(self.num_players, 1)
        cdef int32_t i
        for i in range(n):
            memset(self.discounted + ids[i] * size, 0, size * sizeof(float))

    # ---- players -----------------------------------------------------------------------------------------------------

    cdef void apply_to_players(self, const Engine* e, Block* b, const ArrayPlan* a, int64_t first,
                               int64_t end) noexcept:
        """Transforms the rows of players in rows first to end - 1 of a block."""
        cdef int64_t r, row, count = 0, size = a.items * item_bytes(a.dtype)
        cdef const char* x = <const char*>b.fields[a.source]
        cdef int32_t p
        if a.normalizes and not self.is_frozen:
            for r in range(first, end):
                for p in range(self.num_players):
                    if is_shown(e, b, r, p):
                        row = r * self.num_players + p
                        memcpy(self.gathered + count * size, x + row * size, size)
                        count += 1
            if count:
                ep_update(&(<ArrayPlan*>a).moments, a.dtype, self.gathered, count)
        for r in range(first, end):
            for p in range(self.num_players):
                row = r * self.num_players + p
                if is_shown(e, b, r, p):
                    self.transform_rows(a, b.fields, row, 1)
                if b.final != NULL and b.final_mask[r] and was_last(e, b, r, p):
                    self.transform_rows(a, b.final, row, 1)

    cdef void transform_rewards_of_players(self, const Engine* e, Block* b, int64_t first, int64_t end) noexcept:
        """transform_rewards() for the players that are present in rows first to end - 1."""
        cdef const uint8_t* mask = <const uint8_t*>b.core[PLAYER_MASK]
        cdef const uint8_t* terminated = <const uint8_t*>b.core[PLAYER_TERMINATED]
        cdef const uint8_t* truncated = <const uint8_t*>b.core[PLAYER_TRUNCATED]
        cdef const int32_t* ids = <const int32_t*>b.core[ENV_ID]
        cdef const int32_t* elapsed = <const int32_t*>b.core[ELAPSED_STEP]
        cdef float* reward = <float*>b.core[PLAYER_REWARD]
        cdef int64_t r, at, count = 0
        cdef int32_t p
        cdef bint is_over
        for r in range(first, end):
            is_over = (<const uint8_t*>b.core[TERMINATED])[r] | (<const uint8_t*>b.core[TRUNCATED])[r]
            for p in range(self.num_players):
                at = r * self.num_players + p
                if not mask[at]:
                    continue
                if self.scales_reward:
                    reward[at] *= self.scale
                if self.normalizes_reward:      # the sum of a player that leaves an episode starts again, too
                    count += ep_discount(self.discounted + ids[r] * self.num_players + p, reward + at, elapsed + r,
                                         terminated + at, truncated + at, 1, <float>self.gamma,
                                         e.autoreset == SAME_STEP or not is_over, self.chosen + count)
        if self.normalizes_reward and count and not self.is_frozen:
            ep_update_scalar(&self.returns, self.chosen, count)
        for at in range(first * self.num_players, end * self.num_players):
            if mask[at] and self.normalizes_reward:
                ep_divide(reward + at, 1, sqrt(self.returns.var[0] + self.reward_epsilon))
            if mask[at] and self.clips_reward:
                ep_clip_float32(reward + at, 1, self.reward_low, self.reward_high)

    # ---- statistics --------------------------------------------------------------------------------------------------

    cdef ep_moments* find(self, str name) except NULL:
        if name == "reward":
            return &self.returns
        return &self.arrays[<int>self.names.index(name)].moments

    def moments(self, str name):
        """Return mean, variance and count of an array of the observation, or of "reward"; fresh arrays (items,).

        They have the dtype of the arrays in gymnasium's RunningMeanStd: float32 or float64.
        """
        cdef ep_moments* m = self.find(name)
        cdef int64_t k
        dtype = np.float32 if m.single else np.float64
        mean = np.array([m.mean[k] for k in range(m.size)], dtype)
        return mean, np.array([m.var[k] for k in range(m.size)], dtype), m.count

    def set_moments(self, str name, cnp.ndarray mean, cnp.ndarray var, double count, bint single):
        """Replace mean and variance, C-contiguous float64 with `items` elements, and count; see moments().

        single: they are values of float32 arrays. The moments of float32 observations always are, the moments of
        rewards never.
        """
        cdef ep_moments* m = self.find(name)
        cdef int64_t k
        if name == "reward":
            single = False
        elif self.arrays[<int>self.names.index(name)].dtype == ENVPOOL_FLOAT32:
            single = True
        for k in range(m.size):
            m.mean[k] = (<double*>cnp.PyArray_DATA(mean))[k]
            m.var[k] = (<double*>cnp.PyArray_DATA(var))[k]
        if single:
            for k in range(m.size):
                m.mean[k] = <float>m.mean[k]
                m.var[k] = <float>m.var[k]
        m.single, m.count = single, count

    def discounted_rewards(self):
        """Return the discounted sum of each env's rewards, float32 (num_envs,), or (num_envs, players) of each
        player's; they share the memory."""
        cdef cnp.npy_intp sizes[2]
        sizes[0], sizes[1] = self.num_envs, self.num_players
        sums = cnp.PyArray_SimpleNewFromData(2 if self.num_players else 1, sizes, cnp.NPY_FLOAT32, self.discounted)
        cnp.set_array_base(sums, self.memory)
        return sums


cdef inline bint is_shown(const Engine* e, const Block* b, int64_t r, int32_t p) noexcept:
    """Whether a player has an observation in row r. With SAME_STEP, the row of an end has those that begin the next
    episode, who act next."""
    cdef bint has_next = b.final_mask != NULL and b.final_mask[r]
    return flags_of(e, (<const int32_t*>b.core[ENV_ID])[r])[p] & (ACTS if has_next else HAS_ROW)


cdef inline bint was_last(const Engine* e, const Block* b, int64_t r, int32_t p) noexcept:
    """SAME_STEP: whether a player was present in the last step of the episode that row r has ended."""
    return e.players[LAST].present[(<const int32_t*>b.core[ENV_ID])[r] * <int64_t>e.num_players + p]


cdef char* begin_moments(ep_moments* m, int64_t size, char* at) noexcept:
    """Places moments of `size` elements at an address, as they are before the first batch; returns the end."""
    cdef int64_t k
    m.mean = <double*>at
    m.var = m.mean + size
    m.center = m.var + size
    m.size = size
    m.count = FIRST_COUNT
    m.single = 0
    memset(m.mean, 0, (4 * size + 2 * EP_TILE) * sizeof(double))
    for k in range(size):
        m.var[k] = 1
    return <char*>(m.center + 2 * (size + EP_TILE))
