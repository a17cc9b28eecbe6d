"""Downloads, checks and unpacks wheels for the commands ``envpool fetch-<family>``.

Families need files of these wheels that this package may not contain.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from envpool.errors import ConfigError, EnvPoolError


class FetchError(EnvPoolError, RuntimeError):
    """A wheel cannot be downloaded, or does not exist for this machine."""


@dataclass(frozen=True)
class Wheel:
    """A wheel that has files a family needs.

    Attributes
    ----------
    distribution, version : str
        Name and version of the distribution.
    hashes : mapping of str to str
        SHA-256 of the wheels that are accepted, by a text that tells them apart. pip downloads the first one.
    pip_options : sequence of str
        Options of ``pip download`` that choose this wheel, if the distribution has several.
    members : sequence of str
        Globs of the files to unpack.
    """

    distribution: str
    version: str
    hashes: Mapping[str, str]
    pip_options: Sequence[str] = ()
    members: Sequence[str] = ("*",)


def data_folders(family: Path, folder: str) -> dict[str, Path]:
    """Return the folders into which a command can write, by the values of its option ``--into``.

    Parameters
    ----------
    family : Path
        Folder of the family's package.
    folder : str
        Name of the new folder.
    """
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return {"user": Path(home) / "envpool" / folder, "package": family / "data" / folder}


def add_fetch_arguments(parser: argparse.ArgumentParser, places: Iterable[str]) -> None:
    """Add the arguments of a command; `places` are the values of ``--into``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--wheel", metavar="FILE", type=Path, help="unpack this wheel instead of downloading one")
    parser.add_argument(
        "--into",
        choices=list(places),
        default="user",
        help="the data folder of the user ($XDG_DATA_HOME or ~/.local/share), or the folder of the installed package, "
        "for all users (default: user)",
    )


def fetch(wheel: Wheel, subject: str, target: Path, file: Path | None) -> None:
    """Download a wheel, check and unpack it, and print where.

    Parameters
    ----------
    wheel : Wheel
        The wheel.
    subject : str
        Subject and verb of the message, e.g. ``"Procgen is"``.
    target : Path
        The folder to make.
    file : Path or None
        A wheel that was downloaded before.
    """
    if target.is_dir():
        print(f"{subject} there already: {target}")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as scratch:
        found = file or download(wheel, Path(scratch))
        check(wheel, found)
        unpack(wheel, found, Path(scratch) / "unpacked", target)
    print(f"{subject} installed in {target}")


def download(wheel: Wheel, folder: Path) -> Path:
    """Download a wheel with pip into a folder, and return its path."""
    wanted, sha256 = folder / "wanted.txt", next(iter(wheel.hashes.values()))
    wanted.write_text(f"{wheel.distribution}=={wheel.version} --hash=sha256:{sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", *wheel.pip_options]
    command += ["--require-hashes", "-d", str(folder), "-r", str(wanted)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise FetchError(
            f"pip could not download {wheel.distribution}=={wheel.version}: {' '.join(done.stdout.split())[-600:]}. "
            "Without pip or a package index, download the wheel elsewhere and pass it with --wheel"
        )
    (path,) = folder.glob("*.whl")
    return path


def check(wheel: Wheel, path: Path) -> None:
    """Raise an error unless a file is the wheel."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found not in wheel.hashes.values():
        expected = " or ".join(f"{value} ({which})" for which, value in wheel.hashes.items())
        raise ConfigError(
            f"{path} must be a wheel of {wheel.distribution} {wheel.version} with SHA-256 {expected}, got {found}"
        )


def unpack(wheel: Wheel, path: Path, folder: Path, target: Path) -> None:
    """Unpack a wheel into a folder, and rename the folder to the target when all of it is there."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        archive.extractall(folder, [n for n in names if any(fnmatchcase(n, glob) for glob in wheel.members)])
    try:
        folder.rename(target)
    except OSError:
        if not target.is_dir():  # another process has been faster
            raise
        shutil.rmtree(folder)
