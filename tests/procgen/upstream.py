"""Procgen's own environments as the oracle, and their frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from envpool.procgen.upstream import ProcgenOracle, ProcgenPlayer
from envpool.procgen.upstream import upstream_of as oracle_of
from tests.support.oracles.frames import Size, scaled_smoothly
from tests.support.oracles.gymnasium_oracle import Reference


@dataclass(frozen=True, kw_only=True)
class Upstream(ProcgenOracle, Reference):
    """An environment of ``ProcgenGym3Env(num=1)`` that plays the cases of the conformance tests."""


def upstream_of(task_id: str, **kwargs: Any) -> Upstream:
    """Return the oracle of a task, with more arguments of ``ProcgenGym3Env``; ``limit`` is the time limit."""
    oracle = oracle_of(task_id)
    values: dict[str, Any] = {f.name: getattr(oracle, f.name) for f in fields(oracle)}
    values["limit"] = kwargs.pop("limit", oracle.limit)
    return Upstream(**values | {"kwargs": tuple(kwargs.items())})


class Rendered:
    """An upstream environment as `tests.support.oracles.frames.compare` needs it."""

    def __init__(self, task_id: str, size: Size | None):
        self.oracle = upstream_of(task_id, render_mode="rgb_array")
        self.size = size
        self.player: ProcgenPlayer | None = None

    def reset(self, seed: int | None = None) -> None:
        """Start an episode, with a seed for the first one."""
        if seed is not None:
            self.player = self.oracle.start(seed)
        assert self.player is not None
        self.player.is_done = True
        self.player.record(None)

    def step(self, action: Any) -> tuple[Any, ...]:
        """Return what gymnasium's step returns, as far as it is needed here."""
        assert self.player is not None
        record = self.player.record(action)
        return record["obs"], record["reward"], record["terminated"], record["truncated"], {}

    def render(self) -> np.ndarray:
        """Return the frame, scaled if another size than upstream's is asked for."""
        assert self.player is not None
        frame: np.ndarray = self.player.env.get_info()[0]["rgb"]
        return frame.copy() if self.size in (None, (512, 512)) else scaled_smoothly(frame, self.size)

    def close(self) -> None:
        """Free the environment."""
        assert self.player is not None
        self.player.close()


def frames_of(task_id: str) -> Callable[[Size | None], Any]:
    """Return a factory of upstream environments that render."""
    return lambda size: Rendered(task_id, size)
