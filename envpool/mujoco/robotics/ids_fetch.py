"""The Fetch tasks: an arm on a mobile base that reaches, pushes, slides, or picks up and places."""

from __future__ import annotations

from typing import Any

from envpool.mujoco.robotics.task import Task

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

TASKS = [
    Task(
        f"Fetch{name}{suffix}-v{version}",
        "fetch",
        "Fetch",
        50,
        f"Fetch{name}{suffix}-v4",
        options | {"reward_type": reward_type},
    )
    for name, options in FETCH.items()
    for suffix, reward_type in (("", "sparse"), ("Dense", "dense"))
    for version in (1, 4)
]
