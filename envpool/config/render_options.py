"""The options of ``make`` that say how a pool renders."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envpool._support.text import shown
from envpool.errors import ConfigError

#: Render modes of a task that has a renderer.
RENDER_MODES = ("rgb_array", "human")
#: Options of ``make`` besides render_mode, with their defaults; size 0 stands for the size of the upstream environment.
RENDER_DEFAULTS = {"render_env_id": 0, "render_width": 0, "render_height": 0, "render_camera_id": -1}
#: Largest width and height of a frame, in pixels.
MAX_FRAME_SIZE = 4096


@dataclass(frozen=True)
class RenderOptions:
    """How a pool renders: the defaults of ``EnvPool.render``, and what rendering needs.

    Attributes
    ----------
    mode : {"rgb_array", "human"}
        Whether ``render()`` returns frames or shows them in a window.
    env_id : int
        Environment that ``render()`` draws by default.
    height, width : int
        Size of all frames of the pool, in pixels.
    camera : int
        Camera that ``render()`` uses by default; -1 is the default camera of the task.
    assets : bytes or None
        Result of ``EnvDefinition.render_assets``.
    capsule : PyCapsule
        The environment definition that the pool is made with.
    """

    mode: str
    env_id: int
    height: int
    width: int
    camera: int
    assets: bytes | None
    capsule: Any


def check_render_options(task_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``make`` that concern rendering, completed by their defaults.

    Parameters
    ----------
    task_id : str
        Id of the task, for error texts.
    options : mapping of str to object
        All options of ``make``; those that do not concern rendering are ignored.

    Raises
    ------
    ConfigError, TypeError
        A value is not allowed, whatever the task.
    """
    mode = options.get("render_mode")
    if mode is not None and not (isinstance(mode, str) and mode in RENDER_MODES):
        raise ConfigError(f"render_mode must be one of None, 'rgb_array', or 'human', got {shown(mode)}")
    values = {name: as_int(name, options.get(name), default) for name, default in RENDER_DEFAULTS.items()}
    for name in ("render_width", "render_height"):
        if not 0 <= values[name] <= MAX_FRAME_SIZE:
            raise ConfigError(
                f"{name} must be between 1 and {MAX_FRAME_SIZE} pixels, or 0 for the default size of {task_id}, got "
                f"{shown(values[name])}"
            )
    check_camera("render_camera_id", values["render_camera_id"])
    return {"render_mode": mode} | values


def check_camera(name: str, camera: Any) -> int:
    """Return the number of a camera, -1 for the default one, or raise ConfigError or TypeError."""
    number = as_int(name, camera, -1)
    if not -1 <= number < 2**31:
        raise ConfigError(
            f"{name} must be -1, for the default camera, or the number of a camera (0 or more), got {shown(number)}"
        )
    return number


def as_int(name: str, value: Any, default: int) -> int:
    """Return an integer option; None stands for the default."""
    if value is None:
        return default
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {shown(value)}")
    return operator.index(value)
