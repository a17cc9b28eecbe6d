"""The tasks of the package, for tests that run over all of them."""

import pytest

import envpool
from envpool.registration import registry

#: Tasks whose maps or scenarios no package contains: users pass theirs.
WITHOUT_MAPS = (
    *("D1Basic-v1", "D2Navigation-v1", "D3Battle-v1", "D4Battle2-v1", "VizdoomCustom-v1"),
    "gfootball/custom-v1",
)
#: Environments that start processes. Tests of all tasks play one task of each quickly, the others with `slow`.
WITH_PROCESSES = {"ViZDoom": "Basic-v1"}


def playable_tasks():
    """Return the ids of all tasks that can be made without options."""
    return [task_id for task_id in envpool.list_all_envs() if task_id not in WITHOUT_MAPS]


def task_params():
    """Return the ids of all tasks that can be made without options, as parameters of a test that plays them.

    A run takes a few tasks of each family unless it is told otherwise, see `tests.selection`.
    """
    chosen = {task_id: WITH_PROCESSES.get(registry.find(task_id).env, task_id) for task_id in playable_tasks()}
    return [
        pytest.param(t, marks=pytest.mark.drawn(family_of(t)) if t == quick else pytest.mark.slow)
        for t, quick in chosen.items()
    ]


def family_of(task_id):
    """Return the folder of a task's module below envpool/, e.g. ``"mujoco.dmc"``."""
    return registry.find(task_id).import_path.removeprefix("envpool.").rpartition(".")[0]
