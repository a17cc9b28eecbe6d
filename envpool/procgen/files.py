"""The files of Procgen: where the library and its images are, and loading the library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from envpool._support import fetching, wheels
from envpool._support.packages import load_compiled

#: The distribution whose library the tasks equal, and the name of the folder into which its wheel is unpacked.
DISTRIBUTION, VERSION = "procgen-mirror", "0.10.7"
FOLDER = f"{DISTRIBUTION}-{VERSION}"
INSTALL = "run `envpool fetch-procgen`, which downloads the wheel of procgen-mirror 0.10.7 (48 MB)"
#: Packages of Debian and Ubuntu with the system libraries that the library needs.
SYSTEM_PACKAGES = "libgl1 libglib2.0-0"


class Files(NamedTuple):
    """The installed files of Procgen.

    Attributes
    ----------
    package : Path
        The folder of the Python package ``procgen``.
    origin : str
        How it came there: ``"fetched"``, or the name of the installed distribution. The distribution ``procgen`` has
        the same library with another version of Qt, which draws some pixels differently.
    """

    package: Path
    origin: str

    @property
    def library(self) -> Path:
        """Path of the library."""
        return self.package / "data" / "prebuilt" / "libenv.so"

    @property
    def assets(self) -> Path:
        """Folder of the images."""
        return self.package / "data" / "assets"

    @property
    def version(self) -> str:
        """Version of the distribution; empty if it is unknown."""
        try:
            return (self.package / "version.txt").read_text().strip()
        except OSError:
            return ""


def data_folders() -> dict[str, Path]:
    """Return the folders into which ``envpool fetch-procgen`` can write, by the values of its option ``--into``."""
    return fetching.data_folders(Path(__file__).parent, FOLDER)


def candidates() -> Iterator[Files]:
    """Yield where the files may be: what was fetched, and after that an installed distribution."""
    for folder in data_folders().values():
        yield Files(folder / "procgen", "fetched")
    for name in (DISTRIBUTION, "procgen"):
        # Importing the package would need gym.
        if installed := wheels.find(name, "procgen"):
            yield Files(installed.folder, name)


def find_files() -> Files:
    """Return where the library is.

    Raises
    ------
    ImportError
        It is not installed, or in another version; the error says what to run.
    """
    others = []
    for files in candidates():
        if not files.library.is_file() or not files.assets.is_dir():
            continue
        if files.version == VERSION:
            return files
        others.append(f"{files.package} has version {files.version or 'unknown'}, not {VERSION}")
    found = f" ({'; '.join(others)})" if others else ""
    raise ImportError(
        f"the library of Procgen is not installed{found}: {INSTALL}, or, with Python 3.11 or 3.12, "
        f"`pip install --no-deps {DISTRIBUTION}=={VERSION}`"
    )


def load_library() -> Files:
    """Load the library, unless this process has loaded one before.

    Returns
    -------
    Files
        The installed files.

    Raises
    ------
    ImportError
        The library is not installed, or a library that it needs is missing; the error says what to do.
    """
    files = find_files()
    libenv = load_compiled("envpool.procgen.libenv")
    try:
        libenv.load(os.fsencode(files.library), os.fsencode(files.assets) + b"/")
    except ImportError as error:
        raise ImportError(
            f"the library of Procgen cannot be loaded ({error}). It needs the system's OpenGL and GLib; on Debian and "
            f"Ubuntu: apt-get install {SYSTEM_PACKAGES}. If they are installed, {INSTALL}, again"
        ) from error
    return files
