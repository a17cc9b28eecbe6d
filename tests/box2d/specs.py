"""Cases of Box2D for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np

from envpool.errors import ConfigError
from tests.conformance.cases import BadOption, SpacesCase, SpecCase

DISCRETE = (np.int32, [-1])


def box(size: int) -> tuple[Any, list[int]]:
    """Return the array of continuous actions."""
    return np.float32, [-1, size]


def spec(task_id: str, upstream_id: str, limit: int, threshold: float, obs: Any, action: Any) -> SpecCase:
    """Return the case of a task."""
    state = {"obs": obs} | ({"info:lap_finished": (np.bool_, [])} if task_id.startswith("CarRacing") else {})
    return SpecCase(task_id, upstream_id, limit, threshold, state, action)


LANDER, WALKER, CAR = (np.float32, [8]), (np.float32, [24]), (np.uint8, [96, 96, 3])
SPECS = [
    spec("LunarLander-v2", "LunarLander-v3", 1000, 200.0, LANDER, DISCRETE),
    spec("LunarLanderContinuous-v2", "LunarLanderContinuous-v3", 1000, 200.0, LANDER, box(2)),
    spec("LunarLander-v3", "LunarLander-v3", 1000, 200.0, LANDER, DISCRETE),
    spec("LunarLanderContinuous-v3", "LunarLanderContinuous-v3", 1000, 200.0, LANDER, box(2)),
    spec("BipedalWalker-v3", "BipedalWalker-v3", 1600, 300.0, WALKER, box(4)),
    spec("BipedalWalkerHardcore-v3", "BipedalWalkerHardcore-v3", 2000, 300.0, WALKER, box(4)),
    spec("CarRacing-v2", "CarRacing-v3", 1000, 900.0, CAR, box(3)),
    spec("CarRacing-v3", "CarRacing-v3", 1000, 900.0, CAR, box(3)),
]


def upstream_spaces(upstream_id: str, **options: Any) -> Any:
    """Return a function that makes the upstream environment."""
    return lambda: gymnasium.make(upstream_id, **options)


def spaces_of_lander_2() -> Any:
    """Return the observation space of gymnasium 0.29.1."""
    high = np.array([1.5, 1.5, 5, 5, np.pi, 5, 1, 1], np.float32)
    low = np.concatenate([-high[:6], np.array([-0.0, -0.0], np.float32)])
    return SimpleNamespace(observation_space=gymnasium.spaces.Box(low, high, dtype=np.float32), action_space=None)


SPACES = [
    *(
        SpacesCase(case.task_id, upstream_spaces(case.upstream_id))
        for case in SPECS
        if case.upstream_id and case.task_id not in ("LunarLander-v2", "LunarLanderContinuous-v2")
    ),
    SpacesCase("LunarLander-v2", spaces_of_lander_2),
    SpacesCase("LunarLander-v3", upstream_spaces("LunarLander-v3", continuous=True), {"continuous": True}),
    SpacesCase("CarRacing-v3", upstream_spaces("CarRacing-v3", continuous=False), {"continuous": False}),
]

BAD: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    (
        "LunarLander-v3",
        {"gravity": 0.0},
        ConfigError,
        "gravity must be a finite number greater than -12 and less than 0, got 0.0",
    ),
    ("LunarLander-v3", {"gravity": -12.0}, ConfigError, "gravity must be .* greater than -12 and.*, got -12.0"),
    ("LunarLander-v3", {"gravity": float("nan")}, ConfigError, "gravity must be .*, got nan"),
    (
        "LunarLander-v3",
        {"wind_power": 1e4},
        ConfigError,
        "wind_power must be .* of at least -1000 and at most 1000.*, got 10000.0",
    ),
    ("LunarLander-v3", {"turbulence_power": float("nan")}, ConfigError, "turbulence_power must be .*, got nan"),
    ("LunarLander-v3", {"version": 1}, ConfigError, "version must be 2 or 3, got 1"),
    ("LunarLander-v3", {"enable_wind": 2}, TypeError, "enable_wind must be of type bool, got 2"),
    ("LunarLander-v3", {"winds": True}, TypeError, "no option 'winds'"),
    ("BipedalWalker-v3", {"hardcore": "very"}, TypeError, "hardcore must be of type bool, got 'very'"),
    (
        "CarRacing-v3",
        {"lap_complete_percent": 95.0},
        ConfigError,
        "lap_complete_percent must be .* at least 0 and at most 1.*, got 95.0",
    ),
    (
        "CarRacing-v3",
        {"lap_complete_percent": float("nan")},
        ConfigError,
        "lap_complete_percent must be .*, got nan",
    ),
    ("CarRacing-v3", {"version": 1}, ConfigError, "version must be 2 or 3, got 1"),
    ("CarRacing-v3", {"domain_randomize": None}, TypeError, "domain_randomize must be of type bool, got None"),
]
BAD_OPTIONS = [BadOption(task_id, options, error, [text]) for task_id, options, error, text in BAD]
