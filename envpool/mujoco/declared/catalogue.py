"""The catalogue of terms: functions that return the terms which many tasks have.

Each function is a shorthand: printing its result shows the expression that it stands for.
"""

from __future__ import annotations

import math

from envpool._support.text import shown
from envpool.config.checks import convert
from envpool.errors import ConfigError
from envpool.mujoco.declared.expressions import Clip, Expression, Min, Norm, Number, Square, Sum, Tolerance, plain, wrap
from envpool.mujoco.declared.quantities import (
    Action,
    Alive,
    BodyPosition,
    BodyRotation,
    ContactForce,
    Contacts,
    JointMargin,
    Objects,
    Qpos,
    rate,
)
from envpool.mujoco.declared.terms import Cost, Reward, Terminate

# ---- rewards ---------------------------------------------------------------------------------------------------------


def velocity(of: str | int, axis: str = "x", weight: float = 1.0, name: str = "forward") -> Reward:
    """Return the reward of the velocity of a body along an axis of the world (m/s): its displacement per time."""
    return Reward(rate(BodyPosition(of, axis)), weight, name)


def joint_velocity(of: str | int, weight: float = 1.0, name: str = "forward") -> Reward:
    """Return the reward of the velocity of a joint of one number: its displacement per time."""
    return Reward(rate(Qpos(of)), weight, name)


def alive(weight: float = 1.0, name: str = "alive") -> Reward:
    """Return the reward of a step in which no termination holds."""
    return Reward(Alive(), weight, name)


def tolerance(
    value: Expression,
    bounds: tuple[float, float] = (0.0, 0.0),
    margin: float = 0.0,
    weight: float = 1.0,
    name: str = "tolerance",
    value_at_margin: float = 0.1,
    sigmoid: str = "gaussian",
) -> Reward:
    """Return the reward of a scalar within bounds, see `Tolerance`."""
    return Reward(Tolerance(value, bounds, margin, value_at_margin, sigmoid), weight, name)


def distance_cost(a: Number, b: Number, weight: float = 1.0, name: str = "distance") -> Cost:
    """Return the cost of the distance of two points (m)."""
    return Cost(Norm(wrap(a, "a") - wrap(b, "b")), weight, name)


def posture_cost(target: tuple[float, ...], of: Objects = None, weight: float = 1.0, name: str = "posture") -> Cost:
    """Return the cost of the squared differences between the positions of joints and a posture."""
    return Cost(Sum(Square(Qpos(of) - target)), weight, name)


def control_cost(weight: float = 1.0, name: str = "control") -> Cost:
    """Return the cost of the sum of the squares of the action."""
    return Cost(Sum(Square(Action())), weight, name)


def contact_cost(weight: float = 1.0, force_range: tuple[float, float] = (-1.0, 1.0), name: str = "contact") -> Cost:
    """Return the cost of the sum of the squares of the contact forces on all bodies, each clipped to a range."""
    ends = plain(force_range)
    if not isinstance(ends, tuple) or len(ends) != 2:
        raise ConfigError(f"force_range must be a pair of numbers (lowest, highest), got {shown(force_range)}")
    return Cost(Sum(Square(Clip(ContactForce(), *ends))), weight, name)


# ---- terminations ----------------------------------------------------------------------------------------------------


def height(of: str | int, low: float = -math.inf, high: float = math.inf, name: str = "height") -> Terminate:
    """Return the termination of a body whose height (m) leaves an interval."""
    return Terminate(BodyPosition(of, "z"), low, high, name=name)


def orientation(of: str | int, max_tilt: float, name: str = "orientation") -> Terminate:
    """Return the termination of a body whose axis z tilts from the vertical by more than an angle (rad), 0 to pi."""
    if not 0 <= convert("max_tilt", max_tilt, 0.0) <= math.pi:
        raise ConfigError(f"max_tilt must be between 0 and pi rad, got {shown(max_tilt)}")
    return Terminate(BodyRotation(of, "zz"), math.cos(max_tilt), name=name)


def contact(of: Objects, other: Objects = None, name: str = "contact") -> Terminate:
    """Return the termination of geoms (or all geoms of bodies) that touch others."""
    return Terminate(Contacts(of, other), high=0, name=name)


def joint_range(of: Objects = None, name: str = "joint_range") -> Terminate:
    """Return the termination of joints that leave their range."""
    return Terminate(Min(JointMargin(of)), 0, name=name)


def non_finite(value: Expression, name: str = "non_finite") -> Terminate:
    """Return the termination of a value with numbers that are infinite or nan."""
    return Terminate(value, closed=False, name=name)
