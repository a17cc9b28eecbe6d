"""Shared code of all MuJoCo tasks. Importing this package loads the libmujoco of the installed ``mujoco`` package.

The extensions of this family refer to the library by its versioned file name only. Once it is loaded, the dynamic
linker uses the loaded library, wherever the package is installed. Other versions are refused, since their structs
differ.
"""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from envpool._support.packages import NAME, install, load_compiled

#: The version of the ``mujoco`` package that the extensions are built for.
MUJOCO_VERSION: str = load_compiled("envpool.mujoco.base.built").MUJOCO_VERSION
LIBRARY = f"libmujoco.so.{MUJOCO_VERSION}"


def package_folder() -> Path | None:
    """Return the folder of the ``mujoco`` package without importing it; None if it is not installed."""
    spec = find_spec("mujoco")
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def load_library() -> None:
    """Load libmujoco, or raise an ImportError that names the required and the installed version, and what to do."""
    folder = package_folder()
    if folder is not None and (folder / LIBRARY).exists():
        ctypes.CDLL(str(folder / LIBRARY))
        return
    remedy = install("mujoco")
    try:
        installed = f"mujoco {version('mujoco')} is installed"
        build = f"ENVPOOL_MUJOCO={version('mujoco')} pip install --force-reinstall --no-deps --no-binary {NAME} {NAME}"
        remedy += f", or build the package for the installed version: {build}"
    except PackageNotFoundError:
        installed = f"{folder} holds another version" if folder else "mujoco is not installed"
    raise ImportError(f"the MuJoCo tasks need mujoco {MUJOCO_VERSION}, but {installed}; run: {remedy}")


load_library()
