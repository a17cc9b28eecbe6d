"""Every task against upstream: 6 environments, 400 steps, on one, two and eight threads, sync and async."""

from __future__ import annotations

import pytest

from tests.conformance.cases import ExactnessCase
from tests.procgen.cases import RUNS, TASKS
from tests.procgen.upstream import upstream_of


@pytest.mark.sweep
@pytest.mark.parametrize("task_id", TASKS)
def test_long_runs(task_id: str) -> None:
    upstream = upstream_of(task_id)
    case = ExactnessCase(task_id, upstream, num_envs=6, steps=400, seed=1, runs=RUNS, min_episodes=0)
    upstream.check(case)
