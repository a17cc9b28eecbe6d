"""Task table of the MiniGrid family, in upstream's order.

Upstream's six MiniGrid-WFC ids are missing: its packages do not contain the patterns that they need.
"""

from typing import Any

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.minigrid"


def minigrid(module: str, env: str, tasks: dict[str, dict[str, Any]]) -> None:
    """Register the MiniGrid tasks of one level, with their options."""
    for name, options in tasks.items():
        register(f"MiniGrid-{name}", f"{FAMILY}.{module}", env=f"MiniGrid{env}", **options)


minigrid("room_levels", "BlockedUnlockPickup", {"BlockedUnlockPickup-v0": {}})
minigrid(
    "goal_levels",
    "Crossing",
    {
        f"{name}CrossingS{size}N{count}-v0": {"size": size, "num_crossings": count} | obstacle
        for name, obstacle in (("Lava", {}), ("Simple", {"obstacle_type": "wall"}))
        for size, count in ((9, 1), (9, 2), (9, 3), (11, 5))
    },
)
minigrid("goal_levels", "DistShift", {"DistShift1-v0": {"strip2_row": 2}, "DistShift2-v0": {"strip2_row": 5}})
minigrid(
    "goal_levels",
    "DoorKey",
    {f"DoorKey-{size}x{size}-v0": {"size": size} for size in (5, 6, 8, 16)},
)
minigrid(
    "goal_levels",
    "DynamicObstacles",
    {
        "Dynamic-Obstacles-5x5-v0": {"size": 5, "n_obstacles": 2},
        "Dynamic-Obstacles-Random-5x5-v0": {"size": 5, "agent_start_pos": None, "n_obstacles": 2},
        "Dynamic-Obstacles-6x6-v0": {"size": 6, "n_obstacles": 3},
        "Dynamic-Obstacles-Random-6x6-v0": {"size": 6, "agent_start_pos": None, "n_obstacles": 3},
        "Dynamic-Obstacles-8x8-v0": {},
        "Dynamic-Obstacles-16x16-v0": {"size": 16, "n_obstacles": 8},
    },
)
minigrid(
    "goal_levels",
    "Empty",
    {
        "Empty-5x5-v0": {"size": 5},
        "Empty-Random-5x5-v0": {"size": 5, "agent_start_pos": None},
        "Empty-6x6-v0": {"size": 6},
        "Empty-Random-6x6-v0": {"size": 6, "agent_start_pos": None},
        "Empty-8x8-v0": {},
        "Empty-16x16-v0": {"size": 16},
    },
)
minigrid(
    "object_levels",
    "Fetch",
    {
        "Fetch-5x5-N2-v0": {"size": 5, "num_objs": 2},
        "Fetch-6x6-N2-v0": {"size": 6, "num_objs": 2},
        "Fetch-8x8-N3-v0": {},
    },
)
minigrid("goal_levels", "FourRooms", {"FourRooms-v0": {}})
minigrid("object_levels", "GoToDoor", {f"GoToDoor-{size}x{size}-v0": {"size": size} for size in (5, 6, 8)})
minigrid(
    "object_levels",
    "GoToObject",
    {"GoToObject-6x6-N2-v0": {}, "GoToObject-8x8-N2-v0": {"size": 8, "num_objs": 2}},
)
minigrid(
    "room_levels",
    "KeyCorridor",
    {
        f"KeyCorridorS{size}R{rows}-v0": {"room_size": size, "num_rows": rows}
        for size, rows in ((3, 1), (3, 2), (3, 3), (4, 3), (5, 3), (6, 3))
    },
)
minigrid("goal_levels", "LavaGap", {f"LavaGapS{size}-v0": {"size": size} for size in (5, 6, 7)})
minigrid("goal_levels", "LockedRoom", {"LockedRoom-v0": {}})
minigrid(
    "door_levels",
    "Memory",
    {
        "MemoryS17Random-v0": {"size": 17, "random_length": True},
        "MemoryS13Random-v0": {"size": 13, "random_length": True},
        "MemoryS13-v0": {"size": 13},
        "MemoryS11-v0": {"size": 11},
        "MemoryS9-v0": {"size": 9},
        "MemoryS7-v0": {"size": 7},
    },
)
minigrid(
    "multi_room",
    "MultiRoom",
    {
        "MultiRoom-N2-S4-v0": {"min_num_rooms": 2, "max_num_rooms": 2, "max_room_size": 4},
        "MultiRoom-N4-S5-v0": {"min_num_rooms": 6, "max_num_rooms": 6, "max_room_size": 5},
        "MultiRoom-N4-S5-v1": {"min_num_rooms": 4, "max_num_rooms": 4, "max_room_size": 5},
        "MultiRoom-N6-v0": {"min_num_rooms": 6, "max_num_rooms": 6},
    },
)
minigrid(
    "room_levels",
    "ObstructedMaze1D",
    {
        "ObstructedMaze-1Dl-v0": {"key_in_box": False, "blocked": False},
        "ObstructedMaze-1Dlh-v0": {"key_in_box": True, "blocked": False},
        "ObstructedMaze-1Dlhb-v0": {},
    },
)
TWO_DOORS: dict[str, Any] = {"agent_room": (2, 1), "num_quarters": 1, "num_rooms_visited": 4}
ONE_QUARTER: dict[str, Any] = {"agent_room": (1, 1), "num_quarters": 1, "num_rooms_visited": 5}
TWO_QUARTERS: dict[str, Any] = {"agent_room": (2, 1), "num_quarters": 2, "num_rooms_visited": 11}
minigrid(
    "room_levels",
    "ObstructedMaze",
    {
        "ObstructedMaze-2Dl-v0": {"key_in_box": False, "blocked": False} | TWO_DOORS,
        "ObstructedMaze-2Dlh-v0": {"key_in_box": True, "blocked": False} | TWO_DOORS,
        "ObstructedMaze-2Dlhb-v0": TWO_DOORS,
        "ObstructedMaze-1Q-v0": ONE_QUARTER,
        "ObstructedMaze-2Q-v0": TWO_QUARTERS,
        "ObstructedMaze-Full-v0": {},
    },
)
minigrid(
    "room_levels",
    "ObstructedMazeV1",
    {
        "ObstructedMaze-2Dlhb-v1": TWO_DOORS,
        "ObstructedMaze-1Q-v1": ONE_QUARTER,
        "ObstructedMaze-2Q-v1": TWO_QUARTERS,
        "ObstructedMaze-Full-v1": {},
    },
)
minigrid("door_levels", "Playground", {"Playground-v0": {}})
minigrid(
    "object_levels",
    "PutNear",
    {"PutNear-6x6-N2-v0": {}, "PutNear-8x8-N3-v0": {"size": 8, "num_objs": 3}},
)
minigrid("door_levels", "RedBlueDoors", {"RedBlueDoors-6x6-v0": {"size": 6}, "RedBlueDoors-8x8-v0": {}})
minigrid("room_levels", "Unlock", {"Unlock-v0": {}})
minigrid("room_levels", "UnlockPickup", {"UnlockPickup-v0": {}})
