"""Finding the vizdoom package: the engine, the game data and the scenarios that it contains."""

from __future__ import annotations

import sys
from pathlib import Path

from envpool._support import wheels
from envpool._support.packages import install

#: The version of the vizdoom package whose engine is driven: the protocol has no stable form.
VERSION = "1.3.2"
INSTALL = install("vizdoom")
#: Packages of Debian and Ubuntu with the system libraries that the engine needs.
SYSTEM_PACKAGES = "libstdc++6 zlib1g"
ENGINE = "vizdoom"


def package_folder() -> Path:
    """Return the folder of the vizdoom package without importing it.

    Raises
    ------
    ImportError
        The package is not installed, has another version, or cannot be used on this platform.
    """
    if not sys.platform.startswith("linux"):
        raise ImportError(f"the ViZDoom tasks run on Linux only, and this is {sys.platform}")
    remedy = (
        f"{INSTALL}. The engine needs the system libraries {SYSTEM_PACKAGES.replace(' ', ' and ')}; on Debian and "
        f"Ubuntu: apt-get install {SYSTEM_PACKAGES}"
    )
    return wheels.require("vizdoom", VERSION, "the ViZDoom tasks need the engine", remedy, ENGINE)
