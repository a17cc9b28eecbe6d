"""Option values of Gymnasium's MuJoCo tasks: checks, and the two names that many options have."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from envpool.errors import ConfigError
from envpool.mujoco.base.simulation import OPTIONS


def assets_folder() -> Path:
    """Return the folder of Gymnasium's models, found without importing its tasks."""
    spec = find_spec("gymnasium")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise ImportError("the MuJoCo tasks take their models from gymnasium: pip install gymnasium")
    return Path(next(iter(places))) / "envs" / "mujoco" / "assets"


ASSETS = assets_folder()

#: What all these tasks have. gymnasium_v5_render_camera: the camera is where v5 places it, else where v4 does, which is
#: the same but for InvertedDoublePendulum.
COMMON = OPTIONS | {"post_constraint": True, "gymnasium_v5_render_camera": False}


def model_path(xml_file: str) -> Path:
    """Return the path of a model as Gymnasium reads it: from its own folder, unless it starts with ``.``, ``/``, ``~``.

    Raises
    ------
    ConfigError
        No such file.
    """
    path = Path(xml_file).expanduser() if xml_file.startswith((".", "/", "~")) else ASSETS / xml_file
    if not path.is_file():
        raise ConfigError(
            f"xml_file is {xml_file!r}, but there is no file {path}: write ./{xml_file} for a file in the working "
            f"directory, or the name of one of {', '.join(sorted(p.name for p in ASSETS.glob('*.xml')))}"
        )
    return path


def finite(config: Any, *names: str) -> tuple[float, ...]:
    """Return options that must be finite numbers, or raise ConfigError."""
    for name in names:
        if not math.isfinite(getattr(config, name)):
            raise ConfigError(f"{name} is {getattr(config, name)}, allowed are finite numbers")
    return tuple(getattr(config, name) for name in names)


def scale(config: Any, name: str = "reset_noise_scale", *, lowest: float = 0.0) -> float:
    """Return an option that spreads random numbers, or raise ConfigError."""
    value: float = getattr(config, name)
    if not lowest <= value <= 1e100:
        raise ConfigError(f"{name} is {value}, allowed are {lowest} to 1e100")
    return value


def limits(config: Any, pair: str | None, low: float | str, high: float | str) -> tuple[float, float]:
    """Return a range of numbers: Gymnasium's option, a pair, or two of EnvPool's where that is None.

    Parameters
    ----------
    config : namedtuple
        The options.
    pair : str or None
        The option with the pair, if there is one.
    low, high : str or float
        The options with one end each, or the end itself where there is no option.

    Raises
    ------
    ConfigError
        No pair of numbers, or one of them is NaN.
    """
    given = getattr(config, pair) if pair else None
    if given is None:
        names = [end if isinstance(end, str) else str(pair) for end in (low, high)]
        ends = [getattr(config, end) if isinstance(end, str) else end for end in (low, high)]
    else:
        names = [f"{pair}[{i}]" for i in range(2)]
        try:
            ends = [float(end) for end in given]
        except (TypeError, ValueError):
            ends = []
    if len(ends) != 2:
        raise ConfigError(f"{pair} is {given!r}, allowed is a pair of numbers: (lowest, highest)")
    for name, end in zip(names, ends, strict=True):
        if math.isnan(end):
            raise ConfigError(f"{name} is nan, allowed are other numbers")
    return ends[0], ends[1]


def either(config: Any, name: str, other: str) -> Any:
    """Return option `name` (Gymnasium's) if it is given, else option `other` (EnvPool's).

    Raises
    ------
    TypeError
        `name` has another type than `other`.
    """
    given, fallback = getattr(config, name), getattr(config, other)
    if given is None:
        return fallback
    if isinstance(fallback, bool) and given in (0, 1):
        return bool(given)
    if not isinstance(fallback, bool) and isinstance(given, (int, float)):
        return float(given)
    raise TypeError(f"{name} must be of type {type(fallback).__name__}, got {given!r}")


def one_of(config: Any, name: str, allowed: tuple[int, ...]) -> int:
    """Return an option with few values, or raise ConfigError."""
    value: int = getattr(config, name)
    if value not in allowed:
        raise ConfigError(f"{name} is {value}, allowed are {', '.join(map(str, allowed))}")
    return value
