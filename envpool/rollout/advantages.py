"""Advantages and returns of rollouts: GAE, V-trace, n-step and lambda returns.

All functions take a rollout of T steps in N environments and compute it natively, on several threads if that pays off.
If the environments have P players, all arrays may have the shape (T, N, P) in place of (T, N), and (N, P) in place of
(N,): each player is computed by itself. Only `lengths` stays (N,).
tests/rollout/formulas.py has the formulas with their order of operations; the results equal them bit for bit.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._support.machine import cpu_limit
from envpool.errors import ConfigError
from envpool.rollout.recursions import GAE, LAMBDA, NSTEP, VTRACE, recur
from envpool.sampling.arrays import FLOATS, checked, count, number, outputs

#: Elements of an array for which another thread pays off; starting one takes as long as some ten thousand elements.
PER_THREAD = 2**17


class Advantages(NamedTuple):
    """Result of `gae`.

    Attributes
    ----------
    advantages : numpy.ndarray
        (T, N), in the dtype of the rewards: the advantage estimate of each step.
    returns : numpy.ndarray
        (T, N), in the dtype of the rewards: ``advantages + values``, the targets of the value function.
    """

    advantages: npt.NDArray[Any]
    returns: npt.NDArray[Any]


class VTrace(NamedTuple):
    """Result of `vtrace`.

    Attributes
    ----------
    targets : numpy.ndarray
        (T, N), in the dtype of the rewards: the targets of the value function.
    advantages : numpy.ndarray
        (T, N), in the dtype of the rewards: the advantages for the policy gradient.
    """

    targets: npt.NDArray[Any]
    advantages: npt.NDArray[Any]


def gae(
    rewards: Any,
    values: Any,
    last_values: Any,
    terminated: Any,
    truncated: Any,
    *,
    gamma: float = 0.99,
    lam: float = 0.95,
    final_values: Any = None,
    mask: Any = None,
    lengths: Any = None,
    out: Any = None,
    num_threads: int = 0,
) -> Advantages:
    """Return the generalized advantage estimates of a rollout (Schulman et al., 2016), and the returns.

    Parameters
    ----------
    rewards : array_like
        float32 or float64 (T, N): reward of each step. All other arrays of floats must have this dtype.
    values : array_like
        (T, N): value of the observation before each step.
    last_values : array_like
        (N,): value of the observation after the last step.
    terminated, truncated : array_like
        bool (T, N): whether the step terminated or truncated an episode. Where both are True, `terminated` counts.
    gamma : float
        Discount, from 0 to 1.
    lam : float
        The lambda of GAE, from 0 to 1.
    final_values : array_like, optional
        (T, N): value of the last observation of an episode that was truncated, read in rows that are truncated and not
        terminated. By default the value in the next row, which is correct only with ``autoreset_mode="next_step"``.
    mask : array_like, optional
        bool (T, N): which rows are transitions, by default all. With ``autoreset_mode="next_step"``, the rows of resets
        are not transitions. Nothing propagates through such a row, but the row before it uses its value.
    lengths : array_like of int, optional
        (N,): number of rows of each environment, by default T. Rows from there on are never read.
    out : tuple of numpy.ndarray, optional
        Arrays for the advantages and the returns, (T, N), which must not overlap the arguments. By default fresh ones.
    num_threads : int
        Largest number of threads; 0: the number of CPUs that the process may use. Small rollouts use one.

    Returns
    -------
    Advantages
        ``advantages`` and ``returns = advantages + values``. Both are 0 in rows that are not transitions.

    Raises
    ------
    ConfigError
        A shape, a dtype, a memory layout or a number is not allowed, or a result is not finite; the text names the
        element.
    TypeError
        An argument has a wrong type.
    """
    inputs = Inputs(rewards, values, last_values, terminated, truncated, final_values, mask, lengths)
    gamma, lam = number("gamma", gamma, 0, 1), number("lam", lam, 0, 1)
    return Advantages(*inputs.compute(GAE, ("advantages", "returns"), out, num_threads, gamma, lam))


def vtrace(
    log_ratios: Any,
    rewards: Any,
    values: Any,
    last_values: Any,
    terminated: Any,
    truncated: Any,
    *,
    gamma: float = 0.99,
    lam: float = 1.0,
    clip_rho: float = 1.0,
    clip_c: float = 1.0,
    clip_pg_rho: float = 1.0,
    final_values: Any = None,
    mask: Any = None,
    lengths: Any = None,
    out: Any = None,
    num_threads: int = 0,
) -> VTrace:
    """Return the V-trace targets of a rollout (Espeholt et al., 2018), and the advantages of the policy gradient.

    Parameters
    ----------
    log_ratios : array_like
        (T, N): log-probability of each action under the policy that is trained, minus its log-probability under the
        policy that took the action.
    rewards, values, last_values, terminated, truncated, final_values, mask, lengths, num_threads
        See `gae`.
    gamma : float
        Discount, from 0 to 1.
    lam : float
        Factor of the traces, from 0 to 1.
    clip_rho, clip_c, clip_pg_rho : float
        Upper bounds of the ratios of probabilities in the temporal differences, in the traces and in the advantages;
        0 or more, ``math.inf`` for no bound.
    out : tuple of numpy.ndarray, optional
        Arrays for the targets and the advantages, see `gae`.

    Returns
    -------
    VTrace
        ``targets``, the values vs, and ``advantages``. Both are 0 in rows that are not transitions.

    Raises
    ------
    ConfigError, TypeError
        See `gae`.
    """
    inputs = Inputs(rewards, values, last_values, terminated, truncated, final_values, mask, lengths)
    bounds = {"clip_rho": clip_rho, "clip_c": clip_c, "clip_pg_rho": clip_pg_rho}
    clips = tuple(number(name, bound, 0, np.inf) for name, bound in bounds.items())
    gamma, lam = number("gamma", gamma, 0, 1), number("lam", lam, 0, 1)
    inputs.add_ratios(log_ratios)
    return VTrace(*inputs.compute(VTRACE, ("targets", "advantages"), out, num_threads, gamma, lam, clips))


def lambda_returns(
    rewards: Any,
    values: Any,
    last_values: Any,
    terminated: Any,
    truncated: Any,
    *,
    gamma: float = 0.99,
    lam: float = 0.95,
    final_values: Any = None,
    mask: Any = None,
    lengths: Any = None,
    out: Any = None,
    num_threads: int = 0,
) -> npt.NDArray[Any]:
    """Return the lambda returns of a rollout, (T, N).

    Parameters
    ----------
    rewards, values, last_values, terminated, truncated, gamma, final_values, mask, lengths, num_threads
        See `gae`.
    lam : float
        Lambda, from 0 to 1. With 0, a return is the reward plus the discounted next value; with 1, it is the sum of the
        discounted rewards up to the end.
    out : numpy.ndarray, optional
        Array for the result, see `gae`.

    Raises
    ------
    ConfigError, TypeError
        See `gae`.
    """
    inputs = Inputs(rewards, values, last_values, terminated, truncated, final_values, mask, lengths)
    gamma, lam = number("gamma", gamma, 0, 1), number("lam", lam, 0, 1)
    return inputs.compute(LAMBDA, ("returns",), None if out is None else (out,), num_threads, gamma, lam)[0]


def nstep_returns(
    rewards: Any,
    values: Any,
    last_values: Any,
    terminated: Any,
    truncated: Any,
    n: int,
    *,
    gamma: float = 0.99,
    final_values: Any = None,
    mask: Any = None,
    lengths: Any = None,
    out: Any = None,
    num_threads: int = 0,
) -> npt.NDArray[Any]:
    """Return the n-step returns of a rollout, (T, N): n discounted rewards and the value that follows them.

    Fewer rewards are added where the episode or the rollout ends earlier.

    Parameters
    ----------
    rewards, values, last_values, terminated, truncated, gamma, final_values, mask, lengths, num_threads
        See `gae`.
    n : int
        Number of rewards, at least 1.
    out : numpy.ndarray, optional
        Array for the result, see `gae`.

    Raises
    ------
    ConfigError, TypeError
        See `gae`.
    """
    inputs = Inputs(rewards, values, last_values, terminated, truncated, final_values, mask, lengths)
    gamma, horizon = number("gamma", gamma, 0, 1), count("n", n, 1)
    outs = None if out is None else (out,)
    return inputs.compute(NSTEP, ("returns",), outs, num_threads, gamma, 0.0, horizon=horizon)[0]


class Inputs:
    """The checked arguments of the functions above, see `gae`."""

    def __init__(
        self,
        rewards: Any,
        values: Any,
        last_values: Any,
        terminated: Any,
        truncated: Any,
        final_values: Any,
        mask: Any,
        lengths: Any,
    ):
        self.players: int | None = None
        if np.ndim(rewards) == 3:
            whole = checked("rewards", rewards, FLOATS, ("T", "N", "P"))
            self.players, self.whole = whole.shape[2], whole.shape
            rewards = whole.reshape(len(whole), whole.shape[1] * whole.shape[2])
            lengths = None if lengths is None else self.checked_lengths(lengths, whole.shape).repeat(self.players)
        first = checked("rewards", rewards, FLOATS, ("T", "N"))
        self.shape: tuple[int, int] = first.shape
        self.dtype = first.dtype
        if self.shape[0] > 2**31 - 2:
            raise ConfigError(f"rewards must have at most {2**31 - 2} rows, got {self.shape[0]}")
        columns = self.shape[1]
        self.arrays: dict[str, Any] = {
            "rewards": first,
            "values": self.checked("values", values, self.dtype),
            "last_values": self.checked("last_values", last_values, self.dtype, first=1),
            "terminated": self.checked("terminated", terminated, np.bool_),
            "truncated": self.checked("truncated", truncated, np.bool_),
            "final_values": None,
            "ratios": None,
            "mask": np.ones((1, columns), np.bool_),
            "lengths": np.full(columns, self.shape[0], np.int32),
        }
        if final_values is not None:
            self.arrays["final_values"] = self.checked("final_values", final_values, self.dtype)
        if mask is not None:
            self.arrays["mask"] = self.checked("mask", mask, np.bool_)
        if lengths is not None:
            self.arrays["lengths"] = self.checked_lengths(lengths, self.shape)

    def checked(self, name: str, values: Any, dtype: Any, first: int = 0) -> npt.NDArray[Any]:
        """Return an array of the shape of the rewards, from dimension `first` on, without the dimension of players."""
        if self.players is None:
            return checked(name, values, [dtype], self.shape[first:])
        array = checked(name, values, [dtype], self.whole[first:])
        return array.reshape(self.shape[first:])

    def checked_lengths(self, lengths: Any, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
        """Return the argument `lengths` as int32; `shape` is the shape of the rewards."""
        array = checked("lengths", lengths, [np.int64, np.int32], shape[1:2])
        for column in np.flatnonzero((array < 0) | (array > shape[0]))[:1]:
            raise ConfigError(f"lengths[{column}] must be between 0 and {shape[0]}, got {array[column]}")
        return array.astype(np.int32)

    def add_ratios(self, log_ratios: Any) -> None:
        """Set the ratios of V-trace."""
        with np.errstate(over="ignore"):  # infinity is a ratio that is clipped
            self.arrays["ratios"] = np.exp(self.checked("log_ratios", log_ratios, self.dtype))
        self.arrays["log_ratios"] = np.asarray(log_ratios).reshape(self.shape)

    def compute(
        self,
        recursion: int,
        names: tuple[str, ...],
        out: Any,
        num_threads: int,
        gamma: float,
        lam: float,
        clips: tuple[float, ...] = (1.0, 1.0, 1.0),
        horizon: int = 1,
    ) -> list[npt.NDArray[Any]]:
        """Return the results of a recursion, which have these names."""
        inputs = [array for array in self.arrays.values() if array is not None]
        whole = self.shape if self.players is None else self.whole
        wholes = outputs(names, out, [self.dtype] * len(names), [whole] * len(names), inputs)
        results = [array.reshape(self.shape) for array in wholes]  # views: they are contiguous
        self.arrays["out"], self.arrays["out_2"] = (*results, None)[:2]
        threads = self.threads(count("num_threads", num_threads, 0))
        if not recur(recursion, self.arrays, gamma, lam, clips, horizon, threads):  # type: ignore[arg-type]
            self.refuse_results(names, results)
        return wholes

    def threads(self, num_threads: int) -> int:
        """Return the number of threads that pay off."""
        wanted = self.shape[0] * self.shape[1] // PER_THREAD
        return max(min(wanted, num_threads or (cpus() if wanted > 1 else 1)), 1)

    def refuse_results(self, names: tuple[str, ...], results: list[npt.NDArray[Any]]) -> None:
        """Raise a ConfigError for results that are not finite, and name the argument that causes them, if any."""
        arrays = self.arrays
        rows = np.arange(self.shape[0])[:, None] < arrays["lengths"]
        steps = rows & arrays["mask"]
        read = {
            "rewards": steps,
            "values": rows,
            "log_ratios": steps,
            "final_values": steps & arrays["truncated"] & ~arrays["terminated"],
            "last_values": np.ones(self.shape[1], np.bool_),
        }
        for name, where in read.items():
            if arrays.get(name) is None:
                continue
            for at in np.argwhere(~np.isfinite(arrays[name]) & where)[:1].tolist():
                raise ConfigError(f"{name}{at} must be finite, got {arrays[name][tuple(at)]}: the results depend on it")
        for name, result in zip(names, results, strict=True):
            for at in np.argwhere(~np.isfinite(result))[:1].tolist():
                raise ConfigError(f"{name}{at} would be {result[tuple(at)]}: pass smaller numbers, or float64")


@cache
def cpus() -> int:
    """Return the number of CPUs that the process could use when this function was first called."""
    return cpu_limit()
