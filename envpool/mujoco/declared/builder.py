"""The tables of a program while they are filled, and checks of numbers whose errors name the term that is compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.declared.code import Code
from envpool.mujoco.declared.quantities import Goal
from envpool.mujoco.declared.tables import ModelIndex

#: The most numbers that the registers of an environment hold.
MAX_REGISTERS = 1_000_000


@dataclass(frozen=True)
class Value:
    """Where the value of an expression is: its first register, how many numbers it has, and whether it is a scalar."""

    first: int
    n: int
    is_scalar: bool


class Builder:
    """The tables of one program, the model that they belong to, and the goals that expressions and resets share.

    Attributes
    ----------
    index : ModelIndex
        The model.
    code : Code
        The tables of the terms that have been compiled.
    where : str
        The term that is being compiled, for error texts.
    goals : dict
        The registers of each goal by name, and whether a reset sets it.
    """

    def __init__(self, index: ModelIndex, is_suite: bool = False):
        self.index = index
        self.code = Code(is_suite=is_suite)
        self.where = ""
        self.goals: dict[str, tuple[Value, bool]] = {}

    def error(self, text: str) -> ConfigError:
        """Return the error of the term that is being compiled."""
        return ConfigError(f"{self.where}: {text}")

    # ---- tables ------------------------------------------------------------------------------------------------------

    def registers(self, n: int) -> int:
        """Return the first of n new registers."""
        first = self.code.num_registers
        self.code.num_registers += n
        if self.code.num_registers > MAX_REGISTERS:
            raise self.error(f"the declaration computes more than {MAX_REGISTERS} numbers")
        return first

    def constants_at(self, values: Sequence[float]) -> int:
        """Return the index of constants in the table."""
        self.code.constants.extend(values)
        return len(self.code.constants) - len(values)

    def indices_at(self, values: Sequence[int]) -> int:
        """Return the index of indices in the table."""
        self.code.indices.extend(values)
        return len(self.code.indices) - len(values)

    def goal(self, goal: Goal) -> Value:
        """Return the registers of a goal."""
        if not isinstance(goal.name, str) or not goal.name:
            raise self.error(f"the name of a goal must be a text that is not empty, got {shown(goal.name)}")
        n = self.size(f"goal {shown(goal.name)}", goal.size)
        if goal.name not in self.goals:
            self.goals[goal.name] = Value(self.registers(n), n, goal.size is None), False
        value, _ = self.goals[goal.name]
        if (value.n, value.is_scalar) != (n, goal.size is None):
            other = None if value.is_scalar else value.n
            raise self.error(
                f"the size of goal {shown(goal.name)} must be the same in all terms, got {goal.size} and {other}"
            )
        return value

    # ---- checks ------------------------------------------------------------------------------------------------------

    def number(self, name: str, value: Any) -> float:
        """Return an argument that must be a number other than NaN."""
        try:
            number = None if isinstance(value, (bool, str, bytes)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is None:
            raise self.error(f"{name} must be a number, got {shown(value)}")
        if math.isnan(number):
            raise self.error(f"{name} must not be NaN")
        return number

    def non_negative(self, name: str, value: Any) -> float:
        """Return an argument that must be a finite number of at least 0."""
        number = self.number(name, value)
        if not 0 <= number <= 1e100:
            raise self.error(f"{name} must be between 0 and 1e100, got {number}")
        return number

    def interval(self, low: Any, high: Any) -> tuple[float, float]:
        """Return the ends of an interval."""
        ends = self.number("low", low), self.number("high", high)
        if ends[0] > ends[1]:
            raise self.error(f"low must not be greater than high, got low={shown(low)} and high={shown(high)}")
        return ends

    def size(self, what: str, size: Any) -> int:
        """Return the number of numbers of something whose size is declared; a size of None is that of a scalar."""
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise self.error(f"the size of {what} must be None or an integer of at least 1, got {shown(size)}")
        return size or 1
