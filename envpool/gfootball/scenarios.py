"""Scenarios: where players and ball start, and the rules of an episode.

A scenario is one of upstream's 18, whose facts are the table below, a Python file with upstream's interface
(``build_scenario(builder)``), or a dict.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from envpool._support.text import shown
from envpool.config.params import suggestion
from envpool.errors import ConfigError

#: Roles in the order of the engine's numbers.
ROLES = ("GK", "CB", "LB", "RB", "DM", "CM", "LM", "RM", "AM", "CF")
TEAM = 11  # most players of a team
TEAMS = ("left_team", "right_team")
#: Ranges of start positions.
RANGES = {"x": 1.0, "y": 0.42}
INT32_MAX = 2**31 - 1


class Player(NamedTuple):
    """A player of a scenario, as in ``AddPlayer``.

    Attributes
    ----------
    x, y : float
        Start position: x from -1 (own goal) to 1, y from -0.42 to 0.42.
    role : str
        One of `ROLES`.
    lazy : bool
        If True, the built-in AI does not move the player.
    controllable : bool
        If True, an agent may control the player.
    """

    x: float
    y: float
    role: str
    lazy: bool = False
    controllable: bool = True


@dataclass(frozen=True)
class Scenario:
    """The start of an episode and its rules, with upstream's names and defaults.

    Attributes
    ----------
    left_team, right_team : tuple of Player
        The players; an empty team gets one lazy goalkeeper.
    ball : tuple of float
        Start position of the ball.
    game_duration : int
        Number of the last step of an episode, whose first step has the number 0.
    second_half : int
        Step at which the second half begins.
    left_team_difficulty, right_team_difficulty : float
        Strength of the built-in AI, 0 to 1.
    deterministic : bool
        If True, all episodes have the seed `game_engine_random_seed`.
    game_engine_random_seed : int
        Seed of deterministic scenarios.
    use_magnet, offsides, control_all_players : bool
        Rules of the engine.
    end_episode_on_score, end_episode_on_possession_change, end_episode_on_out_of_play : bool
        Events that end an episode early, if True.
    """

    left_team: tuple[Player, ...] = ()
    right_team: tuple[Player, ...] = ()
    ball: tuple[float, float] = (0.0, 0.0)
    game_duration: int = 3000
    second_half: int = 999_999_999
    left_team_difficulty: float = 1.0
    right_team_difficulty: float = 0.6
    deterministic: bool = False
    game_engine_random_seed: int = 42
    use_magnet: bool = True
    offsides: bool = True
    control_all_players: bool = False
    end_episode_on_score: bool = False
    end_episode_on_possession_change: bool = False
    end_episode_on_out_of_play: bool = False

    def controllable(self, team: str) -> int:
        """Return how many players of a team agents may control."""
        return sum(player.controllable for player in getattr(self, team))


#: Members that are settings, and their defaults.
SETTINGS = {f.name: f.default for f in fields(Scenario) if f.name not in (*TEAMS, "ball")}
LIMITS = {"game_duration": 1, "second_half": 0, "game_engine_random_seed": 0}


# ---- checks ----------------------------------------------------------------------------------------------------------


def checked_setting(name: str, value: Any, where: str, names: Sequence[str] = tuple(SETTINGS)) -> Any:
    """Return the value of a setting in its type, or raise an error; `names` are those that the error offers."""
    if name not in SETTINGS:
        raise ConfigError(f"{where}: there is no setting {shown(name)}; {suggestion(name, list(names), 'there are')}")
    default = SETTINGS[name]
    if isinstance(default, bool):
        return checked_flag(name, value, where)
    number = checked_number(name, value, where)
    if isinstance(default, float):
        if not 0 <= number <= 1:
            raise ConfigError(f"{where}: {name} must be between 0 and 1, got {shown(value)}")
        return number
    if number != int(number) or not LIMITS[name] <= number <= INT32_MAX:
        raise ConfigError(
            f"{where}: {name} must be an integer between {LIMITS[name]} and 2**31 - 1, got {shown(value)}"
        )
    return int(number)


def checked_flag(name: str, value: Any, where: str) -> bool:
    """Return True or False, or raise ConfigError."""
    if not isinstance(value, (bool, np.bool_, int)) or value not in (0, 1):
        raise ConfigError(f"{where}: {name} must be True or False, got {shown(value)}")
    return bool(value)


def checked_number(name: str, value: Any, where: str) -> float:
    """Return a finite number, or raise ConfigError."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, (str, bytes, bool)):
        raise ConfigError(f"{where}: {name} must be a finite number, got {shown(value)}")
    return number


