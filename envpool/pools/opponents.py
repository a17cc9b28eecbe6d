"""Pools that play some of the players themselves: those that the option `controlled` does not name.

Such a pool is a pool of its API style whose batches come from the core as plain arrays, with a place for each player.
This layer asks the opponents for their actions, steps the environments until a player of the user acts or the episode
has ended, merges what these steps returned, and puts the places of the controlled players into the form of the style.

Invariants:
- What was sent for the user stays in `_turns` until its result is complete: if an opponent raises, or an environment
  fails, the next ``recv`` continues where the last one ended.
- Opponents see copies or arrays that were not handed out, never those of the user.
- While an opponent is asked, no call may change what its answer belongs to: see `_is_asking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from envpool._core.casts import as_action
from envpool._core.definition import CURRENT_PLAYER, LEGAL_ACTION_MASK, RAW_PREFIX
from envpool._core.inputs import ResetOptions, as_ids
from envpool._core.results import ResultTemplate
from envpool._support.text import shown
from envpool.config.checks import check_opponents
from envpool.config.spaces import nested
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError, StateError
from envpool.pools.pool import EnvPool
from envpool.pools.styles import tree
from envpool.pools.styles.players import MASK, is_viewed, view_of
from envpool.sampling.random_actions import draw_legal
from envpool.sampling.sampler import Sampler
from envpool.tasks.players import has_players, row_shape

Array = npt.NDArray[Any]

#: Follows the option `seed` in the seed of random opponents.
OPPONENT_SEED = 0x6F7070
WAY_OUT = "make the pool without the option controlled"
#: Arrays of the steps that a result merges, by what happens to them: a sum, or that any step said so.
SUMMED = ("player:reward", "reward")
ANY = ("player:terminated", "player:truncated")
#: Arrays of the last step of an episode, which the first ones of the next episode leave as they are.
OF_STEP = ("terminated", "truncated", "done", "discount")
ENTRIES = ("episode:", "game:", "final:")
FIRST, LAST = 0, 2  # values of step_type


class Seen(NamedTuple):
    """What the last results said: arrays by environment id and player, bool (num_envs, P)."""

    rows: Array
    acts: Array


class Turns:
    """The steps of a send whose result is not complete.

    Attributes
    ----------
    ids : numpy.ndarray
        int32 (B,): the environments, in the order of the result.
    arrays : list of numpy.ndarray
        What the steps returned so far, merged; empty before the first one.
    waits : bool
        Whether a batch of the core is in flight or ready.
    sent : numpy.ndarray
        Positions of the environments that were sent last.
    pending : numpy.ndarray
        Positions of the environments in which an opponent acts next.
    has_ended : numpy.ndarray
        bool (B,): whether an episode has ended in these steps, and the next one has begun.
    seats : numpy.ndarray
        int64 (B,): the player of the user in the step, with ``controlled="alternate"``.
    errors : dict of int to str
        Texts of failures, by position.
    """

    def __init__(self, ids: Array, seats: Array):
        count = len(ids)
        self.ids, self.seats = ids, seats
        self.arrays: list[Array] = []
        self.waits, self.sent = True, np.arange(count)
        self.pending, self.has_ended = np.zeros(0, np.intp), np.zeros(count, np.bool_)
        self.errors: dict[int, str] = {}


def style_with_opponents(base: Any) -> Any:
    """Return the style of a pool with opponents: the core returns plain arrays, and `Layout` has the form of `base`."""

    class Style(base):  # type: ignore[misc]
        plays_opponents = True
        finish = None  # of merged results only, see `Layout`
        seats_now: Array
        seats_of_step: Array

        def __init__(self, spec: Any):
            super().__init__(spec)
            local = {player: k for k, player in enumerate(spec.shown_players)}
            if spec.controlled != "alternate":
                self.groups = tuple(g._replace(players=tuple(local[p] for p in g.players)) for g in spec.groups)
            self.failures: dict[int, str] = {}

        def view(self, names: Sequence[str], of_players: Any) -> None:
            self.of_players_names = frozenset(of_players)

        def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
            shown_view = view_of(str(self.spec.config.players), names, self.of_players_names, self.groups)
            forms = super().forms(shown_view.names)
            self.merged = Layout(names, self.of_players_names, shown_view, forms, self, super().finish)
            return tuple(names), tuple(names)

        def seats(self, of_final: bool) -> Array:
            """Return the numbers of the players of a result, (B, places) or (1, places); see `PythonStyle.seats`."""
            return self.seats_of_step if of_final else self.seats_now

        def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
            self.failures = dict(errors)

        def set_attributes(self, pool: Any) -> None:
            super().set_attributes(pool)
            pool._begin(self)

        def add_errors_to(self, result: Any, errors: dict[int, str], count: int) -> None:
            super().add_errors(result, errors, count)

    return Style


class Layout:
    """The arrays of a batch, and the forms in which users see those of the controlled players.

    Parameters
    ----------
    names : sequence of str
        Names of the arrays of the core.
    of_players : collection of str
        Names of those that have a place for each player.
    view : object
        See `envpool.pools.styles.players.view_of`.
    forms : (object, object)
        Nests of reset() and step().
    style : Style
        The API style.
    finish : callable
        Completes a result, see ``Style.finish``.
    """

    def __init__(
        self, names: Sequence[str], of_players: Any, view: Any, forms: tuple[Any, Any], style: Any, finish: Any
    ):
        self.names, self.view = list(names), view
        self.at = {name: k for k, name in enumerate(names)}
        self.is_viewed = [is_viewed(name, of_players) for name in names]
        self.of_players = [name in of_players for name in names]
        self.templates = [ResultTemplate(nest, view.names, style.add_errors_to, finish) for nest in forms]
        self.row_id = view.names.index("row:id") if "row:id" in view.names else -1
        self.observed = [n for n in names if n.startswith(("obs", "info"))]
        self.obs_nest = tree.observation(names)
        self.info_nest: Any = tree.info(names)


class OpponentsPool(EnvPool):
    """Mixin for pools with opponents; see the module."""

    _layout: Layout
    _turns: Turns | None = None

    def _begin(self, style: Any) -> None:
        """Set what is known before the first results."""
        spec, shape = self.spec, (self.num_envs, self.spec.num_players)
        self._made_style, self._layout = style, style.merged
        self._players = np.array(spec.shown_players)
        self._alternates = spec.controlled == "alternate"
        # With "alternate", the player of the user in environment i is i, modulo P, and the next one in each episode.
        self._seats = np.arange(self.num_envs) % spec.num_players - 1 if self._alternates else np.zeros(shape[0], int)
        self._seen = Seen(np.zeros(shape, np.bool_), np.zeros(shape, np.bool_))
        self._owed = np.zeros(shape, np.float32)
        self._last: dict[str, Array] = {}
        self._policy = spec.pool_options.get("opponents", "random")
        self._is_asking = False
        seed = spec.config.seed
        self._opponent_sampler = Sampler(None if seed is None else [seed, OPPONENT_SEED])

    @property
    def opponents(self) -> Any:
        """The policy of the players that are not controlled: "random", or a callable; it may be set between calls."""
        return self._policy

    @opponents.setter
    def opponents(self, policy: Any) -> None:
        self._policy = check_opponents("opponents", policy)

    # ---- calls of the user -------------------------------------------------------------------------------------------

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Send actions of the controlled players and return the result of the steps; see `recv`."""
        self.send(action, env_id)
        return self.recv()

    def send(self, action: Any, env_id: Any = None) -> None:
        """Send actions of the controlled players; in a game without turns, with those of the opponents."""
        self._check_nothing_waits()
        ids, fields = self._split_action(action, env_id)
        grids = {field.name: self._places_of(field, fields, ids) for field in self.spec.action_fields}
        if not self.spec.is_turn_based:
            grids = self._with_opponents(grids, ids)
        super().send(packed(grids), ids)
        self._turns = Turns(ids, self._seats[ids])

    def recv(
        self,
        reset: bool = False,
        return_info: bool = True,
        *,
        min_ready: int | None = None,
        timeout: float | None = None,
        env_ids: Any = None,
    ) -> Any:
        """Return the results of what was sent, after the opponents have moved.

        In a turn-based task, environments are stepped until a controlled player is to move or the episode has ended;
        the rewards of these steps are summed. If an opponent raises an exception, the next call continues.

        Raises
        ------
        PoolStateError
            Nothing was sent.
        ConfigError
            There is an argument for a part of the environments.
        """
        self._check_not_asking()
        if min_ready is not None or timeout is not None or env_ids is not None:
            raise ConfigError(f"recv() of a pool with opponents has the results of a whole send: {WAY_OUT}")
        turns = self._turns
        if turns is None:
            return super().recv(reset)
        while True:
            if turns.waits:
                self._merge(turns, list(super().recv() if len(turns.ids) else super()._reset_envs(turns.ids)))
            if not len(turns.pending):
                break
            super().send(packed(self._moves_of_opponents(turns)), turns.ids[turns.pending])
            turns.sent, turns.waits = turns.pending, True
        result = self._result(turns, reset)
        self._turns = None
        return result

    def _send_reset(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, options: ResetOptions | None = None
    ) -> int:
        self._check_not_asking()
        if env_id is not None:
            self._check_nothing_waits()
        count = super()._send_reset(env_id, seeds, options)
        ids = self._ids if env_id is None else np.array(env_id, np.int32)
        self._owed[ids] = 0
        self._turns = Turns(ids, self._seats[ids])
        if env_id is None and seeds is not None and None not in seeds:
            self._opponent_sampler = Sampler([*(seed for seed in seeds if seed is not None), OPPONENT_SEED])
        return count

    def _reset_envs(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, options: ResetOptions | None = None
    ) -> Any:
        self._send_reset(env_id, seeds, options)
        return self.recv(reset=True)

    def _check_not_asking(self) -> None:
        if self._is_asking:
            raise PoolStateError(
                "the pool is asking its opponents for actions, and continues when they have returned them: opponents "
                "cannot step, reset or receive from it; search in another pool"
            )

    def _check_nothing_waits(self) -> None:
        self._check_not_asking()
        if self._turns is not None:
            raise PoolStateError(
                "results of this pool are waiting, since it was sent to, or a call was interrupted: call recv(), or "
                "reset() without ids"
            )

    def _player_mask(self, env_ids: Any) -> npt.NDArray[np.bool_]:
        self._check_nothing_waits()
        mask: npt.NDArray[np.bool_] = self._seen.rows[np.asarray(env_ids)]
        return mask

    def get_state(self, env_id: Any = None) -> NoReturn:
        """Raise StateError: opponents have no states."""
        raise StateError(f"a pool with opponents has no states, since opponents have none: {WAY_OUT}")

    def set_state(self, states: Any, env_id: Any = None) -> NoReturn:
        """Raise StateError, see `get_state`."""
        self.get_state()

    def copy_state(self, source_ids: Any, target_ids: Any) -> NoReturn:
        """Raise StateError, see `get_state`."""
        self.get_state()

    def xla(self) -> NoReturn:
        """Raise ConfigError: opponents are Python code."""
        raise ConfigError(f"xla() does not support opponents, which are Python code: {WAY_OUT}")

    def __reduce__(self) -> Any:
        self.get_state()

    # ---- actions -----------------------------------------------------------------------------------------------------

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
                        f"action dict needs the keys {fields}, or those of groups of players, "
                        f"{[g.name for g in self.spec.groups]}; missing are {missing}, unknown are {unknown}"
                    )
        elif len(fields) == 1:
            parts = {fields[0]: action}
        else:
            raise ActionError(f"action must be a dict with the keys {fields}, got {type(action).__name__}")
        ids = as_ids(env_id)
        ids = self._ids if ids is None else np.array(ids, np.int32)
        for k in np.flatnonzero((ids < 0) | (ids >= self.num_envs))[:1]:
            raise EnvIdError(f"env_id[{k}] must be between 0 and {self.num_envs - 1}, got {ids[k]}; nothing was sent")
        return ids, parts

    def _places_of(self, field: Any, parts: dict[str, Any], ids: Array) -> Array:
        """Return an action array as the core gets it: (B, P, ...), or of a field without players, (B, ...)."""
        count, places = len(ids), len(self._players)
        row = row_shape(field) if has_players(field) else field.shape
        given: Array
        if field.name not in parts:
            given = self._joined(field, parts, count, row)
        else:
            given = as_array("action", field.name, parts[field.name]).copy()
        if given.dtype.kind not in "biuf":
            raise ActionError(f"action {field.name!r} has dtype {given.dtype}, expected {field.dtype}")
        owners, players = parts.get("players.env_id"), parts.get("players.id")
        names_rows = self.spec.is_turn_based and not (owners is None and players is None)
        if not has_players(field) and given.shape == (count, *row) and not names_rows:
            return given
        if not has_players(field) and not self.spec.is_turn_based:
            raise ActionError(f"action {field.name!r} has shape {given.shape}, expected {(count, *row)}")
        mask = self._seen.rows[ids] & self._is_controlled(ids)
        num_rows = int(np.count_nonzero(mask))
        grid = np.zeros((count, self.spec.num_players, *row), given.dtype)
        if given.shape == (count, places, *row) and not names_rows:
            grid[np.arange(count)[:, None], self._places(ids)] = given
        elif owners is not None or players is not None:
            at = self._named_rows(ids, owners, players)
            if given.shape != (len(at[0]), *row):
                raise ActionError(
                    f"action {field.name!r} has shape {given.shape}, expected {(len(at[0]), *row)}: a row for each "
                    "entry of players.env_id; nothing was sent"
                )
            grid[at] = given
        elif given.shape == (num_rows, *row):
            grid[mask] = given
        else:
            moves = f"{(count, *row)}, the move of each environment, or " if not has_players(field) else ""
            raise ActionError(
                f"action {field.name!r} has shape {given.shape}, expected {moves}{(num_rows, *row)}, a row for each "
                f"controlled player in the last results, or {(count, places, *row)}, a place for each; nothing was sent"
            )
        if has_players(field):
            return grid
        acts = self._seen.acts[ids]
        return np.where(acts.any(1).reshape(-1, *[1] * len(row)), grid[np.arange(count), acts.argmax(1)], 0)

    def _named_rows(self, ids: Array, owners: Any, players: Any) -> tuple[Array, Array]:
        """Return the positions of environments, and the players, of rows that name them: EnvPool's form of actions."""
        if owners is None:
            raise ActionError("action dict has 'players.id' without 'players.env_id': pass both, or neither")
        where = {id: k for k, id in enumerate(ids.tolist())}
        owners = as_array("action", "players.env_id", owners).ravel().tolist()
        unknown = [(k, owner) for k, owner in enumerate(owners) if owner not in where]
        if unknown:
            raise EnvIdError(f"players.env_id[{unknown[0][0]}] is {unknown[0][1]}, which is not in env_id")
        at = np.array([where[owner] for owner in owners], np.intp)
        is_own = self._is_controlled(ids)
        if players is None:  # the rows of an environment are those of its players in order
            seen = self._seen.rows[ids] & is_own
            order = np.argsort(at, kind="stable")
            if np.bincount(at, minlength=len(ids)).tolist() != seen.sum(1).tolist():
                raise EnvIdError(
                    "players.env_id must name each environment once for each of its controlled players in the last "
                    "results; pass players.id, or rows in the order of the results"
                )
            numbers = np.empty(len(at), np.intp)
            numbers[order] = np.nonzero(seen)[1]
        else:
            numbers = as_array("action", "players.id", players).ravel()
            if numbers.dtype.kind not in "iu":
                raise ActionError(f"players.id must hold integers, got {shown(players)}")
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
        for env, player in np.argwhere(self._seen.acts[ids] & is_own & ~used)[:1].tolist():
            raise EnvIdError(f"player {player} of env {ids[env]} acts, but has no row; nothing was sent")
        return at, numbers.astype(np.intp)

    def _joined(self, field: Any, parts: dict[str, Any], count: int, row: tuple[int, ...]) -> Array:
        """Return the array (B, places, ...) of the actions of groups."""
        local = {player: k for k, player in enumerate(self.spec.shown_players)}
        grid: Array | None = None
        for group in self.spec.groups:
            if group.name not in parts:
                raise ActionError(f"action dict needs an entry for each group of players; missing is {group.name!r}")
            array = as_array(
                f"group {group.name!r}: action", field.name, flat({"action": parts[group.name]}).get(field.name)
            )
            own_row = group.shapes.get(field.name, row)
            shape = (count, len(group.players), *own_row)
            if array.shape != shape:
                raise ActionError(
                    f"action {field.name!r} of group {group.name!r} has shape {array.shape}, expected {shape}"
                )
            if grid is None:
                grid = np.zeros((count, len(local), *row), array.dtype)
            grid = grid.astype(np.promote_types(grid.dtype, array.dtype))
            part: Any = (slice(None), [local[p] for p in group.players], *map(slice, own_row))
            grid[part] = array
        assert grid is not None
        return grid

    def _with_opponents(self, grids: dict[str, Array], ids: Array) -> dict[str, Array]:
        """Return the actions of all players in a game without turns."""
        envs, players = np.nonzero(self._seen.acts[ids] & ~self._is_controlled(ids))
        if not len(envs):
            return grids
        asked = self._ask(envs, players, ids, {name: array[ids] for name, array in self._last.items()})
        for name, array in asked.items():
            grid = grids[name]
            grids[name] = grid = grid.astype(np.promote_types(grid.dtype, array.dtype))
            grid[envs, players] = array
        return grids

    # ---- opponents ---------------------------------------------------------------------------------------------------

    def _moves_of_opponents(self, turns: Turns) -> dict[str, Array]:
        """Return the moves of the opponents that act next in a turn-based task."""
        arrays = {name: turns.arrays[self._layout.at[name]] for name in self._layout.observed}
        return self._ask(turns.pending, arrays[CURRENT_PLAYER][turns.pending], turns.ids, arrays)

    def _ask(self, envs: Array, players: Array, ids: Array, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Return the actions of opponents by field, a row for each.

        Parameters
        ----------
        envs, players : numpy.ndarray
            (R,): positions of their environments, and their numbers.
        ids : numpy.ndarray
            (B,): ids of environments by position.
        arrays : mapping of str to numpy.ndarray
            The observations and infos, (B, P, ...) or (B, ...).
        """
        layout = self._layout
        rows = {n: a[envs, players] if layout.of_players[layout.at[n]] else a[envs] for n, a in arrays.items()}
        if self._policy == "random":
            return self._random_moves(rows, players)
        info = filled(layout.info_nest, rows)
        info["env_id"] = ids[envs]
        info["players"] = {"env_id": ids[envs], "id": players.astype(np.int32)}
        self._is_asking = True
        try:
            action = self._policy(filled(layout.obs_nest, rows), info)
        finally:
            self._is_asking = False
        given = flat({"action": action})
        checked = {}
        for field in self._asked_fields:
            array = as_array("opponents returned for", field.name, given.get(field.name))
            shape = (len(envs), *(row_shape(field) if has_players(field) else field.shape))
            if array.shape != shape or array.dtype.kind not in "biuf":
                raise ActionError(
                    f"opponents returned for {field.name!r} {shown(given.get(field.name))} of shape {array.shape}, "
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

    # ---- results -----------------------------------------------------------------------------------------------------

    def _places(self, ids: Array) -> Array:
        """Return the numbers of the controlled players of environments, (B, places) or (1, places)."""
        return self._seats[ids][:, None] if self._alternates else self._players[None]

    def _is_controlled(self, ids: Array) -> Array:
        """Return which players are controlled, bool (B, P)."""
        mask = np.zeros((len(ids), self.spec.num_players), np.bool_)
        mask[np.arange(len(ids))[:, None], self._places(ids)] = True
        return mask

    @cached_property
    def _continues(self) -> Array:
        """Whether the arrays of a batch belong to a step rather than to the observation after it."""
        return np.array([n in (*OF_STEP, *ANY) or n.startswith(ENTRIES) for n in self._layout.names])

    def _merge(self, turns: Turns, new: list[Array]) -> None:
        """Add a batch of the core to the steps of a send, and find where an opponent acts next."""
        layout, at = self._layout, turns.sent
        turns.errors |= {int(at[row]): text for row, text in self._made_style.failures.items()}
        self._made_style.failures = {}
        is_first = new[layout.at["elapsed_step"]] == 0
        ids = turns.ids[at]
        if self._alternates:
            self._seats[ids] = (self._seats[ids] + is_first) % self.spec.num_players
        begun = new[layout.at["final:mask"]] if "final:mask" in layout.at else np.zeros(len(at), np.bool_)
        if not turns.arrays:
            turns.arrays = new
            new[layout.at["player:reward"]] += self._owed[ids]
            self._owed[ids] = 0
        else:
            self._add(turns, at, new, begun)
        turns.has_ended[at] |= begun
        self._note_seen(ids, new)
        turns.waits, turns.pending = False, at[:0]
        if self.spec.is_turn_based:
            turn = new[layout.at[CURRENT_PLAYER]]
            is_own = self._is_controlled(ids)[np.arange(len(at)), turn]
            turns.pending = at[(turn >= 0) & ~is_own]

    def _add(self, turns: Turns, at: Array, new: list[Array], begun: Array) -> None:
        """Merge a further batch, of the environments at positions `at`, into the arrays of a send.

        After the end of an episode ("same_step"), the moves of opponents belong to the next one: their rewards are owed
        to its first result, and if it ends before a controlled player has moved, it is not reported.
        """
        layout = self._layout
        is_later = turns.has_ended[at]
        step, later = np.flatnonzero(~is_later), np.flatnonzero(is_later)
        reward, ids = new[layout.at["player:reward"]], turns.ids[at]
        self._owed[ids[later]] = np.where(begun[later, None], 0, self._owed[ids[later]] + reward[later])
        mask = new[layout.at[MASK]]
        for k, name in enumerate(layout.names):
            target, part = turns.arrays[k], new[k]
            if name in SUMMED:
                target[at[step]] += part[step]
            elif name in ANY:
                target[at[step]] |= part[step]
            elif name == "step_type":
                is_start = (target[at] == FIRST) & (part != LAST)
                target[at[step]] = np.where(is_start, FIRST, part)[step]
            elif name.startswith(("episode:", "game:")):
                ended = np.intersect1d(step, np.flatnonzero(new[layout.at[name.partition(":")[0] + ":mask"]]))
                target[at[ended]] = part[ended]
            elif self._continues[k]:
                target[at[step]] = part[step]
            elif layout.of_players[k] and not name.startswith(RAW_PREFIX) and name != MASK:
                keep = turns.arrays[layout.at[MASK]][at] & ~mask & ~is_later[:, None]
                merged = part.copy()
                merged[keep] = target[at][keep]
                target[at] = merged
            elif name != MASK:
                target[at] = part
        masks = turns.arrays[layout.at[MASK]]
        masks[at] |= mask

    def _note_seen(self, ids: Array, arrays: list[Array]) -> None:
        """Note what results say of the players: who has a row, and who acts next; and what opponents will see."""
        layout = self._layout
        mask = arrays[layout.at[MASK]]
        self._seen.rows[ids] = mask
        if self.spec.is_turn_based:
            turn = arrays[layout.at[CURRENT_PLAYER]]
            self._seen.acts[ids] = np.arange(mask.shape[1]) == turn[:, None]
            return
        acts = mask & ~arrays[layout.at["player:terminated"]] & ~arrays[layout.at["player:truncated"]]
        if "final:mask" in layout.at:  # the players of the next episode act, also those whose last one has ended
            begun = arrays[layout.at["final:mask"]]
            acts[begun] = mask[begun]
        self._seen.acts[ids] = acts
        for name in layout.observed:
            array = arrays[layout.at[name]]
            if name not in self._last:
                self._last[name] = np.zeros((self.num_envs, *array.shape[1:]), array.dtype)
            self._last[name][ids] = array

    def _result(self, turns: Turns, reset: bool) -> Any:
        """Return the result of a send in the form of the API style, and note what the user now knows."""
        layout, ids = self._layout, turns.ids
        rows = np.arange(len(ids))[:, None]
        now = self._places(ids)
        step = turns.seats[:, None] if self._alternates and not reset else now
        self._made_style.seats_now, self._made_style.seats_of_step = now, step
        arrays = []
        for k, array in enumerate(turns.arrays):
            if not layout.is_viewed[k]:
                arrays.append(array)
                continue
            is_of_step = self._continues[k] or layout.names[k] == "player:reward"
            # In a step that also begins an episode, the arrays of the step are those of the player of the last one.
            places = step if is_of_step and "final:mask" in layout.at else now
            arrays.append(array[rows, places])
        seen = layout.view.arrays(arrays)
        if layout.row_id >= 0:
            mask = arrays[layout.at[MASK]]
            seen[layout.row_id] = np.broadcast_to(now, mask.shape)[mask].astype(np.int32)
        has_ended = "episode:mask" in layout.at and bool(turns.arrays[layout.at["episode:mask"]].any())
        result = layout.templates[0 if reset else 1].make(seen, has_ended, turns.errors)
        self._seen.rows[ids] = turns.arrays[layout.at[MASK]] & self._is_controlled(ids)
        if reset:  # a reset returns no rewards
            self._owed[ids] += turns.arrays[layout.at["player:reward"]]
        return result


_classes: dict[type, Any] = {}


def with_opponents(base: type[EnvPool]) -> Any:
    """Return the pool class for opponents of a pool class; each is made once."""
    if base not in _classes:
        members = {"__doc__": base.__doc__, "__module__": base.__module__, "_made_by": base._made_by}
        members |= {"_style": style_with_opponents(base._style)}
        meta: Any = type(base)
        _classes.setdefault(base, meta(base.__name__, (OpponentsPool, base), members))
    return _classes[base]


def as_array(whose: str, name: str, values: Any) -> Array:
    """Return values as an array, or raise ActionError if they have no common shape."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ActionError(f"{whose} {name!r} must be an array, got {shown(values)}: {error}") from error


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


def filled(nest: Any, arrays: Mapping[str, Array]) -> Any:
    """Return a nest with arrays in place of their names."""
    return {k: filled(v, arrays) for k, v in nest.items()} if isinstance(nest, dict) else arrays[nest]
