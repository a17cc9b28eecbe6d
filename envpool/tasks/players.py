"""Tasks with players: their options and groups, and the bounds of each player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from envpool._core.definition import CURRENT_PLAYER, LEGAL_ACTION_MASK, POOL_FIELDS, Description
from envpool._support.text import shown
from envpool.config.spaces import ArraySpec
from envpool.errors import ConfigError
from envpool.native import Field, PlayerGroup

#: Name of the group of all players, unless the environment names groups.
ALL = "agents"
#: Keys of actions, infos and observations of the dm style beside which groups stand: no group can have such a name.
RESERVED = (
    *("action", "mask", "info", "infos"),
    *dict.fromkeys(name.removeprefix("info:").partition(".")[0] for name in POOL_FIELDS),
    *(name.removeprefix("info:") for name in (CURRENT_PLAYER, LEGAL_ACTION_MASK)),
)


def with_players(config: Any, about: Description) -> Any:
    """Return a configuration in which the options of tasks with players are those of the environment.

    Parameters
    ----------
    config : namedtuple
        The validated options of the task.
    about : Description
        The environment definition.

    Raises
    ------
    ConfigError
        The environment has no players, or another number of them.
    """
    count, given = about.num_players, config.max_num_players
    if not about.is_turn_based:
        for name in ("observe", "illegal_actions"):
            if getattr(config, name) is not None:
                raise ConfigError(
                    f"{name} must be None, since {about.name} is not turn-based, got {shown(getattr(config, name))}: "
                    "leave it out"
                )
    if not count:
        if config.players is not None:
            raise ConfigError(
                f"players must be None, since {about.name} has one player, got {shown(config.players)}: leave it out"
            )
        if given != 1:
            raise ConfigError(
                f"max_num_players must be 1, since {about.name} has one player, got {given}: leave it out"
            )
        return config
    if given not in (config._field_defaults["max_num_players"], count):
        raise ConfigError(
            f"max_num_players must be {count}, the number of players of {about.name} with these options, got {given}: "
            "leave it out"
        )
    chosen = {"players": config.players or "rows", "max_num_players": count}
    if about.is_turn_based:
        chosen |= {"observe": config.observe or "all", "illegal_actions": config.illegal_actions or "raise"}
    if config.illegal_actions is not None and LEGAL_ACTION_MASK not in {f.name for f in about.fields}:
        raise ConfigError(
            f"illegal_actions must be None, since {about.name} does not say which moves are legal, got "
            f"{shown(config.illegal_actions)}: leave it out"
        )
    return config._replace(**chosen)


def check_groups(groups: Sequence[PlayerGroup] | None, about: Description) -> tuple[PlayerGroup, ...]:
    """Return the groups of players of an environment, none if it has no players; raise ConfigError for bad ones."""
    count = about.num_players
    if not count:
        return ()
    chosen = (PlayerGroup(ALL, tuple(range(count))),) if groups is None else tuple(groups)
    members = [player for group in chosen for player in group.players]
    if sorted(members) != list(range(count)):
        raise ConfigError(
            f"player_groups() of {about.name} must have each of the {count} players in one group, got {members}"
        )
    names = [group.name for group in chosen]
    if len({*names}) < len(names) or not all(n.isidentifier() and n not in RESERVED for n in names):
        raise ConfigError(
            f"player_groups() of {about.name}: names must be different identifiers other than {', '.join(RESERVED)}, "
            f"got {names}"
        )
    fields = {f.name: f for f in (*about.fields, *about.actions) if has_players(f)}
    for group in chosen:
        if list(group.players) != sorted(group.players):
            raise ConfigError(f"player_groups() of {about.name}: players of {group.name!r} must be in increasing order")
        for name, shape in group.shapes.items():
            whole = row_shape(fields[name]) if name in fields else None
            if (
                whole is None
                or len(shape) != len(whole)
                or any(not 0 < s <= w for s, w in zip(shape, whole, strict=True))
            ):
                raise ConfigError(
                    f"player_groups() of {about.name}: the shape of {name!r} in {group.name!r} must be at most that of "
                    f"a field with players, {whole}, got {shape}"
                )
    return chosen


def check_controlled(spec: Any, options: Mapping[str, Any]) -> tuple[int, ...] | Literal["alternate"] | None:
    """Return the players that the user of a pool controls, see `EnvSpec.controlled`.

    Parameters
    ----------
    spec : EnvSpec
        The task, with all of its groups.
    options : mapping of str to object
        Options in their normal forms, with or without `controlled` and `opponents`.

    Raises
    ------
    ConfigError
        The task has no such players, or the options do not fit together.
    """
    chosen, name = options.get("controlled"), spec.task_id or spec.env.__name__
    if chosen is None:
        if options.get("opponents", "random") != "random":
            raise ConfigError("opponents play the players that are not controlled: pass controlled, for example [0]")
        return None
    count, config = spec.num_players, spec.config
    if not count:
        raise ConfigError(f"controlled must be None, since {name} has one player, got {shown(chosen)}: leave it out")
    if spec.is_turn_based and config.autoreset_mode == "same_step" and config.max_episode_steps < count:
        raise ConfigError(
            f"max_episode_steps must be at least {count}, a move of each player, with controlled and "
            f"autoreset_mode='same_step', got {config.max_episode_steps}: episodes could end before your player has "
            "ever moved, and step() would not return"
        )
    if chosen == "alternate":
        if config.players != "rows":
            raise ConfigError(
                f"players must be 'rows' with controlled='alternate', since an environment has one row, got "
                f"{config.players!r}: leave it out"
            )
        if not have_equal_spaces(spec):
            raise ConfigError(
                f"controlled='alternate' needs players with equal spaces, and those of {name} differ: name the players"
            )
        return "alternate"
    groups = {group.name: group.players for group in spec.groups}
    players: list[int] = []
    for item in chosen:
        if isinstance(item, str) and item not in groups:
            raise ConfigError(
                f"controlled must have numbers of players, names of groups ({', '.join(groups)}), or be 'alternate', "
                f"got {shown(item)}"
            )
        if not isinstance(item, str) and not 0 <= item < count:
            raise ConfigError(f"controlled must have players of {name}, 0 to {count - 1}, got {item}")
        players += groups[item] if isinstance(item, str) else [item]
    if len({*players}) < len(players):
        raise ConfigError(f"controlled must name each player once, got {shown(chosen)}")
    return tuple(sorted(players))


def has_players(field: Field) -> bool:
    """Return whether an array has a row for each player, if its environment has players."""
    return bool(field.shape) and field.shape[0] == -1


def row_shape(field: Field) -> tuple[int, ...]:
    """Return the shape of the row of a player."""
    return field.shape[1:]


def bounds_of(field: Field, count: int) -> tuple[Any, Any]:
    """Return the bounds of all players, arrays (count, *row); None for a bound that a field does not have."""

    def spread(bound: Any) -> npt.NDArray[Any] | None:
        shape = (count, *row_shape(field))
        return None if bound is None else np.resize(bound, int(np.prod(shape))).reshape(shape)

    return spread(field.low), spread(field.high)


def row_spec(field: Field, count: int, shown: Sequence[int] | None = None) -> ArraySpec:
    """Return the spec of one row of a field, whose bounds are those of all players, or of those that are shown."""
    if not count or not has_players(field) or max(np.size(field.low), np.size(field.high)) == 1:
        return ArraySpec(field.dtype, field.shape, field.low, field.high)
    own = list(range(count) if shown is None else shown)
    low, high = (None if bound is None else bound[own] for bound in bounds_of(field, count))
    return ArraySpec(
        field.dtype, field.shape, None if low is None else low.min(axis=0), None if high is None else high.max(axis=0)
    )


def group_spec(field: Field, count: int, group: PlayerGroup) -> ArraySpec:
    """Return the spec of the rows of the players of a group."""
    shape = group.shapes.get(field.name, row_shape(field))
    part = (list(group.players), *map(slice, shape))
    low, high = (None if bound is None else bound[part] for bound in bounds_of(field, count))
    return ArraySpec(field.dtype, (len(group.players), *shape), low, high)


def have_equal_spaces(spec: Any) -> bool:
    """Return whether the observations, infos and actions of all players of a task have the same shapes and bounds."""
    groups = {player: group for group in spec.groups for player in group.players}

    def alike(field: Field, one: int, other: int) -> bool:
        a, b = (group_spec(field, spec.num_players, groups[p]._replace(players=(p,))) for p in (one, other))
        bounds = (a.minimum, b.minimum), (a.maximum, b.maximum)
        return a.shape == b.shape and all(np.array_equal(x, y) for x, y in bounds)

    fields = [field for field in (*spec.shown_fields, *spec.action_fields) if has_players(field)]
    return all(alike(field, 0, player) for field in fields for player in range(1, spec.num_players))


def refuse_players(spec: Any, what: str, way_out: str) -> None:
    """Raise ConfigError if a task has players, for something that does not know them.

    Parameters
    ----------
    spec : EnvSpec
        The task.
    what : str
        Subject of the sentence: the thing that does not support them.
    way_out : str
        End of the sentence: the remedy.
    """
    if spec.num_players:
        raise ConfigError(
            f"{what} does not support tasks with players, and {spec.task_id or spec.env.__name__} has "
            f"{spec.num_players}: {way_out}"
        )
