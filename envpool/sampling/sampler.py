"""`Sampler`: a seeded generator that draws actions of policies, and permutations, in native code."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool.errors import ConfigError
from envpool.sampling.arrays import FLOATS, checked, count, outputs
from envpool.sampling.draws import Draws


class Sample(NamedTuple):
    """Actions that were drawn for a policy, a row for each observation.

    Attributes
    ----------
    actions : numpy.ndarray
        (B,), (B, K) or (B, D): the actions.
    log_probs : numpy.ndarray
        (B,): their log-probabilities.
    entropies : numpy.ndarray
        (B,): the entropies of the distributions that they were drawn from.
    """

    actions: npt.NDArray[Any]
    log_probs: npt.NDArray[Any]
    entropies: npt.NDArray[Any]


class Sampler:
    """A random generator for the learner. The same seed and the same calls give the same results.

    Its draws equal those of ``numpy.random.PCG64(seed)``. A Sampler can be pickled and copied with its state.

    Parameters
    ----------
    seed : int or sequence of int, optional
        Seed, 0 or more, or several, as for ``numpy.random.default_rng``. By default the operating system provides one.

    Raises
    ------
    TypeError, ConfigError
        The seed is not allowed.
    """

    def __init__(self, seed: int | Sequence[int] | None = None):
        self.draws = Draws(seed_words(secrets.randbits(128) if seed is None else seed))

    def categorical(self, logits: Any, *, out: Any = None) -> Sample:
        """Draw one index from each row of logits, with the probabilities softmax(logits).

        Parameters
        ----------
        logits : array_like
            float32 or float64 (B, A). -inf makes an index impossible.
        out : tuple of numpy.ndarray, optional
            Arrays for the results, for instance rows of a rollout. By default fresh ones.

        Returns
        -------
        Sample
            ``actions`` int64 (B,), ``log_probs`` and ``entropies`` (B,) in the dtype of the logits.

        Raises
        ------
        ConfigError
            A shape, a dtype or a memory layout is not allowed, or the logits of a row contain NaN or inf, or are all
            -inf. Nothing was drawn.
        TypeError
            An argument has a wrong type.
        """
        logits = checked("logits", logits, FLOATS, ("B", "A"))
        sizes = np.array(logits.shape[1:], np.int64)
        if sizes[0] == 0:
            raise ConfigError(f"logits must have at least one action to choose from, got the shape {logits.shape}")
        return self._choose(logits, sizes, logits.shape[:1], out)

    def multi_categorical(self, logits: Any, nvec: Any, *, out: Any = None) -> Sample:
        """Draw an index from each of several categorical distributions in each row, as MultiDiscrete actions need.

        Parameters
        ----------
        logits : array_like
            float32 or float64 (B, sum of nvec): the logits of the distributions, one after the other.
        nvec : array_like of int
            (K,): number of indices of each distribution, at least 1.
        out : tuple of numpy.ndarray, optional
            Arrays for the results. By default fresh ones.

        Returns
        -------
        Sample
            ``actions`` int64 (B, K); ``log_probs`` and ``entropies`` (B,), sums over the distributions of a row.

        Raises
        ------
        ConfigError, TypeError
            See `categorical`.
        """
        sizes = checked("nvec", nvec, [np.int64, np.int32], ("K",)).astype(np.int64)
        if not len(sizes) or sizes.min() < 1 or sizes.max() > 2**31 - 1:
            raise ConfigError(f"nvec must be one or more integers between 1 and {2**31 - 1}, got {sizes.tolist()}")
        logits = checked("logits", logits, FLOATS, ("B", int(sizes.sum())))
        return self._choose(logits, sizes, (len(logits), len(sizes)), out)

    def gaussian(self, mean: Any, log_std: Any, *, out: Any = None) -> Sample:
        """Draw from normal distributions with independent elements.

        Parameters
        ----------
        mean : array_like
            float32 or float64 (B, D).
        log_std : array_like
            (D,) or (B, D), in the dtype of the mean: logarithm of the standard deviation.
        out : tuple of numpy.ndarray, optional
            Arrays for the results. By default fresh ones.

        Returns
        -------
        Sample
            ``actions`` (B, D), which are not clipped to the bounds of a space; ``log_probs`` and ``entropies`` (B,),
            sums over the elements. All have the dtype of the mean.

        Raises
        ------
        ConfigError
            A shape, a dtype or a memory layout is not allowed, or a mean, a standard deviation or an action is not
            finite, or a standard deviation is 0. Nothing was drawn.
        TypeError
            An argument has a wrong type.
        """
        mean = checked("mean", mean, FLOATS, ("B", "D"))
        per_row = np.ndim(log_std) == 2
        log_std = checked("log_std", log_std, [mean.dtype], mean.shape if per_row else mean.shape[1:])
        dtypes, shapes = [mean.dtype] * 3, [mean.shape, *[mean.shape[:1]] * 2]
        sample = Sample(*outputs(Sample._fields, out, dtypes, shapes, [mean, log_std]))
        bad = self.draws.normals(mean, log_std, *sample)
        if bad >= 0:
            deviation = log_std[bad] if per_row else log_std
            raise ConfigError(
                f"mean[{bad}], its log_std and the action must be finite, and exp(log_std) must be finite and not 0, "
                f"got the mean {mean[bad].tolist()} and the log_std {deviation.tolist()}"
            )
        return sample

    def permutation(self, n: int) -> npt.NDArray[np.int64]:
        """Return a permutation of 0 to n - 1, int64 (n,), as ``numpy.random.Generator.permutation`` draws it."""
        out = np.empty(count("n", n, 0, 2**62), np.int64)
        self.draws.permute(out)
        return out

    def _choose(self, logits: Any, sizes: Any, shape: tuple[int, ...], out: Any) -> Sample:
        dtypes, shapes = [np.dtype(np.int64), logits.dtype, logits.dtype], [shape, *[shape[:1]] * 2]
        sample = Sample(*outputs(Sample._fields, out, dtypes, shapes, [logits]))
        bad = self.draws.choices(logits, sizes, *sample)
        if bad >= 0:
            raise ConfigError(
                f"logits[{bad}] must be finite or -inf, and at least one of each distribution must be finite, got "
                f"{logits[bad].tolist()}"
            )
        return sample

    def __getstate__(self) -> dict[str, bytes]:
        return {"state": self.draws.get_state()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        self.draws = Draws(np.zeros(1, np.uint32))
        self.draws.set_state(state["state"])


def as_sampler(rng: Any) -> Sampler:
    """Return a Sampler for an argument `rng`.

    Parameters
    ----------
    rng : Sampler, int, sequence of int, or numpy.random.Generator
        A Sampler is returned unchanged. For anything else, the result is a new Sampler; a Generator seeds it with one
        draw.

    Raises
    ------
    TypeError, ConfigError
        The argument is something else, or a seed is not allowed.
    """
    if isinstance(rng, Sampler):
        return rng
    if isinstance(rng, np.random.Generator):
        return Sampler(int(rng.integers(2**64, dtype=np.uint64)))
    if isinstance(rng, (int, np.integer, list, tuple)) and not isinstance(rng, bool):
        return Sampler(rng)  # type: ignore[arg-type]
    raise TypeError(
        f"rng must be an envpool.rollout.Sampler, a numpy.random.Generator or a seed, got {type(rng).__name__}"
    )


def seed_words(seed: Any) -> npt.NDArray[np.uint32]:
    """Return a seed as 32-bit words, the lowest first, as NumPy's SeedSequence does."""
    if isinstance(seed, (list, tuple)):
        if not seed:
            raise ConfigError(f"seed must have at least one int, got {seed!r}: pass None for a random seed")
        return np.concatenate([seed_words(count(f"seed[{k}]", one, 0, 2**128 - 1)) for k, one in enumerate(seed)])
    value = count("seed", seed, 0, 2**128 - 1)
    words: list[int] = []
    while value or not words:
        words.append(value & 0xFFFFFFFF)
        value >>= 32
    return np.array(words, np.uint32)
