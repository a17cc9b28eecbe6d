"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.mpe.registration import TASKS
from envpool.verify.oracle import Oracle


@dataclass(frozen=True, kw_only=True)
class ParallelOracle(Oracle):
    """An environment of mpe2 in PettingZoo's parallel form.

    Attributes
    ----------
    module : str
        Name of its module.
    kwargs : mapping
        Arguments of ``parallel_env``.
    stage : int
        Stage of the curriculum, if there is one. In mpe2 1.1.1, ``set_curriculum_stage`` has no effect, since the
        scenario's base class has a property of this name which forgets what it is set to; here the stage is set.
    """

    module: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    stage: int = 0

    @property
    def title(self) -> str:
        """Name of the upstream environment."""
        return f"mpe2's {self.module}"

    def make(self, **kwargs: Any) -> Any:
        """Return a new environment; arguments take precedence over `kwargs`."""
        env = import_module(f"mpe2.{self.module}").parallel_env(**self.kwargs, **kwargs)
        scenario = env.unwrapped.scenario
        if hasattr(scenario, "CURRICULUM_STAGES"):
            type(scenario).curriculum_stage = 0  # replaces the property
            scenario.curriculum_stage = self.stage
        return env

    def start(self, seed: int, **kwargs: Any) -> ParallelPlayer:
        """Return an environment with a seed; see `make` for the other arguments."""
        return ParallelPlayer(self.make(**kwargs), seed)


class ParallelPlayer:
    """One environment: it is reset with its seed first, and without a seed after each episode.

    Observations are arrays (agents, size), padded with zeros to the largest size; likewise, an agent gets the first
    numbers of its row of a continuous action.
    """

    def __init__(self, env: Any, seed: int):
        self.env = env
        self.seed: int | None = seed
        self.agents: list[str] = env.possible_agents
        self.size = max(env.observation_space(agent).shape[0] for agent in self.agents)
        self.is_done = True
        self.elapsed = 0

    def padded(self, rows: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return observations as one array."""
        obs = np.zeros((len(self.agents), self.size), np.float32)
        for row, agent in zip(obs, self.agents, strict=True):
            row[: len(rows[agent])] = rows[agent]
        return obs

    def choose(self, action: Sequence[Any]) -> dict[str, Any]:
        """Return upstream's form of a row of actions."""
        spaces = [self.env.action_space(agent) for agent in self.agents]
        return {
            agent: row[: space.shape[0]] if space.shape else int(row)
            for agent, space, row in zip(self.agents, spaces, action, strict=True)
        }

    def record(self, action: Any) -> dict[str, Any]:
        """Return the next record; rewards are upstream's as float32."""
        if self.is_done:
            obs, _ = self.env.reset(seed=self.seed)
            rewards = np.zeros(len(self.agents), np.float32)
            terminated = truncated = False
            self.elapsed, self.seed, infos = 0, None, {}
        else:
            obs, given, ended, cut, infos = self.env.step(self.choose(action))
            rewards = np.array([given[agent] for agent in self.agents], np.float32)
            terminated, truncated = any(ended.values()), any(cut.values())  # all of them or none
            self.elapsed += 1
        self.is_done = terminated or truncated
        figures = [infos[agent]["benchmark_data"] for agent in self.agents if infos.get(agent)]
        return {
            "obs": self.padded(obs),
            "reward": rewards,
            "terminated": np.bool_(terminated),
            "truncated": np.bool_(truncated),
            "elapsed_step": np.int32(self.elapsed),
        } | ({"info:benchmark_data": table_of(figures)} if figures else {})

    def close(self) -> None:
        """Free the environment; upstream's ``close`` would end pygame for all others, too."""


def table_of(figures: Sequence[Any]) -> npt.NDArray[Any]:
    """Return figures about agents, of any form, as rows that are padded with zeros; -1 stands for None."""
    rows = []
    for value in figures:
        parts = value if isinstance(value, tuple) else (value,)
        rows.append(np.concatenate([np.ravel(-1.0 if part is None else part) for part in parts]))
    table = np.zeros((len(rows), max(map(len, rows))))
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None, stage: int = 0) -> ParallelOracle:
    """Return the upstream environment of a task.

    Parameters
    ----------
    task_id : str
        The task.
    kwargs : mapping, optional
        Arguments of ``parallel_env``.
    stage : int
        Stage of the curriculum.
    """
    name = task_id.removeprefix("MPE/").partition("-")[0]
    return ParallelOracle(
        module=f"{name}_v{TASKS[name]}",
        kwargs=kwargs or {},
        stage=stage,
        options={"players": "grid"},
        packages=("mpe2", "pettingzoo"),
    )
