"""Cases of Procgen for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envpool.registration import registry
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.procgen.upstream import frames_of, upstream_of
from tests.support.oracles.trajectory import Trajectory

TASKS = [i for i, entry in registry.tasks.items() if entry.import_path.startswith("envpool.procgen.")]
#: Tasks that are compared without the mark ``slow``.
QUICK = ("CoinrunEasy-v0", "LeaperExtreme-v0", "MazeMemory-v0")
#: Every way to run a pool.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 1},
    {"num_threads": 2, "autoreset_mode": "same_step"},
    {"num_threads": 8, "autoreset_mode": "disabled"},
    {"num_threads": 1, "batch_size": 4},
    {"num_threads": 2, "batch_size": 1},
    {"num_threads": 8, "batch_size": 5, "autoreset_mode": "same_step"},
]
NO_LIMIT = 2**31 - 1
#: Options that upstream takes under the same names, and tasks in which they have an effect.
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("CoinrunHard-v0", {"num_levels": 2, "start_level": 1000}),
    ("StarpilotEasy-v0", {"num_levels": 1, "start_level": 2**31 - 2}),
    ("CaveflyerEasy-v0", {"center_agent": False}),
    ("BigfishHard-v0", {"use_backgrounds": False}),
    ("BossfightEasy-v0", {"use_monochrome_assets": True}),
    ("ClimberEasy-v0", {"restrict_themes": True}),
    ("NinjaHard-v0", {"use_generated_assets": True}),
    ("JumperHard-v0", {"paint_vel_info": True}),
]


def has_solved_levels(expected: Trajectory) -> None:
    """Assert that levels were solved."""
    assert expected.arrays["info:prev_level_complete"].max() == 1


def exactness() -> Iterator[ExactnessCase]:
    """Yield the comparisons with upstream."""
    for task_id in TASKS:
        yield ExactnessCase(
            task_id,
            upstream_of(task_id),
            num_envs=3,
            steps=60,
            runs=RUNS[:2] if task_id in QUICK else [{"num_threads": 2, "batch_size": 2, "autoreset_mode": "same_step"}],
            min_episodes=0,
            is_slow=task_id not in QUICK,
        )
    # Episodes that the pool cuts off, so that levels are forced to end.
    yield ExactnessCase(
        QUICK[1],
        upstream_of(QUICK[1], limit=9),
        "cut",
        {"max_episode_steps": 9},
        num_envs=6,
        steps=60,
        runs=RUNS,
        min_episodes=30,
    )
    for task_id, options in OPTIONS:
        yield ExactnessCase(
            task_id,
            upstream_of(task_id, **options),
            describe(options),
            options,
            num_envs=2,
            steps=40,
            runs=RUNS[1:2],
            min_episodes=0,
        )


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

FRAMES = [
    FrameCase(task_id, frames_of(task_id), "", size, {"steps": (0, 3, 40)})
    for task_id, size in (("CoinrunEasy-v0", None), ("BossfightHard-v0", (100, 150)), ("MazeMemory-v0", (600, 600)))
]
UNDISTURBED = [UndisturbedCase("FruitbotEasy-v0", steps=40)]

# ---- saved states ----------------------------------------------------------------------------------------------------

#: The auto-reset mode makes no difference to an environment: one task is played in all of them.
STATES = [
    StateCase("CoinrunEasy-v0", limit=8, after=30),
    *(
        StateCase(task_id, limit=8, after=30, modes=("same_step",), is_slow=True)
        for task_id in TASKS
        if task_id != "CoinrunEasy-v0"
    ),
]
