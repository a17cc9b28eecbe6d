"""Cases of the Fetch and Shadow Hand tasks for the conformance tests: arrays, options and bad options."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from tests.conformance.cases import Array, BadOption, SpecCase


def goal_arrays(observation: int, goal: int, **info: Array) -> dict[str, Array]:
    """Return the arrays of a goal environment."""
    scalars = {"info:is_success": (np.float64, [-1]), "info:distance": (np.float64, [-1])}
    goals = {f"obs:{name}": (np.float64, [goal]) for name in ("achieved_goal", "desired_goal")}
    return {"obs:observation": (np.float64, [observation]), **goals, **scalars, **info}


FETCH = {"frame_skip": 20, "frame_stack": 1, "distance_threshold": 0.05, "initial_slide1": 0.48, "initial_slide2": 0.0}
OBJECT = FETCH | {"has_object": True, "reward_type": "sparse", "target_offset_y": 0.0, "target_offset_z": 0.0}
AT_TABLE = {"obj_range": 0.15, "target_range": 0.15, "initial_slide0": 0.405, "target_offset_x": 0.0}
SLIDE = {
    "initial_slide0": 0.05,
    "initial_object_x": 1.7,
    "initial_object_y": 1.1,
    "initial_object_z": 0.41,
    "target_offset_x": 0.4,
    "obj_range": 0.1,
    "target_range": 0.3,
    "gripper_extra_height": -0.02,
    "target_in_the_air": False,
}
PUSH = AT_TABLE | {"gripper_extra_height": 0.0, "target_in_the_air": False, "block_gripper": True}
PICK = AT_TABLE | {"gripper_extra_height": 0.2, "target_in_the_air": True, "block_gripper": False}
PEN = {"ignore_z_target_rotation": True, "randomize_initial_rotation": False, "distance_threshold": 0.05}


def spec(task_id: str, arrays: dict[str, Array], actions: int, limit: int, **options: Any) -> SpecCase:
    """Return the case of a task."""
    action = (np.float32, [-1, actions])
    options = {"max_episode_steps": limit, **options}
    return SpecCase(task_id, None, limit, state=arrays, action=action, options=options, has_more_options=True)


ANGLE: dict[str, Array] = {"info:angle": (np.float64, [-1])}
SPECS = [
    spec("FetchReach-v1", goal_arrays(10, 3), 4, 50, **FETCH, has_object=False, initial_slide0=0.4049),
    spec("FetchReachDense-v4", goal_arrays(10, 3), 4, 50, **FETCH, reward_type="dense"),
    spec("FetchPush-v4", goal_arrays(25, 3), 4, 50, **OBJECT, **PUSH),
    spec("FetchPickAndPlace-v1", goal_arrays(25, 3), 4, 50, **OBJECT, **PICK),
    spec("FetchSlide-v4", goal_arrays(25, 3), 4, 50, **OBJECT, **SLIDE),
    spec("HandReach-v0", goal_arrays(63, 15), 20, 50, frame_skip=20, distance_threshold=0.01),
    spec("HandManipulateBlockFull-v1", goal_arrays(61, 7, **ANGLE), 20, 100, target_position="random"),
    spec("HandManipulateEgg_BooleanTouchSensors-v1", goal_arrays(153, 7, **ANGLE), 20, 100, touch_get_obs="boolean"),
    spec("HandManipulatePenRotateDense-v0", goal_arrays(61, 7, **ANGLE), 20, 100, target_position="ignore", **PEN),
]

BAD: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("FetchReach-v4", {"frame_skip": 0}, ConfigError, "frame_skip must be between 1 and 10000.*, got 0"),
    ("FetchReach-v4", {"frame_skip": 10**8}, ConfigError, "frame_skip must be between 1 and 10000.*, got 100000000"),
    (
        "FetchReach-v4",
        {"reward_type": "Dense"},
        ConfigError,
        "reward_type must be 'sparse' or 'dense', got 'Dense'",
    ),
    ("FetchPush-v4", {"obj_range": 0.07}, ConfigError, r"obj_range must be between 0\.08 and 1e6.*, got 0\.07"),
    ("FetchPush-v4", {"target_range": -0.1}, ConfigError, r"target_range must be between 0\.0 and 1e6.*, got -0\.1"),
    (
        "FetchPush-v4",
        {"initial_slide1": float("nan")},
        ConfigError,
        "initial_slide1 must be a finite number, got nan",
    ),
    ("FetchReach-v4", {"has_object": True}, ConfigError, "reach.xml' has no site called 'object0', which this task"),
    ("FetchReach-v4", {"xml_file": "hand/reach.xml"}, ConfigError, "hand/reach.xml' has no site called 'robot0:grip'"),
    (
        "FetchReach-v4",
        {"xml_file": "reach.xml"},
        ConfigError,
        r"xml_file must name a file, got 'reach\.xml', but there is no file .*assets",
    ),
    (
        "HandReach-v3",
        {"xml_file": "fetch/reach.xml"},
        ConfigError,
        "fetch/reach.xml' has 0 controls, this task needs 20",
    ),
    (
        "HandReach-v3",
        {"distance_threshold": -1.0},
        ConfigError,
        r"distance_threshold must be between 0 and 1e6.*, got -1\.0",
    ),
    (
        "HandManipulateEgg-v1",
        {"target_rotation": "fixed"},
        ConfigError,
        "target_rotation must be one of 'z', 'parallel', 'xyz'.*, got 'fixed'",
    ),
    (
        "HandManipulateEgg-v1",
        {"target_position_low1": 0.5},
        ConfigError,
        r"target_position_low1 must be between -1e6 and target_position_high1, .*, got 0\.5 and 0\.02",
    ),
    ("HandManipulateEgg-v1", {"xml_file": "hand/reach.xml"}, ConfigError, "no joint called 'object:joint'"),
]
BAD_OPTIONS = [BadOption(task_id, options, error, [text]) for task_id, options, error, text in BAD]
