"""The recursions of `envpool.rollout.advantages`, on threads that each process some of the columns."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t

cnp.import_array()

cdef extern from "recursions.h" nogil:
    ctypedef enum ep_recursion:
        EP_GAE
        EP_VTRACE
        EP_LAMBDA
        EP_NSTEP

    ctypedef struct ep_rollout:
        ep_recursion recursion
        int64_t steps
        int64_t columns
        const void* rewards
        const void* values
        const void* last_values
        const void* final_values
        const void* ratios
        const uint8_t* terminated
        const uint8_t* truncated
        const uint8_t* mask
        int64_t mask_stride
        const int32_t* lengths
        double gamma
        # The C name of this field is a keyword of Python.
        double lam "lambda"
        double decay
        double clip_rho
        double clip_c
        double clip_pg
        int64_t horizon
        void* out
        void* out_2
        int* is_bad

    void ep_recur(const ep_rollout* rollout, bint is_double, int threads)

GAE, VTRACE, LAMBDA, NSTEP = EP_GAE, EP_VTRACE, EP_LAMBDA, EP_NSTEP


cdef inline void* data_of(object array) except? NULL:
    """Returns the memory of an array, NULL for None."""
    return NULL if array is None else cnp.PyArray_DATA(<cnp.ndarray?>array)


def recur(int recursion, dict arrays, double gamma, double lam, tuple clips, int64_t horizon, int threads):
    """Compute advantages or returns; `envpool.rollout.advantages` describes the formulas.

    Parameters
    ----------
    recursion : int
        GAE, VTRACE, LAMBDA or NSTEP.
    arrays : dict
        Arrays by name, C-contiguous; an optional array may be None. float32 or float64 (T, N): rewards, values,
        final_values (optional), ratios (V-trace only), out, out_2 (GAE and V-trace only); (N,): last_values. bool
        (T, N): terminated, truncated; (T, N) or (1, N): mask. int32 (N,): lengths.
    gamma, lam : float
        Discount and lambda.
    clips : tuple of float
        Upper bounds of the ratios in V-trace: rho, c, and the bound of the policy gradient.
    horizon : int
        Rewards that n-step returns add up.
    threads : int
        Number of threads that share the columns.

    Returns
    -------
    bool
        True if all results are finite.
    """
    cdef ep_rollout r
    cdef int is_bad = 0
    cdef cnp.ndarray rewards = arrays["rewards"]
    cdef bint is_double = cnp.PyArray_TYPE(rewards) == cnp.NPY_FLOAT64
    r.recursion = <ep_recursion>recursion
    r.steps, r.columns = rewards.shape[0], rewards.shape[1]
    r.rewards = data_of(rewards)
    r.values = data_of(arrays["values"])
    r.last_values = data_of(arrays["last_values"])
    r.final_values = data_of(arrays["final_values"])
    r.ratios = data_of(arrays["ratios"])
    r.terminated = <const uint8_t*>data_of(arrays["terminated"])
    r.truncated = <const uint8_t*>data_of(arrays["truncated"])
    r.mask = <const uint8_t*>data_of(arrays["mask"])
    r.mask_stride = r.columns if len(arrays["mask"]) == r.steps else 0
    r.lengths = <const int32_t*>data_of(arrays["lengths"])
    r.gamma, r.lam, r.decay, r.horizon = gamma, lam, gamma * lam, horizon
    r.clip_rho, r.clip_c, r.clip_pg = clips
    r.out = data_of(arrays["out"])
    r.out_2 = data_of(arrays["out_2"])
    r.is_bad = &is_bad
    with nogil:
        ep_recur(&r, is_double, threads)
    return not is_bad
