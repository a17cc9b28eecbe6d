"""The tasks of the Shadow Hand: reach with the fingertips, and manipulate a block, an egg or a pen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envpool.mujoco.robotics.task import Task

REWARDS = (("", "sparse"), ("Dense", "dense"))
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


TASKS = [*reach(), *manipulate()]
