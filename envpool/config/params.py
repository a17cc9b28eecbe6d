"""Parameters of single environments, such as physical constants: their declaration, and the check of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._core.definition import Field
from envpool._support.text import shown, similar_names
from envpool.errors import ConfigError


@dataclass(frozen=True)
class Param:
    """A parameter whose value may differ among the environments of a pool.

    Attributes
    ----------
    default : float, int, bool, nested tuple or numpy.ndarray
        The value of the upstream environment, which sets dtype and shape: a float is a float64, an int an int64.
    low, high : float
        Smallest and largest allowed value of each element; infinite for no bound. Values must be finite in any case.
        ``above(x)`` and ``below(x)`` are the bounds of values that must differ from x.
    unit : str
        Unit of the value; empty if it has none.
    text : str
        One line about the meaning.
    common : {"max", "min"}
        Which of the environments' values `EnvDefinition.build` gets for the whole pool, for instance for the bound of a
        space.
    convert : callable, optional
        Converts a value that the user has passed to numbers, or raises ConfigError. By default, values must be numbers.
    choices : tuple of int
        The allowed values between the bounds, if not all are allowed. Saved states may contain others: the environment
        must refuse them.
    names : tuple of str
        Name of the object, for example a body, that each entry along the first axis belongs to; `index` looks entries
        up by it. Entries of the same object have the same name, and entries of an unnamed object have an empty one.
        Empty if no object has a name.
    """

    default: Any
    low: float = -np.inf
    high: float = np.inf
    unit: str = ""
    text: str = ""
    common: Literal["max", "min"] = "max"
    convert: Callable[[Any], Any] | None = None
    choices: tuple[int, ...] = ()
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
            raise ConfigError(f"there is no entry {shown(name)}; {hint}")
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

    def converted(self, value: Any) -> Any:
        """Return a value that the user has passed as numbers."""
        return value if self.convert is None else self.convert(value)

    def is_allowed(self, given: npt.NDArray[Any], array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which elements of `array`, which was converted from `given`, are allowed."""
        if self.dtype.kind == "b":
            return np.asarray(array == given, np.bool_)
        fits = np.equal(array, given) if self.dtype.kind in "iu" else np.isfinite(array)
        if self.choices:
            fits = np.logical_and(fits, np.isin(array, self.choices))
        return np.asarray(fits & (array >= self.low) & (array <= self.high), np.bool_)

    def allowed(self, is_element: bool = False) -> str:
        """Return a text that says which values are allowed, as a whole or for a single element."""
        is_one = is_element or self.shape == ()
        if self.choices:
            return f"one of the integers {', '.join(map(str, self.choices))}"
        if self.dtype.kind == "b":
            return "a boolean" if is_one else "booleans"
        kinds = ("an integer", "integers") if self.dtype.kind in "iu" else ("a finite number", "finite numbers")
        kind = kinds[0 if is_one else 1]
        low, high = self.low, self.high
        if self.dtype.kind == "u":
            low = max(low, 0)
        if self.dtype.kind in "iu" and self.dtype.itemsize < 8:
            low, high = max(low, np.iinfo(self.dtype).min), min(high, np.iinfo(self.dtype).max)
        bounds = [text for text in (self._bound(low, -np.inf), self._bound(high, np.inf)) if text]
        link = "of " if bounds and bounds[0].startswith("at") else ""
        return f"{kind} {link}{' and '.join(bounds)}" if bounds else kind

    def bounds(self) -> str:
        """Return a short text about the allowed values, for tables."""
        if self.choices:
            return ", ".join(map(str, self.choices))
        limits = [self._limit(self.low, -np.inf), self._limit(self.high, np.inf)]
        excluded = " and ".join(text for text, is_excluded in limits if is_excluded)
        (low, _), (high, _) = limits
        text = (
            f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}" if high else "any"
        )
        return f"{text} ({excluded} excluded)" if excluded else text

    def _bound(self, value: float, outside: float) -> str:
        """Return the text about a bound, given the infinity on its outer side; no text if there is no bound."""
        text, is_excluded = self._limit(value, outside)
        if is_excluded:
            return f"{'greater' if outside < 0 else 'less'} than {text}"
        return f"at {'least' if outside < 0 else 'most'} {text}" if text else ""

    def _limit(self, value: float, outside: float) -> tuple[str, bool]:
        """Return the text of the number that bounds the values, and whether it is excluded."""
        if not np.isfinite(value):
            return "", False
        limit = float(np.nextafter(value, outside))
        text = f"{limit + 0.0:g}"
        if self.dtype.kind == "f" and float(text) == limit and len(repr(limit)) < len(repr(float(value))):
            return text, True  # a result of above() or below()
        return f"{value:g}", False


def above(value: float) -> float:
    """Return the smallest float that is greater, for `Param.low`."""
    return float(np.nextafter(value, np.inf))


def below(value: float) -> float:
    """Return the largest float that is less, for `Param.high`."""
    return float(np.nextafter(value, -np.inf))


def suggestion(name: str, names: list[str], introduction: str) -> str:
    """Return the end of an error text that offers the names most similar to an unknown one, or else all names."""
    near = similar_names(name, names)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"{introduction} {', '.join(names)}"


#: Beginning of the names that options of resets have in the parameter table of a definition.
RESET_PREFIX = "reset:"


