"""Cases of rlib's environments for the conformance tests: exactness, frames and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tests.conformance.cases import ExactnessCase, StateCase, UndisturbedCase, describe
from tests.rlib.rules import ApplePickerRules
from tests.support.oracles.trajectory import Trajectory

TASKS = ("ApplePicker-v0", "ApplePickerDeterministic-v0")

#: Every way to run a pool.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 2},
    {"num_threads": 1},
    {"num_threads": 8, "batch_size": 1},
    {"num_threads": 2, "batch_size": 5},
    {"autoreset_mode": "same_step"},
    {"autoreset_mode": "disabled"},
]

YARD = [".#..", "....", "#.#."]
#: Options that let an agent that acts at random pick all apples now and then.
SMALL: list[dict[str, Any]] = [
    {"grid": [".."], "num_objects": 1},
    {"grid": YARD, "num_objects": 3},
    {"grid": YARD, "num_objects": 8, "default_reward": -0.1},
    {"grid": ["." * 9] * 9, "num_objects": 40, "max_episode_steps": 200},
]
#: Options of larger maps, in which episodes end at the time limit.
LARGE: list[dict[str, Any]] = [
    {"max_episode_steps": 60},
    {"num_objects": 300, "default_reward": -0.01, "max_episode_steps": 45},
    {"num_objects": 6047, "max_episode_steps": 30},
]


def assert_apples_were_picked(expected: Trajectory) -> None:
    """Assert that episodes ended because no apple was left, and that steps with and without an apple occurred."""
    assert expected.arrays["terminated"].sum() >= 10
    assert len(np.unique(expected.arrays["reward"])) >= 2


def exactness() -> Iterator[ExactnessCase]:
    """Yield the comparisons with the rules in plain Python."""
    for task_id in TASKS:
        for options in (*SMALL, *LARGE):
            is_small = options in SMALL
            case = ExactnessCase(
                task_id,
                ApplePickerRules(task_id, options),
                describe({k: v for k, v in options.items() if k != "grid"} | {"tiles": len(options.get("grid", ""))}),
                options,
                actions="random" if is_small else "sticky",
                num_envs=10,
                steps=250 if is_small else 100,
                runs=RUNS if is_small else RUNS[:3],
                verify=assert_apples_were_picked if is_small and len(options["grid"]) < 9 else None,
            )
            yield case
            if is_small:
                yield replace(case, label=f"{case.label}-long", num_envs=20, steps=3000, runs=RUNS[:1], is_slow=True)


EXACTNESS = list(exactness())
UNDISTURBED = [UndisturbedCase(task_id) for task_id in TASKS]
STATES = [
    *(StateCase(task_id, {"num_objects": 50, "default_reward": -0.1}, after=120) for task_id in TASKS),
    StateCase("ApplePicker-v0", {"grid": YARD, "num_objects": 4}),
]
