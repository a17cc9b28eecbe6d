"""numpy's random numbers, drawn in C: thin classes over ``envpool/rng.h`` and ``envpool/rng_legacy.h``.

With them Python can check what a native env draws against numpy, call by call and state by state. Envs call the headers
themselves (``envpool.numerics.rng``, ``envpool.numerics.rng_legacy``): those do not check arguments, these do.
"""

import math
import operator

import numpy as np

cimport cython
cimport numpy as cnp
from libc.stdint cimport INT64_MAX, INT64_MIN, UINT32_MAX, int64_t, uint32_t
from libc.string cimport memcpy

from envpool.numerics.rng cimport (
    ep_choice, ep_choice_cdf, ep_choice_p, ep_choice_scratch_size, ep_choice_without_replacement, ep_integers,
    ep_integers_closed, ep_next32, ep_next64, ep_next_double, ep_normal, ep_pcg64, ep_pcg64_seed, ep_pcg64_seed_words,
    ep_permutation, ep_shuffle, ep_standard_normal, ep_uniform,
)
from envpool.numerics.rng_legacy cimport (
    EP_MT19937_WORDS, ep_legacy_choice, ep_legacy_choice_p, ep_legacy_next32, ep_legacy_next64, ep_legacy_normal,
    ep_legacy_permutation, ep_legacy_randint, ep_legacy_random_sample, ep_legacy_shuffle, ep_legacy_standard_normal,
    ep_legacy_uniform, ep_mt19937, ep_mt19937_seed, ep_mt19937_seed_words,
)

cnp.import_array()


def _integer(name, value, low, high):
    """``value`` as an int, if it is one in [low, high]."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, got {value!r}") from None
    if not low <= number <= high:
        raise ValueError(f"{name} must be in [{low}, {high}], got {number}")
    return number


def _wide(high, low):
    """The 128-bit int of two halves."""
    return high << 64 | low


def _finite(name, value):
    """``value`` as a float, if it is a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def _bounds(low, high):
    """``low`` and ``high`` as floats whose difference is finite."""
    first, last = _finite("low", low), _finite("high", high)
    if not math.isfinite(last - first):
        raise ValueError(f"high - low must be finite, got low={first} and high={last}")
    return first, last


def _scale(scale):
    number = _finite("scale", scale)
    if number < 0:
        raise ValueError(f"scale must not be negative, got {number}")
    return number


def _words(seed):
    """A list or tuple of ints as uint32 words."""
    if len(seed) == 0:
        raise ValueError("seed must be an int or a sequence of at least one int, got an empty sequence")
    return np.array([_integer(f"seed[{i}]", word, 0, UINT32_MAX) for i, word in enumerate(seed)], dtype=np.uint32)


