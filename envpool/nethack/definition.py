"""The env definition of all NetHack tasks: their options, and the checks before the game sees them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from envpool._support.packages import load_compiled
from envpool._support.text import shown
from envpool.config.checks import check_choice, check_range, is_sequence
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Param, param_fields
from envpool.nethack.files import load_library
from envpool.nethack.keys import ALL_KEYS, TASK_KEYS, USEFUL_KEYS
from envpool.nethack.observations import ARRAYS, DEFAULT_KEYS
from envpool.nethack.table import TASKS

#: Options whose values the env definition gets as they are.
UNCHANGED = (
    "penalty_step",
    "penalty_time",
    "max_steps",
    "no_progress_timeout",
    "allow_all_yn_questions",
    "allow_all_modes",
    "spawn_monsters",
)
PENALTY_MODES = ("constant", "exp", "square", "linear", "always")

#: Upstream's ``nethack.NETHACKOPTIONS``.
DEFAULT_OPTIONS = (
    "autopickup",
    "color",
    "disclose:+i +a +v +g +c +o",
    "mention_walls",
    "nobones",
    "nocmdassist",
    "nolegacy",
    "nosparkle",
    "pickup_burden:unencumbered",
    "pickup_types:$?!/",
    "runmode:teleport",
    "showexp",
    "showscore",
    "time",
)
GOLD_OPTIONS = tuple("pickup_types:$" if o.startswith("pickup_types") else o for o in DEFAULT_OPTIONS)

MAX_ACTIONS = 512
#: The game ignores longer options.
MAX_OPTION_LENGTH = 127
#: The game reads its options recursively, on a stack of 64 KiB, which overflows from about 110 options on.
MAX_OPTIONS = 64
#: The option that selects the windows of the game, as the game reads it: it may be abbreviated and negated.
WINDOWTYPE = re.compile(r"\s*(!|no)*\s*win(d(o(w(t(y(p(e)?)?)?)?)?)?)?\s*([:=]|$)", re.IGNORECASE)
#: "Agent-" and the character are a name, of which the game keeps 31 letters.
MAX_CHARACTER_LENGTH = 25
#: Memory of the game for the items of the debug mode, one in a line.
WIZKIT_BYTES = 4096


def wizkit_of(items: Any) -> Any:
    """Return the value of the option of resets ``wizkit_items`` as the game reads it, uint8 (..., WIZKIT_BYTES).

    None stands for no items; a sequence of sequences has the items of each environment.
    """
    if items is None:
        return np.zeros(WIZKIT_BYTES, np.uint8)
    name = "options['wizkit_items']"
    if isinstance(items, (list, tuple)) and items and all(item is None or is_sequence(item) for item in items):
        return np.stack([wizkit_of(own) for own in items])
    found = entries(name, items, str, "['meatball', '2 blessed scrolls of genocide']")
    for i, item in enumerate(found):
        check_text(f"{name}[{i}]", item, MAX_OPTION_LENGTH)
    text = "\n".join(found).encode("ascii")
    if len(text) >= WIZKIT_BYTES:
        raise ConfigError(f"{name} must have less than {WIZKIT_BYTES} characters in all, got {len(text)}")
    return np.frombuffer(text.ljust(WIZKIT_BYTES, b"\0"), np.uint8)


class NetHack(EnvDefinition):
    """A game of NetHack 3.6.6, played by a copy of the library of nle 1.3.0.

    The results equal those of upstream's class of the same name, bit for bit, if its ``seed(core, disp, reseed=False)``
    is called before each reset with the numbers that the environment draws; see docs/nethack.md.

    The observation contains the arrays of `observation_keys`, in upstream's dtypes. The action is int32, an index of
    `actions`. Info contains ``end_status`` (int32: -1 aborted, 0 running, 1 the game is over, 2 the
    task is solved) and ``is_ascended`` (bool).

    Options
    -------
    task : str
        Upstream's class, which defines the reward and when an episode ends.
    observation_keys : sequence of str
        The arrays of the observation. ``screen_descriptions`` makes a step take 1.6 times as long.
    actions : sequence of int, optional
        The key that each action presses, 0 to 255. None selects the keys of the task.
    character : str
        Role, race, gender and alignment, e.g. ``"mon-hum-neu-mal"``; ``"@"`` for a random one.
    options : sequence of str, optional
        Options of the game, as in NETHACKOPTIONS: at most 64, without windowtype. None selects upstream's options.
    max_steps : int
        Steps after which the game is quit, upstream's ``max_episode_steps``; such an episode is terminated.
    penalty_mode : str
        How the penalty of steps in which no turn passes grows: "constant", "exp", "square", "linear" or "always".
    penalty_step : float
        Factor of this penalty.
    penalty_time : float
        Reward of each turn that has passed.
    allow_all_yn_questions : bool
        If True, the agent answers all questions; else most of them are declined.
    allow_all_modes : bool
        If True, the agent turns pages, uses menus and enters text; else the environment leaves them.
    spawn_monsters : bool
        If False, the game creates no monsters at random.
    wizard : bool
        If True, the game is played in debug mode.
    no_progress_timeout : int
        Steps without a turn after which NetHackChallenge quits the game; as upstream, each step counts twice.
    """

    options: ClassVar[dict[str, Any]] = {
        "task": "NetHackScore",
        "observation_keys": DEFAULT_KEYS,
        "actions": None,
        "character": "mon-hum-neu-mal",
        "options": None,
        "max_steps": 5000,
        "penalty_mode": "constant",
        "penalty_step": -0.01,
        "penalty_time": 0.0,
        "allow_all_yn_questions": False,
        "allow_all_modes": False,
        "spawn_monsters": True,
        "wizard": False,
        "no_progress_timeout": 10_000,
    }

    reset_options: ClassVar[Mapping[str, Param]] = {
        "wizkit_items": Param(
            np.zeros(WIZKIT_BYTES, np.uint8),
            text="items that the player has besides the usual ones, a list of str; needs wizard=True",
            convert=wizkit_of,
        )
    }

    @staticmethod
    def check_reset_options(config: Any, values: Mapping[str, Any]) -> None:
        """Raise ConfigError if items are given to games that are not in debug mode."""
        if values["wizkit_items"].any() and not config.wizard:
            raise ConfigError("options['wizkit_items'] needs the option wizard=True, with which games are debugged")

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate that nle's metadata name."""
        return 42

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of a task under a configuration."""
        check_choice("task", config.task, TASKS)
        check_choice("penalty_mode", config.penalty_mode, PENALTY_MODES)
        check_range("max_steps", config.max_steps, 1)
        check_range("no_progress_timeout", config.no_progress_timeout, 1)
        settings = {name: getattr(config, name) for name in UNCHANGED}
        settings["penalty_mode"] = PENALTY_MODES.index(config.penalty_mode)
        settings["options"] = game_options(config)
        return compiled().build(
            TASKS.index(config.task),
            settings,
            checked_keys(config),
            ARRAYS,
            checked_observation(config),
            param_fields({}, NetHack.reset_options),
        )

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load the library, or raise an ImportError that says what to install."""
        load_library()


