"""The actions of a pool with opponents: what users pass, and what the opponents are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from threading import get_ident
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.casts import as_action
from envpool._core.definition import CURRENT_PLAYER, LEGAL_ACTION_MASK
from envpool._core.inputs import as_ids
from envpool._support.text import shown
from envpool.config.checks import as_array
from envpool.config.spaces import nested
from envpool.errors import ActionError, EnvIdError
from envpool.pools.env_pool import EnvPool
from envpool.pools.opponents.games import Games
from envpool.pools.opponents.style import Layout
from envpool.sampling.random_actions import draw_legal
from envpool.sampling.sampler import Sampler
from envpool.tasks.players import has_players, row_shape

Array = npt.NDArray[Any]


class OpponentActions(EnvPool):
    """Mixin for pools with opponents: makes the actions of all players."""

    _layout: Layout
    _games: Games
    _policy: Any
    _opponent_sampler: Sampler
    _asking: dict[int, bool]  # by thread that asks opponents

    def _check_not_asking(self, receives: bool = False) -> None:
        raise NotImplementedError

    def _idle_ids(self, env_id: Any, may_repeat: bool = False, name: str = "env_id") -> Array:
        raise NotImplementedError

    def _prepared(self, action: Any, env_id: Any) -> tuple[Array, dict[str, Array], dict[str, Array]]:
        """Return the ids of a send, the actions that `_completed` takes, and those of the controlled players, by field.

        The latter are (B, places, ...), or (B, ...) for one move of each environment and for fields without players.
        """
        self._check_not_asking()
        ids, fields = self._split_action(action, env_id)
        grids = {field.name: self._places_of(field, fields, ids) for field in self.spec.action_fields}
        at = np.arange(len(ids))[:, None], self._games.shown[ids]
        own = {f.name: grids[f.name][at] if has_players(f) else grids[f.name] for f in self.spec.action_fields}
        return ids, grids, own

    def _split_action(self, action: Any, env_id: Any) -> tuple[Array, dict[str, Any]]:
        """Return the ids of a send, and the arrays of an action: by field, or under names of groups."""
        fields = [field.name for field in self.spec.action_fields]
        parts: dict[str, Any]
        if isinstance(action, Mapping):
            parts = dict(action)
            own = parts.pop("env_id", None)
            env_id = own if env_id is None else env_id
            if not parts or not {*parts} <= {g.name for g in self.spec.groups}:
                parts = flat(parts)
                parts["players.id"], owners = parts.pop("players.id", None), parts.pop("players.env_id", None)
                parts["players.env_id"] = owners
                unknown = [k for k in parts if k not in (*fields, "players.id", "players.env_id")]
                missing = [k for k in fields if k not in parts]
                if unknown or missing:
                    raise ActionError(
                        f"action must have the keys {fields}, or those of groups of players, "
                        f"{[g.name for g in self.spec.groups]}; missing are {missing}, unknown are {unknown}"
                    )
        elif len(fields) == 1:
            parts = {fields[0]: action}
        else:
            raise ActionError(f"action must be a dict with the keys {fields}, got {type(action).__name__}")
        return self._idle_ids(env_id), parts

    def _places_of(self, field: Any, parts: dict[str, Any], ids: Array) -> Array:
        """Return an action array as the core gets it: (B, P, ...), or of a field without players, (B, ...)."""
        count, places = len(ids), len(self.spec.shown_players)
        row = row_shape(field) if has_players(field) else field.shape
        given: Array
        if field.name not in parts:
            given = self._joined(field, parts, count, row)
        else:
            given = as_array(f"action {field.name!r}", parts[field.name], ActionError).copy()
        if given.dtype.kind not in "biuf":
            raise ActionError(f"action {field.name!r} must have the dtype {field.dtype}, got {given.dtype}")
        owners, players = parts.get("players.env_id"), parts.get("players.id")
        names_rows = self.spec.is_turn_based and not (owners is None and players is None)
        if not has_players(field) and given.shape == (count, *row) and not names_rows:
            return given
        if not has_players(field) and not self.spec.is_turn_based:
            raise ActionError(f"action {field.name!r} must have the shape {(count, *row)}, got {given.shape}")
        mask = self._games.rows[ids] & self._games.is_controlled(ids)
        num_rows = int(np.count_nonzero(mask))
        grid = np.zeros((count, self.spec.num_players, *row), given.dtype)
        if given.shape == (count, places, *row) and not names_rows:
            grid[np.arange(count)[:, None], self._games.shown[ids]] = given
        elif owners is not None or players is not None:
            at = self._named_rows(ids, owners, players)
            if given.shape != (len(at[0]), *row):
                raise ActionError(
                    f"action {field.name!r} must have the shape {(len(at[0]), *row)}, a row for each entry of "
                    f"players.env_id, got {given.shape}; nothing was sent"
                )
            grid[at] = given
        elif given.shape == (num_rows, *row):
            grid[mask] = given
        else:
            moves = f"{(count, *row)}, the move of each environment, or " if not has_players(field) else ""
            raise ActionError(
                f"action {field.name!r} must have the shape {moves}{(num_rows, *row)}, a row for each controlled "
                f"player in the last results, or {(count, places, *row)}, a place for each, got {given.shape}; nothing "
                "was sent"
            )
        if has_players(field):
            return grid
        acts = self._games.acts[ids]
        return np.where(acts.any(1).reshape(-1, *[1] * len(row)), grid[np.arange(count), acts.argmax(1)], 0)

    def _named_rows(self, ids: Array, owners: Any, players: Any) -> tuple[Array, Array]:
        """Return the positions of environments, and the players, of rows that name them: EnvPool's form of actions."""
        if owners is None:
            raise ActionError("action dict has 'players.id' without 'players.env_id': pass both, or neither")
        where = {id: k for k, id in enumerate(ids.tolist())}
        owner_ids: Any = as_ids(owners, "players.env_id")
        owners = owner_ids.tolist()
        unknown = [(k, owner) for k, owner in enumerate(owners) if owner not in where]
        if unknown:
            raise EnvIdError(f"players.env_id[{unknown[0][0]}] is {unknown[0][1]}, which is not in env_id")
        at = np.array([where[owner] for owner in owners], np.intp)
        is_own = self._games.is_controlled(ids)
        numbers: Any = as_ids(players, "players.id")
        if numbers is None:  # the rows of an environment are those of its players in order
            seen = self._games.rows[ids] & is_own
            order = np.argsort(at, kind="stable")
            if np.bincount(at, minlength=len(ids)).tolist() != seen.sum(1).tolist():
                raise EnvIdError(
                    "players.env_id must name each environment once for each of its controlled players in the last "
                    "results; pass players.id, or rows in the order of the results"
                )
            numbers = np.empty(len(at), np.intp)
            numbers[order] = np.nonzero(seen)[1]
        if len(numbers) != len(at):
            raise ActionError(f"players.id has {len(numbers)} entries, and players.env_id {len(at)}")
        used = np.zeros(is_own.shape, np.bool_)
        for k, (env, player) in enumerate(zip(at.tolist(), numbers.tolist(), strict=True)):
            if not 0 <= player < self.spec.num_players or not is_own[env, player]:
                raise EnvIdError(
                    f"players.id[{k}] is {player}, which is not a controlled player of env {ids[env]}: those are "
                    f"{np.flatnonzero(is_own[env]).tolist()}; nothing was sent"
                )
            if used[env, player]:
                raise EnvIdError(f"two rows are of player {player} of env {ids[env]}; nothing was sent")
            used[env, player] = True
        for env, player in np.argwhere(self._games.acts[ids] & is_own & ~used)[:1].tolist():
            raise EnvIdError(f"player {player} of env {ids[env]} acts, but has no row; nothing was sent")
        return at, numbers.astype(np.intp)

    def _joined(self, field: Any, parts: dict[str, Any], count: int, row: tuple[int, ...]) -> Array:
        """Return the array (B, places, ...) of the actions of groups."""
        local = {player: k for k, player in enumerate(self.spec.shown_players)}
        grid: Array | None = None
        for group in self.spec.groups:
            if group.name not in parts:
                raise ActionError(f"action dict needs an entry for each group of players; missing is {group.name!r}")
            given = flat({"action": parts[group.name]}).get(field.name)
            array = as_array(f"group {group.name!r}: action {field.name!r}", given, ActionError)
            own_row = group.shapes.get(field.name, row)
            shape = (count, len(group.players), *own_row)
            if array.shape != shape:
                raise ActionError(
                    f"action {field.name!r} of group {group.name!r} must have the shape {shape}, got {array.shape}"
                )
            if grid is None:
                grid = np.zeros((count, len(local), *row), array.dtype)
            grid = grid.astype(np.promote_types(grid.dtype, array.dtype))
            part: Any = (slice(None), [local[p] for p in group.players], *map(slice, own_row))
            grid[part] = array
        assert grid is not None
        return grid

    def _completed(self, ids: Array, grids: dict[str, Array]) -> dict[str, Array]:
        """Return the actions of a send as the core gets them: in a game without turns, with those of the opponents.

        They are asked once the actions of the user have been checked, since a policy may remember what it was asked.
        """
        if self.spec.is_turn_based:
            return grids
        envs, players = np.nonzero(self._games.acts[ids] & ~self._games.is_controlled(ids))
        if not len(envs):
            return grids
        allowed = {name: array[players] for name, array in self._allowed_actions.items()}
        self._check_actions(packed(with_rows(grids, envs, players, allowed)), ids)
        return with_rows(grids, envs, players, self._ask(ids[envs], players))

    @cached_property
    def _allowed_actions(self) -> dict[str, Array]:
        """An action of each player that is within the bounds, by field, (P, ...)."""
        fields = [f.name for f in self._asked_fields]
        return {name: self._random_actions.fields[name].draw(Sampler(0), 1)[0] for name in fields}

    # ---- opponents ---------------------------------------------------------------------------------------------------

    def _moves_of_opponents(self, ids: Array) -> dict[str, Array]:
        """Return the moves of the opponents that act next in environments of a turn-based task."""
        return self._ask(ids, self._games.arrays[self._layout.at[CURRENT_PLAYER]][ids])

    def _ask(self, ids: Array, players: Array) -> dict[str, Array]:
        """Return the actions of opponents by field, a row for each.

        Parameters
        ----------
        ids, players : numpy.ndarray
            (R,): their environments, and their numbers.
        """
        layout, rows = self._layout, {}
        for name in layout.observed:
            array = self._games.arrays[layout.at[name]]
            rows[name] = array[ids, players] if layout.of_players[layout.at[name]] else array[ids]
        if self._policy == "random":
            return self._random_moves(rows, players)
        info = filled(layout.info_nest, rows)
        info["env_id"] = ids.copy()  # the policy may write to it
        info["players"] = {"env_id": ids.copy(), "id": players.astype(np.int32)}
        thread = get_ident()
        self._asking[thread] = True  # an item, since Ctrl-C could come after a call
        try:
            action = self._policy(filled(layout.obs_nest, rows), info)
        finally:
            del self._asking[thread]
        given = flat({"action": action})
        checked = {}
        for field in self._asked_fields:
            if field.name not in given:
                names = [f.name.removeprefix("action.") for f in self._asked_fields]
                form = "an array of actions" if field.name == "action" else f"a dict with the keys {names}"
                raise ActionError(f"opponents must return {form}, got {shown(action)}")
            array = as_array(f"what opponents return for {field.name!r}", given[field.name], ActionError)
            shape = (len(ids), *(row_shape(field) if has_players(field) else field.shape))
            if array.shape != shape or array.dtype.kind not in "biuf":
                raise ActionError(
                    f"opponents returned for {field.name!r} {shown(given[field.name])} of shape {array.shape}, "
                    f"expected numbers of shape {shape}: a row for each row of their observations"
                )
            one_field = len(self.spec.action_fields) == 1
            checked[field.name] = array if one_field else as_action(field.name, array, field.dtype)
        return checked

    @cached_property
    def _asked_fields(self) -> list[Any]:
        """The fields of the actions of opponents: without turns, the user chooses what concerns whole environments."""
        return [f for f in self.spec.action_fields if has_players(f) or self.spec.is_turn_based]

    def _random_moves(self, rows: Mapping[str, Array], players: Array) -> dict[str, Array]:
        sampler = self._opponent_sampler
        if LEGAL_ACTION_MASK in rows and self.spec.is_turn_based:
            mask = rows[LEGAL_ACTION_MASK] | ~rows[LEGAL_ACTION_MASK].any(1, keepdims=True)
            return {self.spec.action_fields[0].name: draw_legal(sampler, mask)}
        result, rows_of = {}, np.arange(len(players))
        for field in self._asked_fields:
            drawn = self._random_actions.fields[field.name].draw(sampler, len(players))
            result[field.name] = drawn[rows_of, players] if has_players(field) else drawn
        return result


def flat(nest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves of nested dicts by names with dots."""
    result: dict[str, Any] = {}
    for name, value in nest.items():
        inner = flat(value) if isinstance(value, Mapping) else {"": value}
        result |= {f"{name}.{k}" if k else name: v for k, v in inner.items()}
    return result


def packed(arrays: Mapping[str, Array]) -> Any:
    """Return arrays by field in the form that the core takes."""
    return next(iter(arrays.values())) if len(arrays) == 1 else nested(dict(arrays))


def with_rows(grids: Mapping[str, Array], envs: Array, players: Array, rows: Mapping[str, Array]) -> dict[str, Array]:
    """Return copies of arrays (B, P, ...) by field in which some players have other rows."""
    result = dict(grids)
    for name, array in rows.items():
        result[name] = grid = grids[name].astype(np.promote_types(grids[name].dtype, array.dtype))
        grid[envs, players] = array
    return result


def filled(nest: Any, arrays: Mapping[str, Array]) -> Any:
    """Return a nest with arrays in place of their names."""
    return {k: filled(v, arrays) for k, v in nest.items()} if isinstance(nest, dict) else arrays[nest]
