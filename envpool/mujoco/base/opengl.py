"""The choice of the OpenGL library, which the environment variable ``MUJOCO_GL`` controls as in MuJoCo's packages."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from envpool._support.built import PORTABLE
from envpool._support.memory_files import memory_file
from envpool.mujoco.base.renderer import has_gl, load_gl

#: The values of MUJOCO_GL that choose each library. If MUJOCO_GL is not set, the libraries are tried in this order.
CHOICES = {
    "glfw": ("glfw", "on", "enable", "enabled", "true", "1", ""),
    "egl": ("egl",),
    "osmesa": ("osmesa",),
}
OFF = ("off", "disable", "disabled", "false", "0")
FILES = {"egl": ("libEGL.so.1",), "osmesa": ("libOSMesa.so.8", "libOSMesa.so.6")}
HOW_TO_INSTALL = (
    "On Debian and Ubuntu: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri (EGL, with or without a GPU), or "
    "apt-get install libosmesa6 and MUJOCO_GL=osmesa"
)


def require_gl() -> None:
    """Load an OpenGL library into this process, unless one is loaded already.

    ``MUJOCO_GL`` chooses the library: "glfw" (or a synonym, e.g. "on"), "egl" or "osmesa"; "off" (or a synonym) turns
    rendering off. If the variable is not set, GLFW, EGL and OSMesa are tried in this order. ``MUJOCO_EGL_DEVICE_ID``
    chooses one of EGL's devices.

    Raises
    ------
    ImportError
        No library can be used. The text gives the reason for each and names the Debian packages.
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
            raise ImportError(f"rendering of MuJoCo tasks is turned off: {how}; unset it, or set it to egl")
        kinds = [kind for kind, names in CHOICES.items() if word in names]
        if not kinds:
            raise ImportError(f"MUJOCO_GL must be one of {', '.join(CHOICES)} and off, got {chosen!r}")
    reasons = []
    for kind in kinds:
        reason = load(kind)
        if reason is None:
            return
        reasons.append(f"{kind}: {reason}")
    raise ImportError(
        f"rendering of MuJoCo tasks needs an OpenGL library, but none can be used ({how}; {'; '.join(reasons)}). "
        f"{HOW_TO_INSTALL}"
    )


def load(kind: str) -> str | None:
    """Load one library; return the reason why it cannot be used, or None if it was loaded."""
    number = list(CHOICES).index(kind)
    if kind == "glfw":
        return load_glfw(number)
    text = os.environ.get("MUJOCO_EGL_DEVICE_ID") if kind == "egl" else None
    if text is not None and not text.strip().isdecimal():
        return f"MUJOCO_EGL_DEVICE_ID must be an integer of at least 0, got {text!r}"
    reason = None
    for file in FILES[kind]:
        reason = load_gl(number, file, -1 if text is None else int(text))
        if reason is None:
            break
    return reason


def load_glfw(number: int) -> str | None:
    """Load a private copy of the GLFW library of the ``glfw`` package.

    GLFW has a single global state. Upstream terminates GLFW when one of its viewers is closed, which destroys the
    windows of all users. A copy of the library has a state of its own.
    """
    spec = find_spec("glfw")
    places = spec.submodule_search_locations if spec else None
    path = Path(next(iter(places))) / "x11" / "libglfw.so" if places else None
    if path is None or not path.is_file():
        return "the package glfw is not installed, or it has no library for X11"
    with tempfile.NamedTemporaryFile(prefix="libglfw-") if PORTABLE else open(memory_file("libglfw"), "wb") as copy:
        copy.write(path.read_bytes())
        copy.flush()
        return load_gl(number, copy.name if PORTABLE else f"/proc/self/fd/{copy.fileno()}")
