"""Options of resets, such as the bounds between which a first state is drawn: the check of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from envpool._core.params import OptionRows
from envpool._support.text import shown
from envpool.config.checks import is_sequence
from envpool.config.params import Param, check_value, suggestion
from envpool.errors import ConfigError

if TYPE_CHECKING:
    from envpool.tasks.spec import EnvSpec


def without_mask(options: Any) -> Any:
    """Return what ``reset(options=)`` got without the mask, which selects environments; the dict is not changed."""
    if not isinstance(options, dict):
        return options
    return {name: value for name, value in options.items() if name != "reset_mask"}


def one_per_reset(options: Any, count: int) -> list[dict[str, Any] | None]:
    """Return a dict or None for each of `count` resets, for a dict or a sequence of dicts; or raise ConfigError."""
    if isinstance(options, dict):
        return [options] * count
    if not is_sequence(options) or not all(entry is None or isinstance(entry, dict) for entry in options):
        raise ConfigError(
            f"reset(options=...) must be a dict, or a sequence with a dict or None for each environment that is reset, "
            f"got {shown(options)}"
        )
    if len(options) != count:
        raise ConfigError(
            f"reset(options=...) must have one entry for each of the {count} environments that are reset, got "
            f"{len(options)}"
        )
    return list(options)


def check_reset_options(spec: EnvSpec, options: Any, count: int) -> OptionRows | None:
    """Return the options of the resets of native environments.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    options : dict or sequence of dict
        See ``EnvPool.reset``; without a mask.
    count : int
        Number of environments that are reset.

    Returns
    -------
    OptionRows or None
        None if there are no options.

    Raises
    ------
    ConfigError
        An option does not exist, or its value is not allowed.
    """
    if isinstance(options, dict):
        if not options:
            return None
        rows = check_row(spec, options, count)
        return OptionRows(indexed(spec, rows), np.ones(count, np.bool_))
    given = one_per_reset(options, count)
    has_options = np.array([bool(entry) for entry in given], np.bool_)
    if not has_options.any():
        return None
    columns = {name: np.repeat(array[None], count, 0) for name, array in defaults(spec.reset_option_spec).items()}
    for i, entry in enumerate(given):
        for name, array in check_row(spec, entry, 1).items() if entry else ():
            columns[name][i] = array[0]
    return OptionRows(indexed(spec, columns), has_options)


def check_row(spec: EnvSpec, options: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return arrays (1, ...) or (count, ...) of all options of a task, by name; those not given have their defaults."""
    known = spec.reset_option_spec
    for name in options:
        if name not in known:
            task = spec.task_id or type(spec).__name__
            if not known:
                raise ConfigError(f"{task} has no options for reset, but {shown(name)} was given")
            hint = suggestion(str(name), list(known), "its reset options are")
            raise ConfigError(f"{task} has no reset option {shown(name)}; {hint}")
    rows = {name: array[None] for name, array in defaults(known).items()}
    for name, value in options.items():
        try:
            rows[name] = check_value(f"options[{name!r}]", known[name], value, count)
        except TypeError as error:
            raise ConfigError(str(error)) from error
    spec.definition.check_reset_options(spec.common_config, rows)
    return rows


def defaults(known: Mapping[str, Param]) -> dict[str, Any]:
    """Return the values that stand for options which are not given."""
    return {name: np.asarray(param.default) for name, param in known.items()}


def indexed(spec: EnvSpec, rows: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """Return the values with their indices in the parameter table, which has the options after the parameters."""
    first = len(spec.param_spec)
    return [(first + k, np.ascontiguousarray(rows[name])) for k, name in enumerate(spec.reset_option_spec)]
