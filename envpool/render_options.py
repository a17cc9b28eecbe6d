"""How a pool renders: the options of ``make`` that say so, checked before anything is built."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from envpool.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envpool.spec import EnvSpec

#: Render modes of an env that draws.
MODES = ("rgb_array", "human")
#: Options of ``make`` besides render_mode, with their defaults; 0 is the size that upstream draws.
DEFAULTS = {"render_env_id": 0, "render_width": 0, "render_height": 0, "render_camera_id": -1}
#: The largest width or height.
MAX_SIZE = 4096
#: Pictures a second of kinds that do not say.
FPS = 30


@dataclass(frozen=True)
class View:
    """What ``render()`` draws where its arguments do not say.

    Attributes
    ----------
    mode : {"rgb_array", "human"}
        What becomes of a picture.
    env_id : int
        The env.
    height, width : int
        Size of every picture of the pool.
    camera : int
        The camera; -1 is the env's default.
    assets : bytes or None
        What the kind of env has prepared for drawing.
    capsule : PyCapsule
        The kind of env.
    """

    mode: str
    env_id: int
    height: int
    width: int
    camera: int
    assets: bytes | None
    capsule: Any


def check_options(task_id: str, options: Mapping[str, Any]) -> dict[str, int]:
    """Return the options besides render_mode, or raise ConfigError or TypeError for one that no task allows."""
    mode = options.get("render_mode")
    if mode is not None and mode not in MODES:
        raise ConfigError(f"render_mode must be one of None, 'rgb_array', or 'human', got {mode!r}")
    values = {name: as_int(name, options.get(name), default) for name, default in DEFAULTS.items()}
    for name in ("render_width", "render_height"):
        if not 0 <= values[name] <= MAX_SIZE:
            raise ConfigError(f"{name} is {values[name]}, allowed are 1 to {MAX_SIZE}, and 0 for the size of {task_id}")
    check_camera("render_camera_id", values["render_camera_id"])
    return values


def make_view(spec: EnvSpec, options: Mapping[str, Any]) -> View | None:
    """Return the view that a pool is made with.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    options : mapping
        The options of ``make`` that concern rendering.

    Returns
    -------
    View or None
        None without a render mode.

    Raises
    ------
    ConfigError
        The env draws no pictures, or an option is not allowed.
    ImportError
        A package that the render mode needs is missing.
    """
    values = check_options(str(spec.task_id), options)
    mode = options.get("render_mode")
    if mode is None:
        return None
    if spec.frame_size is None:
        raise ConfigError(f"render_mode is {mode!r}, but {spec.task_id} has no renderer: leave render_mode out")
    count = spec.config.num_envs
    if not 0 <= values["render_env_id"] < count:
        raise ConfigError(f"render_env_id is {values['render_env_id']}, allowed are 0 to {count - 1}")
    from envpool._core.definition import describe, upgrade_capsule

    if mode == "human":
        from envpool.window import check_windows

        check_windows()
    height, width, capsule, size = values["render_height"], values["render_width"], spec.capsule, spec.frame_size
    build = getattr(spec.env, "build_for_rendering", None)
    if build and (own := build(spec.config, height, width)) is not None:
        capsule = upgrade_capsule(own)
        size = describe(capsule).frame_size or size
    height, width = height or size[0], width or size[1]
    load = getattr(spec.env, "render_assets", None)
    assets = load(spec.config, height, width) if load else None
    return View(mode, values["render_env_id"], height, width, values["render_camera_id"], assets, capsule)


def modes(spec: EnvSpec) -> list[str]:
    """Return the render modes that a task can be made with."""
    return list(MODES) if spec.frame_size else []


def fps(spec: EnvSpec) -> int:
    """Return how many pictures a second show a task at its own speed."""
    own = getattr(spec.env, "render_fps", None)
    return int(own(spec.config)) if own else FPS


def check_camera(name: str, camera: Any) -> int:
    """Return a camera's number, -1 for the default one, or raise ConfigError or TypeError."""
    number = as_int(name, camera, -1)
    if not -1 <= number < 2**31:
        raise ConfigError(f"{name} is {number}, allowed are -1, the default, and the task's own from 0 on")
    return number


def as_int(name: str, value: Any, default: int) -> int:
    """Return an integer option; None means the default."""
    if value is None:
        return default
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    return operator.index(value)
