"""Making a task loads all that it needs, whatever was imported before, and every task of the suite is listed."""

import pytest

import envpool
from envpool.mujoco.dmc.upstream import suite_tasks
from tests.support.python import output_of


@pytest.mark.parametrize("task_id", ["CheetahRun-v1", "QuadrupedWalk-v1"])
def test_tasks_can_be_made_first(task_id):
    assert output_of(f"import envpool; print(envpool.make_spec({task_id!r}).task_id)") == f"{task_id}\n"


@pytest.mark.parametrize("word", ["EGL", "vulkan"])
def test_tasks_need_no_opengl_until_they_render(word, monkeypatch):
    """dm_control itself cannot be imported with such a MUJOCO_GL."""
    monkeypatch.setenv("MUJOCO_GL", word)
    done = output_of("import envpool, os; envpool.make_gymnasium('CheetahRun-v1'); print(os.environ['MUJOCO_GL'])")
    assert done == f"{word}\n"


def test_every_task_of_the_suite_is_listed():
    assert set(suite_tasks()) <= set(envpool.list_all_envs())
