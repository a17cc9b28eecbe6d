"""Transforms that see a whole batch: running statistics, normalisation, scaling and clipping.

The consumer applies them when it hands a batch out, once per row, in the order of the rows. So the results do not
depend on threads. Transforms of single rows, such as stacks of frames, belong to the env definition; see
``envpool/transforms/wrapped.pyx``.

Invariant: in a sync pool whose batches have all envs, observations and moments are those of gymnasium's
``wrappers.vector.NormalizeObservation`` around the same pool, and rewards those of ``wrappers.vector.NormalizeReward``,
rounded to float32; see moments_loops.h for the arithmetic.

If an array changes its dtype, the envs write their rows to a field of their own, which is not handed out. The final
observations of SAME_STEP are normalised by the moments that the batch has left, and do not count in them.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from envpool._core.calls cimport is_contiguous, item_bytes
from envpool._core.structs cimport (
    Block, ELAPSED_STEP, Engine, ENV_ID, REWARD, SAME_STEP, TERMINATED, TRUNCATED,
)
from envpool.env cimport ENVPOOL_FLOAT32, ENVPOOL_FLOAT64

cnp.import_array()

cdef extern from "moments_loops.h" nogil:
    void ep_update(ep_moments* m, int32_t dtype, const void* x, int64_t n)
    void ep_normalize(const ep_moments* m, int32_t dtype, const void* x, float* out, int64_t n, double epsilon)
    void ep_update_scalar(ep_moments* m, const float* x, int64_t n)
    int64_t ep_discount(float* sums, const float* reward, const int32_t* elapsed, const uint8_t* terminated,
                        const uint8_t* truncated, int64_t n, float gamma, bint resets_at_once, float* chosen)
    void ep_divide(float* io, int64_t n, double deviation)
    void ep_clip_float32(float* io, int64_t n, float low, float high)
    void ep_clip_float64(double* io, int64_t n, double low, double high)

# The count with which gymnasium's RunningMeanStd begins.
cdef double FIRST_COUNT = 1e-4


cdef class BatchTransforms:
    """The transforms of the batches of one pool, and their running statistics.

    Parameters
    ----------
    num_envs : int
        Number of envs.
    arrays : sequence of tuple
        One (name, source, target, dtype, items) per array of the observation: its name, the numbers of the field that
        the envs write and of the field that is handed out, the number of the source's envpool_dtype, and the elements
        of a row. The dtype of the target is float32, or that of the source if they are equal.
    obs_epsilon : float or None
        What normalisation adds to variances of observations; None: observations are not normalised.
    obs_bounds, reward_bounds : (float, float) or None
        Bounds to clip to after normalisation; None: no clipping.
    scale : float
        Factor of the rewards.
    returns : (float, float) or None
        Discount factor and epsilon of the normalisation of rewards; None: rewards are not normalised.
    """

    def __init__(self, num_envs, arrays, obs_epsilon, obs_bounds, scale, returns, reward_bounds):
        cdef ArrayPlan* a
        cdef char* at
        self.num_envs = num_envs
        self.names = tuple(name for name, *_ in arrays)
        self.num_arrays = <int32_t>len(self.names)
        doubles = [4 * items + 2 * EP_TILE for *_, items in arrays] + [4 + 2 * EP_TILE]
        self.memory = np.zeros(
            self.num_arrays * sizeof(ArrayPlan) + 8 * sum(doubles) + num_envs * 2 * sizeof(float), np.uint8
        )
        at = cnp.PyArray_BYTES(self.memory)
        self.arrays = <ArrayPlan*>at
        at += self.num_arrays * sizeof(ArrayPlan)
        for k, (_, source, target, dtype, items) in enumerate(arrays):
            a = &self.arrays[<int>k]
            a.source, a.target, a.dtype, a.items = source, target, dtype, items
            a.normalizes, a.clips = obs_epsilon is not None, obs_bounds is not None
            at = begin_moments(&a.moments, items, at)
            a.moments.single = 1
        at = begin_moments(&self.returns, 1, at)
        self.discounted = <float*>at
        self.chosen = self.discounted + self.num_envs
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
            if a.normalizes and not self.is_frozen:
                ep_update(&a.moments, a.dtype,
                          <const char*>b.fields[a.source] + first * a.items * item_bytes(a.dtype), n)
            self.transform_rows(a, b.fields, first, n)
            if b.final != NULL:
                for r in range(first, end):
                    if b.final_mask[r]:
                        self.transform_rows(a, b.final, r, 1)
        if self.scales_reward or self.normalizes_reward or self.clips_reward:
            self.transform_rewards(e, b, first, n)

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

        The row of a reset has elapsed_step 0. So has with SAME_STEP that of a last step, whose env begins another sum.
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
        """Begins the discounted sums of envs that the user resets anew."""
        cdef int32_t i
        for i in range(n):
            self.discounted[ids[i]] = 0

    # ---- statistics --------------------------------------------------------------------------------------------------

    cdef ep_moments* find(self, str name) except NULL:
        if name == "reward":
            return &self.returns
        return &self.arrays[<int>self.names.index(name)].moments

    def moments(self, str name):
        """Return mean, variance and count of an array of the observation, or of "reward"; fresh arrays (items,).

        Their dtype is that of the arrays in gymnasium's RunningMeanStd: float32 or float64.
        """
        cdef ep_moments* m = self.find(name)
        cdef int64_t k
        dtype = np.float32 if m.single else np.float64
        mean = np.array([m.mean[k] for k in range(m.size)], dtype)
        return mean, np.array([m.var[k] for k in range(m.size)], dtype), m.count

    def set_moments(self, str name, cnp.ndarray mean, cnp.ndarray var, double count, bint single):
        """Replace mean and variance, C-contiguous float64 with `items` elements, and count; see moments().

        single: they are values of float32 arrays. The moments of float32 observations always are, and those of rewards
        never.
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
        """Return the discounted sum of each env's rewards, float32 (num_envs,), which share the memory."""
        cdef cnp.npy_intp size = self.num_envs
        sums = cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_FLOAT32, self.discounted)
        cnp.set_array_base(sums, self.memory)
        return sums


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
