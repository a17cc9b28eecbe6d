"""Cases of ViZDoom for the conformance tests."""

from __future__ import annotations

from typing import Any

from envpool.vizdoom.registration import SCENARIOS
from envpool.vizdoom.wheel import package_folder
from tests.conformance.cases import ExactnessCase, StateCase
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

#: Tasks whose files are not in the package, and files of the package with which they are played instead.
FILES = {
    "D1Basic-v1": ("learning", "basic"),
    "D2Navigation-v1": ("my_way_home", "my_way_home"),
    "D3Battle-v1": ("deathmatch", "deathmatch"),
    "D4Battle2-v1": ("defend_the_line", "defend_the_line"),
    "VizdoomCustom-v1": ("simpler_basic", "simpler_basic"),
}


def state_case(task_id: str, label: str = "", **changes: Any) -> StateCase:
    """Return a case with all buffers, in which buttons are pressed and released."""
    options = dict.fromkeys(BUFFERS, True) | changes.pop("options", {})
    if task_id in FILES:
        cfg, wad = (package_folder() / "scenarios" / name for name in FILES[task_id])
        options |= {"cfg_path": f"{cfg}.cfg", "wad_path": f"{wad}.wad"}
    return StateCase(
        task_id, options, "boundary", label=label, outlives_seed=True, **{"limit": 12, "after": 60} | changes
    )


STATES = [
    *(state_case(task_id, is_slow=True) for task_id in (*TASKS, *FILES)),
    state_case(
        "Deathmatch-v1", "combined", options={"use_combined_action": True}, modes=("same_step",), limit=8, is_slow=True
    ),
    state_case("Cig-v1", "multiplayer", options={"game_args": MULTIPLAYER}, limit=8, is_slow=True),
    state_case(
        "MultiDuel-v1",
        "lives",
        options={"game_args": MULTIPLAYER, "episodic_life": True},
        modes=("next_step",),
        limit=8,
        is_slow=True,
    ),
]
