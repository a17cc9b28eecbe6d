"""Parameters of single environments, such as physical constants: their declaration, and the check of values."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.definition import Field
from envpool.errors import ConfigError


@dataclass(frozen=True)
class Param:
    """A parameter that each environment of a pool may have a value of its own for.

    Attributes
    ----------
    default : float, int or nested tuple
        The value of the upstream environment, which sets dtype and shape: a float is a float64, an int an int64.
    low, high : float
        Smallest and largest allowed value of each element; infinite for no bound. Values must be finite in any case.
        ``above(x)`` and ``below(x)`` are the bounds of values that must differ from x.
    unit : str
        Unit of the value; empty if it has none.
    text : str
        One line about the meaning.
    choices : tuple of int
        The allowed values between the bounds, if not all are allowed. Saved states may contain others: the environment
        must refuse them.
    """

    default: Any
    low: float = -np.inf
    high: float = np.inf
    unit: str = ""
    text: str = ""
    choices: tuple[int, ...] = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an element."""
        return np.asarray(self.default).dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value of one environment."""
        return np.asarray(self.default).shape

    def field(self, name: str) -> Field:
        """Return the entry of the parameter table of an environment definition."""
        low = None if np.isneginf(self.low) else self.low
        high = None if np.isposinf(self.high) else self.high
        return Field(name, self.dtype, self.shape, low, high)

    def allowed(self) -> str:
        """Return a text that says which values are allowed."""
        if self.choices:
            return f"the integers {', '.join(map(str, self.choices))}"
        kind = "integers" if self.dtype.kind in "iu" else "finite numbers"
        bounds = [text for text in (self._bound(self.low, -np.inf), self._bound(self.high, np.inf)) if text]
        link = "of " if bounds and bounds[0].startswith("at") else ""
        return f"{kind} {link}{' and '.join(bounds)}" if bounds else kind

    def _bound(self, value: float, outside: float) -> str:
        """Return the text about a bound, given the infinity on its outer side; no text if there is no bound."""
        if not np.isfinite(value):
            return ""
        limit = float(np.nextafter(value, outside))
        if self.dtype.kind == "f" and len(repr(limit)) < len(repr(float(value))):  # a result of above() or below()
            return f"{'greater' if outside < 0 else 'less'} than {limit + 0.0:g}"
        return f"at {'least' if outside < 0 else 'most'} {value:g}"


def above(value: float) -> float:
    """Return the smallest float that is greater, for `Param.low`."""
    return float(np.nextafter(value, np.inf))


def below(value: float) -> float:
    """Return the largest float that is less, for `Param.high`."""
    return float(np.nextafter(value, -np.inf))


def param_fields(params: Mapping[str, Param]) -> list[Field]:
    """Return the parameter table of an environment definition, for ``define(params=)``."""
    return [param.field(name) for name, param in params.items()]


def check_value(name: str, param: Param, value: Any, count: int) -> npt.NDArray[Any]:
    """Return a value, or one value for each environment, as an array of the dtype of the parameter.

    Parameters
    ----------
    name : str
        Name of the parameter, for messages.
    param : Param
        The parameter.
    value : array_like
        Shape `param.shape` for the same value in all environments, or (count, *param.shape).
    count : int
        Number of environments.

    Returns
    -------
    numpy.ndarray
        (1, *param.shape) or (count, *param.shape), C-contiguous; nobody else has a reference to it.

    Raises
    ------
    TypeError
        The value is not numeric, or not an integer where the parameter is one.
    ConfigError
        The shape, or an element, is not allowed.
    """
    try:
        given = np.array(value)
    except ValueError as error:
        raise TypeError(f"{name} must be numbers, got {value!r}: {error}") from error
    is_integer = param.dtype.kind in "iu"
    if given.dtype.kind not in ("iu" if is_integer else "iuf"):
        raise TypeError(f"{name} must be {param.allowed()}, got {value!r}")
    shapes = (param.shape, (count, *param.shape))
    if given.shape not in shapes:
        raise ConfigError(
            f"{name} must have the shape {shapes[0]}, or {shapes[1]} for one value per environment, got {given.shape}"
        )
    array = np.array(given.reshape(-1, *param.shape), param.dtype, order="C")
    is_allowed = np.isfinite(array) & (array >= param.low) & (array <= param.high)
    if param.choices:
        is_allowed &= np.isin(array, param.choices)
    if not is_allowed.all():
        at = np.argwhere(~is_allowed)[0]
        where = "" if given.shape == () else str(list(at[array.ndim - given.ndim :]))
        raise ConfigError(f"{name}{where} is {array[tuple(at)]}, allowed are {param.allowed()}")
    return array


def check_values(
    params: Mapping[str, Param], values: Mapping[str, Any], count: int, task: str
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield the index of each parameter in the table, and its checked values; see `check_value`."""
    names = list(params)
    for name, value in values.items():
        if name not in params:
            near = difflib.get_close_matches(str(name), names, n=3)
            if not names:
                raise ConfigError(f"{task} has no parameters, but {name!r} was given")
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"its parameters are {', '.join(names)}"
            raise ConfigError(f"{task} has no parameter {name!r}; {hint}")
        yield names.index(name), check_value(name, params[name], value, count)
