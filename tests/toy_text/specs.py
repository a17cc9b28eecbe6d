"""Cases of toy text for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium import spaces

import envpool
from envpool.errors import ConfigError
from tests.conformance.cases import BadOption, SpacesCase, SpecCase

NO_LIMIT = 2**31 - 1
NAN = float("nan")
INF = float("inf")

#: Task id -> the options besides the common ones in EnvPool 1.2.5 (Taxi-v4: as Taxi-v3), with their defaults.
DEFAULTS: dict[str, dict[str, Any]] = {
    "Catch-v0": {"max_episode_steps": NO_LIMIT, "height": 10, "width": 5},
    "FrozenLake-v1": {"max_episode_steps": 100, "reward_threshold": 0.7, "size": 4},
    "FrozenLake8x8-v1": {"max_episode_steps": 200, "reward_threshold": 0.85, "size": 8},
    "Taxi-v3": {"max_episode_steps": 200, "reward_threshold": 8.0},
    "Taxi-v4": {"max_episode_steps": 200, "reward_threshold": 8.0},
    "NChain-v0": {"max_episode_steps": 1000},
    "CliffWalking-v1": {"max_episode_steps": NO_LIMIT, "is_slippery": False},
    "tabular/CliffWalking-v0": {"max_episode_steps": NO_LIMIT, "is_slippery": False},
    "CliffWalkingSlippery-v1": {"max_episode_steps": NO_LIMIT, "is_slippery": True},
    "CliffWalking-v0": {"max_episode_steps": NO_LIMIT, "is_slippery": False},
    "Blackjack-v1": {"max_episode_steps": NO_LIMIT, "natural": False, "sab": True},
    "tabular/Blackjack-v0": {"max_episode_steps": NO_LIMIT, "natural": False, "sab": True},
}

#: Env definition -> options that upstream has and EnvPool 1.2.5 has not, with upstream's defaults.
NEW_OPTIONS: dict[str, dict[str, Any]] = {
    "FrozenLake": {
        "map_name": None,
        "is_slippery": True,
        "success_rate": 1.0 / 3.0,
        "reward_schedule": (1, 0, 0),
    },
    "Taxi": {
        "is_rainy": False,
        "fickle_passenger": False,
        "rainy_probability": 0.8,
        "fickle_probability": 0.3,
    },
    "NChain": {"n": 5, "slip": 0.2, "small": 2.0, "large": 10.0},
}

#: Env definition -> (observation space, number of actions).
SPACES_BY_ENV: dict[str, tuple[Any, int]] = {
    "Catch": (spaces.Box(0.0, 1.0, (10, 5), np.float32), 3),
    "FrozenLake": (spaces.Discrete(16), 4),
    "FrozenLake8x8": (spaces.Discrete(64), 4),
    "Taxi": (spaces.Discrete(500), 6),
    "NChain": (spaces.Discrete(5), 2),
    "CliffWalking": (spaces.Discrete(48), 4),
    "Blackjack": (spaces.Box(0, 31, (3,), np.int32), 2),
}

#: Env definition -> its own info arrays: key -> (dtype, shape of a row).
INFO: dict[str, dict[str, tuple[type[np.generic], list[int]]]] = {
    "FrozenLake": {"prob": (np.float32, [-1])},
    "Taxi": {"prob": (np.float32, [-1]), "action_mask": (np.int8, [6])},
    "CliffWalking": {"prob": (np.float32, [-1])},
}


def env_name(task_id: str) -> str:
    """Return the name of the env definition of a task."""
    return type(envpool.make_spec(task_id)).__name__.removesuffix("EnvSpec")


def spaces_of(task_id: str) -> tuple[Any, int]:
    """Return the observation space of a task and its number of actions."""
    return SPACES_BY_ENV["FrozenLake8x8" if "8x8" in task_id else env_name(task_id)]


def spec(task_id: str) -> SpecCase:
    """Return the case of a task."""
    options = DEFAULTS[task_id] | NEW_OPTIONS.get(env_name(task_id), {})
    if env_name(task_id) == "FrozenLake":
        options["desc"] = None  # the map of `map_name` or `size`
    space, _ = spaces_of(task_id)
    obs = (np.float32 if env_name(task_id) == "Catch" else np.int32, list(space.shape) or [-1])
    state = {"obs": obs} | {f"info:{key}": array for key, array in INFO.get(env_name(task_id), {}).items()}
    limit, threshold = options["max_episode_steps"], options.pop("reward_threshold", None)
    return SpecCase(task_id, None, limit, threshold, state, (np.int32, [-1]), options)


def these(observation_space: Any, num_actions: int | None = None) -> Any:
    """Return a function that returns these spaces."""
    action_space = None if num_actions is None else spaces.Discrete(num_actions)
    return lambda: SimpleNamespace(observation_space=observation_space, action_space=action_space)


#: Task, options, observation space.
WITH_OPTIONS: list[tuple[str, dict[str, Any], Any]] = [
    ("FrozenLake-v1", {"size": 8}, spaces.Discrete(64)),
    ("FrozenLake-v1", {"map_name": "8x8"}, spaces.Discrete(64)),
    ("FrozenLake8x8-v1", {"map_name": "4x4"}, spaces.Discrete(16)),
    ("FrozenLake-v1", {"desc": ["SFFFF", "FFFFG"]}, spaces.Discrete(10)),
    ("FrozenLake-v1", {"desc": ["S"]}, spaces.Discrete(1)),
    ("Catch-v0", {"height": 3, "width": 1}, spaces.Box(0.0, 1.0, (3, 1), np.float32)),
    ("NChain-v0", {"n": 7}, spaces.Discrete(7)),
]

SPECS = [spec(task_id) for task_id in DEFAULTS]
SPACES = [
    *(SpacesCase(task_id, these(*spaces_of(task_id))) for task_id in DEFAULTS),
    *(SpacesCase(task_id, these(space), options) for task_id, options, space in WITH_OPTIONS),
]

#: Task, option, value that is not allowed, and parts of the text of the error.
BAD_VALUES: list[tuple[str, str, Any, list[str]]] = [
    ("Catch-v0", "height", 0, ["height", "0", "between 2 and 4096"]),
    ("Catch-v0", "height", 1, ["height", "1", "between 2 and 4096"]),
    ("Catch-v0", "height", -3, ["height", "-3", "between 2 and 4096"]),
    ("Catch-v0", "height", 2**40, ["height", str(2**40), "between 2 and 4096"]),
    ("Catch-v0", "width", 0, ["width", "0", "between 1 and 4096"]),
    ("Catch-v0", "width", 4097, ["width", "4097", "between 1 and 4096"]),
    ("NChain-v0", "n", 0, ["n must be", "between 1 and 2147483647"]),
    ("NChain-v0", "n", 2**31, ["got 2147483648", "between 1 and 2147483647"]),
    ("NChain-v0", "slip", -0.1, ["slip must be a finite number of at least 0 and at most 1, got -0.1"]),
    ("NChain-v0", "slip", NAN, ["slip must be", "got nan", "at least 0 and at most 1"]),
    ("NChain-v0", "small", INF, ["small", "inf", "finite"]),
    ("NChain-v0", "large", 1e39, ["large must be", "got 1e+39", "at most 3.40282e+38"]),
    ("Taxi-v4", "rainy_probability", 1.5, ["rainy_probability must be", "got 1.5", "at least 0 and at most 1"]),
    ("Taxi-v4", "fickle_probability", -1.0, ["fickle_probability must be", "got -1.0", "at least 0 and at most 1"]),
    ("FrozenLake-v1", "success_rate", 1.0000001, ["success_rate must be", "got 1.0000001", "at least 0 and at most 1"]),
    ("FrozenLake-v1", "success_rate", NAN, ["success_rate must be", "got nan", "at least 0 and at most 1"]),
    ("FrozenLake-v1", "size", 5, ["size", "5", "4 or 8", "desc"]),
    ("FrozenLake-v1", "size", -1, ["size", "-1", "4 or 8", "desc"]),
    ("FrozenLake-v1", "map_name", "16x16", ["map_name", "'16x16'", "'4x4' or '8x8'", "desc"]),
    ("FrozenLake-v1", "map_name", ["4x4"], ["map_name", "['4x4']", "'4x4' or '8x8'"]),
    ("FrozenLake-v1", "map_name", 4, ["map_name", "4", "'4x4' or '8x8'"]),
    ("FrozenLake-v1", "reward_schedule", (1, 0), ["reward_schedule", "(1, 0)", "goal, hole, frozen"]),
    ("FrozenLake-v1", "reward_schedule", 1, ["reward_schedule", "1", "3 numbers"]),
    ("FrozenLake-v1", "reward_schedule", np.ones(3), ["reward_schedule", "tuple of 3 numbers"]),
    ("FrozenLake-v1", "reward_schedule", (1, "a", 0), ["reward_schedule[1] (hole)", "'a'", "finite"]),
    ("FrozenLake-v1", "reward_schedule", (1, "2", 0), ["reward_schedule[1] (hole)", "'2'", "finite"]),
    ("FrozenLake-v1", "reward_schedule", (1, 0, NAN), ["reward_schedule[2] (frozen)", "nan", "finite"]),
    ("FrozenLake-v1", "reward_schedule", (None, 0, 0), ["reward_schedule[0] (goal)", "None", "finite"]),
    ("FrozenLake-v1", "reward_schedule", (10**400, 0, 0), ["reward_schedule[0] (goal)", "finite"]),
    ("FrozenLake-v1", "desc", [], ["got []", "list of strings"]),
    ("FrozenLake-v1", "desc", [""], ["got ['']", "list of strings"]),
    ("FrozenLake-v1", "desc", "SFFG", ["got 'SFFG'", "list of strings"]),
    ("FrozenLake-v1", "desc", 5, ["got 5", "list of strings"]),
    ("FrozenLake-v1", "desc", [1, 2], ["got [1, 2]", "list of strings"]),
    ("FrozenLake-v1", "desc", [b"SF", b"FG"], ["got [b'SF', b'FG']", "list of strings"]),
    ("FrozenLake-v1", "desc", ["SFF", "FG"], ["desc[1]", "'FG'", "2 cells", "desc[0] has 3"]),
    ("FrozenLake-v1", "desc", ["SFF", ""], ["desc[1]", "''", "0 cells"]),
    ("FrozenLake-v1", "desc", ["SFX", "FFG"], ["desc[0]", "'X'", "'S' (start)", "'G' (goal)"]),
    ("FrozenLake-v1", "desc", ["SFs", "FFG"], ["desc[0]", "'s'", "'S' (start)"]),
    ("FrozenLake-v1", "desc", ["SF\u00e9\0", "FFFG"], ["desc[0]", "'S' (start)"]),
    ("FrozenLake-v1", "desc", ["FFF", "FFG"], ["desc must contain 'S'", "at least once"]),
    ("FrozenLake-v1", "desc", [["SFG"], ["SF", "FG"]], ["same shape", "1 x 3", "2 x 2"]),
    ("FrozenLake-v1", "desc", [["SFG"], ["FFG"]], ["desc must contain 'S'"]),
    ("FrozenLake-v1", "desc", [["SFG"], ["SFG"]], ["desc must have the shape (1, 3), or (1, 1, 3)", "got (2, 1, 3)"]),
    ("FrozenLake-v1", "desc", [[83, 71], [70, 74]], ["desc[1]", "'J'"]),
    ("FrozenLake-v1", "desc", [[-83, 2**40]], ["desc[0]"]),
    ("FrozenLake-v1", "desc", ["S" * 1025] * 1024, ["1024 x 1025 cells", "1048576", "smaller"]),
]
#: Task, option, value of a wrong type.
BAD_TYPES: list[tuple[str, str, Any]] = [
    ("Catch-v0", "height", 2.5),
    ("Catch-v0", "width", "5"),
    ("NChain-v0", "n", None),
    ("NChain-v0", "slip", "often"),
    ("Taxi-v4", "is_rainy", 2),
    ("Taxi-v4", "fickle_passenger", "yes"),
    ("FrozenLake-v1", "is_slippery", None),
    ("FrozenLake-v1", "success_rate", "often"),
    ("FrozenLake-v1", "size", "4x4"),
    ("CliffWalking-v1", "is_slippery", "no"),
    ("Blackjack-v1", "natural", None),
    ("Blackjack-v1", "sab", 1.5),
]
BAD_OPTIONS = [
    *(
        BadOption(task_id, {name: value}, ConfigError, [re.escape(p) for p in parts])
        for task_id, name, value, parts in BAD_VALUES
    ),
    *(BadOption(task_id, {name: value}, TypeError, [name]) for task_id, name, value in BAD_TYPES),
    BadOption("FrozenLake-v1", {"slippery": True}, TypeError, ["is_slippery"]),
]
