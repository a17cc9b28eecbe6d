"""The compiler of resets: from the parts of a reset to the rows of its table. `emit` has a function for each kind."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from envpool._support.text import shown
from envpool.mujoco.declared.builder import Builder
from envpool.mujoco.declared.code import ResetCode
from envpool.mujoco.declared.expressions import Expression, Item
from envpool.mujoco.declared.lookup import ELEMENTS, find_object, limited_joints, many, places_of, range_of
from envpool.mujoco.declared.program import RESET_OPS
from envpool.mujoco.declared.quantities import Goal, Quantity
from envpool.mujoco.declared.terms import (
    Assign,
    Disc,
    Draw,
    JointRanges,
    Keyframe,
    Normal,
    NormalNoise,
    RandomJoints,
    Reset,
    Settle,
    Uniform,
    UniformNoise,
)


@singledispatch
def emit(reset: Reset, b: Builder) -> ResetCode:
    """Return the row of a part of a reset."""
    raise b.error(f"{shown(reset)} must be one of the resets of the catalogue, see docs/own_mujoco.md")


# ---- parts that draw the numbers of a target -------------------------------------------------------------------------


@emit.register
def emit_assign(reset: Assign, b: Builder) -> ResetCode:
    """Return a row that assigns numbers."""
    return draw(b, reset, ("value", reset.value), ("value", reset.value))


@emit.register
def emit_uniform(reset: Uniform, b: Builder) -> ResetCode:
    """Return a row that draws numbers from intervals."""
    row = draw(b, reset, ("low", reset.low), ("high", reset.high))
    for k in range(row.n):
        b.interval(b.code.constants[row.low + k], b.code.constants[row.high + k])
    return row


@emit.register
def emit_uniform_noise(reset: UniformNoise, b: Builder) -> ResetCode:
    """Return a row that adds draws from an interval."""
    scale = b.non_negative("scale", reset.scale)
    return draw(b, reset, ("scale", -scale), ("scale", scale))


@emit.register
def emit_normal(reset: Normal, b: Builder) -> ResetCode:
    """Return a row that draws from normal distributions."""
    return draw(b, reset, ("mean", reset.mean), ("std", b.non_negative("std", reset.std)))


@emit.register
def emit_normal_noise(reset: NormalNoise, b: Builder) -> ResetCode:
    """Return a row that adds draws from a normal distribution."""
    return draw(b, reset, ("mean", 0.0), ("std", b.non_negative("std", reset.std)))


@emit.register
def emit_disc(reset: Disc, b: Builder) -> ResetCode:
    """Return a row that draws two numbers from a disc."""
    radius = b.non_negative("radius", reset.radius)
    if radius < 1e-100:
        raise b.error(f"radius must be between 1e-100 and 1e100, got {radius}")
    row = draw(b, reset, ("center", 0.0), ("radius", radius))
    if row.n != 2:
        raise b.error(f"the target of Disc must have 2 numbers, got {row.n}")
    return row


def draw(b: Builder, reset: Draw, low: tuple[str, Any], high: tuple[str, Any]) -> ResetCode:
    """Return the row of a reset that sets each number of a target; its two numbers have the names of arguments."""
    member, places, is_register = target_of(b, reset.target)
    n = len(places)
    first, last = vector(b, *low, n), vector(b, *high, n)
    return ResetCode(RESET_OPS[reset.operation], n, b.indices_at(places), first, last, member, is_register)


def target_of(b: Builder, target: Expression) -> tuple[int, list[int], bool]:
    """Return the offset of an array in mjData, the places that a reset sets, and whether they are registers."""
    if isinstance(target, Item):
        member, places, is_register = target_of(b, target.value)
        chosen = range_of(b, target, len(places))
        return member, places[chosen.start : chosen.stop], is_register
    if isinstance(target, Goal):
        value = b.goal(target)
        b.goals[target.name] = value, True
        return 0, list(range(value.first, value.first + value.n)), True
    if isinstance(target, Quantity) and target.writable:
        member, places, _ = places_of(b, target)
        return member, places, False
    raise b.error(
        "the target must be Qpos, Qvel, Ctrl, Activation, MocapPosition, MocapQuaternion, Goal or a part of them, got "
        f"{shown(target)}"
    )


def vector(b: Builder, name: str, value: Any, n: int) -> int:
    """Return the index in the table of n constants: a number for all, or a tuple with a number for each."""
    given = list(value) if isinstance(value, (tuple, list)) else [value] * n
    if len(given) != n:
        raise b.error(f"{name} must be one number, or {n} like the target, got {len(given)} numbers")
    numbers = [b.number(name, item) for item in given]
    if any(abs(item) > 1e100 for item in numbers):
        raise b.error(f"{name} must be between -1e100 and 1e100, got {shown(value)}")
    return b.constants_at(numbers)


def clear_goals(b: Builder) -> list[ResetCode]:
    """Return the rows that set all goals to 0, from which the parts of a reset begin."""
    return [
        ResetCode(
            RESET_OPS["assign"], value.n, b.indices_at(range(value.first, value.first + value.n)),
            high=b.constants_at([0.0] * value.n), is_register=True
        )
        for value, _ in b.goals.values()
    ]  # fmt: skip


# ---- other parts -----------------------------------------------------------------------------------------------------


@emit.register
def emit_joint_ranges(reset: JointRanges, b: Builder) -> ResetCode:
    """Return a row that draws joints from their ranges."""
    joints = limited_joints(b, reset.of)
    member, _, _ = b.index.array("qpos")
    places = [b.index.joint_positions(joint)[0] for joint in joints]
    ends = [b.index.joint_range(joint) or (0.0, 0.0) for joint in joints]
    first, last = (b.constants_at([pair[k] for pair in ends]) for k in range(2))
    return ResetCode(RESET_OPS["uniform"], len(places), b.indices_at(places), first, last, member)


@emit.register
def emit_keyframe(reset: Keyframe, b: Builder) -> ResetCode:
    """Return a row that sets the state of a keyframe."""
    names = b.index.names("keyframe")
    if not names:
        raise b.error(f"{b.index.source} has no <{ELEMENTS['keyframe']}> in <keyframe>")
    ids = [find_object(b, "keyframe", name) for name in (range(len(names)) if reset.of is None else many(reset.of))]
    if not ids:
        raise b.error(f"`of` must be None or name a keyframe, got {shown(reset.of)}")
    return ResetCode(RESET_OPS["keyframe"], len(ids), b.indices_at(ids))


@emit.register
def emit_random_joints(reset: RandomJoints, b: Builder) -> ResetCode:
    """Return a row that draws all joints as dm_control does."""
    if not b.code.is_suite:
        raise b.error('it is only available with conventions="dm_control"; use JointRanges() or Uniform instead')
    return ResetCode(RESET_OPS["random_joints"], 0)


@emit.register
def emit_settle(reset: Settle, b: Builder) -> ResetCode:
    """Return a row that simulates steps of MuJoCo."""
    steps = reset.steps
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 100_000:
        raise b.error(f"steps must be an integer between 1 and 100000, got {shown(steps)}")
    return ResetCode(RESET_OPS["settle"], steps)
