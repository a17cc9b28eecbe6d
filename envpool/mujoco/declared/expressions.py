"""Expressions: what the terms of a declaration compute in each step. All are frozen dataclasses of plain values.

A value is a scalar or a vector of float64, as in NumPy: where a scalar meets a vector, it is used for each number. The
operations round as NumPy's do, and are evaluated as Python evaluates the expression: ``a + b + c`` is ``(a + b) + c``.
`Square` is ``pow(x, 2)`` for scalars and ``x * x`` for vectors, a sum is ``np.sum``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Union

import numpy as np

from envpool._support.text import shown
from envpool.config.checks import flag, whole_number

Number = Union["Expression", float, Sequence[float]]


class Node:
    """A part of a declaration; all are frozen dataclasses, which can be compared, hashed and printed.

    Users may write numbers for expressions, and lists or NumPy's arrays for tuples. Fields contain what these mean.
    Keyword arguments of a class statement are attributes of the class: what the compiler must know of its kind.
    """

    def __init_subclass__(cls, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(cls, name, value)

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = plain(getattr(self, item.name))
            if item.type == "bool":
                value = flag(f"{item.name} of {type(self).__name__}", value)
            elif item.type == "Expression":
                value = wrap(value)
            elif item.type == "tuple[Expression, ...]":
                value = tuple(map(wrap, value if isinstance(value, tuple) else (value,)))
            object.__setattr__(self, item.name, value)


class Expression(Node):
    """A scalar or a vector that is computed in each step; the base class of all expressions."""

    __array_ufunc__ = None  # NumPy's arrays leave operations with expressions to these methods

    def __add__(self, other: Number) -> Arithmetic:
        return Arithmetic("+", self, wrap(other))

    def __radd__(self, other: Number) -> Arithmetic:
        return Arithmetic("+", wrap(other), self)

    def __sub__(self, other: Number) -> Arithmetic:
        return Arithmetic("-", self, wrap(other))

    def __rsub__(self, other: Number) -> Arithmetic:
        return Arithmetic("-", wrap(other), self)

    def __mul__(self, other: Number) -> Arithmetic:
        return Arithmetic("*", self, wrap(other))

    def __rmul__(self, other: Number) -> Arithmetic:
        return Arithmetic("*", wrap(other), self)

    def __truediv__(self, other: Number) -> Arithmetic:
        return Arithmetic("/", self, wrap(other))

    def __rtruediv__(self, other: Number) -> Arithmetic:
        return Arithmetic("/", wrap(other), self)

    def __neg__(self) -> Arithmetic:
        return Arithmetic("*", Constant(-1.0), self)

    def __getitem__(self, index: int | slice) -> Item:
        if not isinstance(index, slice):
            return Item(self, whole_number(f"the index of {shown(self)}", index), None, True)
        if index.step not in (None, 1):
            raise TypeError(f"the step of a slice of {shown(self)} must be 1, got {shown(index.step)}")
        name = f"an end of a slice of {shown(self)}"
        start, stop = (end if end is None else whole_number(name, end) for end in (index.start, index.stop))
        return Item(self, start, stop, False)

    def __iter__(self) -> Any:
        raise TypeError(f"{shown(self)} is not iterable: its size depends on the model")


def plain(value: Any) -> Any:
    """Return a value with tuples for lists and NumPy's arrays, and Python's numbers for NumPy's."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return tuple(map(plain, value)) if isinstance(value, (list, tuple)) else value


def wrap(value: Any, name: str = "a value") -> Expression:
    """Return an expression: the value itself if it is one, otherwise the constant of a number or of a few numbers.

    The TypeError for any other value begins with `name`.
    """
    return value if isinstance(value, Expression) else Constant(numbers_of(value, name))


def numbers_of(value: Any, name: str = "a value") -> float | tuple[float, ...]:
    """Return a number as a float, and a sequence of numbers as a tuple, or raise a TypeError."""
    try:
        if not isinstance(value, (bool, str, bytes)):
            is_sequence = hasattr(value, "__len__") and getattr(value, "ndim", True)
            return tuple(map(float, value)) if is_sequence else float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{name} must be an expression or numbers, got {shown(value)}")


# ---- constants, items, arithmetic ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant(Expression):
    """A number, or a vector of numbers."""

    value: float | tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", numbers_of(self.value))


