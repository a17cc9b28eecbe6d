"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from envpool.nethack.files import INSTALL, find_files
from envpool.tasks.registry import registry
from envpool.verify.oracle import Oracle


@dataclass(frozen=True, kw_only=True)
class NetHackOracle(Oracle):
    """A class of ``nle.env``, whose games have the seeds that envpool draws.

    Attributes
    ----------
    task : str
        Name of the class.
    kwargs : mapping
        Arguments of the class.
    """

    task: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ("nle",)

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        return f"nle's {self.task}"

    def make(self) -> Any:
        """Return a new environment."""
        find_files()
        try:
            from nle import env
            from nle.env import tasks
        except ImportError as error:
            raise ImportError(f"nle cannot be imported ({error}): {INSTALL}") from error
        cls = env.NLE if self.task == "NetHack" else getattr(tasks, self.task)
        made = cls(fix_moon_phase=True, **self.kwargs)
        # The challenge refuses seeds, without which nothing can be compared.
        made.nethack.__dict__.pop("set_initial_seeds", None)
        return made

    def start(self, seed: int) -> NetHackPlayer:
        """Return an environment with a seed."""
        return NetHackPlayer(self.make(), seed)


class NetHackPlayer:
    """One environment of upstream, played episode after episode."""

    def __init__(self, env: Any, seed: int):
        self.env = env
        self.rng = np.random.default_rng(seed)
        self.elapsed = 0
        self.is_done = True

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record; the reward is 0 in a reset."""
        reward, terminated, truncated = 0.0, False, False
        if self.is_done:
            core, disp = map(int, self.rng.integers(2**63, size=2))
            self.env.nethack.set_initial_seeds(core, disp, False)
            obs, info = self.env.reset()
            self.elapsed = 0
        else:
            obs, reward, terminated, truncated, info = self.env.step(int(action))
            self.elapsed += 1
        self.is_done = terminated or truncated
        return {f"obs:{name}": array.copy() for name, array in obs.items()} | {
            "reward": np.float32(reward),
            "terminated": np.bool_(terminated),
            "truncated": np.bool_(truncated),
            "elapsed_step": np.int32(self.elapsed),
            "info:end_status": np.int32(info["end_status"]),
            "info:is_ascended": np.bool_(info["is_ascended"]),
        }

    def close(self) -> None:
        """Free the environment."""
        self.env.close()


def upstream_of(task_id: str) -> NetHackOracle:
    """Return the upstream environment of a task."""
    find_files()
    return NetHackOracle(task=registry.find(task_id).config["task"])
