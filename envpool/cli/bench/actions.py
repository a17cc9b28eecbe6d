"""Random actions, drawn before the measurement starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool.config.spaces import ArraySpec
from envpool.tasks.spec import CORE_ACTION, EnvSpec

#: Limits on the rounds of actions that are drawn in advance and then used in turn: their number and their total bytes.
MAX_ROUNDS = 16
MAX_BYTES = 2**26


def draw_actions(spec: EnvSpec, rng: np.random.Generator | None = None) -> dict[str, np.ndarray]:
    """Return random actions for all envs.

    Parameters
    ----------
    spec : EnvSpec
        Spec of the pool that takes the actions.
    rng : numpy.random.Generator, optional
        Source of randomness. By default, a generator with a fixed seed, so that every call returns the same actions.

    Returns
    -------
    dict of str to numpy.ndarray
        For each action field, an array (rounds, num_envs, *row shape) of its dtype with values within its bounds.
    """
    rng = rng or np.random.default_rng(0)
    fields = {name: s for name, s in spec.action_array_spec.items() if name not in CORE_ACTION}
    num_envs = spec.config.num_envs
    size = sum(s.dtype.itemsize * int(np.prod(s.row_shape)) for s in fields.values()) * num_envs
    rounds = max(2, min(MAX_ROUNDS, MAX_BYTES // size))
    return {name: draw(s, (rounds, num_envs, *s.row_shape), rng) for name, s in fields.items()}


def draw(spec: ArraySpec, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return random values for one field: uniform within finite bounds, otherwise normal and clipped to the bounds."""
    if spec.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if spec.dtype.kind in "iu":
        return rng.integers(spec.minimum, spec.maximum, shape, dtype=spec.dtype.type, endpoint=True)
    low, high = (np.asarray(b, np.float64) for b in (spec.minimum, spec.maximum))
    is_finite = np.isfinite(low) & np.isfinite(high)
    uniform = rng.uniform(np.where(is_finite, low, 0), np.where(is_finite, high, 1), shape)
    normal = rng.standard_normal(shape)
    values: np.ndarray = np.where(is_finite, uniform, normal).astype(spec.dtype)
    return np.clip(values, spec.minimum, spec.maximum, out=values)


def rounds_of(actions: Mapping[str, np.ndarray], batch_size: int) -> list[Any]:
    """Return the rounds in the form that step() takes, cut to the first `batch_size` envs.

    Each round is an array if there is one action field, otherwise a dict of arrays by field name.
    """
    if len(actions) == 1:
        (values,) = actions.values()
        return [a[:batch_size] for a in values]
    count = len(next(iter(actions.values())))
    return [{name: values[k, :batch_size] for name, values in actions.items()} for k in range(count)]
