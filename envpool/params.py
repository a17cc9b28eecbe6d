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
    unit : str
        Unit of the value; empty if it has none.
    text : str
        One line about the meaning.
    names : tuple of str
        What each entry along the first axis belongs to, for example a body, so that `index` finds it; entries of
        one object have the same name, and those of an object without a name an empty one. Empty if nothing has names.
    """

    default: Any
    low: float = -np.inf
    high: float = np.inf
    unit: str = ""
    text: str = ""
    names: tuple[str, ...] = ()

    def index(self, name: str) -> int | slice:
        """Return the index of a name along the first axis of a value; of several entries in a row, a slice.

        Parameters
        ----------
        name : str
            One of `names`.

        Raises
        ------
        ConfigError
            There is no entry of this name.
        """
        known = list(dict.fromkeys(filter(None, self.names)))
        if name not in known:
            hint = suggestion(str(name), known, "the names are") if known else "the entries have no names"
            raise ConfigError(f"there is no entry {name!r}; {hint}")
        first, count = self.names.index(name), self.names.count(name)
        return first if count == 1 else slice(first, first + count)

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
        kind = "integers" if self.dtype.kind in "iu" else "finite numbers"
        bounds = [
            f"{word} {value:g}"
            for word, value in (("at least", self.low), ("at most", self.high))
            if np.isfinite(value)
        ]
        return f"{kind} of {' and '.join(bounds)}" if bounds else kind


def suggestion(name: str, names: list[str], introduction: str) -> str:
    """Return the end of an error text that offers the names most similar to an unknown one, or else all names."""
    near = difflib.get_close_matches(name, names, n=3)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"{introduction} {', '.join(names)}"


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
    if not is_allowed.all():
        at = np.argwhere(~is_allowed)[0]
        where = "" if given.shape == () else str(at[array.ndim - given.ndim :].tolist())
        raise ConfigError(f"{name}{where} is {array[tuple(at)]}, allowed are {param.allowed()}")
    return array


def check_values(
    params: Mapping[str, Param], values: Mapping[str, Any], count: int, task: str
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield the index of each parameter in the table, and its checked values; see `check_value`."""
    names = list(params)
    for name, value in values.items():
        if name not in params:
            if not names:
                raise ConfigError(f"{task} has no parameters, but {name!r} was given")
            raise ConfigError(f"{task} has no parameter {name!r}; {suggestion(str(name), names, 'its parameters are')}")
        yield names.index(name), check_value(name, params[name], value, count)
