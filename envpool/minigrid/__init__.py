"""The levels of MiniGrid and BabyAI, as native code with the same bits."""

from typing import TYPE_CHECKING, Any

from envpool.pools.classes import Group, classes_of

if TYPE_CHECKING:
    from envpool.minigrid.missions import decode_mission as decode_mission

#: EnvPool's names of the levels of MiniGrid; two have another name as well.
LEVELS = {
    "empty": "Empty",
    "blocked_unlock_pickup": "BlockedUnlockPickup",
    "crossing": "Crossing",
    "dist_shift": "DistShift",
    "distshift": "DistShift",
    "door_key": "DoorKey",
    "doorkey": "DoorKey",
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
#: EnvPool's names of the levels of BabyAI, without the prefix ``babyai_``.
BABYAI = {
    "action_obj_door": "ActionObjDoor",
    "blocked_unlock_pickup": "BlockedUnlockPickup",
    "boss_level": "BossLevel",
    "boss_level_no_unlock": "BossLevelNoUnlock",
    "find_obj": "FindObj",
    "goto": "GoTo",
    "goto_door": "GoToDoor",
    "goto_imp_unlock": "GoToImpUnlock",
    "goto_local": "GoToLocal",
    "goto_obj": "GoToObj",
    "goto_obj_door": "GoToObjDoor",
    "goto_red_ball": "GoToRedBall",
    "goto_red_ball_grey": "GoToRedBallGrey",
    "goto_red_ball_no_dists": "GoToRedBall",
    "goto_red_blue_ball": "GoToRedBlueBall",
    "goto_seq": "GoToSeq",
    "key_corridor": "KeyCorridor",
    "key_in_box": "KeyInBox",
    "mini_boss_level": "MiniBossLevel",
    "move_two_across": "MoveTwoAcross",
    "one_room": "OneRoom",
    "open": "Open",
    "open_door": "OpenDoor",
    "open_doors_order": "OpenDoorsOrder",
    "open_red_door": "OpenRedDoor",
    "open_two_doors": "OpenTwoDoors",
    "pickup": "Pickup",
    "pickup_above": "PickupAbove",
    "pickup_dist": "PickupDist",
    "pickup_loc": "PickupLoc",
    "put_next": "PutNext",
    "put_next_local": "PutNextLocal",
    "synth": "Synth",
    "synth_loc": "SynthLoc",
    "synth_seq": "SynthSeq",
    "unblock_pickup": "UnblockPickup",
    "unlock": "Unlock",
    "unlock_local": "UnlockLocal",
    "unlock_pickup": "UnlockPickup",
    "unlock_to_unlock": "UnlockToUnlock",
}
_class = classes_of(
    __name__,
    MiniGrid=Group(
        "env_name",
        {k: f"MiniGrid{env}" for k, env in LEVELS.items()}
        | {f"babyai_{k}": f"BabyAI{env}" for k, env in BABYAI.items()},
        {"babyai_goto_red_ball_no_dists": {"num_dists": 0}},
    ),
)


def __getattr__(name: str) -> Any:
    if name == "decode_mission":  # loaded when it is used: it needs NumPy, and listing tasks must not
        from envpool.minigrid.missions import decode_mission

        return decode_mission
    return _class(name)
