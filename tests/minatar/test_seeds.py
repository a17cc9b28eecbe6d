"""Seeds, generators and sticky actions of MinAtar over several resets, against upstream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.minatar.registration import GAMES
from tests.minatar.cases import TASKS
from tests.minatar.upstream import upstream_of
from tests.support.results import assert_same

STICKY = {"sticky_action_prob": 0.8}


def rows(pool: Any, steps: int, rng: np.random.Generator) -> list[Any]:
    """Return the results of random steps."""
    return [pool.step(rng.integers(0, pool.action_space.n, pool.num_envs)) for _ in range(steps)]


@pytest.mark.parametrize("task_id", TASKS)
def test_seeding_forgets_everything(task_id: str) -> None:
    """A reset with a seed starts what a new pool starts: sticky actions repeat none of before."""
    seeds = [900 + i for i in range(8)]
    with envpool.make_gymnasium(task_id, num_envs=8, seed=seeds, **STICKY) as new:
        expected = [new.reset(), *rows(new, 40, np.random.default_rng(1))]
    with envpool.make_gymnasium(task_id, num_envs=8, seed=3, **STICKY) as pool:
        pool.reset()
        rows(pool, 30, np.random.default_rng(2))
        found = [pool.reset(seed=seeds), *rows(pool, 40, np.random.default_rng(1))]
    for a, b in zip(expected, found, strict=True):
        assert_same(a, b)


@pytest.mark.parametrize("name", GAMES)
def test_resets_without_a_seed(name: str) -> None:
    """In the middle of an episode, too, they continue the generator's stream and keep the last action."""
    task_id = f"MinAtar/{name}-v0"
    env = upstream_of(task_id, STICKY).make()
    rng = np.random.default_rng(4)
    with envpool.make_gymnasium(task_id, num_envs=1, seed=17, **STICKY) as pool:
        for episode in range(12):
            theirs = env.reset(seed=17 if episode == 0 else None)[0]
            assert np.array_equal(pool.reset()[0][0], theirs)
            for action in rng.integers(0, 6, 9):
                theirs, reward, terminated, *_ = env.step(action)
                ours = pool.step(np.array([action]))
                assert np.array_equal(ours[0][0], theirs) and ours[1][0] == reward and ours[2][0] == terminated
                if terminated:
                    break
    env.close()
