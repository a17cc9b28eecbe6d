"""The checks of ``envpool doctor`` for the ROMs of the games."""

from __future__ import annotations

from envpool._support.diagnosis import NOTE, OK, PROBLEM, Finding
from envpool._support.packages import load_compiled
from envpool.atari.registration import GAMES
from envpool.atari.roms import read_rom, rom_folder
from envpool.errors import ConfigError

TITLE = "ROMs"


def findings() -> list[Finding]:
    """Return whether the ROM of each game is there and is the one that ALE supports."""
    try:
        emulator = load_compiled("envpool.atari.env")
        folder = rom_folder()
    except ImportError as error:
        return [Finding("games", "not available", NOTE, str(error))]
    errors = list(filter(None, (rom_error(game, emulator.find(game)["md5"]) for game in GAMES)))
    text = f"{len(GAMES) - len(errors)} of {len(GAMES)} in {folder}"
    return [Finding("games", text, PROBLEM if errors else OK, errors[0] if errors else "")]


def rom_error(game: str, md5: str) -> str:
    """Return why the ROM of a game cannot be used; empty if it can."""
    try:
        read_rom(game, md5)
    except ConfigError as error:
        return str(error)
    return ""
