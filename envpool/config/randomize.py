"""The option `randomize`: how parameters are drawn for each episode, and the check of what the user asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.config.params import Param, check_value, suggestion
from envpool.errors import ConfigError

#: Numbers of arguments that each distribution takes.
ARGUMENTS = {"uniform": (2,), "loguniform": (2,), "scale": (2,), "normal": (2, 4), "choice": (1,)}
#: Last entry of a distribution that draws one random number for all elements of a parameter.
SHARED = "shared"
FORMS = (
    "('uniform', low, high), ('loguniform', low, high), ('scale', low, high), ('normal', mean, std), "
    "('normal', mean, std, low, high) or ('choice', values)"
)


class Draw(NamedTuple):
    """How one parameter is drawn, for `envpool._core.draws.ParamDraws`.

    Attributes
    ----------
    param : int
        Index in the table of parameters.
    kind : str
        The distribution, or "integers" for a uniform one of integers.
    is_shared : bool
        True if all elements get the same random number.
    nominal : numpy.ndarray
        The values that were passed to make, (1, ...) or (num_envs, ...), in the dtype of the parameter.
    first, second : numpy.ndarray, optional
        float64 in the shape of the parameter: the ends of a range (for "loguniform", their logarithms), or mean and
        standard deviation.
    low, high : numpy.ndarray, optional
        float64 in the shape of the parameter: bounds of what is drawn; for "scale", of the factor.
    least, span : numpy.ndarray, optional
        In the shape of the parameter: the smallest integer, and how much larger the largest one is.
    choices : numpy.ndarray, optional
        (n, ...) the values to choose from.
    """

    param: int
    kind: str
    is_shared: bool
    nominal: npt.NDArray[Any]
    first: npt.NDArray[np.float64] | None = None
    second: npt.NDArray[np.float64] | None = None
    low: npt.NDArray[np.float64] | None = None
    high: npt.NDArray[np.float64] | None = None
    least: npt.NDArray[np.int64] | None = None
    span: npt.NDArray[np.uint64] | None = None
    choices: npt.NDArray[Any] | None = None


def plain(value: Any) -> Any:
    """Return arrays and nested sequences as nested tuples, and NumPy's numbers as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value