def checked_position(values: Any, where: str) -> tuple[float, float]:
    """Return a position, or raise ConfigError."""
    pair = list(values) if isinstance(values, Sequence) and not isinstance(values, (str, bytes)) else []
    if len(pair) != 2:
        raise ConfigError(f"{where} must be a pair (x, y), got {shown(values)}")
    found = []
    for (name, limit), value in zip(RANGES.items(), pair, strict=True):
        number = checked_number(name, value, where)
        if not -limit <= number <= limit:
            raise ConfigError(f"{where}: {name} must be between {-limit:g} and {limit:g}, got {shown(value)}")
        found.append(number)
    return found[0], found[1]


def checked_role(role: Any, where: str) -> str:
    """Return the name of a role that is given by its name, with or without upstream's prefix, or by its number."""
    if isinstance(role, str):
        name = role.removeprefix("e_PlayerRole_").upper()
        if name in ROLES:
            return name
    else:
        try:
            number = -1 if isinstance(role, bool) else operator.index(role)
        except TypeError:
            number = -1
        if 0 <= number < len(ROLES):
            return ROLES[number]
    raise ConfigError(f"{where}: role must be one of {', '.join(ROLES)}, got {shown(role)}")


def checked_player(values: Any, where: str) -> Player:
    """Return a player from a tuple or a mapping, or raise ConfigError."""
    if isinstance(values, Mapping):
        if unknown := [name for name in values if name not in Player._fields]:
            raise ConfigError(f"{where}: there is no entry {shown(unknown[0])}; there are {', '.join(Player._fields)}")
        missing = [name for name in ("x", "y", "role") if name not in values]
        if missing:
            raise ConfigError(f"{where} must have {missing[0]}, got {shown(dict(values))}")
        values = Player(**values)
    elif isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not 3 <= len(values) <= 5:
        raise ConfigError(f"{where} must be (x, y, role), optionally with lazy and controllable, got {shown(values)}")
    player = Player(*values)
    x, y = checked_position((player.x, player.y), where)
    lazy, controllable = (checked_flag(name, getattr(player, name), where) for name in ("lazy", "controllable"))
    return Player(x, y, checked_role(player.role, where), lazy, controllable)


def checked_team(name: str, players: Any, where: str) -> tuple[Player, ...]:
    """Return the players of a team, where an empty one gets a lazy goalkeeper, or raise ConfigError."""
    if isinstance(players, (str, bytes)) or not isinstance(players, Sequence):
        raise ConfigError(f"{where}: {name} must be a list of players, got {shown(players)}")
    if len(players) > TEAM:
        raise ConfigError(f"{where}: {name} must have at most {TEAM} players, got {len(players)}")
    found = tuple(checked_player(player, f"{where}: {name}[{i}]") for i, player in enumerate(players))
    return found or (Player(-1.0, 0.42, "GK", lazy=True),)


