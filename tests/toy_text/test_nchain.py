"""NChain against its rules, written down once more in plain Python.

Gymnasium has no NChain. The rules are those of gym before 0.18 and of EnvPool 1.2.5: each of its steps is one of the
two that they allow. Which of the two comes from the generator that all envs here have; EnvPool's is another one.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.support.oracles.gymnasium_oracle import Upstream, assert_exact
from tests.toy_text.test_exactness import RUNS


class PlainNChain(gymnasium.Env[int, int]):
    """Action 1 goes back to the start for a small reward; action 0 goes on, and pays only at the end of the chain."""

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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n": 1},
        {"n": 2, "slip": 0.5},
        {"n": 40, "slip": 0.01},
        {"slip": 0.0},
        {"slip": 1.0},
        {"small": -0.1, "large": 0.3},
        {"small": 1, "large": 1e9},
    ],
    ids=str,
)
@pytest.mark.parametrize("actions", ["random", "sticky"])
def test_rules(options: dict[str, Any], actions: str) -> None:
    options = options | {"max_episode_steps": 90}
    upstream = NChainRules("NChain-v0", options)
    assert_exact("NChain-v0", upstream, actions=actions, options=options, num_envs=20, steps=250, runs=RUNS)


def test_time_limit() -> None:
    expected = assert_exact("NChain-v0", NChainRules("NChain-v0"), num_envs=3, steps=1100, min_episodes=3)
    assert expected.arrays["truncated"][1000].all()
    assert not expected.arrays["terminated"].any()
    assert set(np.unique(expected.arrays["reward"])) == {0.0, 2.0, 10.0}


@pytest.mark.slow
@pytest.mark.parametrize("actions", ["random", "sticky"])
def test_50_000_steps(actions: str) -> None:
    assert_exact("NChain-v0", NChainRules("NChain-v0"), actions=actions, num_envs=25, steps=2000, runs=RUNS)