def check_form(name: str, value: Any) -> dict[str, tuple[Any, ...]] | None:
    """Return distributions as plain tuples by the names of parameters; None if there are none.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : mapping or None
        The value of the option.

    Raises
    ------
    ConfigError
        An entry has none of the forms.
    TypeError
        `value` is not a mapping.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict from names of parameters to distributions, got {shown(value)}")
    result = {str(key): check_entry(f"{name}[{str(key)!r}]", entry) for key, entry in value.items()}
    return result or None


def check_entry(where: str, entry: Any) -> tuple[Any, ...]:
    """Return a distribution as a tuple of its name and its arguments, which are plain but not checked."""
    given = plain(entry) if isinstance(entry, list | tuple) else ()
    if given and given[0] == "choice" and len(given) == 2 and isinstance(given[1], tuple) and given[1]:
        return tuple(given)
    kind = given[0] if given and isinstance(given[0], str) else None
    count = len(given) - 1 - (given[-1:] == (SHARED,))
    if kind not in ARGUMENTS or kind == "choice" or count not in ARGUMENTS[kind]:
        raise ConfigError(f"{where} must be {FORMS}, got {shown(entry)}")
    return tuple(given)


def check_draws(
    ranges: Mapping[str, tuple[Any, ...]], params: Mapping[str, Param], config: Any, task: str
) -> list[Draw]:
    """Return how the parameters of a task are drawn.

    Parameters
    ----------
    ranges : mapping of str to tuple
        Distributions, a result of `check_form`.
    params : mapping of str to Param
        The parameters of the task.
    config : namedtuple
        The options of the task, validated.
    task : str
        The task, for messages.

    Raises
    ------
    ConfigError, TypeError
        A parameter does not exist, or a draw might not be allowed.
    """
    names, draws = list(params), []
    for name, entry in ranges.items():
        if not names:
            raise ConfigError(
                f"randomize draws {shown(name)}, but {task} has no parameters. An environment written in Python draws "
                "such values itself, in its reset()"
            )
        if name not in params:
            raise ConfigError(
                f"randomize draws {shown(name)}, but {task} has no such parameter; "
                f"{suggestion(name, names, 'its parameters are')}"
            )
        draws.append(check_draw(names.index(name), name, params[name], entry, nominal_of(name, params[name], config)))
    return draws


def nominal_of(name: str, param: Param, config: Any) -> npt.NDArray[Any]:
    """Return the values that a parameter has without draws, (1, ...) or (num_envs, ...)."""
    given = getattr(config, name)
    return check_value(name, param, param.default if given is None else given, config.num_envs)


def check_draw(index: int, name: str, param: Param, entry: tuple[Any, ...], nominal: npt.NDArray[Any]) -> Draw:
    """Return how one parameter is drawn; raise ConfigError or TypeError if a draw might not be allowed."""
    where, kind, is_shared = f"randomize[{name!r}]", entry[0], entry[-1] == SHARED
    arguments = entry[1:-1] if is_shared else entry[1:]
    draw = Draw(index, kind, is_shared, nominal)
    if kind == "choice":
        values = [check_value(f"{where} value {i}", param, value, 1) for i, value in enumerate(arguments[0])]
        return draw._replace(choices=np.concatenate(values))
    if param.dtype.kind == "b" or param.choices or param.convert is not None:
        raise ConfigError(f"{where} must be ('choice', values), since {name} must be {param.allowed()}")
    if param.dtype.kind in "iu":
        if kind != "uniform" or is_shared:
            raise ConfigError(
                f"{where} must be ('uniform', low, high) or ('choice', values), since {name} consists of integers"
            )
        low, high = (in_shape(where, param, value, is_value=True) for value in arguments)
        check_order(where, low, high)
        return draw._replace(kind="integers", least=low.astype(np.int64), span=distance(low, high))
    first, second = (in_shape(where, param, value) for value in arguments[:2])
    if kind == "normal":
        return check_normal(where, param, draw, first, second, arguments[2:])
    check_order(where, first, second)
    if kind == "loguniform" and not (first > 0).all():
        raise ConfigError(f"{where} must be ('loguniform', low, high) with low above 0, got {shown(entry)}")
    for factor in (first, second):
        with np.errstate(over="ignore"):
            reached = nominal * factor if kind == "scale" else factor[None]
        check_allowed(where, param, reached)
    draw = draw._replace(low=first, high=second)
    if kind == "loguniform":
        logarithms = (np.array([math.log(x) for x in end.flat]).reshape(param.shape) for end in (first, second))
        return draw._replace(first=next(logarithms), second=next(logarithms))
    with np.errstate(over="ignore"):
        if not np.isfinite(second - first).all():
            raise ConfigError(f"{where}: the difference of high and low must be finite, got {shown(entry)}")
    return draw._replace(first=first, second=second)


def check_normal(
    where: str,
    param: Param,
    draw: Draw,
    mean: npt.NDArray[np.float64],
    std: npt.NDArray[np.float64],
    bounds: tuple[Any, ...],
) -> Draw:
    """Return how a parameter with a normal distribution is drawn."""
    if not (std >= 0).all():
        raise ConfigError(f"{where}: the standard deviation must be at least 0, got {shown(std.tolist())}")
    if bounds:
        low, high = (in_shape(where, param, value) for value in bounds)
        check_order(where, low, high)
        check_allowed(where, param, low[None])
        check_allowed(where, param, high[None])
    elif np.isfinite(param.low) or np.isfinite(param.high):
        raise ConfigError(
            f"{where} must be ('normal', mean, std, low, high), since each element must be "
            f"{param.allowed(is_element=True)}: draws outside low and high are clipped"
        )
    else:
        limit = float(np.finfo(param.dtype).max)
        low, high = np.full(param.shape, -limit), np.full(param.shape, limit)
    return draw._replace(first=mean, second=std, low=low, high=high)


def in_shape(where: str, param: Param, value: Any, is_value: bool = False) -> npt.NDArray[Any]:
    """Return an argument of a distribution, a number or one per element, in the shape of a parameter.

    The result is float64; if the argument is a value of the parameter (`is_value`), it has the dtype of the parameter,
    and must be allowed.
    """
    try:
        array = np.array(value)
    except ValueError as error:
        raise TypeError(f"{where} must have numbers, got {shown(value)}: {error}") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{where} must have numbers, got {shown(value)}")
    if array.shape not in ((), param.shape):
        allowed = f"numbers or arrays of the shape {param.shape}" if param.shape else "numbers"
        raise ConfigError(f"{where} must have {allowed}, got the shape {array.shape}")
    if is_value:
        rows = check_value(where, param, np.broadcast_to(array, param.shape), 1)
        return rows.reshape(param.shape)
    if not np.isfinite(array).all():
        raise ConfigError(f"{where} must have finite numbers, got {shown(value)}")
    return np.array(np.broadcast_to(array, param.shape), np.float64)


def check_order(where: str, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> None:
    """Raise ConfigError if a lower end is above its upper end."""
    if not (low <= high).all():
        at = tuple(np.argwhere(~np.atleast_1d(low <= high))[0]) if low.shape else ()
        raise ConfigError(f"{where}: low must be at most high, got {low[at]} and {high[at]}")


def check_allowed(where: str, param: Param, values: npt.NDArray[np.float64]) -> None:
    """Raise ConfigError if a value (n, ...) that may be drawn is not allowed."""
    with np.errstate(over="ignore"):
        is_allowed = param.is_allowed(values, values.astype(param.dtype))
    if not is_allowed.all():
        at = tuple(np.argwhere(~is_allowed)[0])
        element = str([int(k) for k in at[1:]]) if len(at) > 1 else ""
        raise ConfigError(
            f"{where}{element} must stay {param.allowed(is_element=True)}, but {values[at]:g} may be drawn"
        )


def distance(low: npt.NDArray[Any], high: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return how much larger integers are than others."""
    spans = [int(b) - int(a) for a, b in zip(low.flat, high.flat, strict=True)]
    return np.array(spans, np.uint64).reshape(low.shape)


def widest(draw: Draw, param: Param) -> npt.NDArray[Any] | None:
    """Return values (n, ...) between which all draws of a parameter are; None for integers and without bounds."""
    if draw.choices is not None:
        return draw.choices if param.dtype.kind == "f" else None
    if draw.low is None or draw.high is None:
        return None
    ends = np.stack([draw.low, draw.high])
    if draw.kind == "normal" and np.abs(ends).max() >= np.finfo(param.dtype).max:
        return None
    return (ends[:, None] * draw.nominal[None]).reshape(-1, *param.shape) if draw.kind == "scale" else ends