def compiled() -> ModuleType:
    """Import the module with the env definition."""
    return load_compiled("envpool.nethack.env")


def entries(name: str, values: Any, kind: type, example: str) -> list[Any]:
    """Return the entries of an option that is a sequence, or raise TypeError."""
    is_sequence = isinstance(values, Sequence) or getattr(values, "ndim", 0) == 1
    if isinstance(values, (str, bytes)) or not is_sequence:
        raise TypeError(f"{name} must be a sequence of {kind.__name__}, for example {example}, got {shown(values)}")
    found = [value.item() if hasattr(value, "item") else value for value in values]
    for i, value in enumerate(found):
        if not isinstance(value, kind) or isinstance(value, bool):
            raise TypeError(f"{name}[{i}] must be of type {kind.__name__}, got {shown(value)}")
    return found


def checked_observation(config: Any) -> list[str]:
    """Return the names of the observed arrays."""
    names = entries("observation_keys", config.observation_keys, str, "('glyphs', 'blstats')")
    for i, name in enumerate(names):
        check_choice(f"observation_keys[{i}]", name, ARRAYS)
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"observation_keys must contain at least one name, and each name once, got {shown(names)}")
    return names


def checked_keys(config: Any) -> Sequence[int]:
    """Return the keys that the actions press."""
    if config.actions is None:
        return {"NetHack": USEFUL_KEYS, "NetHackChallenge": ALL_KEYS}.get(config.task, TASK_KEYS)
    keys: list[int] = [int(key) for key in entries("actions", config.actions, int, "(107, 108, 106, 104)")]
    if not 1 <= len(keys) <= MAX_ACTIONS:
        raise ConfigError(f"actions must have 1 to {MAX_ACTIONS} entries, got {len(keys)}")
    for i, key in enumerate(keys):
        check_range(f"actions[{i}]", key, 0, 255)
    return keys


def game_options(config: Any) -> bytes:
    """Return the options of the game, as upstream's class ``Nethack`` joins them."""
    given = GOLD_OPTIONS if config.task == "NetHackGold" else DEFAULT_OPTIONS
    if config.options is not None:
        given = tuple(entries("options", config.options, str, "('autopickup', 'pickup_types:$')"))
    for i, option in enumerate(given):
        check_text(f"options[{i}]", option, MAX_OPTION_LENGTH)
        if any(WINDOWTYPE.match(part) for part in option.split(",")):
            raise ConfigError(
                f"options[{i}] must not set windowtype, since the library has no other windows that return to its "
                f"caller; leave it out, got {shown(option)}"
            )
    count = ",".join(given).count(",") + 1
    if count > MAX_OPTIONS:
        raise ConfigError(f"options must contain at most {MAX_OPTIONS} options, got {count}")
    check_text("character", config.character, MAX_CHARACTER_LENGTH)
    if "," in config.character:
        raise ConfigError(f"character must contain no comma, got {shown(config.character)}")
    options = [*given, f"name:Agent-{config.character}"]
    if config.character == "@":
        names = [name for name in ("race", "gender", "align") if not any(o.startswith(f"{name}:") for o in given)]
        options += [f"{name}:random" for name in names]
    if config.wizard:
        options.append("playmode:debug")
    return ",".join(options).encode("ascii")


def check_text(name: str, text: str, longest: int) -> None:
    """Raise ConfigError unless a text is printable ASCII of at most this length."""
    if not (text.isascii() and text.isprintable() and len(text) <= longest):
        raise ConfigError(f"{name} must be printable ASCII of at most {longest} characters, got {shown(text)}")
