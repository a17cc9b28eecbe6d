"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from envpool.procgen.files import find_files
from envpool.procgen.games import MODES
from envpool.tasks.registry import registry
from envpool.verify.oracle import Oracle

INSTALL = "pip install --no-deps procgen-mirror==0.10.7 gym3==0.3.3 && pip install cffi"


def load() -> ModuleType:
    """Return upstream's module ``procgen.env``.

    The package itself is not imported, since it imports gym, which would change what ``envpool.make_gym`` returns.
    """
    if "procgen" not in sys.modules:
        package = ModuleType("procgen")
        package.__path__ = [str(find_files().package)]
        sys.modules["procgen"] = package
    try:
        return import_module("procgen.env")
    except ImportError as error:
        raise ImportError(f"Procgen's Python code needs gym3 and cffi ({error}): {INSTALL}") from error


@dataclass(frozen=True, kw_only=True)
class ProcgenOracle(Oracle):
    """``ProcgenGym3Env(num=1)``, with episodes as ``gym3.ToGymEnv`` makes them.

    Attributes
    ----------
    env_name : str
        The game.
    mode : str
        Upstream's name of the mode.
    kwargs : tuple of (str, object)
        More arguments of ``ProcgenGym3Env``.
    limit : int
        Time limit in steps; episodes that reach it are truncated, and a level is forced to end.
    """

    env_name: str
    mode: str
    kwargs: tuple[tuple[str, Any], ...] = ()
    limit: int = 2**31 - 1
    packages: tuple[str, ...] = ("procgen-mirror", "gym3")

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        return f"procgen's {self.env_name} ({self.mode})"

    def make(self, seed: int) -> Any:
        """Return a new environment; seeds count modulo 2**32."""
        seed = (seed + 2**31) % 2**32 - 2**31
        arguments = {"env_name": self.env_name, "distribution_mode": self.mode, **dict(self.kwargs)}
        return load().ProcgenGym3Env(num=1, rand_seed=seed, num_threads=0, **arguments)

    def start(self, seed: int) -> ProcgenPlayer:
        """Return an environment with a seed."""
        return ProcgenPlayer(self.make(seed), self.limit)


class ProcgenPlayer:
    """One environment of upstream, played episode after episode.

    Parameters
    ----------
    env : ProcgenGym3Env
        The environment, of one row.
    limit : int
        Time limit in steps.
    """

    def __init__(self, env: Any, limit: int):
        self.env = env
        self.limit = limit
        self.elapsed = 0
        self.is_done = True

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record, with planes of the observation; the reward is 0 in a reset."""
        reward, terminated, truncated = np.float32(0), False, False
        if self.is_done:
            obs, first = self.observe()
            if not first:
                self.env.act(np.array([-1], np.int32))
                obs, _ = self.observe()
            self.elapsed = 0
        else:
            before, _ = self.observe()
            self.env.act(np.array([action], np.int32))
            obs, terminated = self.observe()
            reward = np.float32(self.env.observe()[0][0])
            obs = before if terminated else obs
            self.elapsed += 1
            truncated = self.elapsed >= self.limit
        self.is_done = terminated or truncated
        info = self.env.get_info()[0]
        return {
            "obs": obs.transpose(2, 0, 1),
            "reward": reward,
            "terminated": np.bool_(terminated),
            "truncated": np.bool_(truncated),
            "elapsed_step": np.int32(self.elapsed),
            **{f"info:{name}": info[name] for name in ("prev_level_seed", "prev_level_complete", "level_seed")},
        }

    def observe(self) -> tuple[Any, bool]:
        """Return a copy of the observation, and whether it is the first one of an episode."""
        _, obs, first = self.env.observe()
        return obs["rgb"][0].copy(), bool(first[0])

    def close(self) -> None:
        """Free the environment."""
        self.env.close()


def upstream_of(task_id: str) -> ProcgenOracle:
    """Return the upstream environment of a task."""
    config = registry.find(task_id).config
    modes = {number: name.lower() for name, number in MODES.items()}
    load()
    return ProcgenOracle(
        env_name=config["env_name"], mode=modes[config["distribution_mode"]], limit=config["max_episode_steps"]
    )
