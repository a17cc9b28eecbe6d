"""Catch and NChain in plain Python: the rules of tasks that Gymnasium does not have.

The rules of Catch were found by playing EnvPool 1.2.5, whose boards, rewards and ends of episodes follow them for
several sizes. Where the ball starts comes from the generator that all environments here have; EnvPool uses another
generator.

The rules of NChain are those of gym before 0.18 and of EnvPool 1.2.5: each step of EnvPool is one of the two steps that
the rules allow. Which of the two it is comes from the generator that all environments here have; EnvPool uses another
generator.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from tests.support.oracles.gymnasium_oracle import Upstream


class PlainCatch(gymnasium.Env[np.ndarray, int]):
    """A ball falls by one row a step; the paddle in the last row should be where it lands."""

    def __init__(self, height: int, width: int):
        self.board = height, width

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.ball = [0, int(self.np_random.integers(self.board[1]))]
        self.paddle = self.board[1] // 2
        return self.drawn(), {}

    def step(self, action: int) -> Any:
        self.ball[0] += 1
        if action == 0 and self.paddle > 0:
            self.paddle -= 1
        if action == 2 and self.paddle < self.board[1] - 1:
            self.paddle += 1
        if self.ball[0] < self.board[0] - 1:
            return self.drawn(), 0.0, False, False, {}
        return self.drawn(), 1.0 if self.ball[1] == self.paddle else -1.0, True, False, {}

    def drawn(self) -> np.ndarray:
        """Return the board."""
        board = np.zeros(self.board, np.float32)
        board[tuple(self.ball)] = 1
        board[-1, self.paddle] = 1
        return board


class CatchRules(Upstream):
    """Makes PlainCatch instead of an env of gymnasium."""

    def make(self) -> gymnasium.Env[Any, Any]:
        env = PlainCatch(self.kwargs.get("height", 10), self.kwargs.get("width", 5))
        limit = self.kwargs.get("max_episode_steps")
        return gymnasium.wrappers.TimeLimit(env, limit) if limit else env


class PlainNChain(gymnasium.Env[int, int]):
    """Action 1 returns to the start for a small reward; action 0 moves on and pays only at the end of the chain."""

    def __init__(self, n: int = 5, slip: float = 0.2, small: float = 2.0, large: float = 10.0):
        self.last, self.slip, self.small, self.large = n - 1, slip, small, large

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.link = 0
        return self.link, {}

    def step(self, action: int) -> Any:
        goes_back = bool(action)
        if self.np_random.random() < self.slip:
            goes_back = not goes_back
        if goes_back:
            self.link, reward = 0, self.small
        elif self.link == self.last:
            reward = self.large
        else:
            self.link, reward = self.link + 1, 0.0
        return self.link, reward, False, False, {}


class NChainRules(Upstream):
    """Makes PlainNChain instead of an env of gymnasium."""

    def make(self) -> gymnasium.Env[Any, Any]:
        kwargs = dict(self.kwargs)
        limit = kwargs.pop("max_episode_steps", 1000)
        return gymnasium.wrappers.TimeLimit(PlainNChain(**kwargs), limit)
