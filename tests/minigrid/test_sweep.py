"""A thousand episodes of every task, bit for bit: with random actions, and with players that solve levels."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.conformance.cases import ExactnessCase
from tests.minigrid.cases import LOCKED, TASKS
from tests.minigrid.endless import end_searches
from tests.minigrid.upstream import upstream_of

#: Kinds of actions: the episodes of a task, and the steps of 10 environments that are played at once. Random actions
#: seldom solve a level, so their episodes are long and alike; no episode is longer than 5000 steps.
KINDS = {"random": (100, 5000), "played": (900, 1250)}
ROUNDS = 110


@pytest.mark.sweep
@pytest.mark.parametrize("actions", KINDS)
@pytest.mark.parametrize("task_id", TASKS)
def test_many_episodes(task_id: str, actions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    end_searches(monkeypatch)
    upstream = upstream_of(task_id)
    episodes, steps = KINDS[actions]
    counts: list[int] = []
    players: Sequence[str] = ["random"]
    if actions == "played":
        players = ["explored"] if task_id.startswith("MiniGrid") else ["solved", "solved", "explored"]
        if task_id in LOCKED:
            players = ["guided"]
    for k in range(ROUNDS):
        case = ExactnessCase(
            task_id,
            upstream,
            actions=players[k % len(players)],
            num_envs=10,
            steps=steps,
            seed=k,
            runs=[{"num_threads": 2}],
            min_episodes=0,
            verify=lambda expected: counts.append(expected.num_episodes),
        )
        upstream.check(case)
        if sum(counts) >= episodes:
            return
    raise AssertionError(f"only {sum(counts)} episodes ended in {ROUNDS * 10 * steps} steps")
