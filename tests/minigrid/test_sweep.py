"""A thousand episodes of every task, bit for bit, with random actions and with those of players that solve levels."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.conformance.cases import ExactnessCase
from tests.minigrid.cases import LOCKED, TASKS
from tests.minigrid.upstream import upstream_of

EPISODES = 1000
#: Steps of 10 envs that are played at once, longer than any episode, and the most rounds of them.
STEPS, ROUNDS = 5000, 110


@pytest.mark.sweep
@pytest.mark.parametrize("actions", ["random", "played"])
@pytest.mark.parametrize("task_id", TASKS)
def test_many_episodes(task_id: str, actions: str) -> None:
    upstream = upstream_of(task_id)
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
            steps=STEPS,
            seed=k,
            runs=[{"num_threads": 2}],
            min_episodes=0,
            verify=lambda expected: counts.append(expected.num_episodes),
        )
        upstream.check(case)
        if sum(counts) >= EPISODES:
            return
    raise AssertionError(f"only {sum(counts)} episodes ended in {ROUNDS * 10 * STEPS} steps")
