"""Cases of MPE for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envpool.mpe.registration import TASKS as VERSIONS
from tests.conformance.cases import ExactnessCase, FrameCase, StateCase, UndisturbedCase, describe
from tests.mpe.upstream import frames_of, upstream_of
from tests.support.oracles.trajectory import Trajectory

TASKS = {name: f"MPE/{name}-v{version}" for name, version in VERSIONS.items()}
#: One row for each environment.
GRID = {"players": "grid"}
CONTINUOUS = {"continuous_actions": True}
#: Every way to run a pool.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 2},
    {"num_threads": 1, "autoreset_mode": "same_step"},
    {"num_threads": 0, "autoreset_mode": "disabled"},
    {"num_threads": 2, "batch_size": 2},
]
SUCCESS = {"terminate_on_success": True}
#: Options that upstream takes, too, by scenario.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "simple": [{"max_cycles": 7}],
    "simple_adversary": [{"N": 1}, {"N": 4, "num_agent_neighbors": 2, "num_landmark_neighbors": 7}],
    "simple_formation": [{"N": 1}, {"N": 11}, {"N": 1, "max_cycles": 100, **SUCCESS}],
    "simple_line": [{"N": 1}, {"N": 11}, {"N": 1, "max_cycles": 100, **SUCCESS}],
    "simple_reference": [{"local_ratio": 0.2}],
    "simple_spread": [
        {"N": 1, "local_ratio": 0.0},
        {"N": 5, "local_ratio": 1.0, "max_cycles": 10},
        {"N": 9, "num_agent_neighbors": 3, "num_landmark_neighbors": 12},
        {"N": 1, "num_agent_neighbors": 1, "max_cycles": 40, **SUCCESS},
    ],
    "simple_tag": [
        {"num_good": 3, "num_adversaries": 2, "num_obstacles": 0, "max_cycles": 60},
        {"num_agent_neighbors": 2, "num_landmark_neighbors": 3},
        {"num_good": 2, "num_agent_neighbors": 6},
        SUCCESS,
    ],
    "simple_world_comm": [
        {"num_good": 1, "num_adversaries": 1, "num_obstacles": 0, "num_food": 1, "num_forests": 0},
        {"num_good": 4, "num_adversaries": 3, "num_obstacles": 3, "num_food": 4, "num_forests": 5, "max_cycles": 60},
    ],
    "collect_treasure": [
        {"num_collectors": 1, "num_deposits": 1, "num_treasures": 1},
        {"num_collectors": 9, "num_deposits": 6, "num_treasures": 12},
    ],
}
#: Scenarios with figures about agents.
MEASURED = (
    "collect_treasure",
    "simple_adversary",
    "simple_crypto",
    "simple_speaker_listener",
    "simple_spread",
    "simple_tag",
    "simple_world_comm",
)
#: Stages of the curriculum.
STAGES = {"simple_spread": (0, 1), "simple_tag": (0, 1, 2)}


def succeeded(expected: Trajectory) -> None:
    """Assert that an episode ended because its aim was reached."""
    assert expected.arrays["terminated"].any()


def exactness() -> Iterator[ExactnessCase]:
    """Yield the comparisons with mpe2."""
    for name, task_id in TASKS.items():
        for options in ({}, CONTINUOUS):
            label = "continuous" if options else ""
            grid = {**GRID, **options}
            yield ExactnessCase(task_id, upstream_of(task_id, options), label, grid, num_envs=4, steps=60, runs=RUNS)
            yield ExactnessCase(
                task_id,
                upstream_of(task_id, options),
                f"{label} 300 episodes".strip(),
                grid,
                num_envs=12,
                steps=26 * 25,
                seed=1,
                runs=[RUNS[0], RUNS[3]],
                min_episodes=300,
                is_slow=True,
            )
            for mode in ("boundary", "infinite") if options else ():
                yield ExactnessCase(
                    task_id, upstream_of(task_id, options), label, grid, actions=mode, num_envs=2, steps=30
                )
            for kwargs in OPTIONS.get(name, []):
                given = options | kwargs
                yield ExactnessCase(
                    task_id,
                    upstream_of(task_id, given),
                    describe(given),
                    GRID | given,
                    num_envs=2,
                    steps=70,
                    min_episodes=0,
                )
            if name in MEASURED:
                given = options | {"benchmark_data": True}
                yield ExactnessCase(
                    task_id, upstream_of(task_id, given), describe(given), GRID | given, num_envs=2, steps=60
                )
            for stage in STAGES.get(name, ()):
                given = options | {"curriculum": True}
                yield ExactnessCase(
                    task_id,
                    upstream_of(task_id, given, stage),
                    describe(given | {"stage": stage}),
                    GRID | given | {"curriculum_stage": stage},
                    num_envs=2,
                    steps=60,
                    runs=RUNS[:1],
                )
    given = {"N": 1, "max_cycles": 40, **CONTINUOUS, **SUCCESS}
    for name in ("simple_spread", "simple_line"):
        yield ExactnessCase(
            TASKS[name],
            upstream_of(TASKS[name], given),
            "success",
            GRID | given,
            num_envs=12,
            steps=600,
            runs=RUNS,
            verify=succeeded,
            is_slow=True,
        )


EXACTNESS = list(exactness())

# ---- frames ----------------------------------------------------------------------------------------------------------

#: Scenarios in which agents speak, whose frames contain text.
SPEAKING = ("simple_crypto", "simple_reference", "simple_speaker_listener", "simple_world_comm")


def frames() -> Iterator[FrameCase]:
    """Yield the comparisons with upstream's frames."""
    for name, task_id in TASKS.items():
        for size in (None, (350, 240)):
            yield FrameCase(task_id, frames_of(task_id), "", size, {"options": GRID, "steps": (0, 3, 30)})
        given = {**CONTINUOUS, "dynamic_rescaling": False}
        yield FrameCase(
            task_id,
            frames_of(task_id, given),
            describe(given),
            None,
            {"options": GRID | given, "steps": (0, 1, 20) if name in SPEAKING else (20,)},
        )
        yield FrameCase(
            task_id, frames_of(task_id), "every step", None, {"options": GRID, "steps": range(80)}, is_slow=True
        )


FRAMES = list(frames())
UNDISTURBED = [UndisturbedCase(task_id, GRID) for task_id in TASKS.values()]

# ---- saved states ----------------------------------------------------------------------------------------------------

STATES = [StateCase(task_id, GRID, after=100) for task_id in TASKS.values()]
