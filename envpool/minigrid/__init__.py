"""The levels of MiniGrid and BabyAI, as native code with the same bits."""

from typing import TYPE_CHECKING, Any

from envpool.pools.classes import Group, classes_of

if TYPE_CHECKING:
    from envpool.minigrid.missions import decode_mission as decode_mission

#: EnvPool's names of the levels of MiniGrid; its names of BabyAI's levels are not among them.
LEVELS = {
    "empty": "Empty",
    "blocked_unlock_pickup": "BlockedUnlockPickup",
    "crossing": "Crossing",
    "dist_shift": "DistShift",
    "door_key": "DoorKey",
    "dynamic_obstacles": "DynamicObstacles",
    "fetch": "Fetch",
    "four_rooms": "FourRooms",
    "goto_door": "GoToDoor",
    "goto_object": "GoToObject",
    "key_corridor": "KeyCorridor",
    "lava_gap": "LavaGap",
    "locked_room": "LockedRoom",
    "memory": "Memory",
    "multi_room": "MultiRoom",
    "obstructed_maze_1dlhb": "ObstructedMaze1D",
    "obstructed_maze_full": "ObstructedMaze",
    "obstructed_maze_full_v1": "ObstructedMazeV1",
    "playground": "Playground",
    "put_near": "PutNear",
    "red_blue_door": "RedBlueDoors",
    "unlock": "Unlock",
    "unlock_pickup": "UnlockPickup",
}
_class = classes_of(__name__, MiniGrid=Group("env_name", {k: f"MiniGrid{env}" for k, env in LEVELS.items()}))


def __getattr__(name: str) -> Any:
    if name == "decode_mission":  # loaded when it is used: it needs NumPy, and listing tasks must not
        from envpool.minigrid.missions import decode_mission

        return decode_mission
    return _class(name)
