"""Download the library and the images of Procgen, and unpack them (84 MB) where envpool finds them.

They are part of the wheel of procgen-mirror 0.10.7, which pip downloads with your settings, or which you name with
--wheel. Its SHA-256 is checked. The code is under the MIT licence, the images are under CC0 and CC BY 4.0, and the Qt
libraries in the wheel are under the LGPL, version 3.
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from envpool.procgen.files import DISTRIBUTION, VERSION, data_folders

HELP = "download the library and the images of the Procgen tasks (48 MB)"

#: SHA-256 of the wheels. They contain the same games for either version of Python, whose version does not matter here.
HASHES = {
    "3.11": "992aff14a0bc39c5fd594b68c3243c06e01b1a94f47ff261e60cc316c01660a7",
    "3.12": "50a87a648e57290fd90b720130e7b477e318a2120ec8732b3c1622d52629bf93",
}
PYTHON = "3.11"
#: The only platform that has wheels.
PLATFORM = ("Linux", "x86_64")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool fetch-procgen``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--wheel", metavar="FILE", type=Path, help="unpack this wheel instead of downloading one")
    parser.add_argument(
        "--into",
        choices=list(data_folders()),
        default="user",
        help="the data folder of the user ($XDG_DATA_HOME or ~/.local/share), or the folder of the installed package, "
        "for all users (default: user)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Download the wheel, check and unpack it, and print where."""
    if (platform.system(), platform.machine()) != PLATFORM:
        raise RuntimeError(
            f"the library of Procgen exists for Linux on x86_64 only, and this is {platform.system()} on "
            f"{platform.machine()}"
        )
    target = data_folders()[arguments.into]
    if target.is_dir():
        print(f"Procgen is there already: {target}")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as scratch:
        wheel = arguments.wheel or download(Path(scratch))
        check(wheel)
        unpack(wheel, Path(scratch) / "unpacked", target)
    print(f"Procgen is installed in {target}")


def download(folder: Path) -> Path:
    """Download the wheel with pip into a folder, and return its path."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{DISTRIBUTION}=={VERSION} --hash=sha256:{HASHES[PYTHON]}\n")
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-version", PYTHON, "--implementation", "cp"]
    command += ["--abi", "cp" + PYTHON.replace(".", ""), "--platform", "manylinux2014_x86_64"]
    command += ["--require-hashes", "-d", str(folder), "-r", str(wanted)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"pip could not download {DISTRIBUTION}=={VERSION}: {' '.join(done.stdout.split())[-600:]}. Without pip or "
            "a package index, download the wheel elsewhere and pass it with --wheel"
        )
    (wheel,) = folder.glob("*.whl")
    return wheel


def check(wheel: Path) -> None:
    """Raise an error unless a file is one of the wheels."""
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found not in HASHES.values():
        expected = " or ".join(f"{value} (Python {version})" for version, value in HASHES.items())
        raise ValueError(f"{wheel} is not a wheel of {DISTRIBUTION} {VERSION}: its SHA-256 is {found}, not {expected}")


def unpack(wheel: Path, folder: Path, target: Path) -> None:
    """Unpack a wheel into a folder, and rename the folder to the target when all of it is there."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    try:
        folder.rename(target)
    except OSError:
        if not target.is_dir():  # another process has been faster
            raise
        shutil.rmtree(folder)
