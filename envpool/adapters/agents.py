"""`Agents`: the players of a task under names, as libraries with dicts by agent expect them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from envpool._core.casts import fitted
from envpool._core.definition import CURRENT_PLAYER, LEGAL_ACTION_MASK
from envpool._support.text import shown
from envpool.config.checks import NAN, NO_FLOAT, refused_floats
from envpool.config.options import OPPONENT_OPTIONS
from envpool.config.render_options import RenderOptions
from envpool.config.spaces import ArraySpec, gymnasium_spaces, nested, space_of_nest, to_space
from envpool.errors import ActionError, ConfigError
from envpool.native import Field, PlayerGroup
from envpool.tasks.players import ALL, group_spec, has_players
from envpool.tasks.resolve import resolve
from envpool.tasks.spec import EnvSpec

#: Options of pools that replace agents by opponents.
OF_OPPONENTS = tuple(OPPONENT_OPTIONS)


class Part(NamedTuple):
    """Where the part of an array that belongs to an agent is.

    Attributes
    ----------
    path : tuple of str
        Keys that lead to the array in the nest of a pool with ``players="grid"``.
    place : tuple
        Index into the row of an environment.
    space : gymnasium.spaces.Space
        Space of the part.
    dtype : numpy.dtype
        Type of the array.
    """

    path: tuple[str, ...]
    place: tuple[Any, ...]
    space: Any
    dtype: np.dtype[Any]


class Agents:
    """The agents of a task: their names, their spaces, and their parts of the arrays of a pool with ``players="grid"``.

    Parameters
    ----------
    spec : EnvSpec
        A task with players.

    Attributes
    ----------
    names : list of str
        Names in the order of the players: the name of the group and the number in it, such as ``"adversary_0"``.
    numbers : dict of str to int
        The numbers of the players by name.
    is_turn_based : bool
        If True, agents move in turn, and an action belongs to the agent who moves. If the task has masks of legal
        moves, observations are dicts of ``observation`` and ``action_mask``, int8, which is zero for the others.
    observation_spaces, action_spaces : dict of str to gymnasium.spaces.Space
        Spaces by name.

    Raises
    ------
    ConfigError
        The task has one action for a whole environment, although all its players act.
    """

    def __init__(self, spec: EnvSpec):
        self.is_turn_based = spec.is_turn_based
        for field in spec.action_fields:
            if not has_players(field) and not self.is_turn_based:
                raise ConfigError(
                    f"{spec.task_id} has the action {field.name!r} of a whole environment, which no agent has: use "
                    "envpool.make_gymnasium(..., players='grid')"
                )
        self.names = agent_names(spec.groups)
        self.numbers = {name: k for k, name in enumerate(self.names)}
        self._actions = spec.action_fields
        self._refused = refused_floats(spec.config.require_finite_actions, spec.definition.refuses_nan)
        own = (CURRENT_PLAYER, LEGAL_ACTION_MASK) if self.is_turn_based else ()
        shown = [field for field in spec.shown_fields if field.name not in own]
        legal = [field for field in spec.shown_fields if field.name == LEGAL_ACTION_MASK and field.name in own]
        self._legal_parts = [self._parts(spec, p, legal, "info") for p in range(spec.num_players)]
        self._obs_parts = [self._parts(spec, p, shown, "obs") for p in range(spec.num_players)]
        self._action_parts = [self._parts(spec, p, spec.action_fields, "action") for p in range(spec.num_players)]
        self._info_parts = [self._parts(spec, p, shown, "info") for p in range(spec.num_players)]
        obs_spaces = [
            space_of(parts) if not masks else with_mask(space_of(parts), masks[0].space.shape)
            for parts, masks in zip(self._obs_parts, self._legal_parts, strict=True)
        ]
        self.observation_spaces = dict(zip(self.names, obs_spaces, strict=True))
        self.action_spaces = dict(zip(self.names, map(space_of, self._action_parts), strict=True))

    @staticmethod
    def _parts(spec: EnvSpec, player: int, fields: Sequence[Field], prefix: str) -> list[Part]:
        group = next(group for group in spec.groups if player in group.players)
        parts = []
        for field in fields:
            if not field.name.startswith(prefix):
                continue
            if has_players(field):
                own = group_spec(field, spec.num_players, group._replace(players=(player,)))
                low, high = (bound[0] if np.ndim(bound) else bound for bound in (own.minimum, own.maximum))
                about = ArraySpec(own.dtype, own.shape[1:], low, high)
                index: tuple[Any, ...] = (player, *map(slice, about.shape))
            else:
                about, index = ArraySpec(field.dtype, field.shape, field.low, field.high), ()
            path = tuple(field.name[len(prefix) + 1 :].split(".")) if field.name != prefix else ()
            parts.append(Part(path, index, to_space(about, gymnasium_spaces()), about.dtype))
        return parts

    def observation(self, obs: Any, info: Mapping[str, Any], row: int, player: int) -> Any:
        """Return the observation of an agent: copies of its parts of row `row` of the results of a pool."""
        own = values_of(self._obs_parts[player], obs, row)
        if not self._legal_parts[player]:
            return own
        mask = values_of(self._legal_parts[player], info, row)["legal_action_mask"].astype(np.int8)
        return {"observation": own, "action_mask": mask if self.mover(info, row) == player else np.zeros_like(mask)}

    def mover(self, info: Mapping[str, Any], row: int) -> int:
        """Return the number of the player who moves next; -1 for nobody."""
        return int(info["current_player"][row])

    def info(self, info: Mapping[str, Any], row: int, player: int) -> dict[str, Any]:
        """Return the info of an agent: its parts of the arrays of the task, and ``episode`` if the episode has ended.

        ``episode`` has the return of the agent, with the option ``episode_statistics=True``.
        """
        parts = self._info_parts[player]
        own: dict[str, Any] = values_of(parts, info, row) if parts else {}
        if "_episode" in info and info["_episode"][row]:
            entry = {k: v[row].item() for k, v in info["episode"].items() if not k.startswith(("_", "player_"))}
            own["episode"] = entry | {"r": info["episode"]["player_r"][row, player].item()}
        return own

    def no_actions(self, count: int) -> dict[tuple[str, ...], Any]:
        """Return zero arrays for the actions of `count` environments, by path; see `put`."""
        players = len(self.names)
        shapes = [(count, *(players if size == -1 else size for size in field.shape)) for field in self._actions]
        paths = [part.path for part in self._action_parts[0]]
        return {p: np.zeros(s, f.dtype) for p, s, f in zip(paths, shapes, self._actions, strict=True)}

    def put(self, actions: Mapping[tuple[str, ...], Any], row: int, name: str, action: Any) -> None:
        """Write the action of an agent into row `row` of what `no_actions` returns.

        Raises
        ------
        ActionError
            The action has another form than the agent's action space, or a value that the pool refuses.
        """
        for part in self._action_parts[self.numbers[name]]:
            value = action
            for key in part.path:
                if not isinstance(value, Mapping) or key not in value:
                    raise ActionError(
                        f"the action of {shown(name)} must be a dict with the keys of its space, got {shown(action)}"
                    )
                value = value[key]
            try:
                array = None if value is None else fitted(value, part.dtype)
            except (TypeError, ValueError):
                array = None
            if array is None or array.shape != part.space.shape or not self._takes(part, array):
                raise ActionError(f"the action of {shown(name)} must be an action of {part.space}, got {shown(value)}")
            actions[part.path][(row, *part.place)] = array

    def _takes(self, part: Part, array: np.ndarray[Any, Any]) -> bool:
        """Return whether the pool takes the values of an action; it takes floats that are out of bounds."""
        if part.dtype.kind != "f":
            return bool(part.space.contains(array))
        refused = np.isnan(array) if self._refused == NAN else ~np.isfinite(array)
        return self._refused == NO_FLOAT or not refused.any()

    def joined(self, actions: Mapping[tuple[str, ...], Any]) -> Any:
        """Return what `put` has filled in the form that the ``step`` of a pool takes: an array, or a dict by name."""
        return actions[()] if () in actions else {".".join(("action", *path)): v for path, v in actions.items()}


def agent_names(groups: Sequence[PlayerGroup]) -> list[str]:
    """Return the names of agents in the order of the players: ``"adversary_0"`` is the first of its group."""
    named = {p: f"{'agent' if g.name == ALL else g.name}_{k}" for g in groups for k, p in enumerate(g.players)}
    return [named[player] for player in sorted(named)]


def resolved(task_id: str, options: dict[str, Any]) -> tuple[EnvSpec, RenderOptions | None]:
    """Return the spec, with ``players="grid"``, and the render options of a task with players; see `resolve`.

    Raises
    ------
    ConfigError
        The task has one player, or with the option `observe`, agents would be absent while others move.
    """
    spec, _ = resolve(task_id, "gymnasium", options)
    if not spec.num_players:
        raise ConfigError(f"{task_id} has one player, but this adapter needs agents: use a task with players")
    if spec.config.observe == "current":
        raise ConfigError("observe must be 'all' for an adapter with agents, got 'current': leave it out")
    return resolve(task_id, "gymnasium", options | {"players": "grid"})


def space_of(parts: Sequence[Part]) -> Any:
    """Return the space of some parts."""
    if len(parts) == 1 and parts[0].path == ():
        return parts[0].space
    return space_of_nest(nested({".".join(part.path): part.space for part in parts}), gymnasium_spaces())


def with_mask(space: Any, shape: tuple[int, ...]) -> Any:
    """Return the space of an observation with a mask of legal moves, as in PettingZoo's classic games."""
    spaces = gymnasium_spaces()
    return spaces.Dict({"observation": space, "action_mask": spaces.Box(0, 1, shape, np.int8)})


def values_of(parts: Sequence[Part], nest: Any, row: int) -> Any:
    """Return copies of some parts of the row of an environment, as a nest; a single part without a path is itself."""
    flat = {}
    for part in parts:
        array = nest
        for key in part.path:
            array = array[key]
        value = array[row][part.place]
        is_number = isinstance(part.space, gymnasium_spaces().Discrete)
        flat[".".join(part.path)] = part.space.dtype.type(value) if is_number else np.array(value)
    return flat[""] if list(flat) == [""] else nested(flat)
