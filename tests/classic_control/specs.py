"""Cases of classic control for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from envpool.classic_control.upstream import UPSTREAM_IDS
from envpool.errors import ConfigError
from tests.classic_control.cases import upstream_of
from tests.conformance.cases import BadOption, SpacesCase, SpecCase

DISCRETE, CONTINUOUS = (np.int32, [-1]), (np.float32, [-1, 1])


def spec(task_id: str, limit: int, threshold: float | None, size: int, action: Any, **options: Any) -> SpecCase:
    """Return the case of a task whose observations have `size` elements."""
    state: dict[str, Any] = {"obs": (np.float32, [size])}
    if task_id == "Acrobot-v1":
        state["info:state"] = (np.float32, [2])
    options |= PARAMS[re.split("-v", task_id.removeprefix("phys2d/"))[0]]
    return SpecCase(task_id, UPSTREAM_IDS[task_id], limit, threshold, state, action, options)


#: Env definition -> parameters with their defaults; upstream has attributes or constants of these names and values.
PARAMS: dict[str, dict[str, Any]] = {
    "CartPole": {
        "gravity": 9.8,
        "masscart": 1.0,
        "masspole": 0.1,
        "length": 0.5,
        "force_mag": 10.0,
        "tau": 0.02,
        "theta_threshold_radians": 12 * 2 * math.pi / 360,
        "x_threshold": 2.4,
    },
    "Pendulum": {"max_speed": 8.0, "max_torque": 2.0, "dt": 0.05, "g": 10.0, "m": 1.0, "l": 1.0},
    "MountainCar": {
        "min_position": -1.2,
        "max_position": 0.6,
        "max_speed": 0.07,
        "goal_position": 0.5,
        "goal_velocity": 0.0,
        "force": 0.001,
        "gravity": 0.0025,
    },
    "MountainCarContinuous": {
        "min_position": -1.2,
        "max_position": 0.6,
        "max_speed": 0.07,
        "goal_position": 0.45,
        "goal_velocity": 0.0,
        "power": 0.0015,
        "gravity": 0.0025,
        "min_action": -1.0,
        "max_action": 1.0,
    },
    "Acrobot": {
        "dt": 0.2,
        "LINK_LENGTH_1": 1.0,
        "LINK_LENGTH_2": 1.0,
        "LINK_MASS_1": 1.0,
        "LINK_MASS_2": 1.0,
        "LINK_COM_POS_1": 0.5,
        "LINK_COM_POS_2": 0.5,
        "LINK_MOI": 1.0,
        "MAX_VEL_1": 4 * math.pi,
        "MAX_VEL_2": 9 * math.pi,
        "torque_noise_max": 0.0,
        "gravity": 9.8,
        "AVAIL_TORQUE": (-1.0, 0.0, 1.0),
    },
}

SPECS = [
    spec("CartPole-v0", 200, 195.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("phys2d/CartPole-v0", 200, 195.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("CartPole-v1", 500, 475.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("phys2d/CartPole-v1", 500, 475.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("Pendulum-v0", 200, None, 3, CONTINUOUS, version=0),
    spec("phys2d/Pendulum-v0", 200, None, 3, CONTINUOUS, version=0),
    spec("Pendulum-v1", 200, None, 3, CONTINUOUS, version=1),
    spec("MountainCar-v0", 200, -110.0, 2, DISCRETE),
    spec("MountainCarContinuous-v0", 999, 90.0, 2, CONTINUOUS),
    spec("Acrobot-v1", 500, -100.0, 6, DISCRETE, book_or_nips="book"),
]
SPACES = [SpacesCase(task_id, upstream_of(task_id).make) for task_id in UPSTREAM_IDS]
BAD_OPTIONS = [
    BadOption("Pendulum-v1", {"version": 2}, ConfigError, ["version must be 0 or 1, got 2"]),
    BadOption("Pendulum-v1", {"g": "strong"}, TypeError, ["g must be a finite number, got 'strong'"]),
    BadOption("Pendulum-v1", {"reward_threshold": 0.0}, TypeError, ["no option 'reward_threshold'"]),
    BadOption(
        "MountainCar-v0", {"goal_velocity": "fast"}, TypeError, ["goal_velocity must be a finite number, got 'fast'"]
    ),
    BadOption(
        "Acrobot-v1",
        {"book_or_nips": "paper"},
        ConfigError,
        ["must be one of 'book', 'nips', got 'paper'"],
    ),
    *(
        BadOption(
            "Acrobot-v1",
            {"torque_noise_max": value},
            ConfigError,
            [f"torque_noise_max must be a finite number of at least 0 and at most 1000, got {value}"],
        )
        for value in (-1.0, 1e4, float("nan"))
    ),
    BadOption(
        "CartPole-v1", {"sutton_barto_reward": 2}, TypeError, ["sutton_barto_reward must be of type bool, got 2"]
    ),
]
