"""Task table of the BabyAI levels, in upstream's order."""

from typing import Any

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.minigrid.babyai"


def babyai(module: str, env: str, tasks: dict[str, dict[str, Any]]) -> None:
    """Register the BabyAI tasks of one level, with their options."""
    for name, options in tasks.items():
        register(f"BabyAI-{name}", f"{FAMILY}.{module}", env=f"BabyAI{env}", **options)


babyai("go_to", "GoToRedBallGrey", {"GoToRedBallGrey-v0": {}})
babyai("go_to", "GoToRedBall", {"GoToRedBall-v0": {}, "GoToRedBallNoDists-v0": {"num_dists": 0}})
babyai("go_to", "GoToObj", {"GoToObj-v0": {}, "GoToObjS4-v0": {"room_size": 4}, "GoToObjS6-v1": {"room_size": 6}})
babyai(
    "go_to",
    "GoToLocal",
    {"GoToLocal-v0": {}}
    | {
        f"GoToLocalS{size}N{count}-v0": {"room_size": size, "num_dists": count}
        for size, counts in ((5, (2,)), (6, (2, 3, 4)), (7, (4, 5)), (8, range(2, 8)))
        for count in counts
    },
)
babyai(
    "go_to",
    "GoTo",
    {
        "GoTo-v0": {},
        "GoToOpen-v0": {"doors_open": True},
        "GoToObjMaze-v0": {"num_dists": 1, "doors_open": False},
        "GoToObjMazeOpen-v0": {"num_dists": 1, "doors_open": True},
        "GoToObjMazeS4R2-v0": {"num_dists": 1, "room_size": 4, "num_rows": 2, "num_cols": 2},
        "GoToObjMazeS4-v0": {"num_dists": 1, "room_size": 4},
        "GoToObjMazeS5-v0": {"num_dists": 1, "room_size": 5},
        "GoToObjMazeS6-v0": {"num_dists": 1, "room_size": 6},
        "GoToObjMazeS7-v0": {"num_dists": 1, "room_size": 7},
    },
)
babyai("go_to", "GoToImpUnlock", {"GoToImpUnlock-v0": {}})
babyai(
    "synth",
    "GoToSeq",
    {"GoToSeq-v0": {}, "GoToSeqS5R2-v0": {"room_size": 5, "num_rows": 2, "num_cols": 2, "num_dists": 4}},
)
babyai("go_to", "GoToRedBlueBall", {"GoToRedBlueBall-v0": {}})
babyai("go_to", "GoToDoor", {"GoToDoor-v0": {}})
babyai("go_to", "GoToObjDoor", {"GoToObjDoor-v0": {}})
babyai("opening", "Open", {"Open-v0": {}})
babyai("opening", "OpenRedDoor", {"OpenRedDoor-v0": {}})
babyai(
    "opening",
    "OpenDoor",
    {
        "OpenDoor-v0": {},
        "OpenDoorDebug-v0": {"debug": True},
        "OpenDoorColor-v0": {"select_by": "color"},
        "OpenDoorLoc-v0": {"select_by": "loc"},
    },
)
RED_THEN_BLUE = {"first_color": "red", "second_color": "blue"}
babyai(
    "opening",
    "OpenTwoDoors",
    {
        "OpenTwoDoors-v0": {},
        "OpenRedBlueDoors-v0": RED_THEN_BLUE,
        "OpenRedBlueDoorsDebug-v0": {**RED_THEN_BLUE, "strict": True},
    },
)
babyai(
    "opening",
    "OpenDoorsOrder",
    {
        "OpenDoorsOrderN2-v0": {"num_doors": 2},
        "OpenDoorsOrderN4-v0": {"num_doors": 4},
        "OpenDoorsOrderN2Debug-v0": {"debug": True, "num_doors": 2},
        "OpenDoorsOrderN4Debug-v0": {"debug": True, "num_doors": 4},
    },
)
babyai("pickup", "Pickup", {"Pickup-v0": {}})
babyai("pickup", "UnblockPickup", {"UnblockPickup-v0": {}})
babyai("synth", "PickupLoc", {"PickupLoc-v0": {}})
babyai("pickup", "PickupDist", {"PickupDist-v0": {}, "PickupDistDebug-v0": {"debug": True}})
babyai("pickup", "PickupAbove", {"PickupAbove-v0": {}})
babyai(
    "putting",
    "PutNextLocal",
    {
        "PutNextLocal-v0": {},
        "PutNextLocalS5N3-v0": {"room_size": 5, "num_objs": 3},
        "PutNextLocalS6N4-v0": {"room_size": 6, "num_objs": 4},
    },
)
babyai(
    "putting",
    "PutNext",
    {
        f"PutNextS{size}N{count}-v0": {"room_size": size, "objs_per_room": count}
        for size, count in ((4, 1), (5, 2), (5, 1), (6, 3), (7, 4))
    }
    | {
        f"PutNextS{size}N{count}Carrying-v0": {"room_size": size, "objs_per_room": count, "start_carrying": True}
        for size, count in ((5, 2), (6, 3), (7, 4))
    },
)
babyai("unlock", "Unlock", {"Unlock-v0": {}})
babyai("unlock", "UnlockLocal", {"UnlockLocal-v0": {}, "UnlockLocalDist-v0": {"distractors": True}})
babyai("unlock", "KeyInBox", {"KeyInBox-v0": {}})
babyai("unlock", "UnlockPickup", {"UnlockPickup-v0": {}, "UnlockPickupDist-v0": {"distractors": True}})
babyai("unlock", "BlockedUnlockPickup", {"BlockedUnlockPickup-v0": {}})
babyai("unlock", "UnlockToUnlock", {"UnlockToUnlock-v0": {}})
babyai("unlock", "ActionObjDoor", {"ActionObjDoor-v0": {}})
babyai(
    "pickup",
    "FindObj",
    {"FindObjS5-v0": {}, "FindObjS6-v0": {"room_size": 6}, "FindObjS7-v0": {"room_size": 7}},
)
babyai(
    "pickup",
    "KeyCorridor",
    {"KeyCorridor-v0": {}}
    | {
        f"KeyCorridorS{size}R{rows}-v0": {"room_size": size, "num_rows": rows}
        for size, rows in ((3, 1), (3, 2), (3, 3), (4, 3), (5, 3), (6, 3))
    },
)
babyai(
    "pickup",
    "OneRoom",
    {"OneRoomS8-v0": {}} | {f"OneRoomS{size}-v0": {"room_size": size} for size in (12, 16, 20)},
)
babyai(
    "putting",
    "MoveTwoAcross",
    {
        "MoveTwoAcrossS5N2-v0": {"room_size": 5, "objs_per_room": 2},
        "MoveTwoAcrossS8N9-v0": {"room_size": 8, "objs_per_room": 9},
    },
)
babyai("synth", "Synth", {"Synth-v0": {}, "SynthS5R2-v0": {"room_size": 5, "num_rows": 2}})
babyai("synth", "SynthLoc", {"SynthLoc-v0": {}})
babyai("synth", "SynthSeq", {"SynthSeq-v0": {}})
babyai("synth", "MiniBossLevel", {"MiniBossLevel-v0": {}})
babyai("synth", "BossLevel", {"BossLevel-v0": {}})
babyai("synth", "BossLevelNoUnlock", {"BossLevelNoUnlock-v0": {}})
