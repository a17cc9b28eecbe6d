"""Every task against upstream: 8 environments, 1,500 steps, on one, two and eight threads, sync and async."""

from __future__ import annotations

import pytest

from tests.nethack.cases import RUNS, TASKS, long_case


@pytest.mark.sweep
@pytest.mark.parametrize("task_id", TASKS)
def test_long_runs(task_id: str) -> None:
    case = long_case(task_id, num_envs=8, steps=1500, seed=3, runs=RUNS)
    case.oracle.check(case)