@dataclass(frozen=True)
class Item(Expression):
    """``value[start]``, a scalar, if `is_scalar`; otherwise ``value[start:stop]``."""

    value: Expression
    start: int | None
    stop: int | None
    is_scalar: bool

    def __repr__(self) -> str:
        ends = ["" if end is None else str(end) for end in (self.start, self.stop)]
        return f"{self.value!r}[{ends[0] if self.is_scalar else ':'.join(ends)}]"


@dataclass(frozen=True)
class Arithmetic(Expression):
    """``left + right``, and likewise for the operators -, * and /, `minimum` and `maximum`, number by number."""

    operator: str
    left: Expression
    right: Expression

    def __repr__(self) -> str:
        if self.operator in ("minimum", "maximum"):
            return f"{self.operator}({self.left!r}, {self.right!r})"
        return f"({self.left!r} {self.operator} {self.right!r})"


def minimum(a: Number, b: Number) -> Arithmetic:
    """Return the smaller of two values, number by number."""
    return Arithmetic("minimum", wrap(a), wrap(b))


def maximum(a: Number, b: Number) -> Arithmetic:
    """Return the larger of two values, number by number."""
    return Arithmetic("maximum", wrap(a), wrap(b))


# ---- functions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function(Expression):
    """A function of each number of a value; the base class of these functions."""

    value: Expression
    operation: ClassVar[str]


class Cos(Function, operation="cos"):
    """Cosines (of rad)."""


class Sin(Function, operation="sin"):
    """Sines (of rad)."""


class Sqrt(Function, operation="sqrt"):
    """Square roots."""


class Abs(Function, operation="abs"):
    """Absolute values."""


class Exp(Function, operation="exp"):
    """The exponential function."""


class Square(Function, operation="square"):
    """Squares: ``pow(x, 2)`` of a scalar, ``x * x`` of the numbers of a vector, as NumPy computes ``x**2``."""


@dataclass(frozen=True)
class Clip(Expression):
    """The numbers of a value, clipped to an interval; nan stays nan."""

    value: Expression
    low: float
    high: float


@dataclass(frozen=True)
class Previous(Expression):
    """The value one step before; after a reset the present value."""

    value: Expression


class Reduction(Function):
    """A scalar that is computed from all numbers of a value; the base class of these functions."""


class Sum(Reduction, operation="sum"):
    """The sum as ``np.sum`` computes it: pairwise from 8 numbers on."""


class Mean(Reduction, operation="mean"):
    """`Sum` divided by the number of numbers."""


class Min(Reduction, operation="lowest"):
    """The smallest number; nan if there is one."""


class Max(Reduction, operation="highest"):
    """The largest number; nan if there is one."""


class Norm(Reduction, operation="norm"):
    """The Euclidean norm, as ``np.linalg.norm`` computes it."""


#: The sigmoids of dm_control that `Tolerance` has.
SIGMOIDS = ("gaussian", "linear", "quadratic", "long_tail", "reciprocal")


def scale_of(sigmoid: str, value_at_margin: float) -> float:
    """Return what dm_control multiplies distances by so that the sigmoid has this value at the margin."""
    if sigmoid == "gaussian":
        return float(np.sqrt(-2 * np.log(value_at_margin)))
    if sigmoid == "linear":
        return 1 - value_at_margin
    if sigmoid == "quadratic":
        return float(np.sqrt(1 - value_at_margin))
    if sigmoid == "long_tail":
        return float(np.sqrt(1 / value_at_margin - 1))
    return 1 / value_at_margin - 1


@dataclass(frozen=True)
class Tolerance(Expression):
    """``dm_control.utils.rewards.tolerance`` of each number: 1 within the bounds, falling to 0 outside.

    Attributes
    ----------
    value : Expression
        The numbers. The sigmoid squares them as `Square` does.
    bounds : pair of float
        The interval, with both ends, in which the result is 1.
    margin : float
        Distance from the interval at which the result is `value_at_margin`. With 0, the result outside is 0.
    value_at_margin : float
        More than 0 and less than 1; 0 is allowed for the sigmoids "linear" and "quadratic".
    sigmoid : {"gaussian", "linear", "quadratic", "long_tail", "reciprocal"}
        How the result falls.
    """

    value: Expression
    bounds: tuple[float, float] = (0.0, 0.0)
    margin: float = 0.0
    value_at_margin: float = 0.1
    sigmoid: str = "gaussian"


def within(value: Number, low: float = -math.inf, high: float = math.inf) -> Tolerance:
    """Return 1 for numbers between `low` and `high`, both included, and 0 for others."""
    return Tolerance(wrap(value), (low, high))
