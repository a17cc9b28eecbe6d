"""Cases of NetHack for the conformance tests: exactness and saved states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envpool.nethack.observations import ARRAYS
from envpool.registration import registry
from tests.conformance.cases import ExactnessCase, StateCase
from tests.nethack.upstream import upstream_of
from tests.support.oracles.trajectory import Trajectory

TASKS = [i for i, entry in registry.tasks.items() if entry.env == "NetHack"]
#: Every way to run a pool.
RUNS: list[dict[str, Any]] = [
    {"num_threads": 1},
    {"num_threads": 2, "autoreset_mode": "same_step"},
    {"num_threads": 8, "autoreset_mode": "disabled"},
    {"num_threads": 2, "batch_size": 1},
    {"num_threads": 8, "batch_size": 3, "autoreset_mode": "same_step"},
]
#: Options that upstream takes under the same names, and tasks in which they have an effect.
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("NetHackScore-v0", {"penalty_mode": "exp", "penalty_time": 0.1, "max_steps": 50}),
    ("NetHackScore-v0", {"penalty_mode": "square", "penalty_step": -0.3, "max_steps": 50}),
    ("NetHackGold-v0", {"penalty_mode": "linear", "penalty_time": -0.7, "max_steps": 50}),
    ("NetHackEat-v0", {"penalty_mode": "always", "max_steps": 50}),
    ("NetHackScout-v0", {"character": "val-dwa-fem-law", "spawn_monsters": False, "max_steps": 50}),
    ("NetHackScore-v0", {"character": "@", "allow_all_yn_questions": True, "max_steps": 50}),
    ("NetHack-v0", {"allow_all_modes": True, "max_steps": 50}),
    ("NetHackScore-v0", {"options": ("time", "showscore", "!autopickup"), "max_steps": 50}),
    ("NetHackChallenge-v0", {"no_progress_timeout": 20, "max_steps": 100}),
]


#: All arrays except for the one that takes most of the time of a comparison.
KEYS = tuple(name for name in ARRAYS if name != "screen_descriptions")


def describe(options: dict[str, Any]) -> str:
    """Return a short name of options for test ids."""
    return "-".join(f"{name}={value}" if not isinstance(value, tuple) else name for name, value in options.items())


def has_aborted(expected: Trajectory) -> None:
    """Assert that games were quit, and that such episodes were terminated."""
    assert (expected.arrays["info:end_status"] == -1).any()
    assert expected.arrays["terminated"].any()


def exactness() -> Iterator[ExactnessCase]:
    """Yield the comparisons with upstream."""
    yield ExactnessCase("NetHack-v0", upstream_of("NetHack-v0"), num_envs=1, steps=40, min_episodes=0)
    for task_id in TASKS:
        options = {"max_steps": 50, "observation_keys": KEYS}
        yield ExactnessCase(
            task_id,
            upstream_of(task_id, **options),
            "short",
            options,
            num_envs=2,
            steps=120,
            runs=RUNS[:1] if task_id != "NetHackScore-v0" else RUNS[:3],
            min_episodes=4,
            verify=has_aborted,
        )
        yield long_case(task_id, num_envs=3, steps=500, runs=RUNS[1:4:2], is_slow=True)
    for task_id, options in OPTIONS:
        options = {"observation_keys": KEYS} | options
        yield ExactnessCase(
            task_id,
            upstream_of(task_id, **options),
            describe(options),
            options,
            num_envs=2,
            steps=120,
            seed=2,
            runs=RUNS[1:2],
            min_episodes=0,
        )


def long_case(task_id: str, **changes: Any) -> ExactnessCase:
    """Return the comparison of a task whose games end as they do in play."""
    options = {"observation_keys": KEYS}
    upstream = upstream_of(task_id, **options)
    return ExactnessCase(task_id, upstream, "long", options, **{"seed": 1, "min_episodes": 0} | changes)


EXACTNESS = list(exactness())


def state_case(task_id: str, label: str = "", **changes: Any) -> StateCase:
    """Return a case whose games are abandoned by the time limit, or end before it with a score."""
    options = {"observation_keys": ("glyphs", "tty_chars")} | changes.pop("options", {})
    return StateCase(task_id, options, has_frames=False, label=label, **changes)


STATES = [
    state_case("NetHackScore-v0", "quick", modes=("next_step",), limit=16, after=60),
    state_case("NetHackScore-v0", "scores", options={"max_steps": 12}, modes=("same_step",), limit=16, after=60),
    *(state_case(task_id, options={"max_steps": 35}, is_slow=True) for task_id in TASKS),
]
