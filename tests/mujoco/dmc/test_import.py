"""Making a task loads all that it needs, whatever was imported before, and every task of the suite is listed."""

import pytest

import envpool
from envpool.mujoco.dmc.upstream import suite_tasks
from tests.support.python import output_of


@pytest.mark.parametrize("task_id", ["CheetahRun-v1", "QuadrupedWalk-v1"])
def test_tasks_can_be_made_first(task_id):
    assert output_of(f"import envpool; print(envpool.make_spec({task_id!r}).task_id)") == f"{task_id}\n"


def test_every_task_of_the_suite_is_listed():
    assert set(suite_tasks()) <= set(envpool.list_all_envs())
