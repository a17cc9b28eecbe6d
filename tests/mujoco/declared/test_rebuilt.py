"""Declarations that rebuild built-in tasks return their bits."""

import numpy as np
import pytest

import envpool
from tests.mujoco.declared.rebuilt import REBUILT

pytestmark = pytest.mark.filterwarnings("ignore:.*settotalmass.*is deprecated")  # by the models of upstream


def leaves(nest):
    """Return the arrays of a nested observation in order."""
    if isinstance(nest, dict):
        return [leaf for value in nest.values() for leaf in leaves(value)]
    return [nest]


def assert_equal_bits(task_id, steps, num_envs=2, **options):
    """Step the built-in and the declared task with the same actions, and compare all bits."""
    declared = REBUILT[task_id]()
    limit = {"max_episode_steps": declared.get("max_episode_steps", 1000)}
    common = {"num_envs": num_envs, "seed": 7, "num_threads": 1} | limit | options
    native = envpool.make_gymnasium(task_id, **common)
    made = envpool.make_mujoco(**declared | common)
    np.testing.assert_array_equal(made.action_space.low, native.action_space.low)
    np.testing.assert_array_equal(made.action_space.high, native.action_space.high)
    rng = np.random.default_rng(0)
    low, high = native.action_space.low, native.action_space.high
    results = native.reset(), made.reset()
    ended = 0
    for step in range(steps + 1):
        for theirs, ours in zip(leaves(results[0][0]), leaves(results[1][0]), strict=True):
            assert theirs.reshape(num_envs, -1).tobytes() == ours.reshape(num_envs, -1).tobytes(), step
        for theirs, ours in zip(results[0][1:-1], results[1][1:-1], strict=True):
            assert theirs.tobytes() == ours.tobytes(), step
        for key in declared.get("info", {}):
            assert results[0][-1][key].tobytes() == results[1][-1][key].tobytes(), (step, key)
        if step:
            ended += int((results[0][2] | results[0][3]).sum())
        action = rng.uniform(low, high, (num_envs, *low.shape))
        results = native.step(action), made.step(action)
    native.close(), made.close()
    return ended


@pytest.mark.parametrize("task_id", REBUILT)
def test_200_steps(task_id):
    ended = assert_equal_bits(task_id, 200, max_episode_steps=80)
    assert ended >= 4


@pytest.mark.slow
@pytest.mark.parametrize("task_id", REBUILT)
def test_2000_steps(task_id):
    assert assert_equal_bits(task_id, 2000, seed=11) >= 2
