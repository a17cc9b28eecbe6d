"""Every task of dm_control's suite: the pool returns upstream's bits."""

import numpy as np
import pytest

import envpool
from tests.mujoco.dmc.upstream import assert_exact, suite_tasks

TASKS = list(suite_tasks())
#: Domains whose models take long to compile or to step.
DEAR = ("Dog", "HumanoidCMU", "Quadruped")


def test_every_task_is_there():
    assert set(TASKS) <= set(envpool.list_all_envs())


@pytest.mark.parametrize("task_id", TASKS)
def test_exact(task_id):
    num_envs = 1 if task_id.startswith(DEAR) else 2
    runs = [{"num_threads": 2, "batch_size": 1}]
    info = {"qpos0": qpos, "qvel0": qvel}
    assert_exact(task_id, num_envs=num_envs, runs=runs, info=info, debug_info=True, min_episodes=2)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", TASKS)
def test_exact_for_long(task_id):
    assert_exact(task_id, num_envs=1, steps=2003, seed=1, max_episode_steps=600, min_episodes=3)
    if not task_id.startswith(DEAR):
        assert_exact(task_id, actions="sticky", num_envs=1, steps=603, seed=2, max_episode_steps=300)


def qpos(env):
    return env.physics.data.qpos


def qvel(env):
    return env.physics.data.qvel


@pytest.mark.parametrize("task_id", ["HopperStand-v1", "HopperHop-v1"])
def test_hoppers_that_stand(task_id):
    """Few do, and only for some steps; rewards of the others are zero."""
    expected = assert_exact(task_id, num_envs=24, steps=15, seed=3, max_episode_steps=4)
    assert len(np.unique(expected.arrays["reward"])) > 2
