"""The part of the compiler that makes the rows of resets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envpool._support.text import shown
from envpool.mujoco.declared.code import Code, ResetCode
from envpool.mujoco.declared.expressions import Expression, Item
from envpool.mujoco.declared.lookup import ELEMENTS, find_object, many
from envpool.mujoco.declared.program import RESET_OPS
from envpool.mujoco.declared.quantities import Goal, Objects, Quantity

if TYPE_CHECKING:
    from envpool.errors import ConfigError
    from envpool.mujoco.declared.compiler import Value
    from envpool.mujoco.declared.tables import ModelIndex


class ResetCompiler:
    """The methods that resets call; the base class of the compiler."""

    index: ModelIndex
    code: Code
    goals: dict[str, tuple[Value, bool]]

    def error(self, text: str) -> ConfigError:
        """Return the error of the term that is being compiled."""
        raise NotImplementedError

    def number(self, name: str, value: Any) -> float:
        """Return an argument that must be a number."""
        raise NotImplementedError

    def goal(self, goal: Goal) -> Value:
        """Return the registers of a goal."""
        raise NotImplementedError

    def constants_at(self, values: Any) -> int:
        """Return the index of constants in the table."""
        raise NotImplementedError

    def places(self, quantity: Quantity) -> tuple[int, list[int], bool]:
        """Return where the numbers of a quantity are."""
        raise NotImplementedError

    def non_negative(self, name: str, value: Any) -> float:
        """Return an argument that must be a finite number of at least 0."""
        number = self.number(name, value)
        if not 0 <= number <= 1e100:
            raise self.error(f"{name} is {number}, allowed are 0 to 1e100")
        return number

    def target(self, target: Any) -> tuple[int, list[int], bool]:
        """Return the offset of an array in mjData, the places that a reset sets, and whether they are registers."""
        if isinstance(target, Item):
            member, places, is_register = self.target(target.value)
            chosen = target.range_of(self, len(places))  # type: ignore[arg-type]
            return member, places[chosen.start : chosen.stop], is_register
        if isinstance(target, Goal):
            value = self.goal(target)
            self.goals[target.name] = value, True
            return 0, list(range(value.first, value.first + value.n)), True
        if isinstance(target, Quantity) and target.writable:
            member, places, _ = self.places(target)
            return member, places, False
        raise self.error(
            f"the target is {shown(target)}, allowed are Qpos, Qvel, Ctrl, Activation, MocapPosition, "
            "MocapQuaternion, Goal and parts of them"
        )

    def indices_at(self, values: list[int]) -> int:
        """Return the index of indices in the table."""
        self.code.indices.extend(values)
        return len(self.code.indices) - len(values)

    def vector(self, name: str, value: Any, n: int) -> int:
        """Return the index in the table of n constants: a number for all, or a tuple with a number for each."""
        given = list(value) if isinstance(value, (tuple, list)) else [value] * n
        if len(given) != n:
            raise self.error(f"{name} has {len(given)} numbers, but the target has {n}")
        numbers = [self.number(name, item) for item in given]
        if any(abs(item) > 1e100 for item in numbers):
            raise self.error(f"{name} is {shown(value)}, allowed are numbers from -1e100 to 1e100")
        return self.constants_at(numbers)

    def draw(self, operation: str, target: Expression, low: Any, high: Any) -> ResetCode:
        """Return the row of a reset that sets each number of a target."""
        member, places, is_register = self.target(target)
        n = len(places)
        if operation == "disc" and n != 2:
            raise self.error(f"the target has {n} numbers, a disc needs 2")
        first, last = self.vector("low", low, n), self.vector("high", high, n)
        if operation == "uniform":
            for k in range(n):
                ends = self.code.constants[first + k], self.code.constants[last + k]
                if ends[0] > ends[1]:
                    raise self.error(f"low is {ends[0]} and high is {ends[1]}; low must not be greater than high")
        return ResetCode(RESET_OPS[operation], n, self.indices_at(places), first, last, member, is_register)

    def limited_joints(self, of: Objects) -> list[int]:
        """Return the ids of joints, which must be limited slide or hinge joints; of all such joints if `of` is None."""
        names = self.index.names("joint")
        if of is None:
            found = [k for k in range(len(names)) if self.index.joint_range(k) is not None]
            if not found:
                raise self.error(f"{self.index.source} has no slide or hinge <joint> with a range")
            return found
        found = [find_object(self, "joint", name) for name in many(of)]  # type: ignore[arg-type]
        if not found:
            raise self.error("of is (), allowed are None and one or more joints")
        for joint in found:
            if self.index.joint_range(joint) is None:
                raise self.error(f'<joint name="{names[joint]}"> is not a slide or hinge joint with a range')
        return found

    def joint_ranges(self, of: Objects) -> ResetCode:
        """Return the row of `JointRanges`."""
        joints = self.limited_joints(of)
        member, _, _ = self.index.array("qpos")
        places = [self.index.joint_positions(joint)[0] for joint in joints]
        ends = [self.index.joint_range(joint) or (0.0, 0.0) for joint in joints]
        first, last = (self.constants_at([pair[k] for pair in ends]) for k in range(2))
        return ResetCode(RESET_OPS["uniform"], len(places), self.indices_at(places), first, last, member)

    def keyframes(self, of: Objects) -> ResetCode:
        """Return the row of `Keyframe`."""
        names = self.index.names("keyframe")
        if not names:
            raise self.error(f"{self.index.source} has no <{ELEMENTS['keyframe']}> in <keyframe>")
        chosen = range(len(names)) if of is None else many(of)
        ids = [find_object(self, "keyframe", name) for name in chosen]  # type: ignore[arg-type]
        if not ids:
            raise self.error(f"of is {shown(of)}, allowed are None and one or more keyframes")
        return ResetCode(RESET_OPS["keyframe"], len(ids), self.indices_at(ids))

    def random_joints(self) -> ResetCode:
        """Return the row of `RandomJoints`."""
        if not self.code.is_suite:
            raise self.error('it is only available with conventions="dm_control"; use JointRanges() or Uniform instead')
        return ResetCode(RESET_OPS["random_joints"], 0)

    def settle(self, steps: Any) -> ResetCode:
        """Return the row of `Settle`."""
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= 100_000:
            raise self.error(f"steps is {shown(steps)}, allowed are 1 to 100000")
        return ResetCode(RESET_OPS["settle"], steps)
