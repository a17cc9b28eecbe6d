"""Seeds determine what happens in every task, in sync and async pools alike."""

import re

import numpy as np
import pytest

import envpool
from tests.support.results import leaves
from tests.support.tasks import task_params

STEPS = 16
#: Tasks in which nothing is random: one level, and no chance in its rules.
WITHOUT_CHANCE = re.compile(
    "ConnectFour-v0|MiniGrid-(DistShift|Empty-[0-9]).*|(tabular/)?CliffWalking-v[01]|"
    "(Caveflyer|Climber|Coinrun|Heist|Jumper|Leaper|Maze|Ninja)Exploration-v0"
)


def row(result, i):
    """Return what a result says about one environment, apart from its id."""
    return {path: np.asarray(values[i]) for path, values in leaves(result) if not path.endswith("env_id")}


def assert_equal(a, b):
    assert list(a) == list(b)
    for path, value in a.items():
        np.testing.assert_array_equal(value, b[path], err_msg=path)


def is_equal(a, b):
    try:
        assert_equal(a, b)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("task_id", task_params())
def test_seeds_determine_what_happens(task_id):
    """An async pool returns the rows of a sync pool with the same seeds; another seed returns others."""
    options = {"players": "grid"} if envpool.make_spec(task_id).num_players else {}
    with (
        envpool.make_gymnasium(task_id, num_envs=2, seed=11, **options) as pool,
        envpool.make_gymnasium(task_id, num_envs=2, seed=11, batch_size=1, num_threads=2, **options) as other,
    ):
        pool.action_space.seed(3)
        actions = [pool.action_space.sample() for _ in range(STEPS)]
        pool.async_reset()
        results = [pool.recv()] + [pool.step(np.stack([action, action])) for action in actions]
        expected = [[row(result, i) for i in range(2)] for result in results]
        other.async_reset()
        records = [0, 0]
        while min(records) <= STEPS:
            result = other.recv()
            (i,) = result[-1]["env_id"]
            if records[i] <= STEPS:
                assert_equal(row(result, 0), expected[records[i]][i])
            records[i] += 1
            action = actions[min(records[i], STEPS) - 1]
            other.send(np.asarray(action)[None], [i])
        is_random = any(not is_equal(a, b) for a, b in expected)
        assert is_random == (WITHOUT_CHANCE.fullmatch(task_id) is None)
