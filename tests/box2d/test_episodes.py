"""Worlds of Box2D over many episodes: seeds, NaN in actions, memory."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError
from tests.box2d.cases import WALKER
from tests.support.process import resident


def test_seeding_anew_keeps_the_world() -> None:
    """Episodes depend slightly on earlier ones after reset(seed=...), as they do upstream."""
    env = gymnasium.make(WALKER)
    with envpool.make_gymnasium(WALKER, num_envs=1, seed=3) as pool:
        for seed in (3, 3, 11):
            theirs, _ = env.reset(seed=seed)
            ours, _ = pool.reset(seed=seed)
            for _ in range(40):
                assert np.array_equal(ours[0], theirs)
                theirs = env.step(np.float32([0.3, -0.4, 0.5, 0.6]))[0]
                ours = pool.step(np.float32([[0.3, -0.4, 0.5, 0.6]]))[0]


@pytest.mark.parametrize(("task_id", "size"), [("BipedalWalker-v3", 4), ("CarRacing-v3", 3)])
def test_nan_in_an_action(task_id: str, size: int) -> None:
    """NaN would stay in the world forever: the environment starts another episode, and the others continue."""
    with envpool.make_gymnasium(task_id, num_envs=12, num_threads=2) as pool:
        pool.reset()
        action = np.zeros((12, size), np.float32)
        action[5, 1] = np.nan
        with pytest.raises(EnvStepError, match="the action contains NaN; pass numbers") as caught:
            pool.step(action)
        assert list(caught.value.failures) == [5]
        obs, _, terminated, truncated, _ = pool.recv()
        assert np.flatnonzero(truncated).tolist() == [5]
        assert not terminated.any()
        assert not obs[5].any()
        obs, _, _, truncated, info = pool.step(np.zeros((12, size), np.float32))
        assert not truncated.any()
        assert info["elapsed_step"].tolist() == [0 if i == 5 else 2 for i in range(12)]
        assert np.isfinite(obs.astype(np.float64)).all()


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["LunarLander-v3", "LunarLander-v2", "BipedalWalkerHardcore-v3", "CarRacing-v3"])
def test_memory_stays(task_id: str) -> None:
    """Resets after the first tenth take no more memory, except for a world with more to draw than any before."""
    num_envs, resets = 16, 40_000
    with envpool.make_gymnasium(task_id, num_envs=num_envs, num_threads=2) as pool:
        pool.reset()
        before = 0
        for i in range(resets // num_envs):
            if i == resets // num_envs // 10:
                before = resident()
            pool.reset()
        assert resident() - before < 3_000_000
