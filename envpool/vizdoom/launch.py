"""The command line of an engine, as ``vizdoom.DoomGame`` writes it, and the files that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from envpool.errors import ConfigError
from envpool.vizdoom.config_file import Scenario
from envpool.vizdoom.names import FORMAT_NUMBERS
from envpool.vizdoom.wheel import package_folder

#: Numbers of aspect ratios.
ASPECTS = {(16, 9): 1, (16, 10): 2, (4, 3): 3, (5, 4): 4}
#: Bytes of a console command of the engine.
MAX_COMMAND = 127


def arguments_of(config: Any, scenario: Scenario, limit: int) -> list[str]:
    """Return the program and its arguments, apart from the id and the seed of the engine."""
    folder = package_folder()
    wads = existing(config.wad_path, scenario.wad, folder / "scenarios", "wad_path")
    width, height = scenario.screen_size
    aspect = next((number for (w, h), number in ASPECTS.items() if width * h == height * w), 0)
    arguments = [
        existing(config.vzd_path, folder / "vizdoom", folder, "vzd_path")[0],
        *("-iwad", existing(config.iwad_path, scenario.iwad or folder / "freedoom2.wad", folder, "iwad_path")[0]),
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
        *scenario.arguments,
        *config.game_args.split(),
    ]
    if len(arguments) > limit:
        raise ConfigError(f"game_args must have at most {limit} words, got {len(config.game_args.split())}")
    if any("\0" in text for text in (*arguments, config.map_id)) or not config.map_id or " " in config.map_id:
        raise ConfigError(f"map_id must be a word, and options must not contain NUL, got map_id={config.map_id!r}")
    return arguments


def existing(given: str, named: Path | None, folder: Path, option: str) -> list[str]:
    """Return the absolute path of a file: the one that an option gives, or else the one that is named elsewhere.

    The name may lack ".wad". A file that the configuration names may also be in a folder of the package. The result is
    empty if there is no name.
    """
    path = Path(given).absolute() if given else named
    if path is None:
        return []
    places = [path] if given else [path, folder / path.name]
    for place in (*places, *(p.with_name(p.name + ".wad") for p in places)):
        if place.is_file():
            return [str(place.absolute())]
    raise ConfigError(f"the file {path} does not exist; pass {option}='/path/to/an/existing/file'")


def recording_prefix(config: Any) -> str:
    """Return the start of the paths of recordings, which is empty if there are none."""
    if not config.lmp_save_dir:
        return ""
    folder = Path(config.lmp_save_dir).absolute()
    if not folder.is_dir():
        raise ConfigError(f"lmp_save_dir must be an existing folder, got {config.lmp_save_dir!r}")
    prefix = f"{folder}/env_"
    longest = f'recordmap "{prefix}{config.num_envs}_{2**31}.lmp" {config.map_id}'
    if len(longest.encode()) > MAX_COMMAND or '"' in prefix:
        raise ConfigError(
            f"lmp_save_dir must not contain quotes, and the engine only takes short paths; {str(folder)!r} is "
            f"{len(longest.encode()) - MAX_COMMAND} bytes too long"
        )
    return prefix
