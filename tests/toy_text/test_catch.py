"""Catch against its rules, written down once more in plain Python.

The rules were found by playing EnvPool 1.2.5, whose boards, rewards and ends follow them for several sizes. Where the
ball starts comes from the generator that all envs here have; EnvPool's is another one.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from tests.support.oracles.gymnasium_oracle import Upstream, assert_exact
from tests.toy_text.test_exactness import RUNS


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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"height": 2, "width": 1},
        {"height": 2, "width": 4},
        {"height": 7},
        {"width": 8},
        {"height": 40, "width": 30},
        {"max_episode_steps": 5},
        {"max_episode_steps": 9},
    ],
    ids=str,
)
def test_rules(options: dict[str, int]) -> None:
    upstream = CatchRules("Catch-v0", options)
    expected = assert_exact("Catch-v0", upstream, options=options, num_envs=20, steps=250, runs=RUNS, min_episodes=20)
    if options.get("width") != 1 and options.get("max_episode_steps") != 5:
        assert set(np.unique(expected.arrays["reward"])) == {-1.0, 0.0, 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("actions", ["random", "sticky"])
def test_50_000_steps(actions: str) -> None:
    assert_exact("Catch-v0", CatchRules("Catch-v0"), actions=actions, num_envs=50, steps=1000, runs=RUNS)


def test_boards_are_yours() -> None:
    """Writing into a board does not change later ones."""
    with envpool.make_gymnasium("Catch-v0", num_envs=2) as pool:
        board, _ = pool.reset()
        for _ in range(12):
            board[:] = 7
            board = pool.step(np.ones(2, np.int32))[0]
            assert set(np.unique(board)) == {0.0, 1.0}
