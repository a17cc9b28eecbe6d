"""The env definition of all ViZDoom tasks: their options, and the checks before an engine sees them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from envpool._support.packages import load_compiled
from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.native import EnvDefinition
from envpool.vizdoom.actions import combined_actions
from envpool.vizdoom.config_file import OTHER_REWARDS, Scenario, read_scenario
from envpool.vizdoom.launch import arguments_of, recording_prefix
from envpool.vizdoom.leftovers import remove_leftovers
from envpool.vizdoom.maps import config_file
from envpool.vizdoom.names import BUTTONS, FIRST_DELTA_BUTTON, SCREEN_FORMATS, VARIABLES
from envpool.vizdoom.registration import ELSEWHERE
from envpool.vizdoom.wheel import package_folder

#: Game variables in the info of every task.
INFOS = (
    *("AMMO2", "AMMO3", "AMMO4", "AMMO5", "AMMO6", "AMMO7", "ARMOR", "DAMAGECOUNT", "DEATHCOUNT", "FRAGCOUNT"),
    *("HEALTH", "HITCOUNT", "KILLCOUNT", "SELECTED_WEAPON", "SELECTED_WEAPON_AMMO", "USER2"),
)
#: EnvPool's rewards for each unit by which a game variable rises, and by which it falls.
REWARDS: dict[str, tuple[float, float]] = {
    "FRAGCOUNT": (1.0, -1.5),
    "KILLCOUNT": (1.0, 0.0),
    "DEATHCOUNT": (-0.75, 0.75),
    "HITCOUNT": (0.01, -0.01),
    "DAMAGECOUNT": (0.003, -0.003),
    "HEALTH": (0.005, -0.003),
    "ARMOR": (0.005, -0.001),
    **{f"WEAPON{i}": (0.02, -0.01) for i in range(3)},
    **{f"WEAPON{i}": (0.1, -0.05) for i in range(3, 6)},
    **{f"WEAPON{i}": (0.2, -0.1) for i in range(6, 8)},
    **{f"AMMO{i}": (0.0002, -0.0001) for i in range(3)},
    **{f"AMMO{i}": (0.001, -0.0005) for i in range(3, 6)},
    **{f"AMMO{i}": (0.002, -0.001) for i in range(6, 8)},
}
WEAPON_REWARDS = {0: 0.0002, 1: 0.0002, 2: 0.0002, 3: 0.001, 4: 0.001, 5: 0.001, 6: 0.002, 7: 0.002}
#: Smallest and largest value of options.
RANGES = {
    "stack_num": (1, 1024),
    "frame_skip": (1, 10_000),
    "img_height": (1, 4096),
    "img_width": (1, 4096),
    "weapon_duration": (1, 2**31 - 1),
}
FLOAT32_MAX = float(np.finfo(np.float32).max)
#: Seconds after which an engine that does not answer is killed.
PATIENCE = 60.0


class ViZDoom(EnvDefinition):
    """A scenario of ViZDoom, played by an engine process of the vizdoom package for each environment.

    Frames, game variables and episodes equal those of ``vizdoom.DoomGame`` with the same configuration, seed and
    actions.

    The observation is uint8 (stack_num * channels, img_height, img_width), with the newest frame last; channels is 3,
    or 1 if the configuration file has the screen format GRAY8. With `depth`, `labels` or `automap` it is a dict of
    such arrays: "screen", "depth" (one channel), "labels" (one channel, not interpolated) and "automap".

    The action is float64 (number of available buttons): 0 or 1 for buttons, numbers for delta buttons. With
    `use_combined_action` it is int32, an index into the combinations of buttons. Info contains game variables, float64.

    With ``max_num_players`` above 1, an environment is one game of this number of players, each with an engine;
    all arrays have a row for each of them.

    A step holds the action for frame_skip tics or until the episode ends. An episode terminates when the player is dead
    or the map ends; the last frame before that is shown again. The key `episode_timeout` of configuration files has no
    effect, since max_episode_steps limits episodes.

    Options
    -------
    task : str
        Name of a scenario of the vizdoom package, e.g. ``"basic"``; empty if `cfg_path` is given.
    img_height, img_width : int
        Size of a frame in pixels, 1 to 4096.
    stack_num : int
        Number of frames in an observation, 1 to 1024.
    frame_skip : int
        Tics per step, 1 to 10000. The game has 35 tics per second.
    lmp_save_dir : str
        Existing folder for recordings of the episodes, ``env_<id>_<number>.lmp``; the first episode of each engine is
        not recorded. If empty, nothing is recorded.
    episodic_life : bool
        If True, the death of the player ends the episode also where the game continues, and the next episode continues
        the same game. The time limit then applies to the game. A reset in the middle of an episode begins a new game.
    force_speed : bool
        If True, SPEED is pressed in all combined actions.
    use_combined_action : bool
        If True, an action is the index of a combination of buttons.
    use_inter_area_resize : bool
        If True, resizing is by area, as ``cv2.INTER_AREA``; if False, it is linear, as ``cv2.INTER_LINEAR``.
    weapon_duration : int
        A selected weapon is rewarded from this number of steps on, at least 1.
    reward_config : dict
        Rewards for each unit by which a game variable rises and falls: ``{"HEALTH": (0.005, -0.003)}``. Variables that
        are neither in the info nor available in the configuration file have no effect.
    selected_weapon_reward_config : dict
        Reward per step for each selected weapon, 0 to 9, while it has ammunition.
    delta_button_config : dict
        For combined actions: number of values, smallest and largest value of delta buttons, e.g.
        ``{"TURN_LEFT_RIGHT_DELTA": (5, -10.0, 10.0)}``. Others are 0.
    cfg_path : str
        Configuration file. If empty, the scenario's own file.
    wad_path : str
        File with the scenario's maps. If empty, the one that the configuration file names.
    vzd_path : str
        The engine. If empty, the engine of the vizdoom package.
    iwad_path : str
        File of the game. If empty, the one that the configuration file names, or else freedoom2.wad of the package.
    game_args : str
        Further arguments of the engine, separated by spaces. Paths among them must be absolute.
    map_id : str
        Name of the map.
    depth, labels, automap : bool
        If True, the observation contains the depth buffer, the labels of the visible objects, or the automap.
    game_variables : tuple of str
        Names of further game variables in the info, e.g. ``("POSITION_X", "ANGLE")``.
    scenario_reward : bool
        If True, the reward comes from the scenario, as ``DoomGame.make_action`` returns it; if False, from
        reward_config and selected_weapon_reward_config.
    """

    options: ClassVar[dict[str, Any]] = {
        "task": "",
        "img_height": 84,
        "img_width": 84,
        "stack_num": 4,
        "frame_skip": 4,
        "lmp_save_dir": "",
        "episodic_life": False,
        "force_speed": False,
        "use_combined_action": False,
        "use_inter_area_resize": True,
        "weapon_duration": 5,
        "reward_config": REWARDS,
        "selected_weapon_reward_config": WEAPON_REWARDS,
        "delta_button_config": {},
        "cfg_path": "",
        "wad_path": "",
        "vzd_path": "",
        "iwad_path": "",
        "game_args": "",
        "map_id": "map01",
        "depth": False,
        "labels": False,
        "automap": False,
        "game_variables": (),
        "scenario_reward": False,
    }
    refuses_nan = True
    chooses_players = True

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of a scenario under a configuration."""
        for name, (low, high) in RANGES.items():
            if not low <= getattr(config, name) <= high:
                raise ConfigError(f"{name} must be between {low} and {high}, got {shown(getattr(config, name))}")
        native = load_compiled("envpool.vizdoom.env")
        scenario = scenario_of(config)
        check_players(config, scenario, native.LIMITS["players"])
        infos = list(dict.fromkeys([*INFOS, *checked_variables(config.game_variables)]))
        variables = list(dict.fromkeys([*scenario.variables, *infos]))
        if len(infos) > native.LIMITS["infos"]:
            raise ConfigError(
                f"game_variables must have at most {native.LIMITS['infos'] - len(INFOS)} names besides the default "
                f"ones, got {len(infos) - len(INFOS)}"
            )
        actions = np.zeros((0, len(scenario.buttons)))
        deltas = checked_deltas(config.delta_button_config)
        if config.use_combined_action:
            actions = combined_actions(scenario.buttons, config.force_speed, deltas)
        rewards = checked_rewards(config.reward_config)
        values = {
            **config._asdict(),
            "max_episode_steps": config.max_episode_steps or 2**31 - 1,
            "screen_size": scenario.screen_size,
            "blue_first": scenario.screen_format == "CBCGCR",
            "start_tic": scenario.start_tic,
            "scenario": digest_of(scenario),
            "buttons": [BUTTONS.index(name) for name in scenario.buttons],
            "variables": [VARIABLES.index(name) for name in variables],
            "gain": [float(np.float32(rewards.get(name, (0, 0))[0])) for name in variables],
            "loss": [float(np.float32(rewards.get(name, (0, 0))[1])) for name in variables],
            "infos": [variables.index(name) for name in infos],
            "weapon_reward": checked_weapons(config.selected_weapon_reward_config),
            "patience": PATIENCE,
            "living_reward": scenario.rewards.get("livingreward", 0.0),
            "death_penalty": scenario.rewards.get("deathpenalty", 0.0),
            "map_exit_reward": scenario.rewards.get("mapexitreward", 0.0),
        }
        planes = 3 if scenario.screen_format in ("CRCGCB", "CBCGCR") else 1
        groups = [("screen", planes)]
        groups += [(n, planes if n == "automap" else 1) for n in ("depth", "labels", "automap") if getattr(config, n)]
        arguments = arguments_of(config, scenario, native.LIMITS["arguments"])
        strings = [tempfile.gettempdir(), config.map_id, recording_prefix(config), *arguments]
        return native.build(values, groups, infos, actions, [os.fsencode(text) for text in strings])

    @staticmethod
    def max_seed(config: Any) -> int:
        """Return the largest seed of Doom's generator."""
        return 2**32 - 1

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Remove what engines of processes have left behind that were killed."""
        remove_leftovers()


def scenario_of(config: Any) -> Scenario:
    """Return the scenario of a configuration, with planar screen format."""
    if config.cfg_path:
        path = Path(config.cfg_path).absolute()
    elif config.task in ELSEWHERE:
        path = config_file(config.task)
    elif config.task:
        path = package_folder() / "scenarios" / f"{config.task}.cfg"
    else:
        raise ConfigError(
            "pass the configuration file of the scenario: cfg_path=..., and wad_path=... if it names no maps"
        )
    scenario = read_scenario(path)
    if not scenario.buttons:
        raise ConfigError(f"{path} has no available_buttons, so there are no actions")
    unsupported = [name for name in OTHER_REWARDS if scenario.rewards.get(name)]
    if config.scenario_reward and unsupported:
        raise ConfigError(f"scenario_reward=True does not support {', '.join(unsupported)}, which {path} sets")
    scenario.screen_format = SCREEN_FORMATS[scenario.screen_format]
    return scenario


def check_players(config: Any, scenario: Scenario, limit: int) -> None:
    """Raise an error for options that a game of several players does not have."""
    players = config.max_num_players
    if players == 1:
        return
    if players > limit:
        raise ConfigError(f"max_num_players must be at most {limit}, got {players}")
    for name in ("episodic_life", "lmp_save_dir"):
        if getattr(config, name):
            raise ConfigError(f"{name} must be left out with max_num_players={players}, got {getattr(config, name)!r}")
    for word in (*scenario.arguments, *config.game_args.split()):
        if word.lower() in ("-host", "-join", "-port"):
            raise ConfigError(
                f"{word} must be left out of the arguments of the engine with max_num_players={players}: the pool "
                "starts an engine for each player, which join each other"
            )


def digest_of(scenario: Scenario) -> int:
    """Return a number below 2**64 that tells scenarios apart, wherever their files are."""
    wad, iwad = (path and Path(path.name) for path in (scenario.wad, scenario.iwad))
    text = repr(replace(scenario, wad=wad, iwad=iwad))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def checked_variables(names: Any) -> tuple[str, ...]:
    """Return the names of game variables, or raise an error that names the wrong one."""
    is_list = isinstance(names, (tuple, list))
    for name in names if is_list else (names,):
        if not is_list or name not in VARIABLES:
            raise ConfigError(f"game_variables must be a tuple of names of vizdoom.GameVariable, got {shown(name)}")
    return tuple(names)


def checked_rewards(rewards: Any) -> Mapping[str, tuple[float, float]]:
    """Return reward_config, or raise an error that names the wrong entry."""
    for name, pair in checked_dict("reward_config", rewards).items():
        if name not in VARIABLES:
            raise ConfigError(
                f"each key of reward_config must be the name of a vizdoom.GameVariable, got {shown(name)}"
            )
        if not are_numbers(pair, 2):
            raise ConfigError(f"reward_config[{shown(name)}] must be two finite numbers, got {shown(pair)}")
    return rewards  # type: ignore[no-any-return]


def checked_weapons(rewards: Any) -> list[float]:
    """Return the rewards of the weapons 0 to 9, or raise an error that names the wrong entry."""
    found = [0.0] * 10
    for weapon, reward in checked_dict("selected_weapon_reward_config", rewards).items():
        if weapon not in range(10) or not are_numbers([reward], 1):
            raise ConfigError(
                "selected_weapon_reward_config must map weapons, 0 to 9, to finite numbers, got "
                f"{shown(weapon)}: {shown(reward)}"
            )
        found[int(weapon)] = float(np.float32(reward))
    return found


def checked_deltas(config: Any) -> Mapping[str, tuple[int, float, float]]:
    """Return delta_button_config, or raise an error that names the wrong entry."""
    for name, entry in checked_dict("delta_button_config", config).items():
        if name not in BUTTONS[FIRST_DELTA_BUTTON:]:
            raise ConfigError(
                f"each key of delta_button_config must be one of {', '.join(BUTTONS[FIRST_DELTA_BUTTON:])}, got "
                f"{shown(name)}"
            )
        if not are_numbers(entry, 3) or int(entry[0]) != entry[0] or not 0 <= entry[0] <= 10_000 or entry[1] > entry[2]:
            raise ConfigError(
                f"delta_button_config[{shown(name)}] must be the number of values (0 to 10000), the smallest and the "
                f"largest value, got {shown(entry)}"
            )
    return config  # type: ignore[no-any-return]


def checked_dict(option: str, value: Any) -> Mapping[Any, Any]:
    """Return an option that must be a dict, or raise TypeError."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{option} must be a dict, got {shown(value)}")
    return value


def are_numbers(values: Any, count: int) -> bool:
    """Return whether a sequence consists of `count` numbers that are finite as float32."""
    try:
        numbers = [float(values[i]) for i in range(len(values))]
    except (TypeError, ValueError, LookupError, OverflowError):
        return False
    return len(numbers) == count and all(abs(number) <= FLOAT32_MAX for number in numbers)
