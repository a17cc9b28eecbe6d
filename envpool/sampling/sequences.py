"""Action sequences for comparisons: the action of env i in record t depends only on (i, t) and the seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from envpool.errors import ConfigError

#: Elements of Box actions without bounds stay within this.
UNBOUNDED = 10.0


def make_actions(space: spaces.Space[Any], mode: str, records: int, num_envs: int, seed: int = 0) -> Any:
    """Return actions of the pool's dtype.

    Parameters
    ----------
    space : gymnasium.spaces.Space
        The pool's action space: Discrete, MultiDiscrete, Box, or a Dict of these.
    mode : str
        One of `MODES`: ``"random"`` draws uniformly; ``"boundary"`` draws the bounds and their inner neighbours;
        ``"sticky"`` holds a bound for 1 to 60 records, so that envs get far from their start; ``"out_of_range"`` (Box)
        mixes values in the range with values outside, from one float above it to the largest float; ``"non_finite"``
        (Box) mixes them with NaN and infinities, ``"infinite"`` (Box) with infinities only.
    records, num_envs : int
        Sizes.
    seed : int
        Seed of the draws.

    Returns
    -------
    numpy.ndarray or dict
        (records, num_envs, *action shape), or a dict of such arrays.
    """
    if mode not in MODES:
        raise ConfigError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    if isinstance(space, spaces.Dict):
        return {k: make_actions(s, mode, records, num_envs, seed + i) for i, (k, s) in enumerate(space.items())}
    rng = np.random.default_rng(seed)
    shape = (records, num_envs)
    row_shape = space.shape or ()
    if isinstance(space, spaces.Box) and space.dtype.kind == "f":
        return float_actions(space, MODES[mode], shape, rng)
    if mode in ("out_of_range", "non_finite", "infinite"):
        raise ConfigError(f"mode must be one of random, boundary, sticky for {space}, got {mode!r}")
    low, high = integer_bounds(space)
    if mode == "random":
        actions: np.ndarray = rng.integers(low, high, (*shape, *row_shape), endpoint=True)
    else:
        actions = np.where(rng.integers(0, 2, (*shape, *row_shape)), high, low)
    return (hold(actions, rng) if mode == "sticky" else actions).astype(space.dtype)


def integer_bounds(space: spaces.Space[Any]) -> tuple[Any, Any]:
    """Return the smallest and largest action."""
    if isinstance(space, spaces.Discrete):
        return int(space.start), int(space.start + space.n - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return space.start, space.start + space.nvec - 1
    if isinstance(space, spaces.Box):
        return space.low, space.high
    raise TypeError(f"no actions for {space}")


def hold(actions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Repeat each env's actions for random numbers of records."""
    records, num_envs = actions.shape[:2]
    lengths = rng.integers(1, 60, (records, num_envs), endpoint=True)
    return np.stack([np.repeat(actions[:, i], lengths[:, i], axis=0)[:records] for i in range(num_envs)], axis=1)


def float_actions(
    space: spaces.Box, choose: Callable[..., np.ndarray], shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Return what `choose` makes of the finite bounds and uniform draws between them."""
    low = np.where(np.isfinite(space.low), space.low, -UNBOUNDED).astype(space.dtype)
    high = np.where(np.isfinite(space.high), space.high, UNBOUNDED).astype(space.dtype)
    uniform = np.clip(rng.uniform(low, high, (*shape, *space.shape)).astype(space.dtype), low, high)
    return choose(uniform, low, high, rng).astype(space.dtype)


def pick(choices: list[Any], like: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw each element from `choices`, which broadcast to the shape of `like`."""
    return np.choose(rng.integers(0, len(choices), like.shape), np.broadcast_arrays(*choices, like)[:-1])


def boundary(uniform: np.ndarray, low: Any, high: Any, rng: np.random.Generator) -> np.ndarray:
    """Draw bounds, their inner neighbours, and zeros of both signs where allowed."""
    zero = np.clip(np.zeros_like(low), low, high)
    inner = [np.nextafter(low, high), np.nextafter(high, low)]
    return pick([low, high, *inner, zero, np.copysign(zero, low)], uniform, rng)


def sticky(uniform: np.ndarray, low: Any, high: Any, rng: np.random.Generator) -> np.ndarray:
    """Hold bounds."""
    return hold(pick([low, high], uniform, rng), rng)


def out_of_range(uniform: np.ndarray, low: Any, high: Any, rng: np.random.Generator) -> np.ndarray:
    """Mix with values outside."""
    largest = np.finfo(uniform.dtype).max
    infinity = uniform.dtype.type(np.inf)
    outside = [np.nextafter(low, -infinity), np.nextafter(high, infinity), -largest, largest]
    return pick([uniform, 3 * uniform, low, high, *outside], uniform, rng)


def non_finite(uniform: np.ndarray, low: Any, high: Any, rng: np.random.Generator) -> np.ndarray:
    """Make one element in 300 NaN, and one in 50 infinite."""
    draw = rng.integers(0, 300, uniform.shape)
    return np.select([draw == 0, draw <= 3, draw <= 6], [np.nan, np.inf, -np.inf], uniform)


def infinite(uniform: np.ndarray, low: Any, high: Any, rng: np.random.Generator) -> np.ndarray:
    """Make one element in 50 infinite."""
    draw = rng.integers(0, 300, uniform.shape)
    return np.select([draw < 3, draw < 6], [np.inf, -np.inf], uniform)


#: Modes of `make_actions`, and what each does to float actions.
MODES: dict[str, Callable[..., np.ndarray]] = {
    "random": lambda uniform, low, high, rng: uniform,
    "boundary": boundary,
    "sticky": sticky,
    "out_of_range": out_of_range,
    "non_finite": non_finite,
    "infinite": infinite,
}
