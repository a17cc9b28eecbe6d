"""PointMaze and AntMaze: a ball, or an ant, that moves to a goal in a maze."""

from __future__ import annotations

from typing import Any

from envpool.mujoco.robotics.task import Task

#: Name in ids -> name of the map, time limits of PointMaze and AntMaze in steps.
MAZES = {
    "UMaze": ("U_MAZE", 300, 700),
    "Open": ("OPEN", 300, 700),
    "Open_Diverse_G": ("OPEN_DIVERSE_G", 300, 700),
    "Open_Diverse_GR": ("OPEN_DIVERSE_GR", 300, 700),
    "Medium": ("MEDIUM_MAZE", 600, 1000),
    "Medium_Diverse_G": ("MEDIUM_MAZE_DIVERSE_G", 600, 1000),
    "Medium_Diverse_GR": ("MEDIUM_MAZE_DIVERSE_GR", 600, 1000),
    "Large": ("LARGE_MAZE", 800, 1000),
    "Large_Diverse_G": ("LARGE_MAZE_DIVERSE_G", 800, 1000),
    "Large_Diverse_GR": ("LARGE_MAZE_DIVERSE_GR", 800, 1000),
}
REWARDS = (("", "sparse"), ("Dense", "dense"))

BEFORE_V5 = {"use_contact_force": False, "legacy_healthy_reward": True, "exclude_worldbody_contact_forces": False}
#: Options of each version of AntMaze that differ from those of v5. In v3, a goal that is reached always moves.
ANT: dict[int, dict[str, Any]] = {
    3: BEFORE_V5 | {"version": 3, "reset_target": True},
    4: BEFORE_V5 | {"version": 4},
    5: {},
}

TASKS = [
    Task(id_, "point_maze", "PointMaze", limit, id_, {"maze_map": maze_map, "reward_type": reward_type})
    for name, (maze_map, limit, _) in MAZES.items()
    for suffix, reward_type in REWARDS
    for id_ in (f"PointMaze_{name}{suffix}-v3",)
] + [
    Task(id_, "ant_maze", "AntMaze", limit, id_, options | {"maze_map": maze_map, "reward_type": reward_type})
    for name, (maze_map, _, limit) in MAZES.items()
    for suffix, reward_type in REWARDS
    for version, options in ANT.items()
    for id_ in (f"AntMaze_{name}{suffix}-v{version}",)
]
