"""The options of Gymnasium's MuJoCo tasks: defaults that all tasks share, checks, and pairs of synonymous options."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.config.checks import convert
from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS
from envpool.mujoco.base.model_files import find_model


def assets_folder() -> Path:
    """Return the folder of Gymnasium's models without importing Gymnasium's tasks."""
    spec = find_spec("gymnasium")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise ImportError("the MuJoCo tasks load their models from gymnasium; run: pip install gymnasium")
    return Path(next(iter(places))) / "envs" / "mujoco" / "assets"


ASSETS = assets_folder()

LARGEST_REWARD = float(np.finfo(np.float32).max)


def gym_options(**options: Any) -> dict[str, Any]:
    """Return the options of a task: those given here, and those that all of Gymnasium's MuJoCo tasks have.

    The shared option ``gymnasium_v5_render_camera`` places the default camera as v5 of the task does instead of as v4
    does. The two differ in InvertedDoublePendulum only.
    """
    return OPTIONS | {"post_constraint": True, "gymnasium_v5_render_camera": False} | options


def model_path(xml_file: str) -> Path:
    """Return the path of a model: in Gymnasium's folder, unless the name starts with ``.``, ``/`` or ``~``.

    Raises
    ------
    ConfigError
        The file does not exist.
    """
    names = ", ".join(sorted(path.name for path in ASSETS.glob("*.xml")))
    return find_model(xml_file, ASSETS, f"the name of one of {names}")


def weights(config: Any, *names: str) -> tuple[float, ...]:
    """Return the values of options that rewards are multiples of, or raise ConfigError."""
    return tuple(check_weight(name, getattr(config, name)) for name in names)


def check_weight(name: str, value: float) -> float:
    """Return a number that rewards, which are float32, are multiples of; or raise ConfigError."""
    if not abs(value) <= LARGEST_REWARD:
        raise ConfigError(f"{name} must be a number that float32 can hold, got {value}")
    return value


def scale(config: Any, name: str = "reset_noise_scale", *, lowest: float = 0.0) -> float:
    """Return the value of an option that scales random numbers, or raise ConfigError."""
    value: float = getattr(config, name)
    if not lowest <= value <= 1e100:
        raise ConfigError(f"{name} must be between {lowest} and 1e100, got {value}")
    return value


def limits(config: Any, pair: str | None, low: float | str, high: float | str) -> tuple[float, float]:
    """Return an interval: the value of Gymnasium's option, a pair; or of EnvPool's two options if the pair is None.

    Parameters
    ----------
    config : namedtuple
        The options.
    pair : str or None
        Name of the option with the pair; None if the task has none.
    low, high : str or float
        Names of the options with one end each; a number for an end that no option sets.

    Raises
    ------
    ConfigError
        The value is not a pair of numbers, or one of the numbers is NaN or infinite on the wrong side.
    """
    given = getattr(config, pair) if pair else None
    if given is None:
        names = [end if isinstance(end, str) else str(pair) for end in (low, high)]
        ends = [getattr(config, end) if isinstance(end, str) else end for end in (low, high)]
    else:
        names = [f"{pair}[{i}]" for i in range(2)]
        try:
            ends = [float(end) for end in given]
        except (TypeError, ValueError, OverflowError):
            ends = []
    if len(ends) != 2:
        raise ConfigError(f"{pair} must be a pair of numbers (lowest, highest), got {shown(given)}")
    for name, end, wrong in zip(names, ends, (math.inf, -math.inf), strict=True):
        if math.isnan(end):
            raise ConfigError(f"{name} must not be NaN")
        if end == wrong:
            raise ConfigError(f"{name} must be {'less than inf' if wrong > 0 else 'greater than -inf'}, got {end}")
    return ends[0], ends[1]


def either(config: Any, name: str, other: str) -> Any:
    """Return the value of option `name` (Gymnasium's) if it is not None, otherwise that of `other` (EnvPool's).

    Raises
    ------
    TypeError
        The value of `name` has another type than that of `other`.
    ConfigError
        It is an int that is not in the range of float64, or a weight of a reward that float32 cannot hold.
    """
    given, fallback = getattr(config, name), getattr(config, other)
    name, value = (other, fallback) if given is None else (name, convert(name, given, fallback))
    return check_weight(name, value) if isinstance(value, float) else value


def one_of(config: Any, name: str, allowed: tuple[int, ...]) -> int:
    """Return the value of an option that must be one of a few integers, or raise ConfigError."""
    value: int = getattr(config, name)
    if value not in allowed:
        raise ConfigError(f"{name} must be one of {', '.join(map(str, allowed))}, got {shown(value)}")
    return value
