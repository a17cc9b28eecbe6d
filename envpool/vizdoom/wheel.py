"""Finding the vizdoom package: the engine, the game data and the scenarios that it contains."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

#: The version of the vizdoom package whose engine is driven: the protocol has no stable form.
VERSION = "1.3.2"
INSTALL = f"pip install vizdoom=={VERSION}"


def package_folder() -> Path:
    """Return the folder of the vizdoom package without importing it.

    Raises
    ------
    ImportError
        The package is not installed, has another version, or cannot be used on this platform.
    """
    if not sys.platform.startswith("linux"):
        raise ImportError(f"the ViZDoom tasks run on Linux only, and this is {sys.platform}")
    spec = find_spec("vizdoom")
    places = spec.submodule_search_locations if spec else None
    try:
        installed = version("vizdoom")
    except PackageNotFoundError:
        installed = ""
    if not places or installed != VERSION:
        found = f"vizdoom {installed} is installed" if installed else "vizdoom is not installed"
        raise ImportError(
            f"the ViZDoom tasks need the engine of vizdoom {VERSION}, but {found}; run: {INSTALL}. The engine needs "
            "the system libraries libstdc++6 and zlib1g; on Debian: apt-get install libstdc++6 zlib1g"
        )
    folder = Path(next(iter(places)))
    if not (folder / "vizdoom").is_file():
        raise ImportError(f"{folder} has no engine; run: pip install --force-reinstall vizdoom=={VERSION}")
    return folder
