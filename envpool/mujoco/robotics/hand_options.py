"""The options of the Shadow Hand tasks, and the pose in which HandReach begins."""

from __future__ import annotations

import math
from typing import Any

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS as MUJOCO_OPTIONS

#: Options of all tasks of the hand.
HAND_OPTIONS: dict[str, Any] = MUJOCO_OPTIONS | {"frame_skip": 20, "reward_type": "sparse", "distance_threshold": 0.01}
REACH_OPTIONS: dict[str, Any] = HAND_OPTIONS | {"xml_file": "hand/reach.xml"}
MANIPULATE_OPTIONS: dict[str, Any] = HAND_OPTIONS | {
    "xml_file": "hand/manipulate_block.xml",
    "rotation_threshold": 0.1,
    "target_position": "random",
    "target_rotation": "xyz",
    "target_position_low0": -0.04,
    "target_position_high0": 0.04,
    "target_position_low1": -0.06,
    "target_position_high1": 0.02,
    "target_position_low2": 0.0,
    "target_position_high2": 0.06,
    "randomize_initial_position": True,
    "randomize_initial_rotation": True,
    "ignore_z_target_rotation": False,
    "touch_visualisation": "off",
    "touch_get_obs": "off",
}

#: Positions of the joints of the hand (rad).
INITIAL_QPOS = {
    "WRJ1": -0.16514339750464327,
    "WRJ0": -0.31973286565062153,
    "FFJ3": 0.14340512546557435,
    "FFJ2": 0.32028208333591573,
    "FFJ1": 0.7126053607727917,
    "FFJ0": 0.6705281001412586,
    "MFJ3": 0.000246444303701037,
    "MFJ2": 0.3152655251085491,
    "MFJ1": 0.7659800313729842,
    "MFJ0": 0.7323156897425923,
    "RFJ3": 0.00038520700007378114,
    "RFJ2": 0.36743546201985233,
    "RFJ1": 0.7119514095008576,
    "RFJ0": 0.6699446327514138,
    "LFJ4": 0.0525442258033891,
    "LFJ3": -0.13615534724474673,
    "LFJ2": 0.39872030433433003,
    "LFJ1": 0.7415570009679252,
    "LFJ0": 0.704096378652974,
    "THJ4": 0.003673823825070126,
    "THJ3": 0.5506291436028695,
    "THJ2": -0.014515151997119306,
    "THJ1": -0.0015229223564485414,
    "THJ0": -0.7894883021600622,
}


def check_threshold(config: Any, name: str) -> None:
    """Raise ConfigError if an option is not a distance or an angle."""
    value = getattr(config, name)
    if not 0 <= value <= 1e6:
        raise ConfigError(f"{name} must be between 0 and 1e6, got {value}")


def check_range(config: Any, axis: int) -> tuple[float, float]:
    """Return the interval of the goals along an axis, or raise ConfigError."""
    names = f"target_position_low{axis}", f"target_position_high{axis}"
    low, high = (getattr(config, name) for name in names)
    if not (math.isfinite(low) and math.isfinite(high) and -1e6 <= low <= high <= 1e6):
        raise ConfigError(
            f"{names[0]} must be between -1e6 and {names[1]}, and {names[1]} at most 1e6, got {low} and {high}"
        )
    return low, high


def one_of(config: Any, name: str, allowed: tuple[str, ...]) -> int:
    """Return the index of the value of an option, or raise ConfigError."""
    value = getattr(config, name)
    if value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {shown(value)}")
    return allowed.index(value)
