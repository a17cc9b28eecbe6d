"""Download the library and the images of Procgen, and unpack them (84 MB) where envpool finds them.

They are part of the wheel of procgen-mirror 0.10.7, which pip downloads with your settings, or which you name with
--wheel. Its SHA-256 is checked. The code is under the MIT licence, the images are under CC0 and CC BY 4.0, and the Qt
libraries in the wheel are under the LGPL, version 3.
"""

from __future__ import annotations

import argparse
import platform

from envpool._support.fetching import FetchError, Wheel, add_fetch_arguments, fetch
from envpool.procgen.files import DISTRIBUTION, VERSION, data_folders

HELP = "download the library and the images of the Procgen tasks (48 MB)"

#: SHA-256 of the wheels. They contain the same games for either version of Python, whose version does not matter here.
HASHES = {
    "3.11": "992aff14a0bc39c5fd594b68c3243c06e01b1a94f47ff261e60cc316c01660a7",
    "3.12": "50a87a648e57290fd90b720130e7b477e318a2120ec8732b3c1622d52629bf93",
}
PYTHON = next(iter(HASHES))
#: The only platform that has wheels.
PLATFORM = ("Linux", "x86_64")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool fetch-procgen``."""
    add_fetch_arguments(parser, data_folders())


def run(arguments: argparse.Namespace) -> None:
    """Download the wheel, check and unpack it, and print where."""
    if (platform.system(), platform.machine()) != PLATFORM:
        raise FetchError(
            f"the library of Procgen exists for Linux on x86_64 only, and this is {platform.system()} on "
            f"{platform.machine()}"
        )
    options = ["--python-version", PYTHON, "--implementation", "cp", "--abi", "cp" + PYTHON.replace(".", "")]
    options += ["--platform", "manylinux2014_x86_64"]
    hashes = {f"Python {version}": value for version, value in HASHES.items()}
    wheel = Wheel(DISTRIBUTION, VERSION, hashes, options)
    fetch(wheel, "Procgen is", data_folders()[arguments.into], arguments.wheel)
