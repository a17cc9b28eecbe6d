"""Minibatches of a rollout: shuffled rows, whole environments, and sequences with burn-in for recurrent networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.rollout.casting import as_array
from envpool.sampling.arrays import checked, count
from envpool.sampling.sampler import as_sampler

#: Most elements of an int64 array that NumPy can describe.
MOST_ROWS = 2**60 - 1


class Sequences(NamedTuple):
    """A minibatch of sequences; arrays (rows, S) for S sequences, time first.

    Attributes
    ----------
    rows : numpy.ndarray
        int64: positions in arrays (T * N, ...), ``t * N + env``. A sequence that is shorter repeats its last position.
    mask : numpy.ndarray
        bool: which rows count in the loss: transitions that are neither burn-in nor repeated.
    """

    rows: npt.NDArray[np.int64]
    mask: npt.NDArray[np.bool_]


def shuffled(size: Any, batch_size: int, rng: Any, *, drop_last: bool = False) -> Iterator[npt.NDArray[np.int64]]:
    """Return an iterator over minibatches of row numbers, in a random order, each row once.

    Parameters
    ----------
    size : int or array_like of bool
        Number of rows; or a mask of any shape, for instance (T, N): only positions in its flat form that are True
        appear.
    batch_size : int
        Rows of a minibatch, at least 1. The last minibatch has fewer rows if the number of rows is not a multiple of
        this.
    rng : Sampler, numpy.random.Generator, int or sequence of int
        Source of the permutation, see `envpool.rollout.Sampler`.
    drop_last : bool
        If True, leave a last minibatch with fewer rows out.

    Returns
    -------
    iterator of numpy.ndarray
        int64 (batch_size,): parts of one permutation. It is drawn by this call, not by the iterator.

    Raises
    ------
    ConfigError, TypeError
        An argument is not allowed.
    """
    batch_size = count("batch_size", batch_size, 1, 2**62)
    rows = None
    if not isinstance(size, (int, np.integer)):
        mask = as_array("size", size)
        if mask.dtype != np.bool_:
            raise ConfigError(f"size must be an int or a bool array, got the dtype {mask.dtype}: use .astype(np.bool_)")
        rows = np.flatnonzero(mask)
    order = as_sampler(rng).permutation(count("size", size, 0, MOST_ROWS) if rows is None else len(rows))
    return parts(order if rows is None else rows[order], batch_size, drop_last)


def whole_envs(
    shape: Any, envs_per_batch: int, rng: Any, *, mask: Any = None, drop_last: bool = False
) -> Iterator[Sequences]:
    """Return an iterator over minibatches of whole environments, in a random order, each environment once.

    Parameters
    ----------
    shape : tuple of int
        (T, N), the shape of the rollout.
    envs_per_batch : int
        Environments of a minibatch, at least 1.
    rng : Sampler, numpy.random.Generator, int or sequence of int
        See `shuffled`.
    mask : array_like of bool, optional
        (T, N): which rows are transitions, by default all.
    drop_last : bool
        If True, leave a last minibatch with fewer environments out.

    Returns
    -------
    iterator of Sequences
        Arrays (T, envs_per_batch). ``rows[0]`` are the ids of the environments.

    Raises
    ------
    ConfigError, TypeError
        An argument is not allowed.
    """
    steps, columns, valid = checked_shape(shape, mask)
    order = as_sampler(rng).permutation(columns)
    chosen = parts(order, count("envs_per_batch", envs_per_batch, 1, 2**62), drop_last)
    first = np.arange(steps)[:, None] * columns
    return (Sequences(first + envs, valid[:, envs]) for envs in chosen)


def sequences(
    shape: Any,
    length: int,
    batch_size: int,
    rng: Any,
    *,
    burn_in: int = 0,
    mask: Any = None,
    lengths: Any = None,
    drop_last: bool = False,
) -> Iterator[Sequences]:
    """Return an iterator over minibatches of sequences, in a random order.

    The rollout of each environment is cut into sequences of `length` rows. Every transition counts in the loss of
    exactly one of them. A sequence may begin with rows that only warm up the state of the network.

    Parameters
    ----------
    shape : tuple of int
        (T, N), the shape of the rollout.
    length : int
        Rows of a sequence without burn-in, at least 1.
    batch_size : int
        Sequences of a minibatch, at least 1.
    rng : Sampler, numpy.random.Generator, int or sequence of int
        See `shuffled`.
    burn_in : int
        Number of rows before a sequence that warm up the state, 0 or more; fewer at the beginning of the rollout.
    mask : array_like of bool, optional
        (T, N): which rows are transitions, by default all. Sequences without transitions are left out.
    lengths : array_like of int, optional
        (N,): number of rows of each environment, by default T. Rows from there on do not appear.
    drop_last : bool
        If True, leave a last minibatch with fewer sequences out.

    Returns
    -------
    iterator of Sequences
        Arrays (burn_in + length, batch_size), or fewer rows if the rollout is shorter. ``rows[0]`` is the first row of
        each sequence, burn-in included: give the network the state that it had before this row. Repeated rows are at
        the end, so they do not affect the rows before them.

    Raises
    ------
    ConfigError, TypeError
        An argument is not allowed.
    """
    steps, columns, valid = checked_shape(shape, mask)
    length, burn_in = count("length", length, 1), count("burn_in", burn_in, 0)
    batch_size = count("batch_size", batch_size, 1, 2**62)
    ends = np.full(columns, steps)
    if lengths is not None:
        ends = checked("lengths", lengths, [np.int64, np.int32], (columns,)).astype(np.int64)
        for column in np.flatnonzero((ends < 0) | (ends > steps))[:1]:
            raise ConfigError(f"lengths[{column}] must be between 0 and {steps}, got {ends[column]}")
        valid = valid & (np.arange(steps)[:, None] < ends)
    starts = np.arange(0, steps, length)
    counts = np.add.reduceat(valid, starts, axis=0, dtype=np.int64) if steps else np.zeros((0, columns), np.int64)
    which, envs = np.nonzero(counts)
    begin = starts[which]
    order = as_sampler(rng).permutation(len(envs))
    rows = np.arange(min(burn_in + length, steps))[:, None]

    def minibatch(chosen: npt.NDArray[np.int64]) -> Sequences:
        env, start = envs[chosen], begin[chosen]
        at = np.maximum(start - burn_in, 0) + rows
        end = np.minimum(start + length, ends[env])
        inside = np.minimum(at, end - 1)
        return Sequences(inside * columns + env, (at >= start) & (at < end) & valid[inside, env])

    return map(minibatch, parts(order, batch_size, drop_last))


def parts(order: npt.NDArray[np.int64], batch_size: int, drop_last: bool) -> Iterator[npt.NDArray[np.int64]]:
    """Return an iterator over parts of an array."""
    end = len(order) - len(order) % batch_size if drop_last else len(order)
    return (order[k : min(k + batch_size, end)] for k in range(0, end, batch_size))


def checked_shape(shape: Any, mask: Any) -> tuple[int, int, npt.NDArray[np.bool_]]:
    """Return T, N and the mask of a rollout."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise TypeError(f"shape must be a tuple (T, N), got {shown(shape)}")
    steps, columns = count("shape[0]", shape[0], 0), count("shape[1]", shape[1], 0)
    if mask is None:
        return steps, columns, np.ones((steps, columns), np.bool_)
    return steps, columns, checked("mask", mask, [np.bool_], (steps, columns))
