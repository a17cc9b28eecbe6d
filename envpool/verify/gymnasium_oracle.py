"""Gymnasium's environments as oracles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from envpool.verify.oracle import Oracle
from envpool.verify.records import leaves


def unchanged(value: Any) -> Any:
    """Return the argument."""
    return value


@dataclass(frozen=True)
class GymnasiumOracle(Oracle):
    """An environment of gymnasium, and how its values relate to the pool's.

    Attributes
    ----------
    id : str or gymnasium.envs.registration.EnvSpec
        For ``gymnasium.make``.
    kwargs : mapping
        For ``gymnasium.make``.
    prepare : callable
        Called with each environment once it is made, e.g. to set attributes of ``env.unwrapped``.
    observation : callable
        Upstream's observation -> the pool's row: an array, or a nested dict of arrays. Integers may differ in width.
    action : callable
        Row of the pool's action -> upstream's action. Integer scalars arrive as numpy.int64.
    info : mapping
        The pool's info key ("a.b" for nested ones) -> upstream's info key, or a callable of (env, upstream's info).
        Records for which upstream's info lacks the key are not compared; it must not lack in all of them.
    note : str
        How the environment differs from the one of this id, for example it has the rules of an earlier version.
    """

    id: str | EnvSpec
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    prepare: Callable[[gymnasium.Env[Any, Any]], None] | None = None
    observation: Callable[[Any], Any] = unchanged
    action: Callable[[Any], Any] = unchanged
    info: Mapping[str, str | Callable[[gymnasium.Env[Any, Any], dict[str, Any]], Any]] = field(default_factory=dict)
    note: str = ""

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        name = self.id if isinstance(self.id, str) else self.id.id
        return f"gymnasium's {name}" + (f" {self.note}" if self.note else "")

    @property
    def mapped(self) -> tuple[str, ...]:
        """The entries of `info`."""
        return tuple(f"info:{key}" for key in self.info)

    def make(self) -> gymnasium.Env[Any, Any]:
        """Return a new environment, without gymnasium's checks of arguments and results or its warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            env = gymnasium.make(self.id, disable_env_checker=True, **self.kwargs)
        if self.prepare:
            self.prepare(env)
        return env

    def start(self, seed: int) -> GymnasiumPlayer:
        """Return an environment with a seed."""
        return GymnasiumPlayer(self, seed)


class GymnasiumPlayer:
    """One environment of gymnasium: it is reset with its seed first, and without a seed after each episode."""

    def __init__(self, oracle: GymnasiumOracle, seed: int):
        self.oracle = oracle
        self.env = oracle.make()
        self.seed: int | None = seed
        self.is_done = True
        self.elapsed = 0

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record; the reward is upstream's as float32."""
        reward: Any
        if self.is_done:
            obs, info = self.env.reset(seed=self.seed)
            reward, terminated, truncated, self.elapsed, self.seed = 0.0, False, False, 0, None
        else:
            obs, reward, terminated, truncated, info = self.env.step(self.oracle.action(action))
            self.elapsed += 1
        self.is_done = bool(terminated or truncated)
        values: dict[str, Any] = {
            "reward": np.float32(reward),
            "terminated": np.bool_(terminated),
            "truncated": np.bool_(truncated),
            "elapsed_step": np.int32(self.elapsed),
        }
        for key, source in self.oracle.info.items():
            if callable(source):
                values[f"info:{key}"] = source(self.env, info)
            elif source in info:
                values[f"info:{key}"] = info[source]
        return dict(leaves(self.oracle.observation(obs), "obs")) | values

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def action_row(actions: Any, t: int, i: int) -> Any:
    """Return row (t, i) of actions, which are an array or a dict of arrays; the caller may change the row."""
    if isinstance(actions, dict):
        return {k: action_row(v, t, i) for k, v in actions.items()}
    row = actions[t, i]
    return row.copy() if row.ndim else np.int64(row) if row.dtype.kind in "iu" else row
