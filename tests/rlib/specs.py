"""Cases of rlib's environments for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium import spaces

from envpool.errors import ConfigError
from tests.conformance.cases import BadOption, SpacesCase, SpecCase
from tests.rlib.cases import TASKS, YARD

NO_LIMIT = 2**31 - 1
OPTIONS = {"grid": None, "is_deterministic": False, "num_objects": 20, "default_reward": 0.0}


def these(height: int, width: int) -> Any:
    """Return a function that returns the spaces of a map of this size."""
    image = spaces.Box(0, 255, (height, width, 3), np.uint8)
    return lambda: SimpleNamespace(observation_space=image, action_space=spaces.Discrete(4))


SPECS = [
    SpecCase(
        task_id,
        None,
        NO_LIMIT,
        None,
        {"obs": (np.uint8, [84, 84, 3])},
        (np.int32, [-1]),
        OPTIONS | {"is_deterministic": "Deterministic" in task_id},
    )
    for task_id in TASKS
]
SPACES = [
    *(SpacesCase(task_id, these(84, 84)) for task_id in TASKS),
    SpacesCase("ApplePicker-v0", these(3, 4), {"grid": YARD, "num_objects": 8}),
    SpacesCase("ApplePicker-v0", these(1, 2), {"grid": ("..",), "num_objects": 1}),
]

#: Option, value that is not allowed, and parts of the text of the error.
BAD_VALUES: list[tuple[str, Any, list[str]]] = [
    ("num_objects", 0, ["num_objects must be", "got 0", "at least 1 and at most 6047"]),
    ("num_objects", 6048, ["num_objects must be", "got 6048", "at least 1 and at most 6047"]),
    ("num_objects", 2**63 - 1, ["num_objects must be", "at most 6047"]),
    ("default_reward", float("nan"), ["default_reward must be", "got nan", "finite"]),
    ("default_reward", 1e39, ["default_reward must be", "got 1e+39", "3.40282e+38"]),
    ("grid", [], ["grid must be a list of strings", "got []"]),
    ("grid", [""], ["grid must be a list of strings"]),
    ("grid", "..", ["grid must be a list of strings", "got '..'"]),
    ("grid", 5, ["grid must be a list of strings", "got 5"]),
    ("grid", [[0, 1]], ["grid must be a list of strings"]),
    ("grid", np.zeros((2, 2)), ["grid must be a list of strings"]),
    ("grid", ["...", ".."], ["grid[1] has 2 tiles", "grid[0] has 3"]),
    ("grid", ["..", ".x"], ["grid[1] must consist of", "got 'x'", "'.' (a free tile)", "'#' (a blocked tile)"]),
    ("grid", ["#.", "##"], ["at least 2 free tiles", "got 1"]),
    ("grid", ["." * 1025] * 1024, ["at most 1048576 tiles", "1024 x 1025", "smaller"]),
]
BAD_OPTIONS = [
    *(
        BadOption("ApplePicker-v0", {name: value}, ConfigError, [re.escape(part) for part in parts])
        for name, value, parts in BAD_VALUES
    ),
    BadOption("ApplePicker-v0", {"grid": YARD}, ConfigError, ["num_objects must be", "got 20", "at most 8"]),
    BadOption("ApplePicker-v0", {"num_objects": 2.5}, TypeError, ["num_objects must be an integer"]),
    BadOption("ApplePicker-v0", {"default_reward": "low"}, TypeError, ["default_reward must be a finite number"]),
    BadOption("ApplePicker-v0", {"is_deterministic": 2}, TypeError, ["is_deterministic"]),
]
