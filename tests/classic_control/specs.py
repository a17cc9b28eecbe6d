"""Cases of classic control for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

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
    return SpecCase(task_id, UPSTREAM_IDS[task_id], limit, threshold, state, action, options)


SPECS = [
    spec("CartPole-v0", 200, 195.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("phys2d/CartPole-v0", 200, 195.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("CartPole-v1", 500, 475.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("phys2d/CartPole-v1", 500, 475.0, 4, DISCRETE, sutton_barto_reward=False),
    spec("Pendulum-v0", 200, None, 3, CONTINUOUS, version=0, g=10.0),
    spec("phys2d/Pendulum-v0", 200, None, 3, CONTINUOUS, version=0, g=10.0),
    spec("Pendulum-v1", 200, None, 3, CONTINUOUS, version=1, g=10.0),
    spec("MountainCar-v0", 200, -110.0, 2, DISCRETE, goal_velocity=0.0),
    spec("MountainCarContinuous-v0", 999, 90.0, 2, CONTINUOUS, goal_velocity=0.0),
    spec("Acrobot-v1", 500, -100.0, 6, DISCRETE, book_or_nips="book", torque_noise_max=0.0),
]
SPACES = [SpacesCase(task_id, upstream_of(task_id).make) for task_id in UPSTREAM_IDS]
BAD_OPTIONS = [
    BadOption("Pendulum-v1", {"version": 2}, ConfigError, ["version must be 0 or 1, .* got 2"]),
    BadOption("Pendulum-v1", {"g": "strong"}, TypeError, ["g must be of type float, got 'strong'"]),
    BadOption("Pendulum-v1", {"reward_threshold": 0.0}, TypeError, ["no option 'reward_threshold'"]),
    BadOption("MountainCar-v0", {"goal_velocity": None}, TypeError, ["goal_velocity must be of type float, got None"]),
    BadOption(
        "Acrobot-v1", {"book_or_nips": "paper"}, ConfigError, ["book_or_nips must be 'book' or 'nips', got 'paper'"]
    ),
    *(
        BadOption(
            "Acrobot-v1",
            {"torque_noise_max": value},
            ConfigError,
            [f"torque_noise_max must be between 0 and 1000, got {value}"],
        )
        for value in (-1.0, 1e4, float("nan"))
    ),
    BadOption(
        "CartPole-v1", {"sutton_barto_reward": 2}, TypeError, ["sutton_barto_reward must be of type bool, got 2"]
    ),
]
