"""The cells of the comparison: tasks, sizes and target ratios."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from envpool.registration import registry

#: Target ratio of each cell's steps per second to those of EnvPool 1.2.5, with two threads on two cores.
TARGETS: dict[str, float] = {
    "CartPole-v1/1": 40,
    "CartPole-v1/16": 40,
    "CartPole-v1/256": 80,
    "CartPole-v1/4096": 120,
    "CartPole-v1/64/32": 20,
    "FrozenLake-v1/256": 50,
    "Pendulum-v1/256": 20,
}

#: Target ratio of the CPU time of EnvPool 1.2.5 to that of this package, for cells in which the simulator does nearly
#: all the work.
CPU_TARGETS = {
    "HalfCheetah-v5/64": 1.15,
    "HalfCheetah-v5/64/32": 1.15,
    "Ant-v5/64": 1.15,
    "Ant-v5/64/32": 1.15,
    "Humanoid-v5/64": 1.15,
    "Humanoid-v5/64/32": 1.15,
    "CheetahRun-v1/64": 1.7,
    "CheetahRun-v1/64/32": 1.7,
    "LunarLander-v3/64": 1.15,
    "BipedalWalker-v3/64": 1.15,
    "CarRacing-v3/64": 1.5,
    "Pong-v5/16": 1.5,
    "Pong-v5/16/8": 1.5,
    "Pong-v5/64": 1.5,
    "Pong-v5/64/32": 1.5,
    "Breakout-v5/16": 1.5,
    "Breakout-v5/16/8": 1.5,
    "Breakout-v5/64": 1.5,
    "Breakout-v5/64/32": 1.5,
}
DEFAULT_CELLS = (*TARGETS, *CPU_TARGETS)

#: Target ratio of the CPU time of ale_py's AtariVectorEnv to that of this package, for Atari tasks.
ALE_TARGET = 1.3

#: Number of CartPoles that are created to measure construction.
PROBE_ENVS = 100_000
#: Further cells whose construction and memory are measured.
PROBE_CELLS = ("Humanoid-v5/256", "Ant-v5/256", "Pong-v5/64")


@dataclass(frozen=True)
class Cell:
    """A task at a given size, written TASK/ENVS, or TASK/ENVS/BATCH for an async pool."""

    task: str
    num_envs: int
    batch_size: int

    def __str__(self) -> str:
        batch = f"/{self.batch_size}" if self.batch_size != self.num_envs else ""
        return f"{self.task}/{self.num_envs}{batch}"

    @property
    def target(self) -> float | None:
        """Target ratio of steps per second, or None."""
        return TARGETS.get(str(self))

    @property
    def cpu_target(self) -> float | None:
        """Target ratio of CPU times, or None."""
        return CPU_TARGETS.get(str(self))

    @property
    def is_atari(self) -> bool:
        """Whether ale_py also has this task."""
        return registry.find(self.task).env == "Atari" if self.task in registry.tasks else False


def parse(text: str) -> Cell:
    """Parse the name of a cell; raise ValueError if it has the wrong form."""
    match = re.fullmatch(r"(.+?)/([1-9]\d*)(?:/([1-9]\d*))?", text)
    if match is None:
        raise ValueError(f"a cell must have the form TASK/ENVS or TASK/ENVS/BATCH, got {text!r}")
    num_envs, batch_size = int(match[2]), int(match[3] or match[2])
    if batch_size > num_envs:
        raise ValueError(f"cell {text!r}: the batch size {batch_size} must be at most the number of envs, {num_envs}")
    return Cell(match[1], num_envs, batch_size)


def select(texts: Sequence[str]) -> list[Cell]:
    """Return the cells that are named by texts: a glob selects default cells, any other text is the name of a cell."""
    found: list[str] = []
    for text in texts or ["*"]:
        is_glob = any(c in text for c in "*?[")
        matches = [name for name in DEFAULT_CELLS if fnmatchcase(name, text)] if is_glob else [text]
        if not matches:
            raise ValueError(f"no cell matches {text!r}; the default cells are {', '.join(DEFAULT_CELLS)}")
        found += matches
    return [parse(text) for text in dict.fromkeys(found)]
