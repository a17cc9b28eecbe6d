"""The files of nle, and loading its library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from envpool._support import wheels
from envpool._support.descriptors import high_descriptor
from envpool._support.packages import install, load_compiled
from envpool.nethack.folders import new_process_folder

#: The only version whose structs are known.
VERSION = "1.3.0"
INSTALL = f"{install('nle')}, or, beside another version of gymnasium, `pip install --no-deps nle=={VERSION}`"


class Files(NamedTuple):
    """The installed files: the shared library, and the game data ``nhdat``."""

    library: Path
    game_data: Path


def find_files() -> Files:
    """Return where the files of nle are, without importing it.

    Raises
    ------
    ImportError
        It is not installed, or in another version; the error says what to run.
    """
    library, game_data = "libnethack.so", "nethackdir/nhdat"
    package = wheels.require("nle", VERSION, "NetHack needs the library", INSTALL, library, game_data)
    return Files(package / library, package / game_data)


class Loaded:
    """The files that this process has loaded; a forked process makes a folder of its own."""

    files: Files | None = None
    folder_owner: int | None = None


def load_library() -> Files:
    """Open the library and make the folder of the process, unless this process has done so before.

    Raises
    ------
    ImportError
        The library is not installed.
    FolderError
        The folder cannot be made.
    """
    game = load_compiled("envpool.nethack.game")
    if Loaded.files is None:
        files = find_files()
        # Open until the process ends: all copies are made of this file, whatever is installed later.
        file = high_descriptor(os.open(files.library, os.O_RDONLY | os.O_CLOEXEC))
        game.set_library(file, os.fstat(file).st_size, os.fsencode(files.game_data))
        Loaded.files = files
    if Loaded.folder_owner != os.getpid():
        game.set_process_folder(os.fsencode(new_process_folder()))
        Loaded.folder_owner = os.getpid()
    return Loaded.files
