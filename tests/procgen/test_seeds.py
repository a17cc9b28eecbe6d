"""Seeds: both rules, seeds at the ends of their range, and new seeds for some environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.procgen.upstream import load
from envpool.sampling.sequences import make_actions
from tests.procgen.upstream import upstream_of
from tests.support.results import assert_same

TASK = "StarpilotEasy-v0"


def make(**options: Any) -> Any:
    return envpool.make_gymnasium(options.pop("task_id", TASK), **{"num_envs": 4, "num_threads": 2, **options})


def played(pool: Any, result: tuple[Any, ...], steps: int = 40, seed: int = 0) -> list[Any]:
    """Return what the pool returns for random actions, after the result of a reset."""
    actions = make_actions(pool.spec.action_space, "random", steps, pool.num_envs, seed)
    return [result, *(pool.step(row) for row in actions)]


@pytest.mark.parametrize("task_id", ["StarpilotEasy-v0", "CaveflyerMemory-v0"])
@pytest.mark.parametrize("renders", [False, True])
def test_rows_of_one_call(task_id: str, renders: bool) -> None:
    """With seed_rows, environment i is row i of upstream's environment of num_envs rows."""
    oracle = upstream_of(task_id)
    upstream = load().ProcgenGym3Env(
        num=4, rand_seed=7, num_threads=0, env_name=oracle.env_name, distribution_mode=oracle.mode
    )
    mode = {"render_mode": "rgb_array"} if renders else {}
    with make(task_id=task_id, seed=7, seed_rows=True, autoreset_mode="same_step", **mode) as pool:
        obs, info = pool.reset()
        ended = 0
        for row in make_actions(pool.spec.action_space, "random", 150, 4):
            assert np.array_equal(obs, upstream.observe()[1]["rgb"].transpose(0, 3, 1, 2))
            for name, values in upstream._info.items():
                assert np.array_equal(info[name], values), name
            upstream.act(row)
            obs, reward, terminated, truncated, info = pool.step(row)
            assert np.array_equal(reward, upstream.observe()[0])
            assert np.array_equal(terminated, upstream.observe()[2])
            assert not truncated.any()
            ended += terminated.sum()
        assert ended > 0 or task_id != TASK
    upstream.close()


def test_new_seeds_are_rows_of_other_calls() -> None:
    """An int seeds all rows; a single environment gets its row of the call with its seed minus its number."""
    with make(seed=5, seed_rows=True) as pool, make(seed=9, seed_rows=True) as other:
        expected = played(other, other.reset())
        played(pool, pool.reset())
        for ours, theirs in zip(played(pool, pool.reset(seed=9)), expected, strict=True):
            assert_same(ours, theirs)
        played(pool, pool.reset(seed=5))
        obs, info = pool.reset([2], seed=[9 + 2])
        assert np.array_equal(obs[0], expected[0][0][2])
        assert info["level_seed"] == expected[0][1]["level_seed"][2]


def test_rows_do_not_depend_on_threads_or_batches() -> None:
    with make(seed=5, seed_rows=True, num_envs=12, num_threads=1) as one:
        levels = one.reset()[1]["level_seed"]
        assert len(set(levels.tolist())) == 12
    with make(seed=5, seed_rows=True, num_envs=12, num_threads=8, batch_size=3) as pool:
        pool.async_reset()
        for _ in range(4):
            *_, info = pool.recv()
            assert np.array_equal(info["level_seed"], levels[info["env_id"]])
    with make(seed=5, num_envs=12) as other:
        assert not np.array_equal(other.reset()[1]["level_seed"], levels)


def test_the_largest_seeds() -> None:
    """Seeds count modulo 2**32: upstream's are int32, and an environment has the seed of the pool plus its id."""
    with make(seed=2**31 - 1, num_envs=3) as pool:
        obs, info = pool.reset()
        for i in (0, 2):
            player = upstream_of(TASK).start(2**31 - 1 + i)
            record = player.record(None)
            assert np.array_equal(obs[i], record["obs"])
            assert info["level_seed"][i] == record["info:level_seed"]
            player.close()
    with make(env_seed=[0, 1, 2, 3], seed_rows=True) as pool, make(seed=0, seed_rows=True) as other:
        assert_same(pool.reset(), other.reset())


def test_new_seeds_in_the_middle_of_an_episode() -> None:
    with make(seed=3) as pool, make(seed=3) as fresh:
        expected = played(fresh, fresh.reset())
        played(pool, pool.reset(), steps=13, seed=1)
        for ours, theirs in zip(played(pool, pool.reset(seed=3)), expected, strict=True):
            assert_same(ours, theirs)


def test_a_reset_in_the_middle_of_an_episode_starts_another_level() -> None:
    """And a second reset, which upstream does not count as early, shows the same level again."""
    with make(seed=3) as pool:
        _, first = pool.reset()
        pool.step(np.full(4, 4, np.int32))
        obs, second = pool.reset()
        assert (first["level_seed"] != second["level_seed"]).all()
        assert np.array_equal(second["prev_level_seed"], first["level_seed"])
        again, third = pool.reset()
        assert np.array_equal(obs, again)
        assert np.array_equal(second["level_seed"], third["level_seed"])
