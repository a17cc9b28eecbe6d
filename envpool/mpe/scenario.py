"""The base class of the scenarios: options, groups of players, and checks that scenarios share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mpe import letters
from envpool.mpe.entities import Entities
from envpool.native import EnvDefinition, Param, PlayerGroup

MAX_COUNT = 128  # of agents, and of landmarks

#: The option of scenarios that have figures about agents.
BENCHMARK: dict[str, Any] = {"benchmark_data": False}
#: Options of scenarios in which agents may observe only what is near.
NEIGHBOURS: dict[str, Any] = {"num_agent_neighbors": None, "num_landmark_neighbors": None}


def check_count(name: str, count: int, low: int = 1, high: int = MAX_COUNT) -> None:
    """Raise ConfigError unless an option is a number of entities that the scenario allows."""
    if not low <= count <= high:
        raise ConfigError(f"{name} must be between {low} and {high}, got {shown(count)}")


def check_total(names: str, count: int) -> None:
    """Raise ConfigError if options that count entities of one sort add up to too many."""
    if count > MAX_COUNT:
        raise ConfigError(f"{names} must be at most {MAX_COUNT} together, got {shown(count)}")


def places(name: str, value: int | None, others: int) -> int:
    """Return for how many of `others` entities an observation has places.

    Parameters
    ----------
    name : str
        One of `NEIGHBOURS`.
    value : int or None
        Its value; None stands for all.
    others : int
        Number of entities.

    Raises
    ------
    ConfigError, TypeError
        The value is not allowed.
    """
    if value is None:
        return others
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int or None (all), got {shown(value)}")
    if not 1 <= value <= MAX_COUNT:
        raise ConfigError(f"{name} must be between 1 and {MAX_COUNT}, or None (all), got {shown(value)}")
    return value


def stages(last: int, meaning: str) -> dict[str, Param]:
    """Return the parameter of a scenario with a curriculum, whose stages are 0 to `last`."""
    return {"curriculum_stage": Param(0, 0, last, text=f"with curriculum=True, {meaning}")}


class Scenario(EnvDefinition):
    """The base class of all scenarios.

    Actions are int32 (agents,): 0 nothing, 1 left, 2 right, 3 down, 4 up, and for agents that speak ``5 * symbol``
    more, or the symbol alone if they cannot move. Continuous actions are float32 (agents, size): how strongly an agent
    wants nothing, left, right, down and up, and says each symbol; they are clipped to [0, 1].

    Options
    -------
    continuous_actions : bool
        If True, actions are continuous. Default False.
    dynamic_rescaling : bool
        If True, frames show entities the smaller, the farther the outermost one is from the centre. Default True.
    num_agent_neighbors : int or None
        Number of other agents that an agent observes, the nearest ones first; places for missing ones are zero. Default
        None: all.
    num_landmark_neighbors : int or None
        Likewise for landmarks. Default None: all.
    curriculum : bool
        If True, the parameter curriculum_stage sets how hard the task is. Default False: hardest.
    terminate_on_success : bool
        If True, an episode terminates when its aim is reached. Default False.
    benchmark_data : bool
        If True, ``info["benchmark_data"]`` has upstream's figures about each agent, float64; docs/multi_agent.md
        describes them. Default False.
    """

    options: ClassVar[dict[str, Any]] = {"continuous_actions": False, "dynamic_rescaling": True}
    refuses_nan = True
    functions: ClassVar[Any]  # what the scenario does, see definition.pyx
    symbols: ClassVar[int] = 0  # that agents who speak can say; also the length of what agents hear
    num_figures: ClassVar[int] = 0  # about each agent, with benchmark_data

    @classmethod
    def build(cls, config: Any) -> Any:
        """Return the capsule of the scenario."""
        return cls.functions.define(cls, config, cls.num_figures)

    @staticmethod
    def entities(config: Any) -> list[Entities]:
        """Return the entities of the scenario: agents in upstream's order, followed by landmarks."""
        raise NotImplementedError("a scenario must implement entities(config)")

    @classmethod
    def player_groups(cls, config: Any) -> Sequence[PlayerGroup]:
        """Return the groups of agents with the lengths of their observations and continuous actions."""
        groups, first = [], 0
        for kind in cls.entities(config):
            if not kind.is_agent:
                break
            shapes = {"obs": (kind.obs_size,)}
            if config.continuous_actions:
                shapes["action"] = (kind.action_size(cls.symbols, True),)
            if kind.count > 0:
                groups.append(PlayerGroup(kind.name, tuple(range(first, first + kind.count)), shapes))
            first += kind.count
        return groups

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return upstream's frame rate."""
        return 10

    @classmethod
    def render_assets(cls, config: Any, height: int, width: int) -> bytes | None:
        """Return the letters of frames that show what agents say."""
        return letters.render(cls.__name__) if any(kind.speaks for kind in cls.entities(config)) else None
