"""Cases of PointMaze and AntMaze for the conformance tests: options with their defaults, and bad options."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.mujoco.robotics.registration import MAZES
from tests.conformance.cases import BadOption, SpacesCase, SpecCase
from tests.mujoco.robotics.upstream import upstream_of

GOALS = {"obs:achieved_goal": (np.float64, [2]), "obs:desired_goal": (np.float64, [2])}


def options_of(reward_type: str, maze_map: str, limit: int, **more: Any) -> dict[str, Any]:
    """Return options of a task with their defaults."""
    shared = {"reward_type": reward_type, "maze_map": maze_map, "max_episode_steps": limit, "continuing_task": True}
    return {**shared, "reset_target": False, "position_noise_range": 0.25, "frame_stack": 1, **more}


SPECS = [
    SpecCase(
        f"PointMaze_{name}{suffix}-v3",
        max_episode_steps=limit,
        state={
            "obs:observation": (np.float64, [4]),
            **GOALS,
            "info:success": (np.float64, [-1]),
            "info:distance": (np.float64, [-1]),
        },
        action=(np.float32, [-1, 2]),
        options=options_of(reward_type, maze_map, limit, frame_skip=1, maze_size_scaling=1.0, maze_height=0.4),
        has_more_options=True,
        is_slow=name != "UMaze",
    )
    for name, (maze_map, limit, _) in MAZES.items()
    for suffix, reward_type in (("", "sparse"), ("Dense", "dense"))
] + [
    SpecCase(
        f"AntMaze_{name}{suffix}-v{version}",
        max_episode_steps=limit,
        action=(np.float64, [-1, 8]),
        options=options_of(reward_type, maze_map, limit, frame_skip=5, maze_size_scaling=4.0, maze_height=0.5)
        | {"version": version, "reset_target": version == 3},
        has_more_options=True,
        is_slow=name != "UMaze",
    )
    for name, (maze_map, _, limit) in MAZES.items()
    for suffix, reward_type in (("", "sparse"), ("Dense", "dense"))
    for version in (3, 4, 5)
]


def spaces(task_id: str, **options: Any) -> SpacesCase:
    """Return a comparison with upstream's spaces."""

    class Spaces:
        observation_space = None
        action_space = None

    def find() -> Any:
        env = upstream_of(task_id, options).make()
        found = Spaces()
        found.observation_space = env.observation_space
        env.close()
        return found

    return SpacesCase(task_id, find, options)


SPACES = [
    spaces("PointMaze_UMaze-v3"),
    spaces("AntMaze_UMaze-v4"),
    spaces("AntMaze_UMaze-v5"),
    spaces("AntMaze_UMaze-v5", include_cfrc_ext_in_observation=False),
]

SHORT = [[1, 1, 1], [1, 0, 1], [1, 1, 1]]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"reward_type": "shaped"}, "reward_type must be 'sparse' or 'dense', got 'shaped'"),
    ({"maze_map": "U_MAZES"}, "maze_map must be rows of cells, or one of .*U_MAZE.*, got 'U_MAZES'"),
    ({"maze_map": 3}, "maze_map must be the name of a map, or a list of 1 to 64 rows.*, got 3"),
    ({"maze_map": []}, r"maze_map must be the name.*, got \[\]"),
    ({"maze_map": [[]]}, r"maze_map must be the name.*, got \[\[\]\]"),
    ({"maze_map": [[0, 1], [0]]}, "rows of the same length"),
    ({"maze_map": [[0] * 65]}, "1 to 64 cells each"),
    ({"maze_map": [[0, 2]]}, "a cell of maze_map must be one of 0, 1, 'g', 'r', 'c', got 2"),
    ({"maze_map": [[0, "x"]]}, "a cell of maze_map must be .*, got 'x'"),
    ({"maze_map": [[0, float("nan")]]}, "maze_map must be the name.*, got .*"),
    (
        {"maze_map": [[0] * 1000] * 1000},
        r"maze_map must be .{,150}, got \[\[0, 0, .{,200}\.\.\. \(3002000 characters\)$",
    ),
    ({"maze_map": [[1] * 64] * 64}, r"the maze 1{64}/1.{,200}\.\.\. \(4159 characters\) \(maze"),
    ({"maze_map": [[0, 0.5]]}, r"maze_map must be the name.*, got \[\[0, 0\.5\]\]"),
    ({"maze_map": [[1, 1]]}, "has no cell for a goal"),
    ({"maze_map": [["g", 1]]}, "has no cell for an episode to begin in"),
    ({"maze_map": SHORT}, "the maze 111/101/111 .* has only one cell in which an episode can begin"),
    ({"maze_size_scaling": 0.5}, r"maze_size_scaling must be between 1\.0 and 100\.0.*, got 0\.5"),
    ({"maze_height": 0.0}, r"maze_height must be between 0\.01 and 100\.0.*, got 0\.0"),
    ({"position_noise_range": 0.5}, r"position_noise_range must be between 0\.0 and 0\.45.*, got 0\.5"),
    ({"position_noise_range": float("nan")}, "position_noise_range must .*, got nan"),
]
BAD_OPTIONS = [BadOption("PointMaze_UMaze-v3", options, ConfigError, [text]) for options, text in BAD] + [
    BadOption("AntMaze_UMaze-v5", {"version": 2}, ConfigError, ["version must be one of 3, 4, 5, got 2"]),
    BadOption("AntMaze_UMaze-v5", {"xml_file": "inverted_pendulum.xml"}, ConfigError, ["has 2 positions"]),
]
