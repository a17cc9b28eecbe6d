"""The command line of an engine, as ``vizdoom.DoomGame`` writes it, and the files that it names."""

from __future__ import annotations

import os
import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

from envpool._support.text import shortened, shown
from envpool.errors import ConfigError
from envpool.vizdoom.config_file import Scenario
from envpool.vizdoom.names import FORMAT_NUMBERS
from envpool.vizdoom.wheel import package_folder

#: Numbers of aspect ratios.
ASPECTS = {(16, 9): 1, (16, 10): 2, (4, 3): 3, (5, 4): 4}
#: Bytes of a console command of the engine.
MAX_COMMAND = 127
#: Names of maps, which become part of console commands: there, white space, quotes and semicolons have a meaning.
MAP_NAME = re.compile(r"[^\s\";]{1,64}")


def arguments_of(config: Any, scenario: Scenario, limit: int) -> list[str]:
    """Return the program and its arguments, apart from the id and the seed of the engine."""
    words = [*scenario.arguments, *config.game_args.split()]
    for word in words:
        if not word.isprintable():
            raise ConfigError(f"game_args must consist of printable words, got {shown(word)}")
    if not MAP_NAME.fullmatch(config.map_id) or not config.map_id.isprintable():
        raise ConfigError(
            f"map_id must be a word of at most 64 characters without quotes and semicolons, got {shown(config.map_id)}"
        )
    folder = package_folder()
    wads = existing(config.wad_path, scenario.wad, folder / "scenarios", "wad_path")
    width, height = scenario.screen_size
    aspect = next((number for (w, h), number in ASPECTS.items() if width * h == height * w), 0)
    iwads = existing(config.iwad_path, scenario.iwad or folder / "freedoom2.wad", folder, "iwad_path")
    if "-file" not in words:
        check_map(config.map_id, iwads + wads)
    arguments = [
        existing(config.vzd_path, folder / "vizdoom", folder, "vzd_path")[0],
        *("-iwad", *iwads),
        *(("-file", *wads) if wads else ()),
        *("-config", "_vizdoom.ini", "+map", config.map_id, "-skill", str(scenario.skill)),
        *("-width", str(width), "-height", str(height), "+vid_aspect", str(aspect), "+fullscreen", "0"),
        *("+viz_controlled", "1", "+use_mouse", "0"),
        *(("+viz_depth", "1") if config.depth else ()),
        *(("+viz_labels", "1") if config.labels else ()),
        *(("+viz_automap", "1", "+viz_automap_mode", str(scenario.automap_mode)) if config.automap else ()),
        *("+viz_render_mode", str(scenario.render_mode), "+viz_noconsole", "1"),
        *("+viz_screen_format", str(FORMAT_NUMBERS[scenario.screen_format])),
        *("+viz_window_hidden", "1", "+viz_noxserver", "1", "-noidle", "-nojoy", "-nosound", "+viz_nosound", "1"),
    ]
    if len(arguments) + len(words) > limit:
        raise ConfigError(f"game_args must have at most {limit - len(arguments)} words, got {len(words)}")
    return arguments + words


def check_map(name: str, files: list[str]) -> None:
    """Raise ConfigError if files lack a map: the engine would play the first one instead."""
    found = [maps_of(file) for file in files]
    maps = {known for names in found for known in names or ()}
    if None not in found and name.upper() not in maps:
        known = shortened(", ".join(sorted(maps)).lower())
        raise ConfigError(f"map_id must be the name of a map in {' or '.join(files)} ({known}), got {shown(name)}")


def maps_of(file: str) -> list[str] | None:
    """Return the names of the maps of a WAD, in upper case; None for another file, e.g. a ZIP archive."""
    with open(file, "rb") as wad:
        header = wad.read(12)
        if header[:4] not in (b"IWAD", b"PWAD") or len(header) < 12:
            return None
        count, offset = struct.unpack("<II", header[4:])
        wad.seek(offset)
        lumps = wad.read(16 * count)
    names = [lumps[i + 8 : i + 16].rstrip(b"\0").decode("latin-1").upper() for i in range(0, len(lumps), 16)]
    return [name for name, first in pairwise(names) if first in ("THINGS", "TEXTMAP")]


def existing(given: str, named: Path | None, folder: Path, option: str) -> list[str]:
    """Return the absolute path of a file: the one that an option gives, or else the one that is named elsewhere.

    The name may lack ".wad". A file that the configuration names may also be in a folder of the package. The result is
    empty if there is no name.
    """
    path = Path(given).absolute() if given else named
    if path is None:
        return []
    places = [path] if given else [path, folder / path.name]
    for place in (*places, *(p.parent / f"{p.name}.wad" for p in places)):
        if os.path.isfile(place):  # False for paths that the system refuses, where Path.is_file() raises
            return [str(place.absolute())]
    raise ConfigError(f"the file {shown(str(path))} does not exist; pass {option}='/path/to/an/existing/file'")


def recording_prefix(config: Any) -> str:
    """Return the start of the paths of recordings, which is empty if there are none."""
    if not config.lmp_save_dir:
        return ""
    folder = Path(config.lmp_save_dir).absolute()
    if not os.path.isdir(folder):
        raise ConfigError(f"lmp_save_dir must be an existing folder, got {shown(config.lmp_save_dir)}")
    prefix = f"{folder}/env_"
    longest = f'recordmap "{prefix}{config.num_envs}_{2**31}.lmp" {config.map_id}'
    if re.search(r'["\n\r]', prefix):
        raise ConfigError(f"lmp_save_dir must not contain quotes or line breaks, got {shown(str(folder))}")
    excess = len(os.fsencode(longest)) - MAX_COMMAND
    if excess > 0:
        raise ConfigError(
            f"lmp_save_dir must be a shorter path, since the engine limits its length: {str(folder)!r} is {excess} "
            "bytes too long"
        )
    return prefix
