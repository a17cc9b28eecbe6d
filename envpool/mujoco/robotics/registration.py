"""The task table of Gymnasium-Robotics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from envpool.tasks.entries import table

register = table(__name__)


class Task(NamedTuple):
    """A task of Gymnasium-Robotics.

    Attributes
    ----------
    id : str
        The id, which is EnvPool's and, in its current version, Gymnasium-Robotics'.
    module : str
        Module of this package with the env definition.
    env : str
        Class of the env definition.
    max_episode_steps : int
        Time limit of an episode, in steps.
    upstream_id : str
        Id of the upstream environment. Versions that need mujoco-py cannot be made any more; they are the current
        version here, as in EnvPool.
    options : mapping
        Options that differ from the defaults of the env definition.
    """

    id: str
    module: str
    env: str
    max_episode_steps: int
    upstream_id: str
    options: Mapping[str, Any] = MappingProxyType({})


#: Endings of ids, and the option ``reward_type``.
REWARDS = (("", "sparse"), ("Dense", "dense"))

# ---- Fetch: an arm on a mobile base that reaches, pushes, slides, or picks up and places -----------------------------

#: Options that several tasks share.
OBJECT: dict[str, Any] = {"has_object": True, "initial_slide0": 0.405}

#: Options of each task that differ from those of FetchReach.
FETCH: dict[str, dict[str, Any]] = {
    "Reach": {},
    "Push": OBJECT | {"xml_file": "fetch/push.xml", "gripper_extra_height": 0.0, "target_in_the_air": False},
    "PickAndPlace": OBJECT | {"xml_file": "fetch/pick_and_place.xml", "block_gripper": False},
    "Slide": OBJECT
    | {
        "xml_file": "fetch/slide.xml",
        "gripper_extra_height": -0.02,
        "target_in_the_air": False,
        "target_offset_x": 0.4,
        "obj_range": 0.1,
        "target_range": 0.3,
        "initial_slide0": 0.05,
        "initial_object_x": 1.7,
        "initial_object_y": 1.1,
        "initial_object_z": 0.41,
    },
}

FETCH_TASKS = [
    Task(
        f"Fetch{name}{suffix}-v{version}",
        "fetch",
        "Fetch",
        50,
        f"Fetch{name}{suffix}-v4",
        options | {"reward_type": reward_type},
    )
    for name, options in FETCH.items()
    for suffix, reward_type in REWARDS
    for version in (1, 4)
]

# ---- the Shadow Hand: it reaches with the fingertips, and manipulates a block, an egg or a pen -----------------------

IGNORED: dict[str, Any] = {"target_position": "ignore"}
PEN: dict[str, Any] = {
    "distance_threshold": 0.05,
    "randomize_initial_rotation": False,
    "ignore_z_target_rotation": True,
}
#: Objects: their targets, and options of the object.
OBJECTS: dict[str, tuple[dict[str, dict[str, Any]], dict[str, Any]]] = {
    "Block": (
        {
            "": {},
            "Full": {},
            "RotateZ": IGNORED | {"target_rotation": "z"},
            "RotateParallel": IGNORED | {"target_rotation": "parallel"},
            "RotateXYZ": IGNORED,
        },
        {},
    ),
    "Egg": ({"": {}, "Full": {}, "Rotate": IGNORED}, {}),
    "Pen": ({"": {}, "Full": {}, "Rotate": IGNORED}, PEN),
}
#: Touch sensors: the endings of ids, and what is observed.
SENSORS = {"": "off", "_BooleanTouchSensors": "boolean", "_ContinuousTouchSensors": "sensordata"}


def reach() -> Iterator[Task]:
    """Yield HandReach."""
    for suffix, reward_type in REWARDS:
        for version in (0, 3):
            name = f"HandReach{suffix}"
            options = {"reward_type": reward_type}
            yield Task(f"{name}-v{version}", "hand_reach", "HandReach", 50, f"{name}-v3", options)


def manipulate() -> Iterator[Task]:
    """Yield the tasks with an object."""
    for thing, (targets, own) in OBJECTS.items():
        for target, options in targets.items():
            for sensors, observed in SENSORS.items():
                if target == "Full" and sensors:
                    continue
                touch = {"touch_get_obs": observed, "touch_visualisation": "on_touch"} if sensors else {}
                file = f"hand/manipulate_{thing.lower()}{'_touch_sensors' if sensors else ''}.xml"
                for suffix, reward_type in REWARDS:
                    name = f"HandManipulate{thing}{target}{sensors}{suffix}"
                    all_options = {"xml_file": file, **own, **options, **touch, "reward_type": reward_type}
                    for version in (0, 1):
                        yield Task(
                            f"{name}-v{version}", "hand_manipulate", "HandManipulate", 100, f"{name}-v1", all_options
                        )


HAND_TASKS = [*reach(), *manipulate()]

# ---- PointMaze and AntMaze: a ball, or an ant, that moves to a goal in a maze ----------------------------------------

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

BEFORE_V5 = {"use_contact_force": False, "legacy_healthy_reward": True, "exclude_worldbody_contact_forces": False}
#: Options of each version of AntMaze that differ from those of v5. In v3, a goal that is reached always moves.
ANT_MAZE: dict[int, dict[str, Any]] = {
    3: BEFORE_V5 | {"version": 3, "reset_target": True},
    4: BEFORE_V5 | {"version": 4},
    5: {},
}

MAZE_TASKS = [
    Task(id_, "point_maze", "PointMaze", limit, id_, {"maze_map": maze_map, "reward_type": reward_type})
    for name, (maze_map, limit, _) in MAZES.items()
    for suffix, reward_type in REWARDS
    for id_ in (f"PointMaze_{name}{suffix}-v3",)
] + [
    Task(id_, "ant_maze", "AntMaze", limit, id_, options | {"maze_map": maze_map, "reward_type": reward_type})
    for name, (maze_map, _, limit) in MAZES.items()
    for suffix, reward_type in REWARDS
    for version, options in ANT_MAZE.items()
    for id_ in (f"AntMaze_{name}{suffix}-v{version}",)
]

# ---- the Adroit hand, and FrankaKitchen ------------------------------------------------------------------------------

ADROIT_TASKS = [
    Task(id_, f"adroit_{name.lower()}", f"AdroitHand{name}", 200, id_, {"reward_type": reward_type})
    for name in ("Door", "Hammer", "Pen", "Relocate")
    for suffix, reward_type in (("", "dense"), ("Sparse", "sparse"))
    for id_ in (f"AdroitHand{name}{suffix}-v1",)
]
KITCHEN_TASKS = [Task("FrankaKitchen-v1", "kitchen", "FrankaKitchen", 280, "FrankaKitchen-v1")]

#: All tasks.
TASKS: list[Task] = [*FETCH_TASKS, *HAND_TASKS, *MAZE_TASKS, *ADROIT_TASKS, *KITCHEN_TASKS]

for row in TASKS:
    module = f"envpool.mujoco.robotics.{row.module}"
    register(row.id, module, env=row.env, max_episode_steps=row.max_episode_steps, **row.options)
