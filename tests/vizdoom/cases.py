"""Cases of ViZDoom for the conformance tests."""

from __future__ import annotations

from typing import Any

from envpool.vizdoom.registration import SCENARIOS
from tests.conformance.cases import ExactnessCase
from tests.vizdoom.upstream import upstream_of

TASKS = ["".join(part.capitalize() for part in scenario.split("_")) + "-v1" for scenario in SCENARIOS]
BUFFERS = ("depth", "labels", "automap")
MULTIPLAYER = "-host 1 -deathmatch"
#: Every way to run a pool.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 1},
    {"num_threads": 2, "autoreset_mode": "same_step"},
    {"num_threads": 2, "batch_size": 1},
]


def case(task_id: str, **kwargs: Any) -> ExactnessCase:
    """Return a case whose pool has the options under which it equals upstream."""
    oracle = upstream_of(task_id, **kwargs.pop("oracle", {}))
    options = {**oracle.options, **kwargs.pop("options", {})}
    return ExactnessCase(task_id, oracle, options=options, **{"num_envs": 1, "seed": 3, **kwargs})


EXACTNESS = [
    case("PredictPosition-v1", steps=45, min_episodes=1),
    *(case(task_id, label="long", steps=110, min_episodes=0, is_slow=True) for task_id in TASKS),
    case("DefendTheCenter-v1", label="runs", num_envs=2, steps=110, runs=RUNS, min_episodes=2, is_slow=True),
    case(
        "Cig-v1",
        label="multiplayer",
        oracle={"game_args": MULTIPLAYER, "limit": 20},
        options={"game_args": MULTIPLAYER, "max_episode_steps": 20},
        steps=70,
        min_episodes=3,
        is_slow=True,
    ),
    case(
        "DeadlyCorridor-v1",
        label="buffers",
        oracle={"buffers": BUFFERS},
        options=dict.fromkeys(BUFFERS, True),
        steps=25,
        min_episodes=1,
    ),
]