def scenario_from(values: Mapping[str, Any], where: str) -> Scenario:
    """Return a scenario from a mapping with the members of `Scenario`, or raise ConfigError."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name in TEAMS:
            found[name] = checked_team(name, value, where)
        elif name == "ball":
            found[name] = checked_position(value, f"{where}: ball")
        else:
            found[name] = checked_setting(str(name), value, where, [*TEAMS, "ball", *SETTINGS])
    return Scenario(**{name: checked_team(name, (), where) for name in TEAMS} | found)


# ---- upstream's scenarios --------------------------------------------------------------------------------------------

GOALKEEPER = (-1.0, 0.0, "GK")
DEFENDERS = [
    (-0.422, -0.19576, "LB"),
    (-0.5, -0.06356, "CB"),
    (-0.5, 0.063559, "CB"),
    (-0.422, 0.19576, "RB"),
]
MIDFIELD = [
    (-0.184212, -0.10568, "CM"),
    (-0.267574, 0.0, "CM"),
    (-0.184212, 0.10568, "CM"),
    (-0.01, -0.2161, "LM"),
]
#: Teams of eleven: the one that kicks off, and the other one.
KICKS_OFF = [GOALKEEPER, (0.0, 0.02, "RM"), (0.0, -0.02, "CF"), *DEFENDERS, *MIDFIELD]
WAITS = [GOALKEEPER, (-0.05, 0.0, "RM"), (-0.01, 0.216102, "CF"), *DEFENDERS, *MIDFIELD]
KAGGLE_KICKS_OFF = [GOALKEEPER, *DEFENDERS, *MIDFIELD, (0.0, 0.02, "CF"), (0.0, -0.02, "RM")]
KAGGLE_WAITS = [GOALKEEPER, *DEFENDERS, *MIDFIELD, (-0.05, 0.0, "CF"), (-0.01, 0.216102, "RM")]
FIXED_GOALKEEPER = (*GOALKEEPER, False, False)
FIVE_KICK_OFF = [FIXED_GOALKEEPER, (0.0, 0.02, "RM"), (0.0, -0.02, "CF"), (-0.1, -0.1, "LB"), (-0.1, 0.1, "CB")]
FIVE_WAIT = [FIXED_GOALKEEPER, (-0.04, 0.04, "RM"), (-0.04, -0.04, "CF"), (-0.1, -0.1, "LB"), (-0.1, 0.1, "CB")]
#: The goalkeeper of the right team at the other end of the pitch, so that its goal is empty.
AWAY = (1.0, 0.0, "GK")
RUNNERS = [(0.12, 0.2, "LB"), (0.12, 0.1, "CB"), (0.12, 0.0, "CM"), (0.12, -0.1, "CB"), (0.12, -0.2, "RB")]
ATTACK = [
    GOALKEEPER,
    (-0.672, -0.19576, "LB"),
    (-0.75, -0.06356, "CB"),
    (-0.75, 0.063559, "CB"),
    (-0.672, 0.19576, "RB"),
    (-0.434, -0.10568, "CM"),
    (-0.434, 0.10568, "CM"),
    (0.5, -0.3161, "CM"),
    (0.25, -0.1, "LM"),
    (0.25, 0.1, "RM"),
    (0.35, 0.316102, "CF"),
]


def attacked(second: float) -> list[tuple[float, float, str]]:
    """Return the team that is counter-attacked, given where its second defender stands."""
    return [
        GOALKEEPER,
        (0.128, -0.19576, "LB"),
        (second, -0.06356, "CB"),
        (-0.4, 0.063559, "CB"),
        (0.128, -0.19576, "RB"),
        (0.365, -0.10568, "CM"),
        (0.282, 0.0, "CM"),
        (0.365, 0.10568, "CM"),
        (0.54, -0.3161, "LM"),
        (0.51, 0.0, "RM"),
        (0.54, 0.316102, "CF"),
    ]


CORNER_ATTACK = [
    GOALKEEPER,
    (1.0, 0.42, "LB"),
    (0.7, 0.15, "CB"),
    (0.7, 0.05, "CB"),
    (0.7, -0.05, "RB"),
    (0.0, 0.0, "CM"),
    (0.6, 0.35, "CM"),
    (0.8, 0.07, "CM"),
    (0.8, -0.03, "LM"),
    (0.8, -0.13, "RM"),
    (0.7, -0.3, "CF"),
]
CORNER_DEFENCE = [
    GOALKEEPER,
    (-0.75, -0.18, "LB"),
    (-0.75, -0.08, "CB"),
    (-0.75, 0.02, "CB"),
    (-1.0, -0.1, "RB"),
    (-0.8, -0.25, "CM"),
    (-0.88, -0.07, "CM"),
    (-0.88, 0.03, "CM"),
    (-0.88, 0.13, "LM"),
    (-0.75, 0.25, "RM"),
    (-0.2, 0.0, "CF"),
]
#: Rules of an exercise, which ends as soon as it has succeeded or failed.
EXERCISE: dict[str, Any] = {
    "game_duration": 400,
    "offsides": False,
    "end_episode_on_score": True,
    "end_episode_on_out_of_play": True,
    "end_episode_on_possession_change": True,
}


def exercise(ball: tuple[float, float], left: Sequence[Any], right: Sequence[Any], **rules: Any) -> list[Scenario]:
    """Return the only variant of an exercise."""
    return [scenario_from({**EXERCISE, "ball": ball, "left_team": left, "right_team": right, **rules}, "the table")]


def game(kicks_off: Sequence[Any], waits: Sequence[Any], **rules: Any) -> list[Scenario]:
    """Return the variants of a game: the right team kicks off in odd episodes, the left one in even ones."""
    pairs = [(waits, kicks_off)] if waits == kicks_off else [(waits, kicks_off), (kicks_off, waits)]
    return [scenario_from({**rules, "left_team": left, "right_team": right}, "the table") for left, right in pairs]


EASY = {"left_team_difficulty": 0.05, "right_team_difficulty": 0.05}
HARDEST = {"right_team_difficulty": 1.0}

#: Upstream's scenarios: the variants of the episodes 1, 2, ..., which repeat.
UPSTREAM: dict[str, list[Scenario]] = {
    "11_vs_11_competition": game(KICKS_OFF, WAITS, **HARDEST),
    "11_vs_11_easy_stochastic": game(KICKS_OFF, WAITS, right_team_difficulty=0.05),
    "11_vs_11_hard_stochastic": game(KICKS_OFF, WAITS, right_team_difficulty=0.95),
    "11_vs_11_kaggle": game(KAGGLE_KICKS_OFF, KAGGLE_WAITS, second_half=1500, **HARDEST),
    "11_vs_11_stochastic": game(KICKS_OFF, WAITS),
    "1_vs_1_easy": game(
        [GOALKEEPER], [GOALKEEPER], game_duration=500, left_team_difficulty=0.0, right_team_difficulty=0.0
    ),
    "5_vs_5": game(FIVE_KICK_OFF, FIVE_WAIT, **EASY),
    "academy_3_vs_1_with_keeper": exercise(
        (0.62, 0.0),
        [GOALKEEPER, (0.6, 0.0, "CM"), (0.7, 0.2, "CM"), (0.7, -0.2, "CM")],
        [GOALKEEPER, (-0.75, 0.0, "CB")],
    ),
    "academy_corner": exercise((0.99, 0.41), CORNER_ATTACK, CORNER_DEFENCE, end_episode_on_possession_change=False),
    "academy_counterattack_easy": exercise((0.26, -0.11), ATTACK, attacked(0.4)),
    "academy_counterattack_hard": exercise((0.26, -0.11), ATTACK, attacked(-0.4)),
    "academy_empty_goal": exercise((0.02, 0.0), [GOALKEEPER, (0.0, 0.0, "CB")], [AWAY]),
    "academy_empty_goal_close": exercise((0.77, 0.0), [GOALKEEPER, (0.75, 0.0, "CB")], [AWAY]),
    "academy_pass_and_shoot_with_keeper": exercise(
        (0.7, -0.28), [GOALKEEPER, (0.7, 0.0, "CB"), (0.7, -0.3, "CB")], [GOALKEEPER, (-0.75, 0.3, "CB")]
    ),
    "academy_run_pass_and_shoot_with_keeper": exercise(
        (0.7, -0.28), [GOALKEEPER, (0.7, 0.0, "CB"), (0.7, -0.3, "CB")], [GOALKEEPER, (-0.75, 0.1, "CB")]
    ),
    "academy_run_to_score": exercise((0.02, 0.0), [GOALKEEPER, (0.0, 0.0, "CB")], [AWAY, *RUNNERS]),
    "academy_run_to_score_with_keeper": exercise((0.02, 0.0), [GOALKEEPER, (0.0, 0.0, "CB")], [GOALKEEPER, *RUNNERS]),
    "academy_single_goal_versus_lazy": exercise(
        (-0.48, -0.06356),
        KICKS_OFF,
        [GOALKEEPER, *((*player, True) for player in WAITS[1:])],
        game_duration=3000,
    ),
}


def with_settings(variants: Sequence[Scenario], settings: Mapping[str, Any]) -> list[Scenario]:
    """Return variants with other settings."""
    found = {name: checked_setting(name, value, name) for name, value in settings.items()}
    return [replace(variant, **found) for variant in variants]
