"""The upstream environments of this family, for ``envpool verify``."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from envpool.tasks.registry import registry
from envpool.verify.oracle import Oracle

INSTALL = "it needs system packages, see docs/gfootball.md; pip install gym==0.25.2 gfootball==2.10.2"


@dataclass(frozen=True, kw_only=True)
class FootballOracle(Oracle):
    """``gfootball.env.create_environment``, after Python's global generator was seeded.

    Attributes
    ----------
    scenario : str
        Name of the scenario.
    limit : int
        Its duration in steps.
    """

    scenario: str
    limit: int
    packages: tuple[str, ...] = ("gfootball",)

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        return f"gfootball's {self.scenario}"

    def start(self, seed: int) -> FootballPlayer:
        """Return an environment with a seed."""
        return FootballPlayer(self, seed)


class FootballPlayer:
    """One environment of upstream, played episode after episode.

    Parameters
    ----------
    oracle : FootballOracle
        The task to play.
    seed : int
        Seed of Python's generator. Each environment has its own state of the generator here.
    """

    def __init__(self, oracle: FootballOracle, seed: int):
        try:
            football: Any = import_module("gfootball.env")
        except ImportError as error:
            raise ImportError(f"gfootball cannot be imported ({error}): {INSTALL}") from error
        self.limit, self.elapsed, self.is_done = oracle.limit, 0, True
        self.state = random.Random(seed).getstate()
        with self.own_generator():
            self.env = football.create_environment(env_name=oracle.scenario, representation="extracted")

    @contextmanager
    def own_generator(self) -> Iterator[None]:
        """Let upstream draw from the generator of this environment."""
        before = random.getstate()
        random.setstate(self.state)
        try:
            yield
        finally:
            self.state = random.getstate()
            random.setstate(before)

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record; the reward is 0 in a reset."""
        reward, is_done, info = 0.0, False, {"score_reward": 0}
        with self.own_generator():
            if self.is_done:
                obs, self.elapsed = self.env.reset(), 0
            else:
                obs, reward, is_done, info = self.env.step(int(action))
                self.elapsed += 1
        truncated = self.elapsed >= self.limit
        self.is_done = is_done
        return {
            "obs": obs,
            "reward": np.float32(reward),
            "terminated": np.bool_(is_done and not truncated),
            "truncated": np.bool_(truncated),
            "elapsed_step": np.int32(self.elapsed),
            "info:score_reward": np.int32(info["score_reward"]),
        }

    def close(self) -> None:
        """Free the environment."""
        self.env.close()


def upstream_of(task_id: str) -> FootballOracle | None:
    """Return the upstream environment of a task; None for scenarios of the user's."""
    config = registry.find(task_id).config
    if not config["env_name"]:
        return None
    return FootballOracle(scenario=config["env_name"], limit=config["max_episode_steps"])
