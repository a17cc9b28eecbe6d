"""The upstream environments of MPE, as the conformance tests play and render them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from envpool.mpe import upstream
from envpool.mpe.upstream import ParallelOracle
from tests.support.oracles.frames import Size, scaled_smoothly
from tests.support.oracles.gymnasium_oracle import Reference


@dataclass(frozen=True, kw_only=True)
class Upstream(ParallelOracle, Reference):
    """An upstream environment that plays the cases of the conformance tests."""


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None, stage: int = 0) -> Upstream:
    """Return the oracle of a task, with arguments of ``parallel_env``."""
    oracle = upstream.upstream_of(task_id, kwargs, stage)
    return Upstream(**{f.name: getattr(oracle, f.name) for f in fields(ParallelOracle)})


class Rendered:
    """An environment in gymnasium's form whose frames have a size; upstream's are scaled."""

    def __init__(self, oracle: Upstream, size: Size | None):
        self.player = oracle.start(0, render_mode="rgb_array")
        self.env, self.size = self.player.env, size

    def reset(self, seed: int | None = None) -> None:
        self.env.reset(seed=seed)

    def step(self, action: Any) -> tuple[Any, ...]:
        obs, reward, terminated, truncated, info = self.env.step(self.player.choose(action))
        return obs, reward, any(terminated.values()), any(truncated.values()), info

    def render(self) -> Any:
        frame = self.env.render()
        return frame if self.size is None else scaled_smoothly(frame, self.size)

    def close(self) -> None:
        self.player.close()


def frames_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> Callable[[Size | None], Any]:
    """Return a factory of upstream environments with frames of a size."""
    return lambda size: Rendered(upstream_of(task_id, kwargs), size)
