"""The terms of a declaration: observations, rewards and costs, terminations, and resets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from envpool.mujoco.declared.expressions import Expression, Node
from envpool.mujoco.declared.quantities import Objects


@dataclass(frozen=True)
class Term(Node):
    """A value with a weight and a name; the base class of these terms.

    Attributes
    ----------
    value : Expression
        The expression that the term computes.
    weight : float
        Factor of the value.
    name : str
        Name of the term in errors and in the info ``terms``; by default its kind and its position.
    """

    value: Expression
    weight: float = 1.0
    name: str = ""


class Observe(Term):
    """A part of the observation."""


class Reward(Term):
    """A summand of the reward, ``weight * value``. The value must be a scalar."""


class Cost(Term):
    """A term that is subtracted from the sum of the rewards, ``weight * value``. The value must be a scalar."""


@dataclass(frozen=True)
class Terminate(Node):
    """A condition that terminates the episode: a number of the value is not between `low` and `high`, or it is nan.

    Attributes
    ----------
    value : Expression
        The numbers.
    low, high : float
        The interval.
    closed : bool
        If True, the ends belong to the interval.
    name : str
        Name of the term; by default "termination" and its position.
    """

    value: Expression
    low: float = -math.inf
    high: float = math.inf
    closed: bool = True
    name: str = ""


# ---- resets ----------------------------------------------------------------------------------------------------------


class Reset(Node):
    """A part of a reset. The parts run in their order, after MuJoCo has set the initial state; the base class."""


@dataclass(frozen=True)
class Draw(Reset):
    """A part of a reset that sets the numbers of a target, in their order; the base class of these resets."""

    target: Expression
    operation: ClassVar[str]


@dataclass(frozen=True)
class Assign(Draw, operation="assign"):
    """Sets the target to a number, or to a tuple of numbers."""

    value: float | tuple[float, ...]


@dataclass(frozen=True)
class Uniform(Draw, operation="uniform"):
    """Draws each number uniformly between `low` and `high`, which may be tuples with an entry for each number."""

    low: float | tuple[float, ...]
    high: float | tuple[float, ...]


@dataclass(frozen=True)
class UniformNoise(Draw, operation="uniform_noise"):
    """Adds to each number a draw between ``-scale`` and ``scale``."""

    scale: float


@dataclass(frozen=True)
class Normal(Draw, operation="normal"):
    """Draws each number from a normal distribution: ``mean + std * z``."""

    mean: float | tuple[float, ...]
    std: float


@dataclass(frozen=True)
class NormalNoise(Draw, operation="normal_noise"):
    """Adds to each number a draw from a normal distribution: ``std * z``."""

    std: float


@dataclass(frozen=True)
class Disc(Draw, operation="disc"):
    """Draws two numbers uniformly from a disc around 0: from its square, until the point is in the disc."""

    radius: float


@dataclass(frozen=True)
class JointRanges(Reset):
    """Draws the positions of the limited slide and hinge joints uniformly from their ranges.

    Attributes
    ----------
    of : str, int, tuple or None
        The joints; None for all that are limited.
    """

    of: Objects = None


@dataclass(frozen=True)
class Keyframe(Reset):
    """Sets the state of a keyframe, which is drawn at random if there are several.

    Attributes
    ----------
    of : str, int, tuple or None
        The keyframes by name or index.
    """

    of: Objects = None


@dataclass(frozen=True)
class RandomJoints(Reset):
    """Draws all joints as dm_control's ``randomize_limited_and_rotational_joints`` does; only with its conventions."""


@dataclass(frozen=True)
class Settle(Reset):
    """Simulates a number of steps of MuJoCo, and sets the time to 0 afterwards.

    Attributes
    ----------
    steps : int
        Number of steps, 1 to 100000.
    """

    steps: int
