"""Configuration files of ViZDoom scenarios, read as the vizdoom package reads them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from envpool._support.text import shortened, shown
from envpool.errors import ConfigError
from envpool.vizdoom.names import AUTOMAP_MODES, BUTTONS, RESOLUTIONS, SCREEN_FORMATS, VARIABLES

#: Rendering flags: their bits in the engine's render mode, and their defaults.
RENDER_FLAGS = {
    "renderhud": (1, False),
    "renderminimalhud": (2, False),
    "renderweapon": (4, True),
    "rendercrosshair": (8, False),
    "renderdecals": (16, True),
    "renderparticles": (32, True),
    "rendereffectssprites": (64, True),
    "rendermessages": (128, False),
    "automaprotate": (256, False),
    "automaprendertextures": (512, True),
    "automaprenderobjectsassprites": (1024, False),
    "rendercorpses": (2048, True),
    "renderscreenflashes": (4096, True),
}
#: Rewards of a scenario that are computed here.
REWARDS = ("livingreward", "deathpenalty", "mapexitreward")
#: Keys that concern windows, sound, buffers that are not offered here, or what an option of the task decides instead.
IGNORED = (
    *("windowvisible", "consoleenabled", "soundenabled", "audiobufferenabled", "audiobuffersize", "audiosamplingrate"),
    *("depthbufferenabled", "labelsbufferenabled", "automapbufferenabled", "objectsinfoenabled", "sectorsinfoenabled"),
    *("notificationsbufferenabled", "notificationsbuffersize", "renderallframes", "mode", "episodetimeout", "seed"),
    *("doommap", "doomconfigpath", "vizdoompath", "ticrate"),
)
#: Rewards of DoomGame that are not computed here.
OTHER_REWARDS = (
    *("killreward", "secretreward", "itemreward", "fragreward", "hitreward", "hittakenreward", "hittakenpenalty"),
    *("damagemadereward", "damagetakenreward", "damagetakenpenalty", "healthreward", "armorreward", "deathreward"),
)
#: The engine simulates all tics before the start of an episode.
MAX_START_TIC = 1_000_000
KEYS = (
    *RENDER_FLAGS,
    *REWARDS,
    *OTHER_REWARDS,
    *IGNORED,
    *("availablebuttons", "availablegamevariables", "screenresolution", "screenformat", "automapmode"),
    *("episodestarttime", "doomskill", "doomscenariopath", "doomgamepath", "gameargs"),
)


@dataclass
class Scenario:
    """The contents of a configuration file.

    Attributes
    ----------
    buttons, variables : list of str
        Names of the available buttons and game variables.
    screen_size : tuple of int
        Width and height of the screen in pixels.
    screen_format : str
        A key of SCREEN_FORMATS.
    automap_mode, render_mode, skill, start_tic : int
        As the engine expects them.
    rewards : dict of str to float
        Rewards by their keys.
    wad, iwad : Path or None
        Files of the scenario and of the game.
    arguments : list of str
        Further arguments of the engine.
    """

    buttons: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    screen_size: tuple[int, int] = (320, 240)
    screen_format: str = "CRCGCB"
    automap_mode: int = 0
    render_mode: int = sum(bit for bit, default in RENDER_FLAGS.values() if default)
    skill: int = 3
    start_tic: int = 1
    rewards: dict[str, float] = field(default_factory=dict)
    wad: Path | None = None
    iwad: Path | None = None
    arguments: list[str] = field(default_factory=list)


def read_scenario(path: Path) -> Scenario:
    """Return the contents of a configuration file, or raise a ConfigError that names the line."""
    try:
        if path.exists() and not path.is_file():  # a device may have no end
            raise OSError("it is not a regular file")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: the text is not UTF-8, or the path contains NUL
        raise ConfigError(
            f"the configuration file {shown(str(path))} cannot be read: {shortened(str(error))}"
        ) from error
    scenario = Scenario()
    for number, key, value, appends in entries(text, path):
        try:
            set_entry(scenario, path.parent, key, value, appends)
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}: {error}") from None
    return scenario


def entries(text: str, path: Path) -> Iterator[tuple[int, str, str, bool]]:
    """Yield number of the line, key without underscores in lower case, value, and whether it is appended."""
    lines = iter([(i, line.strip()) for i, line in enumerate(text.splitlines(), 1)])
    for number, line in lines:
        if not line or line.startswith("#"):
            continue
        found = re.match(r"([^=+]+)(\+?=)(.*)", line)
        if not found:
            raise ConfigError(f"{path}, line {number}: an entry must be 'key = value', got {shown(line)}")
        key, sign, value = found[1].strip().lower().replace("_", ""), found[2], found[3].strip()
        while key.startswith("available") and not value.endswith("}"):
            _, more = next(lines, (0, None))
            if more is None:
                raise ConfigError(f"{path}, line {number}: the list has no closing brace")
            value += "" if more.startswith("#") else f" {more}"
        yield number, key, value.strip(), sign == "+="


def set_entry(scenario: Scenario, folder: Path, key: str, value: str, appends: bool) -> None:
    """Apply one entry of a file in `folder`. Raise ValueError if it is invalid."""
    if key not in KEYS:
        close = difflib.get_close_matches(key, KEYS, n=1)
        raise ValueError(f"unknown key {shown(key)}" + (f"; did you mean {close[0]!r}?" if close else ""))
    if key in RENDER_FLAGS:
        bit = RENDER_FLAGS[key][0]
        scenario.render_mode = scenario.render_mode & ~bit | (bit if as_bool(key, value) else 0)
    elif key in REWARDS or key in OTHER_REWARDS:
        scenario.rewards[key] = as_reward(key, value)
    elif key in ("availablebuttons", "availablegamevariables"):
        is_buttons = key == "availablebuttons"
        names = as_names(key, value, BUTTONS if is_buttons else VARIABLES)
        known = scenario.buttons if is_buttons else scenario.variables
        known[:] = dict.fromkeys([*(known if appends else ()), *names])
    elif key == "screenresolution":
        width, height = choice(key, value.upper().removeprefix("RES_").replace("_", ""), RESOLUTIONS).split("X")
        scenario.screen_size = int(width), int(height)
    elif key == "screenformat":
        scenario.screen_format = choice(key, value.upper(), tuple(SCREEN_FORMATS))
    elif key == "automapmode":
        scenario.automap_mode = AUTOMAP_MODES.index(choice(key, value.upper(), AUTOMAP_MODES))
    elif key == "episodestarttime":
        scenario.start_tic = max(as_count(key, value), 1)
        if scenario.start_tic > MAX_START_TIC:
            raise ValueError(
                f"{key} must be at most {MAX_START_TIC} tics, got {shown(value)}: each reset would take minutes"
            )
    elif key == "doomskill":
        scenario.skill = min(max(as_count(key, value), 1), 5)
    elif key == "gameargs":
        scenario.arguments[:] = [*(scenario.arguments if appends else ()), *value.split()]
    elif key == "doomscenariopath":
        scenario.wad = folder / value
    elif key == "doomgamepath":
        scenario.iwad = folder / value


def choice(key: str, value: str, allowed: tuple[str, ...] | list[str]) -> str:
    """Return a value that is allowed, or raise ValueError."""
    if value not in allowed:
        raise ValueError(f"{key} must be one of {', '.join(allowed)}, got {shown(value)}")
    return value


def as_names(key: str, value: str, known: tuple[str, ...]) -> list[str]:
    """Return the names in a list in braces, with or without underscores and in any case."""
    if not (value.startswith("{") and value.endswith("}")):
        raise ValueError(f"{key} must be a list in braces, got {shown(value)}")
    short = {name.replace("_", ""): name for name in known}
    words = [word.upper().replace("_", "") for word in value[1:-1].split()]
    return [short[choice(f"each name in {key}", word, tuple(short))] for word in words]


def as_bool(key: str, value: str) -> bool:
    """Return a truth value."""
    if value.lower() not in ("true", "false", "1", "0"):
        raise ValueError(f"{key} must be true or false, got {shown(value)}")
    return value.lower() in ("true", "1")


def as_reward(key: str, value: str) -> float:
    """Return a finite number."""
    try:
        reward = float(value)
    except ValueError:
        reward = math.nan
    if not math.isfinite(reward):
        raise ValueError(f"{key} must be a finite number, got {shown(value)}")
    return reward


def as_count(key: str, value: str) -> int:
    """Return an integer between 0 and 2**31 - 1."""
    if not value.isdecimal() or int(value) >= 2**31:
        raise ValueError(f"{key} must be an integer between 0 and 2**31 - 1, got {shown(value)}")
    return int(value)
