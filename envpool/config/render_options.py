"""The options of ``make`` that say how a pool renders."""

from __future__ import annotations

from typing import Any, NamedTuple

from envpool._support.text import shown
from envpool.config.checks import whole_number
from envpool.errors import ConfigError

#: Render modes of a task that has a renderer.
RENDER_MODES = ("rgb_array", "human")
#: The value of `render_camera_id` that selects the camera that follows the robot, see `EnvSpec.tracking_camera`.
TRACK = "track"
#: Largest width and height of a frame, in pixels.
MAX_FRAME_SIZE = 4096


class RenderOptions(NamedTuple):
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


def check_size(name: str, value: Any) -> int:
    """Return a width or a height in pixels, 0 for that of the upstream environment; or raise an error."""
    size = whole_number(name, value)
    if not 0 <= size <= MAX_FRAME_SIZE:
        raise ConfigError(
            f"{name} must be between 1 and {MAX_FRAME_SIZE} pixels, or 0 for the default size of the task, got "
            f"{shown(size)}"
        )
    return size


def check_camera(name: str, camera: Any) -> int | str:
    """Return the number of a camera, -1 for the default one, or `TRACK`; or raise ConfigError or TypeError."""
    if isinstance(camera, str) and camera == TRACK:
        return TRACK
    number = camera if isinstance(camera, str) else whole_number(name, camera)
    if isinstance(number, str) or not -1 <= number < 2**31:
        raise ConfigError(
            f"{name} must be -1, for the default camera, {TRACK!r}, for the one that follows the robot, or the number "
            f"of a camera (0 or more), got {shown(number)}"
        )
    return number
