"""The compiler: from a declaration and a model to the tables of a program.

An expression that occurs several times is computed once. The registers of the observation come first, so that a part of
the observation is computed where it belongs. Terminations are computed before rewards, and these before observations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.declared.code import Code, InstructionCode
from envpool.mujoco.declared.declaration import Declaration
from envpool.mujoco.declared.expressions import SIGMOIDS, Constant, Expression, Item, Tolerance, scale_of
from envpool.mujoco.declared.lookup import find_object, many, places_of, sides_of
from envpool.mujoco.declared.quantities import Computed, Goal, JointMargin, Object, Objects, Qpos, Quantity
from envpool.mujoco.declared.reset_compiler import ResetCompiler
from envpool.mujoco.declared.tables import ModelIndex
from envpool.mujoco.declared.terms import Cost, Reward, Term

#: The bounds of actions of actuators without limits.
UNLIMITED = 1e10

#: The most numbers that the registers of an environment hold.
MAX_REGISTERS = 1_000_000


@dataclass(frozen=True)
class Value:
    """Where the value of an expression is: its first register, how many numbers it has, and whether it is a scalar."""

    first: int
    n: int
    is_scalar: bool


class Compiler(ResetCompiler):
    """Compiles one declaration. The methods are what expressions and resets call in their method ``emit``.

    Attributes
    ----------
    index : ModelIndex
        The model.
    code : Code
        What has been compiled.
    num_actions : int
        Numbers of an action.
    where : str
        The term that is being compiled, for error texts.
    """

    def __init__(self, declaration: Declaration, index: ModelIndex):
        self.declaration, self.index = declaration, index
        self.code = Code(is_suite=declaration.conventions == "dm_control")
        self.where = ""
        self.num_actions = 0
        self.constants: list[InstructionCode] = []
        self.values: dict[Expression, Value] = {}
        self.goals: dict[str, tuple[Value, bool]] = {}
        self.flags_are_known = False
        self.is_trial = False

    def error(self, text: str) -> ConfigError:
        """Return the error of the term that is being compiled."""
        return ConfigError(f"{self.where}: {text}")

    # ---- registers and instructions ----------------------------------------------------------------------------------

    def registers(self, n: int) -> int:
        """Return the first of n new registers."""
        first = self.code.num_registers
        self.code.num_registers += n
        if self.code.num_registers > MAX_REGISTERS:
            raise self.error(f"the declaration computes more than {MAX_REGISTERS} numbers")
        return first

    def add(self, op: str, n: int, is_scalar: bool, **fields: Any) -> Value:
        """Add an instruction whose result has n numbers; return the result."""
        made = InstructionCode(op, n, self.registers(n), **fields)
        (self.constants if op == "constant" else self.code.instructions).append(made)
        return Value(made.out, n, is_scalar)

    def value(self, expression: Expression) -> Value:
        """Return the value of an expression, whose instructions are added unless they are there already."""
        if not isinstance(expression, Expression):
            raise self.error(f"expected an expression, got {shown(expression)}")
        if not self.is_known(expression):
            self.values[expression] = expression.emit(self)
        return self.values[expression]

    def is_known(self, expression: Expression) -> bool:
        """Return whether the instructions of an expression have been added."""
        try:
            return expression in self.values
        except TypeError as error:
            raise self.error(f"{shown(expression)} has an argument of a wrong type: {error}") from None

    def place(self, expression: Expression, first: int) -> None:
        """Compute an expression into given registers."""
        is_view = isinstance(expression, Item) and not isinstance(expression.value, Quantity)
        is_new, before = not self.is_known(expression) and not is_view, len(self.code.instructions)
        value = self.value(expression)
        last = self.code.instructions[-1] if len(self.code.instructions) > before else None
        if is_new and last is not None and (last.out, last.n) == (value.first, value.n):
            last.out = first
            self.values[expression] = Value(first, value.n, value.is_scalar)
        else:
            self.code.instructions.append(InstructionCode("copy", value.n, first, a=value.first))

    def unary(self, op: str, value: Value, **fields: Any) -> Value:
        """Add an operation on each number of a value."""
        if op == "square":
            fields["flag"] = value.is_scalar
        return self.add(op, value.n, value.is_scalar, a=value.first, **fields)

    def binary(self, op: str, left: Value, right: Value) -> Value:
        """Add an operation on two values."""
        if left.n != right.n and not left.is_scalar and not right.is_scalar:
            raise self.error(f"{shown(op)} has operands of {left.n} and {right.n} numbers, which must be equally many")
        n = right.n if left.is_scalar else left.n
        steps = {"step_a": int(not left.is_scalar), "step_b": int(not right.is_scalar)}
        return self.add(op, n, left.is_scalar and right.is_scalar, a=left.first, b=right.first, **steps)

    # ---- what expressions need ---------------------------------------------------------------------------------------

    def number(self, name: str, value: Any) -> float:
        """Return an argument that must be a number other than nan."""
        try:
            number = float("nan" if isinstance(value, (bool, str, bytes)) else value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            raise self.error(f"{name} is {shown(value)}, allowed are numbers other than nan")
        return number

    def interval(self, low: Any, high: Any) -> tuple[float, float]:
        """Return the ends of an interval."""
        ends = self.number("low", low), self.number("high", high)
        if ends[0] > ends[1]:
            raise self.error(f"low is {shown(low)} and high is {shown(high)}; low must not be greater than high")
        return ends

    def constants_at(self, values: Any) -> int:
        """Return the index of constants in the table."""
        self.code.constants.extend(values)
        return len(self.code.constants) - len(values)

    def object_id(self, kind: str, name: Object) -> int:
        """Return the id of an object."""
        return find_object(self, kind, name)

    def places(self, quantity: Quantity) -> tuple[int, list[int], bool]:
        """Return where the numbers of a quantity are, see `places_of`."""
        return places_of(self, quantity)

    def load(self, quantity: Quantity, member: int, places: list[int], is_scalar: bool) -> Value:
        """Add the instruction that reads numbers of an array of mjData."""
        self.code.reads_contact_forces |= quantity.array == "cfrc_ext"
        n, first = len(places), places[0]
        if places == list(range(first, first + n)):
            return self.add("load", n, is_scalar, a=first, member=member)
        self.code.indices.extend(places)
        return self.add("gather", n, is_scalar, a=len(self.code.indices) - n, member=member)

    def item(self, item: Item) -> Value:
        """Return the value of a part of an expression. Of an array of mjData, only this part is read."""
        if isinstance(item.value, Quantity) and item.value not in self.values:
            member, places, _ = self.places(item.value)
            chosen = item.range_of(self, len(places))
            return self.load(item.value, member, places[chosen.start : chosen.stop], item.is_scalar)
        value = self.value(item.value)
        chosen = item.range_of(self, value.n)
        return Value(value.first + chosen.start, len(chosen), item.is_scalar)

    def tolerance(self, t: Tolerance) -> tuple[float, ...]:
        """Return the constants of a tolerance."""
        if t.sigmoid not in SIGMOIDS:
            raise self.error(f"sigmoid is {shown(t.sigmoid)}, allowed are {', '.join(map(repr, SIGMOIDS))}")
        if not isinstance(t.bounds, tuple) or len(t.bounds) != 2:
            raise self.error(f"bounds is {shown(t.bounds)}, allowed is a pair of numbers: (lowest, highest)")
        low, high = self.interval(*t.bounds)
        margin, at_margin = self.non_negative("margin", t.margin), self.number("value_at_margin", t.value_at_margin)
        is_zero_allowed = t.sigmoid in ("linear", "quadratic")
        if not (0 < at_margin < 1 or (is_zero_allowed and at_margin == 0)):
            lowest = "at least 0" if is_zero_allowed else "more than 0"
            raise self.error(f"value_at_margin is {at_margin}, allowed are numbers of {lowest} and less than 1")
        return low, high, margin, scale_of(t.sigmoid, at_margin)

    def sides_at(self, of: Objects, other: Objects) -> int:
        """Return the index in the table of the sides of geoms in contacts."""
        groups = [sides_of(self, side) for side in (of, other)]
        geoms = range(len(self.index.names("geom")))
        self.code.sides.extend((geom in groups[0]) + 2 * (geom in groups[1]) for geom in geoms)
        return len(self.code.sides) - len(geoms)

    def joint_margin(self, margin: JointMargin) -> Value:
        """Add the distances of joints from the nearest end of their ranges."""
        joints = self.limited_joints(margin.of)
        offset, _, _ = self.index.array("qpos")
        places = [self.index.joint_positions(joint)[0] for joint in joints]
        ranges = [self.index.joint_range(joint) for joint in joints]
        ends = [tuple(ends[k] for ends in ranges if ends is not None) for k in range(2)]
        positions = self.load(Qpos(), offset, places, False)
        above = self.binary("-", positions, self.value(Constant(ends[0])))
        below = self.binary("-", self.value(Constant(ends[1])), positions)
        return self.binary("minimum", above, below)

    def alive(self) -> Value:
        """Add the value of `Alive`."""
        if not self.flags_are_known:
            raise self.error("Alive() cannot be used in a termination, since it depends on all terminations")
        return self.add("alive", 1, True, a=self.code.first_flag, count=self.code.num_flags)

    def goal(self, goal: Goal) -> Value:
        """Return the registers of a goal."""
        if not isinstance(goal.name, str) or not goal.name:
            raise self.error(f"the name of a goal is {shown(goal.name)}, allowed are texts that are not empty")
        n = self.checked_size(f"goal {shown(goal.name)}", goal.size)
        if goal.name not in self.goals:
            self.goals[goal.name] = Value(self.registers(n), n, goal.size is None), False
        value, _ = self.goals[goal.name]
        if (value.n, value.is_scalar) != (n, goal.size is None):
            raise self.error(f"goal {shown(goal.name)} has a different size in another term")
        return value

    def computed(self, computed: Computed) -> Value:
        """Return the size of a result of the function, in the trial that finds the sizes of the observation."""
        if self.declaration.function is None:
            raise self.error(f"{shown(computed)} needs function=BatchFunction(...), which returns it")
        if not self.is_trial:
            raise self.error(f"{shown(computed)} can only be a whole term of the observation, with the weight 1")
        if not isinstance(computed.name, str) or computed.name in ("", "reward", "terminated"):
            raise self.error(
                f"the name of {shown(computed)} is {shown(computed.name)}, allowed are names other than '', 'reward' "
                "and 'terminated'"
            )
        size = self.checked_size(f"{shown(computed)}", computed.size)
        return Value(self.registers(size), size, computed.size is None)

    def checked_size(self, what: str, size: Any) -> int:
        """Return the number of numbers of something whose size is declared; a size of None is that of a scalar."""
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise self.error(f"the size of {what} is {shown(size)}, allowed are None and 1 or more")
        return size or 1

    # ---- the declaration ---------------------------------------------------------------------------------------------

    def compile(self) -> Code:
        """Return the tables of the declaration."""
        self.compile_action()
        self.compile_layout()
        self.compile_terminations()
        self.compile_rewards()
        self.compile_observations()
        self.compile_info()
        self.compile_function()
        self.compile_resets()
        for name, (_, is_set) in self.goals.items():
            if not is_set:
                raise ConfigError(f"Goal({shown(name)}) is never set; reset needs a term for it, for example "
                                  f"Uniform(Goal({shown(name)}), -1, 1)")  # fmt: skip
        self.code.num_constant = len(self.constants)
        self.code.instructions[:0] = self.constants
        return self.code

    def compile_action(self) -> None:
        """Compile what an action is."""
        self.where, action = "action", self.declaration.action
        count = self.index.array("ctrl")[1]
        controls = list(range(count))
        if action.of is not None:
            controls = [k for name in many(action.of) for k in self.index.controls(self.object_id("actuator", name))]
            if len(set(controls)) < len(controls):
                raise self.error(f"of is {shown(action.of)}, but an actuator may occur only once")
            if not controls:
                raise self.error("of is (), allowed are None and one or more actuators")
            self.code.controls = controls
        ranges = [self.index.control_range(k) for k in controls]
        if action.normalized:
            if None in ranges:
                name = self.index.names("actuator")[controls[ranges.index(None)]]
                raise self.error(f'normalized=True needs the range of each control, but <actuator name="{name}"> has '
                                 "no ctrlrange")  # fmt: skip
            self.code.centers = [(r[0] + r[1]) / 2 for r in ranges if r is not None]
            self.code.halves = [(r[1] - r[0]) / 2 for r in ranges if r is not None]
            ranges = [(-1.0, 1.0)] * len(controls)
        self.num_actions = len(controls)
        self.code.action_range = np.array([r or (-UNLIMITED, UNLIMITED) for r in ranges]).reshape(-1, 2).T

    def compile_layout(self) -> None:
        """Reserve the registers of the observation, whose sizes a trial finds."""
        trial = Compiler.__new__(Compiler)
        trial.__dict__.update(
            self.__dict__, code=Code(), constants=[], values={}, goals={}, flags_are_known=True, is_trial=True
        )
        for key, terms in self.declaration.observation:
            values = []
            for term in terms:
                trial.where = f"observation {shown(term.name)}"
                values.append(trial.value(term.value))
            size = sum(value.n for value in values)
            is_scalar = bool(key) and len(values) == 1 and values[0].is_scalar
            self.code.observations[f"obs:{key}" if key else "obs"] = () if is_scalar else (size,)
            self.code.observation_size += size
        self.where = "observation"
        self.registers(self.code.observation_size)

    def compile_terminations(self) -> None:
        """Compile the terminations, whose flags are adjacent registers."""
        terms = self.declaration.termination
        self.code.num_flags = len(terms)
        self.code.first_flag = self.registers(len(terms))
        for k, term in enumerate(terms):
            self.where = f"termination {shown(term.name)}"
            value = self.value(term.value)
            ends = self.interval(term.low, term.high)
            self.code.instructions.append(
                InstructionCode("outside", 1, self.code.first_flag + k, value.first, count=value.n,
                                flag=bool(term.closed), x=ends)
            )  # fmt: skip
        self.flags_are_known = True

    def compile_rewards(self) -> None:
        """Compile the rewards, and behind them the costs."""
        for kind in (Reward, Cost):
            for term in self.declaration.reward:
                if isinstance(term, kind):
                    self.where = f"{kind.__name__.lower()} {shown(term.name)}"
                    value = self.scalar(term)
                    self.code.rewards.append((value.first, self.number("weight", term.weight), -1))
            if kind is Reward:
                self.code.num_rewards = len(self.code.rewards)

    def scalar(self, term: Term) -> Value:
        """Return the value of a term that must be a scalar; a vector of one number counts as one."""
        value = self.value(term.value)
        if value.n != 1:
            raise self.error(
                f"{shown(term.value)} has {value.n} numbers, allowed is one: use Sum, Mean, Norm, Min or Max"
            )
        return value

    def compile_observations(self) -> None:
        """Compile the observation."""
        first = 0
        for _, terms in self.declaration.observation:
            for term in terms:
                self.where = f"observation {shown(term.name)}"
                weight = self.number("weight", term.weight)
                if isinstance(term.value, Computed) and weight == 1:
                    n = term.value.size or 1
                    self.code.outputs.append((term.value.name, first, n, term.value.size is None))
                    first += n
                    continue
                value = term.value if weight == 1 else term.value * weight
                self.place(value, first)
                first += self.value(value).n

    def compile_info(self) -> None:
        """Compile the info arrays: those of the user, and the values of the terms."""
        place = 0
        for key, expression in self.declaration.info:
            self.where = f"info {shown(key)}"
            value = self.value(expression)
            self.code.reports.append((value.first, value.n, place))
            self.code.info[key] = place if value.is_scalar else (place, value.n)
            place += value.n
        if self.declaration.terms:
            ordered = [t for kind in (Reward, Cost) for t in self.declaration.reward if isinstance(t, kind)]
            for k, term in enumerate((*ordered, *self.declaration.termination)):
                self.code.info[f"terms.{term.name}"] = place + k
            self.code.rewards = [(first, w, place + k) for k, (first, w, _) in enumerate(self.code.rewards)]
            self.code.flags_info = place + len(ordered) if self.code.num_flags else -1

    def compile_function(self) -> None:
        """Compile the arguments of the function."""
        if self.declaration.function is None:
            return
        self.code.total = self.registers(1)
        for name, expression in self.declaration.function.inputs:
            self.where = f"input {shown(name)} of the function"
            value = self.value(expression)
            self.code.inputs.append((name, value.first, value.n, value.is_scalar))

    def compile_resets(self) -> None:
        """Compile the resets."""
        for k, reset in enumerate(self.declaration.reset):
            self.where = f"reset[{k}] ({type(reset).__name__})"
            self.code.resets.append(reset.emit(self))


def compile_declaration(declaration: Declaration, index: ModelIndex) -> Code:
    """Return the tables of a declaration for a model, or raise a ConfigError that names the term."""
    return Compiler(declaration, index).compile()
