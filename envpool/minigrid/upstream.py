"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from envpool.registration import make_spec
from envpool.verify.gymnasium_oracle import GymnasiumOracle, GymnasiumPlayer


def load() -> None:
    """Import ``minigrid``, which registers its environments with gymnasium; its import prints nothing."""
    with contextlib.redirect_stdout(None), open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        import minigrid  # noqa: F401


def observation(size: int, obs: Mapping[str, Any]) -> dict[str, Any]:
    """Return upstream's observation with the mission as ASCII of `size` bytes, padded with zeros."""
    mission = np.frombuffer(str(obs["mission"]).encode("ascii").ljust(size, b"\0")[:size], np.uint8)
    return {"direction": np.int32(obs["direction"]), "image": obs["image"], "mission": mission}


def position(env: gymnasium.Env[Any, Any], info: dict[str, Any]) -> Any:
    """Return the agent's column and row."""
    inner: Any = env.unwrapped
    return np.array([int(v) for v in inner.agent_pos], np.int32)


@dataclass(frozen=True)
class MiniGridOracle(GymnasiumOracle):
    """An environment of minigrid, without what BabyAI prints."""

    def start(self, seed: int) -> GymnasiumPlayer:
        """Return an environment with a seed."""
        return QuietPlayer(self, seed)


class QuietPlayer(GymnasiumPlayer):
    """A player that prints nothing when BabyAI rejects a mission."""

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record."""
        if not self.is_done:
            return super().record(action)
        with contextlib.redirect_stdout(None):
            return super().record(action)


def upstream_of(task_id: str) -> MiniGridOracle:
    """Return the upstream environment of a task."""
    load()
    size = make_spec(task_id).config.mission_bytes
    return MiniGridOracle(
        task_id,
        packages=("gymnasium", "minigrid"),
        observation=partial(observation, size),
        info={"agent_pos": position},
    )
