"""The options of the Fetch tasks, with the defaults of FetchReach."""

from __future__ import annotations

import math
from typing import Any

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS as MUJOCO_OPTIONS

OPTIONS: dict[str, Any] = MUJOCO_OPTIONS | {
    "frame_skip": 20,
    "xml_file": "fetch/reach.xml",
    "reward_type": "sparse",
    "has_object": False,
    "block_gripper": True,
    "target_in_the_air": True,
    "gripper_extra_height": 0.2,
    "target_offset_x": 0.0,
    "target_offset_y": 0.0,
    "target_offset_z": 0.0,
    "obj_range": 0.15,
    "target_range": 0.15,
    "distance_threshold": 0.05,
    "initial_slide0": 0.4049,
    "initial_slide1": 0.48,
    "initial_slide2": 0.0,
    "initial_object_x": 1.25,
    "initial_object_y": 0.53,
    "initial_object_z": 0.4,
}
#: The object starts at least 0.1 m away from the gripper. A smaller range would have too few such places, or none.
LOWEST_OBJ_RANGE = 0.08


def check_numbers(config: Any) -> None:
    """Raise ConfigError if a number is not finite, too small or too large."""
    if not 1 <= config.frame_skip <= 10000:  # before the simulation that finds the first state
        raise ConfigError(f"frame_skip must be between 1 and 10000, got {shown(config.frame_skip)}")
    for name, default in OPTIONS.items():
        value = getattr(config, name)
        if isinstance(default, float) and not (math.isfinite(value) and abs(value) <= 1e6):
            raise ConfigError(f"{name} must be between -1e6 and 1e6, got {value}")
    for name, lowest in (("obj_range", LOWEST_OBJ_RANGE), ("target_range", 0.0), ("distance_threshold", 0.0)):
        if getattr(config, name) < lowest:
            raise ConfigError(f"{name} must be between {lowest} and 1e6, got {getattr(config, name)}")
