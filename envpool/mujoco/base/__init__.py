"""What all MuJoCo tasks share. Importing it loads the libmujoco of the installed ``mujoco`` package.

Extensions of this family name the library by its versioned file name only; once it is loaded, the dynamic linker takes
the loaded one, wherever the package is installed. Another version has other structs, and is refused.
"""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

#: The version of the ``mujoco`` package that the extensions are built for.
MUJOCO_VERSION = "3.17.0"
LIBRARY = f"libmujoco.so.{MUJOCO_VERSION}"


def package_folder() -> Path | None:
    """Return the folder of the ``mujoco`` package, found without importing it; None if there is none."""
    spec = find_spec("mujoco")
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def load_library() -> None:
    """Load libmujoco, or raise ImportError with the version needed and the one installed."""
    folder = package_folder()
    if folder is not None and (folder / LIBRARY).exists():
        ctypes.CDLL(str(folder / LIBRARY))
        return
    try:
        installed = f"mujoco {version('mujoco')} is installed"
    except PackageNotFoundError:
        installed = f"{folder} has another version" if folder else "no mujoco is installed"
    raise ImportError(
        f"the MuJoCo tasks need mujoco {MUJOCO_VERSION}, but {installed}: pip install mujoco=={MUJOCO_VERSION}"
    )


load_library()
