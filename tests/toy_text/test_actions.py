"""Refused actions leave a pool usable, and the largest map works."""

from __future__ import annotations

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError


@pytest.mark.parametrize(
    "task_id", ["FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1", "NChain-v0", "Catch-v0"]
)
def test_bad_action_leaves_the_pool_usable(task_id: str) -> None:
    """A refused action stays in its slot; a reset, which does not read actions, must not fail because of it."""
    with envpool.make_gymnasium(task_id, num_envs=4) as pool:
        pool.reset(seed=3)
        expected = pool.step(np.zeros(4, np.int32))[0]
        for action in (-1, 2**31 - 1, -(2**31), int(pool.action_space.n)):
            pool.reset()
            with pytest.raises(ActionError):
                pool.step(np.full(4, action, np.int64))
            pool.reset(seed=3)
            assert np.array_equal(pool.step(np.zeros(4, np.int32))[0], expected)


def test_largest_map() -> None:
    """The largest map has a million states, a quarter of which are starts."""
    row = "SFFF" * 256
    with envpool.make_gymnasium("FrozenLake-v1", num_envs=8, desc=[row] * 1024, is_slippery=False) as pool:
        obs, _ = pool.reset(seed=1)
        assert (obs % 4 == 0).all()
        assert pool.observation_space.n == 2**20
        moved = pool.step(np.full(8, 2, np.int32))[0]
        assert np.array_equal(moved, obs + 1)
