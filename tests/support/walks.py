"""Small Python environments for the tests of vector environments."""

from __future__ import annotations

import multiprocessing
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

#: Opens to let the walks go on that take the action WAIT, also those in processes that were forked.
GATE = multiprocessing.get_context("fork").Event()
LEFT, RIGHT, WAIT, FAIL = range(4)


class Walk(gymnasium.Env[Any, Any]):
    """A walk from cell 0 to cell `size`, which ends the episode with reward 1.

    Parameters
    ----------
    size : int
        Number of steps to the end.
    form : {"array", "dict", "nested", "ragged", "graph", "tuple"}
        Form of the observations. Those of "ragged" and "graph" do not belong to any space.
    num_rewards : int
        Number of rewards of a step, which are a list; 0 stands for a number.
    """

    def __init__(self, size: int = 5, form: str = "array", num_rewards: int = 0):
        self.size, self.form, self.num_rewards = size, form, num_rewards
        self.cell, self.is_over, self.num_closed = 0, False, 0
        self.action_space = spaces.Discrete(4)
        cell, rand = spaces.Box(0, size, (1,), np.float32), spaces.Box(0, 1, (2,), np.float64)
        if form == "dict":
            self.observation_space = spaces.Dict({"cell": cell, "rand": rand})
        elif form == "nested":
            parts = spaces.Tuple((spaces.Discrete(2), rand))
            self.observation_space = spaces.Dict({"cell": cell, "more": spaces.Dict({"parts": parts})})
        elif form == "tuple":
            self.observation_space = spaces.Tuple((cell, rand))
        elif form == "array":
            self.observation_space = cell
        else:
            del self.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.cell, self.is_over = (options or {}).get("cell", 0), False
        return self.observation(), {"size": self.size}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if self.is_over:
            raise ValueError("a step after the end of an episode")
        if action == FAIL:
            raise KeyError("was asked to fail")
        if action == WAIT:
            assert GATE.wait(60)
        self.cell = max(self.cell + (1 if action == RIGHT else -1 if action == LEFT else 0), 0)
        self.is_over = self.cell >= self.size
        reward = [float(self.is_over)] * self.num_rewards if self.num_rewards else float(self.is_over)
        info = {"object": self, "cell": self.cell} if action == RIGHT else {}
        return self.observation(), reward, self.is_over, False, info

    def observation(self) -> Any:
        """Return the observation."""
        cell, rand = np.array([self.cell], np.float32), self.np_random.random(2)
        if self.form == "ragged":
            return np.full(self.size, self.cell)
        if self.form == "graph":
            return {i: [i + 1] for i in range(self.cell)}
        return {
            "array": cell,
            "dict": {"cell": cell, "rand": rand},
            "nested": {"cell": cell, "more": {"parts": (np.int64(self.cell % 2), rand)}},
            "tuple": (cell, rand),
        }[self.form]

    def render(self) -> Any:
        return np.full((2, 2, 3), self.cell, np.uint8)

    def close(self) -> None:
        self.num_closed += 1


class OldWalk:
    """The walk with the interface of old gym."""

    def __init__(self, size: int = 5):
        self.walk = Walk(size)
        self.observation_space, self.action_space = self.walk.observation_space, self.walk.action_space

    def seed(self, seed: int | None = None) -> list[int | None]:
        self.walk.reset(seed=seed)
        return [seed]

    def reset(self) -> Any:
        return self.walk.reset()[0]

    def step(self, action: Any) -> tuple[Any, float, bool, dict[str, Any]]:
        obs, reward, terminated, _, info = self.walk.step(action)
        return obs, reward, terminated or self.walk.cell == 3, {**info, "TimeLimit.truncated": self.walk.cell == 3}

    def close(self) -> None:
        self.walk.close()
