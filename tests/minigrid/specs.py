"""Cases of MiniGrid and BabyAI for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

import numpy as np

from envpool.errors import ConfigError
from tests.conformance.cases import BadOption, SpecCase
from tests.minigrid.cases import TASKS

NO_LIMIT = 2**31 - 1


def spec_case(task_id: str) -> SpecCase:
    """Return what the spec of a task contains."""
    last = 2 if "Dynamic-Obstacles" in task_id else 6
    assert last in (2, 6)
    return SpecCase(
        task_id,
        max_episode_steps=NO_LIMIT,
        state={
            "obs:direction": (np.int32, [-1]),
            "obs:image": (np.uint8, [7, 7, 3]),
            "obs:mission": (np.uint8, [512 if task_id.startswith("BabyAI") else 96]),
            "info:agent_pos": (np.int32, [2]),
            "info:mission_id": (np.int32, [-1]),
        },
        action=(np.int32, [-1]),
        options={"max_steps": 0, "agent_view_size": 7},
        has_more_options=True,
    )


SPECS = [spec_case(task_id) for task_id in TASKS]
TASK = "MiniGrid-DoorKey-8x8-v0"
CROSSING = "MiniGrid-LavaCrossingS9N1-v0"
EMPTY = "MiniGrid-Empty-8x8-v0"
MAZE = "MiniGrid-ObstructedMaze-Full-v0"
BAD_OPTIONS = [
    BadOption(TASK, {"size": 4}, ConfigError, ["size must be between 5 and 64, got 4"]),
    BadOption(TASK, {"size": 65}, ConfigError, ["size must be between 5 and 64, got 65"]),
    BadOption(TASK, {"max_steps": -1}, ConfigError, ["max_steps must be between 0 and"]),
    BadOption(TASK, {"agent_view_size": 6}, ConfigError, ["agent_view_size must be odd and between 3 and 31, got 6"]),
    BadOption(TASK, {"agent_view_size": 33}, ConfigError, ["agent_view_size must be odd and between 3 and 31"]),
    BadOption(TASK, {"mission_bytes": 0}, ConfigError, ["mission_bytes must be between 1 and 512, got 0"]),
    BadOption(TASK, {"mission_bytes": 513}, ConfigError, ["mission_bytes must be between 1 and 512, got 513"]),
    BadOption(TASK, {"num_objs": 3}, TypeError, ["no option 'num_objs'"]),
    BadOption(CROSSING, {"size": 8}, ConfigError, ["size must be odd, got 8"]),
    BadOption(CROSSING, {"obstacle_type": "ball"}, ConfigError, ["obstacle_type must be 'lava' or 'wall', got 'ball'"]),
    BadOption(EMPTY, {"agent_start_pos": (0, 3)}, ConfigError, [r"agent_start_pos must be None", r"from \(1, 1\)"]),
    BadOption(EMPTY, {"agent_start_pos": (1, 7)}, ConfigError, [r"to \(6, 6\), got \(1, 7\)"]),
    BadOption(EMPTY, {"agent_start_pos": 3}, ConfigError, ["agent_start_pos must be None", "got 3"]),
    BadOption(EMPTY, {"agent_start_pos": (1, 2, 3)}, ConfigError, ["agent_start_pos must be None"]),
    BadOption(EMPTY, {"agent_start_pos": ("a", 2)}, ConfigError, ["agent_start_pos must be None"]),
    BadOption(EMPTY, {"agent_start_dir": 4}, ConfigError, ["agent_start_dir must be between -1 and 3, got 4"]),
    BadOption(MAZE, {"agent_room": (3, 0)}, ConfigError, [r"agent_room must be a pair \(column, row\)"]),
    BadOption(MAZE, {"agent_room": None}, ConfigError, ["agent_room must be a pair"]),
    BadOption(MAZE, {"num_quarters": 5}, ConfigError, ["num_quarters must be between 1 and 4, got 5"]),
    BadOption("MiniGrid-KeyCorridorS3R1-v0", {"obj_type": "door"}, ConfigError, ["obj_type must be 'key' or 'ball'"]),
    BadOption("MiniGrid-KeyCorridorS3R1-v0", {"num_rows": 22}, ConfigError, [r"num_rows \* num_cols must be at most"]),
    BadOption("MiniGrid-KeyCorridorS6R3-v0", {"room_size": 40}, ConfigError, ["of the grid must be at most 64"]),
    BadOption(TASK, {"bonus": "state"}, ConfigError, ["bonus must be '' or 'position' or 'action', got 'state'"]),
    BadOption(TASK, {"bonus_scale": float("nan")}, ConfigError, ["bonus_scale must be a finite number, got nan"]),
    BadOption(TASK, {"reset_seeds": 3}, TypeError, ["reset_seeds must be a tuple or a list of integers", "got 3"]),
    BadOption(TASK, {"reset_seeds": (1, -1)}, ConfigError, [r"reset_seeds\[1\] must be between 0 and"]),
    BadOption(TASK, {"reset_seeds": ("a",)}, TypeError, [r"reset_seeds\[0\] must be of type int, got 'a'"]),
    BadOption(
        TASK, {"goal_direction": "left"}, ConfigError, ["goal_direction must be one of '', 'slope'", "got 'left'"]
    ),
    BadOption(
        TASK,
        {"goal_direction": "slope", "observation": "flat"},
        ConfigError,
        ["goal_direction='slope' adds an array", "leave out one of them"],
    ),
    BadOption(TASK, {"mission": "str"}, ConfigError, ["mission must be 'bytes' or 'text' or 'id', got 'str'"]),
    BadOption("BabyAI-GoTo-v0", {"mission": "id"}, ConfigError, ["mission must be 'bytes' or 'text' for BabyAI"]),
    BadOption("MiniGrid-Fetch-5x5-N2-v0", {"num_objs": 9}, ConfigError, ["num_objs must be between 1 and 8, got 9"]),
]
