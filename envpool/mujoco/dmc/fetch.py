"""Download the modules and models of dm_control's suite, and unpack them (27 MB) where envpool finds them.

dm_control itself needs labmaze, which has no wheel for Python 3.13 and later. The suite does not use it. pip
downloads the wheel of dm_control 1.0.50 with your settings, or you name it with --wheel. Its SHA-256 is checked. An
installed dm_control takes precedence. The extra "dmc" installs what the suite needs besides.
"""

from __future__ import annotations

import argparse

from envpool._support.fetching import Wheel, add_fetch_arguments, fetch
from envpool.mujoco.dmc.suite import DISTRIBUTION, VERSION, data_folders

HELP = "download dm_control's suite (56 MB), for Python 3.13 and later"

#: SHA-256 of the only wheel.
HASH = "5434e1e51ff69016867426da7df6064b18d140e4d0a628f879bbcf0e7d0a586d"
#: The suite, what it imports, and the license.
PARTS = "__init__.py", "_render/*", "mujoco/*", "rl/*", "suite/*", "utils/*"
MEMBERS = (*(f"dm_control/{part}" for part in PARTS), "*.dist-info/licenses/*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool fetch-dmc``."""
    add_fetch_arguments(parser, data_folders())


def run(arguments: argparse.Namespace) -> None:
    """Download the wheel, check and unpack it, and print where."""
    wheel = Wheel(DISTRIBUTION, VERSION, {"any Python": HASH}, members=MEMBERS)
    fetch(wheel, "dm_control's suite is", data_folders()[arguments.into], arguments.wheel)