def _cdf(p, n):
    """The cdf that choice searches, from n probabilities."""
    weights = np.array(p, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"p must have shape ({n},), one probability for each of n, got shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"p must be finite and not negative, got {p!r}")
    if not math.isclose(math.fsum(weights), 1.0, rel_tol=0.0, abs_tol=1e-8):
        raise ValueError(f"p must sum to 1, got {math.fsum(weights)}")
    ep_choice_cdf(<double*>cnp.PyArray_DATA(weights), n, <double*>cnp.PyArray_DATA(weights))
    return weights


def _shufflable(items):
    """``items``, if its first axis can be shuffled by moving bytes."""
    if not isinstance(items, np.ndarray) or items.ndim == 0:
        raise ValueError(f"items must be a numpy array of one dimension or more, got {items!r}")
    if not (items.flags.c_contiguous and items.flags.writeable) or items.dtype.hasobject:
        raise ValueError("items must be C-contiguous, writable and without Python objects, got an array with "
                         f"strides {items.strides}, writeable={items.flags.writeable} and dtype {items.dtype}")
    return items


@cython.final
cdef class Generator:
    """Draws equal to those of ``np.random.Generator(np.random.PCG64(seed))``.

    That is also the generator of ``gymnasium.utils.seeding.np_random(seed)``. Calls may be mixed in any order.

    Parameters
    ----------
    seed : int or sequence of int
        A non-negative int of any size, or a list or tuple of ints below 2**32.

    Raises
    ------
    ValueError
        An argument of this or any method is not allowed. Nothing has been drawn then.
    """

    cdef ep_pcg64 generator

    def __init__(self, seed):
        if not isinstance(seed, (list, tuple)):
            number = _integer("seed", seed, 0, math.inf)
            if number < 2**64:
                ep_pcg64_seed(&self.generator, number)
                return
            words = np.frombuffer(number.to_bytes((number.bit_length() + 31) // 32 * 4, "little"), dtype="<u4")
        else:
            words = _words(seed)
        ep_pcg64_seed_words(&self.generator, <const uint32_t*>cnp.PyArray_DATA(words), len(words))

    @property
    def state(self):
        """The state in the form of numpy's ``Generator.bit_generator.state``.

        Returns
        -------
        dict
            A fresh dict; numpy's ``bit_generator.state`` may be set to it.
        """
        cdef ep_pcg64* g = &self.generator
        return {
            "bit_generator": "PCG64",
            "state": {"state": _wide(g.state_high, g.state_low), "inc": _wide(g.step_high, g.step_low)},
            "has_uint32": g.has_half,
            "uinteger": g.half,
        }

    def next_uint64(self):
        """64 random bits, as ``bit_generator.random_raw()``."""
        return ep_next64(&self.generator)

    def next_uint32(self):
        """32 random bits: the lower half of 64 bits, or the upper half that the last such call left."""
        return ep_next32(&self.generator)

    def random(self):
        """A number in [0, 1)."""
        return ep_next_double(&self.generator)

    def uniform(self, low=0.0, high=1.0):
        """A number in [low, high).

        Parameters
        ----------
        low, high : float
            Finite, with ``low <= high``.
        """
        first, last = _bounds(low, high)
        if last < first:
            raise ValueError(f"high must not be below low={first}, got {last}")
        return ep_uniform(&self.generator, first, last)

    def integers(self, low, high, endpoint=False):
        """An int64 in [low, high), or in [low, high] with ``endpoint``.

        Parameters
        ----------
        low, high : int
            Bounds within int64, with at least one allowed value.
        endpoint : bool
            Whether ``high`` itself may be drawn.
        """
        first = _integer("low", low, INT64_MIN, INT64_MAX if endpoint else INT64_MAX - 1)
        last = _integer("high", high, first if endpoint else first + 1, INT64_MAX)
        if endpoint:
            return ep_integers_closed(&self.generator, first, last)
        return ep_integers(&self.generator, first, last)

    def standard_normal(self):
        """A number from the normal distribution with mean 0 and standard deviation 1."""
        return ep_standard_normal(&self.generator)

    def normal(self, loc=0.0, scale=1.0):
        """A number from a normal distribution.

        Parameters
        ----------
        loc : float
            Mean, finite.
        scale : float
            Standard deviation, finite and not negative.
        """
        return ep_normal(&self.generator, _finite("loc", loc), _scale(scale))

    def choice(self, n, p=None):
        """An index in [0, n).

        Parameters
        ----------
        n : int
            At least 1.
        p : array_like of float, shape (n,), optional
            Probability of each index; they sum to 1. Without it all are alike.
        """
        n = _integer("n", n, 1, INT64_MAX)
        if p is None:
            return ep_choice(&self.generator, n)
        cdf = _cdf(p, n)
        return ep_choice_p(&self.generator, <const double*>cnp.PyArray_DATA(cdf), n)

    def choice_without_replacement(self, n, size, shuffle=True):
        """Different indices in [0, n), as ``choice(n, size, replace=False, shuffle=shuffle)``.

        Parameters
        ----------
        n : int
            Number of indices to choose from.
        size : int
            How many to choose, at most ``n``.
        shuffle : bool
            Whether their order is random too.

        Returns
        -------
        numpy.ndarray of int64, shape (size,)
            Fresh, yours to keep.
        """
        n = _integer("n", n, 0, INT64_MAX)
        size = _integer("size", size, 0, n)
        out = np.empty(size, dtype=np.int64)
        scratch = np.empty(ep_choice_scratch_size(n, size), dtype=np.int64)
        ep_choice_without_replacement(&self.generator, n, size, bool(shuffle), <int64_t*>cnp.PyArray_DATA(out),
                                      <int64_t*>cnp.PyArray_DATA(scratch))
        return out

    def shuffle(self, items):
        """Shuffles an array in place along its first axis.

        Parameters
        ----------
        items : numpy.ndarray
            C-contiguous, writable, of any dtype but Python objects.
        """
        if len(_shufflable(items)) > 0:
            ep_shuffle(&self.generator, cnp.PyArray_DATA(items), len(items), items.nbytes // len(items))

    def permutation(self, n):
        """The numbers from 0 to n - 1 in random order.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        numpy.ndarray of int64, shape (n,)
            Fresh, yours to keep.
        """
        out = np.empty(_integer("n", n, 0, INT64_MAX), dtype=np.int64)
        ep_permutation(&self.generator, len(out), <int64_t*>cnp.PyArray_DATA(out))
        return out


@cython.final
cdef class RandomState:
    """Draws equal to those of ``np.random.RandomState(seed)``, the generator of dm_control's tasks.

    Calls may be mixed in any order.

    Parameters
    ----------
    seed : int or sequence of int
        An int in [0, 2**32), or a list or tuple of such ints.

    Raises
    ------
    ValueError
        An argument of this or any method is not allowed. Nothing has been drawn then.
    """

    cdef ep_mt19937 generator

    def __init__(self, seed):
        if isinstance(seed, (list, tuple)):
            words = _words(seed)
            ep_mt19937_seed_words(&self.generator, <const uint32_t*>cnp.PyArray_DATA(words), len(words))
        else:
            ep_mt19937_seed(&self.generator, _integer("seed", seed, 0, UINT32_MAX))

    @property
    def state(self):
        """The state in the form of numpy's ``RandomState.get_state(legacy=False)``.

        Returns
        -------
        dict
            A fresh dict; numpy's ``set_state`` takes it.
        """
        cdef ep_mt19937* r = &self.generator
        key = np.empty(EP_MT19937_WORDS, dtype=np.uint32)
        memcpy(cnp.PyArray_DATA(key), r.key, sizeof(r.key))
        return {
            "bit_generator": "MT19937",
            "state": {"key": key, "pos": r.position},
            "has_gauss": r.has_normal,
            "gauss": r.normal,
        }

    def next_uint64(self):
        """64 random bits from two draws of 32, the upper half first."""
        return ep_legacy_next64(&self.generator)

    def next_uint32(self):
        """32 random bits."""
        return ep_legacy_next32(&self.generator)

    def random_sample(self):
        """A number in [0, 1), as ``random_sample()`` and ``rand()``."""
        return ep_legacy_random_sample(&self.generator)

    def uniform(self, low=0.0, high=1.0):
        """A number between low (included) and high.

        Parameters
        ----------
        low, high : float
            Finite; ``high`` may be the smaller one.
        """
        first, last = _bounds(low, high)
        return ep_legacy_uniform(&self.generator, first, last)

    def randint(self, low, high):
        """An int64 in [low, high).

        Parameters
        ----------
        low, high : int
            Bounds within int64, with ``low < high``.
        """
        first = _integer("low", low, INT64_MIN, INT64_MAX - 1)
        return ep_legacy_randint(&self.generator, first, _integer("high", high, first + 1, INT64_MAX))

    def standard_normal(self):
        """A number from the normal distribution with mean 0 and standard deviation 1, as also ``randn()``."""
        return ep_legacy_standard_normal(&self.generator)

    def normal(self, loc=0.0, scale=1.0):
        """A number from a normal distribution; arguments as in `Generator.normal`."""
        return ep_legacy_normal(&self.generator, _finite("loc", loc), _scale(scale))

    def choice(self, n, p=None):
        """An index in [0, n); arguments as in `Generator.choice`."""
        n = _integer("n", n, 1, INT64_MAX)
        if p is None:
            return ep_legacy_choice(&self.generator, n)
        cdf = _cdf(p, n)
        return ep_legacy_choice_p(&self.generator, <const double*>cnp.PyArray_DATA(cdf), n)

    def choice_without_replacement(self, n, size):
        """The first ``size`` of ``permutation(n)``, as ``choice(n, size, replace=False)``: a fresh array of int64."""
        n = _integer("n", n, 0, INT64_MAX)
        size = _integer("size", size, 0, n)
        return self.permutation(n)[:size].copy()

    def shuffle(self, items):
        """Shuffles an array in place along its first axis; ``items`` as in `Generator.shuffle`."""
        if len(_shufflable(items)) > 0:
            ep_legacy_shuffle(&self.generator, cnp.PyArray_DATA(items), len(items), items.nbytes // len(items))

    def permutation(self, n):
        """The numbers from 0 to n - 1 in random order, as a fresh array of int64."""
        out = np.empty(_integer("n", n, 0, INT64_MAX), dtype=np.int64)
        ep_legacy_permutation(&self.generator, len(out), <int64_t*>cnp.PyArray_DATA(out))
        return out
