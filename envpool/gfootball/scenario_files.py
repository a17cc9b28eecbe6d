"""Scenarios in Python files with upstream's interface: ``build_scenario(builder)``.

Such a file belongs to upstream's package ``gfootball.scenarios``, whose names it imports with ``from . import *``, or
imports ``gfootball_engine``. Both find the names of this module instead, whether upstream is installed or not.
"""

from __future__ import annotations

import enum
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from envpool._support.text import shortened, shown
from envpool.errors import ConfigError
from envpool.gfootball.scenarios import (
    ROLES,
    SETTINGS,
    TEAM,
    Player,
    Scenario,
    checked_player,
    checked_position,
    checked_setting,
    scenario_from,
)

#: Longest sequence of scenarios, by episode number, after which the first one must come again.
MAX_PERIOD = 16
PACKAGE = "gfootball.scenarios"

Role = enum.IntEnum("Role", {f"e_PlayerRole_{name}": i for i, name in enumerate(ROLES)})  # type: ignore[misc]


class Team(enum.IntEnum):
    """The teams, with upstream's names."""

    e_Left = 0
    e_Right = 1


class Ball:
    """The start position of the ball, which upstream lets scenarios set by index."""

    def __init__(self) -> None:
        self.values = [0.0, 0.0, 0.0]

    def __getitem__(self, index: int) -> float:
        return self.values[index]

    def __setitem__(self, index: int, value: float) -> None:
        self.values[index] = value


class Settings:
    """The result of ``builder.config()``: settings that a scenario may read and set, and the teams."""

    left_team: list[Player]
    right_team: list[Player]
    ball_position: Ball

    def __init__(self, where: str):
        self.__dict__.update(SETTINGS, where=where, left_team=[], right_team=[], ball_position=Ball())

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "real_time":  # upstream overwrites it, too
            return
        self.__dict__[name] = checked_setting(name, value, self.__dict__["where"])


class Builder:
    """The builder that a scenario gets, with upstream's methods.

    Parameters
    ----------
    episode : int
        Number of the episode, 1 for the first one.
    where : str
        Name of the file, for errors.
    """

    def __init__(self, episode: int, where: str):
        self.episode, self.where = episode, where
        self.settings = Settings(where)
        self.team = Team.e_Left

    def config(self) -> Settings:
        """Return the settings."""
        return self.settings

    def EpisodeNumber(self) -> int:
        """Return the number of the episode."""
        return self.episode

    def SetTeam(self, team: Any) -> None:
        """Choose the team to which players are added."""
        try:
            self.team = Team(int(team))
        except (TypeError, ValueError):
            raise ConfigError(f"{self.where}: team must be Team.e_Left or Team.e_Right, got {shown(team)}") from None

    def AddPlayer(self, x: float, y: float, role: Any, lazy: bool = False, controllable: bool = True) -> None:
        """Add a player to the chosen team."""
        players = self.settings.left_team if self.team == Team.e_Left else self.settings.right_team
        if len(players) == TEAM:
            raise ConfigError(f"{self.where}: AddPlayer: a team must have at most {TEAM} players")
        players.append(checked_player((x, y, role, lazy, controllable), f"{self.where}: AddPlayer"))

    def SetBallPosition(self, ball_x: float, ball_y: float) -> None:
        """Choose where the ball starts."""
        self.settings.ball_position[0], self.settings.ball_position[1] = ball_x, ball_y

    def finished(self) -> Scenario:
        """Return the scenario."""
        s = self.settings
        ball = checked_position((s.ball_position[0], s.ball_position[1]), f"{self.where}: SetBallPosition")
        values = {name: getattr(s, name) for name in (*SETTINGS, "left_team", "right_team")}
        return scenario_from({**values, "ball": ball}, self.where)


def make_names() -> dict[str, ModuleType]:
    """Return the modules that a scenario may import, by name."""
    engine, package, scenarios = ModuleType("gfootball_engine"), ModuleType("gfootball"), ModuleType(PACKAGE)
    vars(engine).update(e_PlayerRole=Role, e_Team=Team)
    vars(scenarios).update({role.name: role for role in Role}, Team=Team, libgame=engine)
    package.__path__ = []
    vars(package)["scenarios"] = scenarios
    scenarios.__path__ = []
    return {module.__name__: module for module in (engine, package, scenarios)}


NAMES = make_names()
LOCK = threading.RLock()  # a scenario file may make a pool of its own


@contextmanager
def upstream_names() -> Iterator[None]:
    """Let imports of upstream's modules find the modules in `NAMES`."""
    with LOCK:
        before = {name: sys.modules.get(name) for name in NAMES}
        sys.modules.update(NAMES)
        try:
            yield
        finally:
            for name, module in before.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module


def read_file(path: Path) -> list[Scenario]:
    """Return the variants of the scenario in a Python file, for the episodes 1, 2, ..., which repeat.

    Raises
    ------
    ConfigError
        The file cannot be read or run, or its scenario is not allowed.
    """
    where = str(path)
    try:
        code = compile(path.read_bytes(), where, "exec")
    except (OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"scenario {shown(where)} cannot be read: {shortened(str(error))}") from error
    names: dict[str, Any] = {"__name__": f"{PACKAGE}.{path.stem}", "__package__": PACKAGE, "__file__": where}
    with upstream_names():
        try:
            exec(code, names)
            build = names.get("build_scenario")
            if not callable(build):
                raise ConfigError(f"{where} must define build_scenario(builder)")
            found = []
            for episode in range(1, 2 * MAX_PERIOD + 1):
                builder = Builder(episode, where)
                build(builder)
                found.append(builder.finished())
        except ConfigError:
            raise
        except Exception as error:
            raise ConfigError(f"{where} failed: {type(error).__name__}: {shortened(str(error))}") from error
    for period in range(1, MAX_PERIOD + 1):
        if found[period:] == found[:-period]:
            return found[:period]
    raise ConfigError(
        f"{where} must build one scenario, or at most {MAX_PERIOD} that repeat with EpisodeNumber(), but each call "
        "builds another one: the pool calls it once for all episodes, so random positions are not supported. Write "
        "one file per scenario, or choose among a few by EpisodeNumber()"
    )
