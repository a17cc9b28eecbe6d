"""Making a task loads all that it needs, whatever was imported before."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("task_id", ["CheetahRun-v1", "QuadrupedWalk-v1"])
def test_tasks_can_be_made_first(task_id):
    text = f"import envpool; envpool.make_spec({task_id!r})"
    subprocess.run([sys.executable, "-c", text], check=True)
