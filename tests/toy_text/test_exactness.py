"""Same seeds and actions give gymnasium's bits: observations, rewards, ends of episodes, info, over many episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.oracles.gymnasium_oracle import assert_exact, reference
from tests.support.oracles.pool_runner import assert_pools_equal
from tests.support.oracles.trajectory import Trajectory
from tests.toy_text.upstream import Case, guided_actions

#: Every way to run a pool; the first one is the one of the quick comparisons of options.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 2},
    {"num_threads": 1},
    {"num_threads": 8},
    {"num_threads": 2, "batch_size": 5},
    {"num_threads": 8, "batch_size": 1},
    {"autoreset_mode": "same_step"},
    {"autoreset_mode": "disabled"},
]

#: Every task id that upstream has, at least by another version.
TASKS = [
    Case("FrozenLake-v1"),
    Case("FrozenLake8x8-v1"),
    Case("Taxi-v3"),
    Case("Taxi-v4"),
    Case("CliffWalking-v0", {"max_episode_steps": 60}),
    Case("CliffWalking-v1", {"max_episode_steps": 60}),
    Case("tabular/CliffWalking-v0", {"max_episode_steps": 60}),
    Case("CliffWalkingSlippery-v1", {"max_episode_steps": 60}),
    Case("Blackjack-v1"),
    Case("tabular/Blackjack-v0"),
]
WALKS = [case for case in TASKS if "Blackjack" not in case.task_id]  # those with a table of transitions

ONE_START = ["FFFF", "HSGF"]
MANY_STARTS = ["SFS", "HSG", "FFF", "SSS", "FHF"]
NO_GOAL = ["FSF"]

OPTIONS = [
    Case("FrozenLake-v1", {"is_slippery": False}),
    Case("FrozenLake-v1", {"success_rate": 0.0}),
    Case("FrozenLake-v1", {"success_rate": 0.7}),
    Case("FrozenLake-v1", {"success_rate": 1.0}),
    Case("FrozenLake-v1", {"success_rate": 0.1, "is_slippery": False}),
    Case("FrozenLake-v1", {"reward_schedule": (3.3, -1, -0.01)}),
    Case("FrozenLake-v1", {"reward_schedule": [2, 0.5, 1e-3]}),
    Case("FrozenLake-v1", {"map_name": "8x8"}),
    Case("FrozenLake8x8-v1", {"map_name": "4x4"}),
    Case("FrozenLake-v1", {"size": 8}, {"map_name": "8x8"}),
    Case("FrozenLake8x8-v1", {"size": 4}, {"map_name": "4x4"}),
    Case("FrozenLake-v1", {"desc": ONE_START}),
    Case("FrozenLake-v1", {"desc": MANY_STARTS}),
    Case("FrozenLake-v1", {"desc": MANY_STARTS, "map_name": "8x8", "size": 8}, {"desc": MANY_STARTS}),
    Case("FrozenLake-v1", {"desc": NO_GOAL, "max_episode_steps": 20}),
    Case("FrozenLake-v1", {"desc": [list(row) for row in ONE_START]}),
    Case("Taxi-v4", {"is_rainy": True}),
    Case("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.35}),
    Case("Taxi-v4", {"is_rainy": True, "rainy_probability": 0.0}),
    Case("Taxi-v4", {"is_rainy": True, "rainy_probability": 1.0}),
    Case("Taxi-v4", {"fickle_passenger": True}),
    Case("Taxi-v4", {"fickle_passenger": True, "fickle_probability": 1.0}),
    Case("Taxi-v4", {"fickle_passenger": True, "fickle_probability": 0.0}),
    Case("Taxi-v3", {"is_rainy": True, "fickle_passenger": True, "fickle_probability": 0.9}),
    Case("CliffWalking-v1", {"is_slippery": True, "max_episode_steps": 60}),
    Case("CliffWalkingSlippery-v1", {"is_slippery": False, "max_episode_steps": 60}),
    Case("Blackjack-v1", {"natural": True}),
    Case("Blackjack-v1", {"sab": False}),
    Case("Blackjack-v1", {"natural": True, "sab": False}),
]


def assert_exact_walk(case: Case, num_envs: int, steps: int, runs: list[dict[str, Any]], seed: int = 5) -> Trajectory:
    """Assert that pools return upstream's bits while the walkers mostly know the way."""
    actions = guided_actions(case.upstream, steps, num_envs, seed)
    seeds = [1000 * seed + i for i in range(num_envs)]
    expected = reference(case.upstream, actions, seeds)
    assert_pools_equal(expected, case.task_id, actions, seeds, runs, **case.options)
    return expected


@pytest.mark.parametrize("case", TASKS, ids=str)
def test_random_actions(case: Case) -> None:
    assert_exact(case.task_id, case.upstream, options=case.options, num_envs=20, steps=250, runs=RUNS)


@pytest.mark.parametrize("case", WALKS, ids=str)
def test_walks_that_arrive(case: Case) -> None:
    expected = assert_exact_walk(case, num_envs=20, steps=250, runs=RUNS)
    assert expected.arrays["terminated"].sum() >= 20


@pytest.mark.parametrize("case", OPTIONS, ids=str)
def test_options(case: Case) -> None:
    assert_exact(case.task_id, case.upstream, options=case.options, num_envs=8, steps=200, runs=RUNS[:1])


@pytest.mark.parametrize("case", [case for case in OPTIONS if case.task_id.startswith("Taxi")], ids=str)
def test_taxi_rides(case: Case) -> None:
    """Only a passenger who is on board may be fickle."""
    expected = assert_exact_walk(case, num_envs=20, steps=250, runs=RUNS[:1])
    assert expected.arrays["terminated"].sum() >= 5
    destination = expected.arrays["obs"] % 4
    has_changed = (np.diff(destination, axis=0) != 0) & (expected.arrays["elapsed_step"][1:] > 0)
    is_fickle = case.options.get("fickle_passenger", False) and case.options.get("fickle_probability", 0.3) > 0
    assert has_changed.any() == is_fickle


#: Envs and steps of the long comparisons: 50,000 steps of every task, 10,000 of every option.
LONG = [*(pytest.param(c, 50, id=str(c)) for c in TASKS), *(pytest.param(c, 10, id=str(c)) for c in OPTIONS)]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "num_envs"), LONG)
@pytest.mark.parametrize("actions", ["random", "sticky"])
def test_many_steps(case: Case, num_envs: int, actions: str) -> None:
    options = case.options
    assert_exact(
        case.task_id,
        case.upstream,
        actions=actions,
        options=options,
        num_envs=num_envs,
        steps=1000,
        runs=[RUNS[0], RUNS[3]],
    )


@pytest.mark.slow
@pytest.mark.parametrize(("case", "num_envs"), [p for p in LONG if "Blackjack" not in p.id])
def test_many_steps_of_walks_that_arrive(case: Case, num_envs: int) -> None:
    assert_exact_walk(case, num_envs=num_envs, steps=1000, runs=[RUNS[0], RUNS[3]])
