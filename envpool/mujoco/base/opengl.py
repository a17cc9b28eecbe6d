"""The choice of an OpenGL library, by the environment variable ``MUJOCO_GL`` as MuJoCo's own packages make it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from envpool.mujoco.base.renderer import has_gl, load_gl

#: Names of each library in MUJOCO_GL, in the order in which they are tried where it is not set.
CHOICES = {
    "glfw": ("glfw", "on", "enable", "enabled", "true", "1", ""),
    "egl": ("egl",),
    "osmesa": ("osmesa",),
}
OFF = ("off", "disable", "disabled", "false", "0")
FILES = {"egl": ("libEGL.so.1",), "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6")}
WAY_OUT = (
    "On Debian and Ubuntu: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri (EGL, with or without a GPU), or "
    "apt-get install libosmesa6 and MUJOCO_GL=osmesa"
)


class MujocoTask:
    """What the kinds of env of this family have in common; see `envpool.spec.NativeEnv`."""

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load the OpenGL library where pictures are observed, or raise ImportError."""
        if config.from_pixels:
            require_gl()

    @staticmethod
    def render_assets(config: Any, height: int, width: int) -> None:
        """Load the OpenGL library, or raise ImportError."""
        require_gl()


def require_gl() -> None:
    """Load the OpenGL library for this process, unless one is loaded.

    ``MUJOCO_GL`` is "glfw", "egl" or "osmesa", or a word for "glfw" (e.g. "on") or for none of them (e.g. "off"). Where
    it is not set, these are tried in this order. ``MUJOCO_EGL_DEVICE_ID`` chooses one of EGL's devices.

    Raises
    ------
    ImportError
        None can be used; the text has the reasons and the Debian packages.
    """
    if has_gl():
        return
    chosen = os.environ.get("MUJOCO_GL")
    if chosen is None:
        kinds, how = list(CHOICES), "MUJOCO_GL is not set"
    else:
        how = f"MUJOCO_GL is {chosen!r}"
        word = chosen.strip().lower()
        if word in OFF:
            raise ImportError(f"rendering of MuJoCo tasks is turned off: {how}; unset it, or let it be egl")
        kinds = [kind for kind, names in CHOICES.items() if word in names]
        if not kinds:
            raise ImportError(f"{how}, allowed are {', '.join(CHOICES)}: no OpenGL library to draw MuJoCo tasks with")
    reasons = []
    for kind in kinds:
        reason = load(kind)
        if reason is None:
            return
        reasons.append(f"{kind}: {reason}")
    raise ImportError(
        f"rendering of MuJoCo tasks needs an OpenGL library, none can be used ({how}; {'; '.join(reasons)}). {WAY_OUT}"
    )


def load(kind: str) -> str | None:
    """Load one library; return why it cannot be used, None if it can."""
    number = list(CHOICES).index(kind)
    if kind == "glfw":
        return load_glfw(number)
    text = os.environ.get("MUJOCO_EGL_DEVICE_ID") if kind == "egl" else None
    if text is not None and not text.strip().isdecimal():
        return f"MUJOCO_EGL_DEVICE_ID is {text!r}, allowed are numbers from 0 on"
    reason = None
    for file in FILES[kind]:
        reason = load_gl(number, file, -1 if text is None else int(text))
        if reason is None:
            break
    return reason


def load_glfw(number: int) -> str | None:
    """Load a copy of the GLFW that the package ``glfw`` has.

    GLFW has one state, and upstream ends it when one of its viewers is closed; windows of others are gone then. A copy
    has a state of its own.
    """
    spec = find_spec("glfw")
    places = spec.submodule_search_locations if spec else None
    path = Path(next(iter(places))) / "x11" / "libglfw.so" if places else None
    if path is None or not path.is_file():
        return "the package glfw is not installed, or has no library for X11"
    copy = os.memfd_create("libglfw")
    try:
        with open(copy, "wb", closefd=False) as file:
            file.write(path.read_bytes())
        return load_gl(number, f"/proc/self/fd/{copy}")
    finally:
        os.close(copy)
