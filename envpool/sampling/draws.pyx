"""A random generator that fills arrays: actions of policies, random actions and permutations.

The generator is NumPy's PCG64, see include/envpool/rng.h. All calls hold the GIL, which protects its state. Callers
have checked the arrays: their dtypes and shapes are those of the docstrings, and they are C-contiguous.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport INFINITY, M_PI, exp, isfinite, log, log1p
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from envpool.numerics.rng cimport (
    ep_bounded, ep_next_double, ep_pcg64, ep_pcg64_seed_words, ep_permutation, ep_standard_normal,
)

from envpool.errors import StateError

cnp.import_array()

ctypedef fused real:
    float
    double

ctypedef fused integer:
    int8_t
    int16_t
    int32_t
    int64_t

cdef double HALF_LOG_2_PI = 0.5 * log(2 * M_PI)


cdef double interval(ep_pcg64* g, double low, double high) noexcept:
    """Draws a number between bounds as the Box spaces of gymnasium do."""
    cdef double u
    if isfinite(low) and isfinite(high):
        u = ep_next_double(g)
        return low + (high - low) * u if isfinite(high - low) else low * (1 - u) + high * u
    if isfinite(low):
        return low - log1p(-ep_next_double(g))
    if isfinite(high):
        return high + log1p(-ep_next_double(g))
    return ep_standard_normal(g)


cdef void fill_integers(ep_pcg64* g, integer* out, int64_t rows, int64_t items, const int64_t* low,
                        const uint64_t* last) noexcept:
    cdef int64_t r, k
    for r in range(rows):
        for k in range(items):
            out[r * items + k] = <integer>(<uint64_t>low[k] + ep_bounded(g, last[k]))


cdef void fill_floats(ep_pcg64* g, real* out, int64_t rows, int64_t items, const double* low,
                      const double* high) noexcept:
    """Rounding to float32 may pass a bound by less than half a unit, since the bounds of float32 are float32."""
    cdef int64_t r, k
    for r in range(rows):
        for k in range(items):
            out[r * items + k] = <real>interval(g, low[k], high[k])


cdef int64_t choose(ep_pcg64* g, const real* logits, int64_t n, double* weights, double* log_prob,
                    double* entropy) noexcept:
    """Draws an index with the probabilities softmax(logits (n)), and adds its log-probability and the entropy.

    Takes one draw. Returns -1 if the logits are not a valid distribution. Overwrites weights (n).
    """
    cdef double highest = -INFINITY, total = 0, moment = 0, distance, aim, below = 0, log_total
    cdef int64_t k, last = 0
    for k in range(n):
        if logits[k] > highest:
            highest = logits[k]
    for k in range(n):
        distance = logits[k] - highest
        weights[k] = exp(distance)
        total += weights[k]
        if weights[k] > 0:      # an action that is impossible adds nothing to the entropy
            moment += weights[k] * distance
            last = k
    if not (total > 0 and total < INFINITY):        # also for NaN, which the comparisons above pass over
        return -1
    aim = ep_next_double(g) * total
    for k in range(last):
        below += weights[k]
        if aim < below:
            last = k
            break
    log_total = log(total)
    log_prob[0] += (logits[last] - highest) - log_total
    entropy[0] += log_total - moment / total
    return last


cdef int64_t fill_choices(ep_pcg64* g, const real* logits, int64_t rows, const int64_t* sizes, int64_t parts,
                          double* weights, int64_t* actions, real* log_probs, real* entropies) noexcept:
    """Returns the first row whose logits are not a valid distribution, or -1."""
    cdef double log_prob, entropy
    cdef int64_t r, k, choice
    for r in range(rows):
        log_prob = entropy = 0
        for k in range(parts):
            choice = choose(g, logits, sizes[k], weights, &log_prob, &entropy)
            if choice < 0:
                return r
            actions[r * parts + k] = choice
            logits += sizes[k]
        log_probs[r] = <real>log_prob
        entropies[r] = <real>entropy
    return -1


cdef int64_t fill_normals(ep_pcg64* g, const real* mean, const real* log_std, int64_t std_stride, int64_t rows,
                          int64_t items, double* std, real* actions, real* log_probs, real* entropies) noexcept:
    """Returns the first row whose numbers are not a valid distribution, or -1. Overwrites std (items)."""
    cdef double z, value, log_prob, entropy
    cdef int64_t r, k
    for r in range(rows):
        if r == 0 or std_stride:
            for k in range(items):
                std[k] = exp(log_std[k])
        log_prob = entropy = 0
        for k in range(items):
            z = ep_standard_normal(g)
            value = mean[k] + std[k] * z
            actions[k] = <real>value
            if not (std[k] > 0 and isfinite(<double>actions[k])):
                return r
            log_prob -= 0.5 * z * z + log_std[k] + HALF_LOG_2_PI
            entropy += 0.5 + HALF_LOG_2_PI + log_std[k]
        log_probs[r] = <real>log_prob
        entropies[r] = <real>entropy
        mean += items
        actions += items
        log_std += std_stride
    return -1


cdef inline void* data_of(cnp.ndarray array) noexcept:
    return cnp.PyArray_DATA(array)


cdef class Draws:
    """A generator with the draws of ``numpy.random.PCG64``.

    Parameters
    ----------
    words : numpy.ndarray
        The seed, uint32 (n,) with n >= 1; see ``ep_pcg64_seed_words``.
    """

    def __init__(self, cnp.ndarray words):
        ep_pcg64_seed_words(&self.g, <const uint32_t*>data_of(words), words.shape[0])

    def get_state(self):
        """Return the state of the generator, bytes."""
        return (<const char*>&self.g)[:sizeof(ep_pcg64)]

    def set_state(self, bytes state):
        """Restore a state that get_state() has returned."""
        if len(state) != sizeof(ep_pcg64):
            raise StateError(
                f"state must have {sizeof(ep_pcg64)} bytes, got {len(state)}: pass a result of get_state()"
            )
        memcpy(&self.g, <const char*>state, sizeof(ep_pcg64))
        self.g.step_low |= 1
        self.g.has_half = self.g.has_half != 0

    def permute(self, cnp.ndarray out):
        """Fill int64 (n,) with a permutation of 0 to n - 1."""
        ep_permutation(&self.g, out.shape[0], <int64_t*>data_of(out))

    def integers(self, cnp.ndarray out, cnp.ndarray low, cnp.ndarray last):
        """Fill integers or bools (rows, ...) with numbers from low to low + last; int64 and uint64 (items,)."""
        cdef int64_t rows = out.shape[0], items = low.shape[0]
        cdef const int64_t* lows = <const int64_t*>data_of(low)
        cdef const uint64_t* lasts = <const uint64_t*>data_of(last)
        cdef int64_t size = cnp.PyArray_ITEMSIZE(out)
        if size == 1:
            fill_integers(&self.g, <int8_t*>data_of(out), rows, items, lows, lasts)
        elif size == 2:
            fill_integers(&self.g, <int16_t*>data_of(out), rows, items, lows, lasts)
        elif size == 4:
            fill_integers(&self.g, <int32_t*>data_of(out), rows, items, lows, lasts)
        else:
            fill_integers(&self.g, <int64_t*>data_of(out), rows, items, lows, lasts)

    def floats(self, cnp.ndarray out, cnp.ndarray low, cnp.ndarray high):
        """Fill float32 or float64 (rows, ...) with numbers between bounds, float64 (items,), which may be infinite."""
        cdef int64_t rows = out.shape[0], items = low.shape[0]
        cdef const double* lows = <const double*>data_of(low)
        cdef const double* highs = <const double*>data_of(high)
        if cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT32:
            fill_floats(&self.g, <float*>data_of(out), rows, items, lows, highs)
        else:
            fill_floats(&self.g, <double*>data_of(out), rows, items, lows, highs)

    def choices(self, cnp.ndarray logits, cnp.ndarray sizes, cnp.ndarray actions, cnp.ndarray log_probs,
                cnp.ndarray entropies):
        """Draw from rows of categorical distributions.

        Parameters
        ----------
        logits : numpy.ndarray
            float32 or float64 (rows, sum of sizes).
        sizes : numpy.ndarray
            int64 (parts,): numbers of logits of the distributions in a row, at least 1 each.
        actions : numpy.ndarray
            int64 (rows, parts) or (rows,), is filled.
        log_probs, entropies : numpy.ndarray
            (rows,) of the dtype of the logits, are filled with sums over the distributions of a row.

        Returns
        -------
        int
            -1, or the first row whose logits are not a valid distribution; then nothing was drawn.
        """
        cdef ep_pcg64 before = self.g
        cdef int64_t bad, rows = logits.shape[0], parts = sizes.shape[0]
        cdef const int64_t* size = <const int64_t*>data_of(sizes)
        cdef cnp.ndarray memory = np.empty(np.max(sizes))
        cdef double* weights = <double*>data_of(memory)
        cdef int64_t* out = <int64_t*>data_of(actions)
        if cnp.PyArray_TYPE(logits) == cnp.NPY_FLOAT32:
            bad = fill_choices(&self.g, <const float*>data_of(logits), rows, size, parts, weights, out,
                               <float*>data_of(log_probs), <float*>data_of(entropies))
        else:
            bad = fill_choices(&self.g, <const double*>data_of(logits), rows, size, parts, weights, out,
                               <double*>data_of(log_probs), <double*>data_of(entropies))
        if bad >= 0:
            self.g = before
        return bad

    def normals(self, cnp.ndarray mean, cnp.ndarray log_std, cnp.ndarray actions, cnp.ndarray log_probs,
                cnp.ndarray entropies):
        """Draw from rows of normal distributions with independent elements.

        Parameters
        ----------
        mean : numpy.ndarray
            float32 or float64 (rows, items). All other arrays have its dtype.
        log_std : numpy.ndarray
            (rows, items) or (items,).
        actions : numpy.ndarray
            (rows, items), is filled.
        log_probs, entropies : numpy.ndarray
            (rows,), are filled.

        Returns
        -------
        int
            -1, or the first row in which a number is not finite; then nothing was drawn.
        """
        cdef ep_pcg64 before = self.g
        cdef int64_t bad, rows = mean.shape[0], items = mean.shape[1]
        cdef int64_t stride = items if cnp.PyArray_NDIM(log_std) == 2 else 0
        cdef cnp.ndarray memory = np.empty(items)
        cdef double* std = <double*>data_of(memory)
        if cnp.PyArray_TYPE(mean) == cnp.NPY_FLOAT32:
            bad = fill_normals(&self.g, <const float*>data_of(mean), <const float*>data_of(log_std), stride, rows,
                               items, std, <float*>data_of(actions), <float*>data_of(log_probs),
                               <float*>data_of(entropies))
        else:
            bad = fill_normals(&self.g, <const double*>data_of(mean), <const double*>data_of(log_std), stride, rows,
                               items, std, <double*>data_of(actions), <double*>data_of(log_probs),
                               <double*>data_of(entropies))
        if bad >= 0:
            self.g = before
        return bad

    cdef int64_t choose_rows(self, const float* logits, int64_t rows, int64_t n, double* weights, int64_t* actions,
                             float* log_probs, float* entropies) noexcept:
        """choices() with one distribution per row, logits (rows, n). Overwrites weights (n)."""
        cdef ep_pcg64 before = self.g
        cdef int64_t bad = fill_choices(&self.g, logits, rows, &n, 1, weights, actions, log_probs, entropies)
        if bad >= 0:
            self.g = before
        return bad

    cdef int64_t normal_rows(self, const float* mean, const float* log_std, int64_t rows, int64_t items, double* std,
                             float* actions, float* log_probs, float* entropies) noexcept:
        """normals() with a log_std (items) that all rows share. Overwrites std (items)."""
        cdef ep_pcg64 before = self.g
        cdef int64_t bad = fill_normals(&self.g, mean, log_std, 0, rows, items, std, actions, log_probs, entropies)
        if bad >= 0:
            self.g = before
        return bad