def param_fields(params: Mapping[str, Param], reset_options: Mapping[str, Param] = MappingProxyType({})) -> list[Field]:
    """Return the parameter table of an environment definition, for ``define(params=)``: options of resets come last."""
    return [param.field(name) for name, param in named_in_table(params, reset_options).items()]


def named_in_table(params: Mapping[str, Param], reset_options: Mapping[str, Param]) -> dict[str, Param]:
    """Return parameters and options of resets by the names that they have in the parameter table of a definition."""
    return dict(params) | {RESET_PREFIX + name: option for name, option in reset_options.items()}


def check_table(env: str, params: Mapping[str, Param], table: Sequence[Field]) -> None:
    """Raise ConfigError unless the parameters of a class are those in the table of its environment definition.

    A class without parameters does not offer those in the table.
    """
    declared = [(name, param.dtype, param.shape) for name, param in params.items()]
    built = [(field.name, field.dtype, field.shape) for field in table]
    if declared and declared != built:
        different = [row for row in (*declared, *built) if row not in declared or row not in built] or built
        raise ConfigError(
            f"env {env}: the parameters of its class and those of its env definition must have the same names, dtypes, "
            f"shapes and order, but they differ in {different[0]}: pass define(params=param_fields(...))"
        )


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
        A fresh array (1, *param.shape) or (count, *param.shape), C-contiguous.

    Raises
    ------
    TypeError
        The value is not numeric, or not an integer where the parameter is one.
    ConfigError
        The shape, or an element, is not allowed.
    """
    value = param.converted(value)
    try:
        given = np.array(value)
    except ValueError as error:
        raise TypeError(f"{name} must be numbers, got {shown(value)}: {error}") from error
    if given.dtype.kind not in {"b": "biu", "f": "iuf"}.get(param.dtype.kind, "iu"):
        raise TypeError(f"{name} must be {param.allowed()}, got {shown(value)}")
    shapes = (param.shape, (count, *param.shape))
    if given.shape not in shapes:
        raise ConfigError(
            f"{name} must have the shape {shapes[0]}, or {shapes[1]} for one value per environment, got {given.shape}"
        )
    given_rows = given.reshape(-1, *param.shape)
    with np.errstate(over="ignore"):
        array = np.array(given_rows, param.dtype, order="C")
    is_allowed = param.is_allowed(given_rows, array)
    if not is_allowed.all():
        at = np.argwhere(~is_allowed)[0]
        where = "" if given.shape == () else str(at[array.ndim - given.ndim :].tolist())
        raise ConfigError(f"{name}{where} must be {param.allowed(is_element=True)}, got {given_rows[tuple(at)]}")
    return array


def check_values(
    params: Mapping[str, Param], values: Mapping[str, Any], count: int, task: str
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield the index of each parameter in the table, and its checked values; see `check_value`."""
    if not isinstance(values, Mapping):
        raise TypeError(f"params must be a dict from names of parameters to values, got {shown(values)}")
    names = list(params)
    for name, value in values.items():
        if name not in params:
            if not names:
                raise ConfigError(f"{task} has no parameters, but {shown(name)} was given")
            raise ConfigError(
                f"{task} has no parameter {shown(name)}; {suggestion(str(name), names, 'its parameters are')}"
            )
        yield names.index(name), check_value(name, params[name], value, count)


def validate_params(config: Any, params: Mapping[str, Param]) -> tuple[Any, Any]:
    """Return a configuration with checked parameters, or raise ConfigError or TypeError.

    A parameter that is None remains None in the first result, and has its default in the second. The second result is
    the configuration for environments that have no values of their own: in place of one value per environment, it has
    the largest or the smallest of these values, see `Param.common`.
    """
    values, common = {}, {}
    for name, param in params.items():
        given = getattr(config, name)
        given = param.converted(param.default if given is None else given)
        array = check_value(name, param, given, config.num_envs)
        has_rows = np.ndim(given) == array.ndim
        common[name] = to_tuple(getattr(array, param.common)(axis=0).tolist())
        if getattr(config, name) is not None:  # None remains: the default that the other options lead to
            values[name] = to_tuple((array if has_rows else array[0]).tolist())
    return config._replace(**values), config._replace(**common)


def to_tuple(nest: Any) -> Any:
    """Return nested lists as nested tuples."""
    return tuple(map(to_tuple, nest)) if isinstance(nest, list) else nest


#: A parameter with more elements is abbreviated in the representation of specs and pools.
SHOWN_VALUES = 8


class Abbreviation(NamedTuple):
    """Stands for the values of a parameter in a text."""

    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<values of shape {self.shape}>"


def shown_options(config: Any, params: Mapping[str, Param], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a configuration that differ from their defaults; long values are abbreviated."""
    values = {name: v for name, v in config._asdict().items() if name in params or repr(v) != repr(defaults[name])}
    for name, param in params.items():
        if values[name] is None or values[name] == to_tuple(np.asarray(param.default).tolist()):
            del values[name]
    return {name: shown_value(value) for name, value in values.items()}


def shown_value(value: Any) -> Any:
    """Return the value of an option, or what stands for it in a text if it is long."""
    return Abbreviation(np.shape(value)) if np.size(value) > SHOWN_VALUES else value
