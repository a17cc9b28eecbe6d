"""Finding the ROMs that the package ale-py contains."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from envpool._support.packages import install
from envpool.errors import ConfigError

INSTALL = install("atari")


def rom_folder() -> Path:
    """Return the folder of ale-py's ROMs without importing ale-py, or raise ImportError if ale-py is not installed."""
    package = find_spec("ale_py")
    if package is None or package.origin is None:
        raise ImportError(f"Atari games need the ROMs of the package ale-py, which is not installed: {INSTALL}")
    return Path(package.origin).parent / "roms"


def read_rom(game: str, md5: str) -> bytes:
    """Return the ROM of a game.

    Parameters
    ----------
    game : str
        Name of the game, e.g. ``"pong"``.
    md5 : str
        Expected MD5 of the ROM, 32 hexadecimal digits.

    Raises
    ------
    ImportError
        ale-py is not installed.
    ConfigError
        The file cannot be read, or it is not the ROM that ALE supports.
    """
    path = rom_folder() / f"{game}.bin"
    try:
        rom = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"the ROM of task {game!r} cannot be read ({error}): install it with {INSTALL}") from error
    found = hashlib.md5(rom, usedforsecurity=False).hexdigest()
    if found != md5:
        raise ConfigError(
            f"{path} is not the ROM that ALE supports: its MD5 must be {md5}, got {found}; install it with {INSTALL}"
        )
    return rom
