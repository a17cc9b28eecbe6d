"""Pools that play some of the players themselves: those that the option `controlled` does not name.

Such a pool is a pool of its API style whose batches come from the core as plain arrays, with a place for each player.
This layer asks the opponents for their actions, steps the environments until a player of the user acts or the episode
has ended, merges what these steps returned, and puts the places of the controlled players into the form of the style.

Invariants:
- An environment is in flight from its send until its result is handed out; `Games.stage` says where it is meanwhile. If
  an opponent raises, an environment fails, or Ctrl-C arrives, the next ``recv`` continues from there.
- A batch is merged by a plan of assignments, which is made without changing anything and carried out by one call that
  no signal interrupts. So do the core and `Games.stage` change together; see `envpool.pools.uninterrupted`.
- Opponents see copies, never arrays that the user has.
- While an opponent is asked, no call may change what its answer belongs to: see `_is_asking`.
"""

from __future__ import annotations

import hashlib
import operator
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from envpool._core.casts import as_action
from envpool._core.definition import CURRENT_PLAYER, LEGAL_ACTION_MASK, RAW_PREFIX
from envpool._core.inputs import ResetOptions, as_ids
from envpool._core.results import ResultTemplate
from envpool._core.state import split_parts, with_parts
from envpool._support.keywords import with_alias
from envpool._support.text import shown
from envpool.config.checks import check_opponents
from envpool.config.spaces import nested
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError, StateError
from envpool.pools.pool import EnvPool
from envpool.pools.states import EnvStates
from envpool.pools.styles import tree
from envpool.pools.styles.players import MASK, is_viewed, view_of
from envpool.pools.uninterrupted import assign, call_and_append, call_and_assign
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
#: Values of `Games.stage`: the user has the result; the core steps the environment, or has its row; an opponent acts
#: next; the result is complete.
IDLE, SENT, ASKS, READY = range(4)
RECV = "call recv() first, or reset() without ids"


class Games:
    """What the pool keeps of each environment: arrays by env id.

    Attributes
    ----------
    stage : numpy.ndarray
        int8 (num_envs,): `IDLE`, which is 0, `SENT`, `ASKS` or `READY`.
    order : numpy.ndarray
        int64 (num_envs,): by which results are sorted: when the environment was sent or, in an async pool, ready.
    is_fresh : numpy.ndarray
        bool (num_envs,): whether no step has been merged since the user's send.
    has_ended : numpy.ndarray
        bool (num_envs,): whether an episode has ended in the steps since the send, and the next one has begun.
    shown : numpy.ndarray
        int32 (num_envs, places): the numbers of the controlled players.
    shown_at_send : numpy.ndarray
        The same when the environment was sent: they differ with ``controlled="alternate"``.
    rows, acts : numpy.ndarray
        bool (num_envs, P): which players have rows in the last result, and which act next.
    owed : numpy.ndarray
        float32 (num_envs, P): rewards that the next result has in addition.
    is_unpaid : numpy.ndarray
        bool (num_envs,): whether the last result was one of reset(), without the rewards in `arrays`.
    errors : numpy.ndarray
        object (num_envs,): texts of failures in the steps since the send, or None.
    arrays : list of numpy.ndarray
        (num_envs, ...): what the steps since the send returned, merged, in the order of `Layout.names`.
    """

    def __init__(self, num_envs: int, spec: Any, empty: Sequence[Array]):
        places, players = len(spec.shown_players), spec.num_players
        self.stage, self.order = np.zeros(num_envs, np.int8), np.zeros(num_envs, np.int64)
        self.is_fresh, self.has_ended = np.ones(num_envs, np.bool_), np.zeros(num_envs, np.bool_)
        self.shown = np.empty((num_envs, places), np.int32)
        # With "alternate", the player of the user in environment i is i, modulo P, and the next one in each episode.
        self.shown[:] = spec.shown_players
        if spec.controlled == "alternate":
            self.shown[:, 0] = np.arange(num_envs) % players - 1
        self.shown_at_send = self.shown.copy()
        self.rows, self.acts = np.zeros((2, num_envs, players), np.bool_)
        self.owed, self.is_unpaid = np.zeros((num_envs, players), np.float32), np.zeros(num_envs, np.bool_)
        self.errors = np.full(num_envs, None, object)
        self.arrays = [np.zeros((num_envs, *a.shape[1:]), a.dtype) for a in empty]


class Request(NamedTuple):
    """What a call of ``recv`` waits for.

    Attributes
    ----------
    ids : numpy.ndarray or None
        The environments that it may return; None for all in flight.
    need : int
        Number of results that it waits for.
    most : int
        Number of results that it returns at most.
    deadline : float or None
        When it returns what is ready, on the clock of ``time.monotonic``.
    is_whole : bool
        Whether a sync pool receives everything that is in flight.
    """

    ids: Array | None
    need: int
    most: int
    deadline: float | None
    is_whole: bool


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
            self.failures: tuple[Any, dict[int, str]] = (None, {})

        def view(self, names: Sequence[str], of_players: Any) -> None:
            self.of_players_names = frozenset(of_players)

        def forms(self, names: Sequence[str]) -> tuple[Any, Any]:
            shown_view = view_of(str(self.spec.config.players), names, self.of_players_names, self.groups)
            forms = super().forms(shown_view.names)
            self.merged = Layout(names, self.of_players_names, shown_view, forms, self, super().finish)
            return tuple(names), tuple(names)

        def seats(self, of_final: bool) -> Array:
            """Return the numbers of the players of a result, (B, places); see `PythonStyle.seats`."""
            return self.seats_of_step if of_final else self.seats_now

        def add_errors(self, result: Any, errors: dict[int, str], count: int) -> None:
            self.failures = (result, dict(errors))

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
        # Whether an array belongs to a step rather than to the observation after it.
        self.is_of_step = [n in (*OF_STEP, *ANY) or n.startswith(ENTRIES) for n in names]
        self.templates = [ResultTemplate(nest, view.names, style.add_errors_to, finish) for nest in forms]
        self.row_id = view.names.index("row:id") if "row:id" in view.names else -1
        self.observed = [n for n in names if n.startswith(("obs", "info"))]
        self.obs_nest = tree.observation(names)
        self.info_nest: Any = tree.info(names)


class OpponentsPool(EnvPool):
    """Mixin for pools with opponents; see the module."""

    _layout: Layout
    _games: Games
    _is_asking = False

    def _begin(self, style: Any) -> None:
        """Set what is known before the first results."""
        spec = self.spec
        self._made_style, self._layout = style, style.merged
        self._alternates = spec.controlled == "alternate"
        first, last = spec.shown_players[0], spec.shown_players[-1]
        is_range = last - first + 1 == len(spec.shown_players)
        self._own: Any = slice(first, last + 1) if is_range else list(spec.shown_players)
        self._games = Games(self.num_envs, spec, super()._reset_envs(np.zeros(0, np.int32)))
        self._batches: list[Any] = []  # of the core, not merged yet: at most one
        self._clock = 0  # counts sends and results, see `Games.order`
        self._policy = spec.pool_options.get("opponents", "random")
        seed = spec.config.seed
        self._opponent_sampler = Sampler(None if seed is None else [seed, OPPONENT_SEED])

    @property
    def opponents(self) -> Any:
        """The policy of the players that are not controlled: "random", or a callable; it may be set between calls."""
        return self._policy

    @opponents.setter
    def opponents(self, policy: Any) -> None:
        self._policy = check_opponents("opponents", policy)

    @property
    def _recorded(self) -> tuple[npt.NDArray[np.int32], list[tuple[int, ...]]]:
        """What a rollout records: the numbers of the controlled players, and the shapes of the rows of all arrays."""
        layout, games = self._layout, self._games
        shapes = [
            (len(self.spec.shown_players), *array.shape[2:]) if is_viewed else array.shape[1:]
            for array, is_viewed in zip(games.arrays, layout.is_viewed, strict=True)
        ]
        return games.shown, shapes

    @property
    def num_outstanding(self) -> int:
        """Number of environments in flight: sent, and not yet received."""
        return 0 if self.is_closed else int(np.count_nonzero(self._games.stage))

    # ---- calls of the user -------------------------------------------------------------------------------------------

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Send actions of the controlled players and return the result of the steps; see `recv`."""
        ids, grids, _ = self._prepared(action, env_id)
        self._check_fills(len(ids))
        self._launch(ids, grids)
        return self._receive(False, self._request(may_be_empty=not len(ids)))[0]

    def send(self, action: Any, env_id: Any = None) -> None:
        """Send actions of the controlled players; in a game without turns, with those of the opponents."""
        ids, grids, _ = self._prepared(action, env_id)
        self._launch(ids, grids)

    def recv(
        self,
        reset: bool = False,
        return_info: bool = True,
        *,
        min_ready: int | None = None,
        timeout: float | None = None,
        env_ids: Any = None,
    ) -> Any:
        """Return results of what was sent, after the opponents have moved; see `Pool.recv` for the arguments.

        In a turn-based task, environments are stepped until a controlled player is to move or the episode has ended;
        the rewards of these steps are summed. If an opponent raises an exception, the next call continues.
        """
        self._check_not_asking()
        return self._receive(reset, self._request(min_ready, timeout, env_ids))[0]

    def _send_reset(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, options: ResetOptions | None = None
    ) -> int:
        self._check_not_asking()
        games = self._games
        ids = self._ids if env_id is None else self._idle_ids(env_id, "env_id")
        changes = [*self._sent(ids), (games.owed, ids, 0), (games.is_unpaid, ids, False)]
        if env_id is None and seeds is not None and None not in seeds:
            sampler = Sampler([*(seed for seed in seeds if seed is not None), OPPONENT_SEED])
            changes.append((vars(self), "_opponent_sampler", sampler))
        dropped = self._batches if env_id is None else []
        count: int = call_and_assign(super()._send_reset, (env_id, seeds, options), changes, dropped)
        return count

    def _reset_envs(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, options: ResetOptions | None = None
    ) -> Any:
        return self._reset_and_receive(env_id, seeds, options)[0]

    def _reset_and_receive(self, env_id: Any, seeds: Any, options: Any) -> tuple[Any, list[Array], dict[int, str]]:
        """Reset environments and return their results as `_receive` does; without env_id, those of the next batch."""
        self._send_reset(env_id, seeds, options)
        return self._receive(True, self._request(env_ids=env_id, may_be_empty=env_id is not None))

    def _check_not_asking(self) -> None:
        if self._is_asking:
            raise PoolStateError(
                "the pool is asking its opponents for actions, and continues when they have returned them: opponents "
                "cannot step, reset or receive from it; search in another pool"
            )

    def _idle_ids(self, env_id: Any, name: str, may_repeat: bool = False) -> Array:
        """Return ids of environments that are not in flight, all for None; or raise EnvIdError."""
        self._check_not_asking()
        given = as_ids(env_id, name)
        if given is None:
            given = self._ids
            if not self._games.stage.any():
                return given
        for k in np.flatnonzero((given < 0) | (given >= self.num_envs))[:1]:
            raise EnvIdError(f"{name}[{k}] must be between 0 and {self.num_envs - 1}, got {given[k]}; nothing was sent")
        ids = np.array(given, np.int32)
        for k in np.flatnonzero(self._games.stage[ids])[:1]:
            raise EnvIdError(f"{name}[{k}] is {ids[k]}, which is still in flight: {RECV}; nothing was sent")
        if not may_repeat and len(np.unique(ids)) < len(ids):
            k = next(k for k in range(len(ids)) if ids[k] in ids[:k])
            raise EnvIdError(f"{name}[{k}] is {ids[k]}, which appears twice: pass each id once; nothing was sent")
        return ids

    def _player_mask(self, env_ids: Any) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = self._games.rows[self._idle_ids(env_ids, "env_id", True)]
        return mask

    def _legal_mask(self, env_ids: Any) -> npt.NDArray[np.bool_] | None:
        return super()._legal_mask(self._idle_ids(env_ids, "env_id", True))

    def xla(self) -> NoReturn:
        """Raise ConfigError: opponents are Python code."""
        raise ConfigError(f"xla() does not support opponents, which are Python code: {WAY_OUT}")

    # ---- states ------------------------------------------------------------------------------------------------------

    @with_alias("env_ids", "env_id")
    def get_state(self, env_id: Any = None) -> EnvStates:
        """Return the states of environments, with whose turn it is for the user; see `EnvPool.get_state`.

        The policy of the opponents, and the generator of random ones, are no part of them.
        """
        ids = self._idle_ids(env_id, "env_ids")
        states = super().get_state(ids).states
        parts = [b"".join(column[k].tobytes() for column in self._state_rows(ids)) for k in range(len(ids))]
        return EnvStates(with_parts(states, parts))

    @with_alias("env_ids", "env_id")
    def set_state(self, states: EnvStates, env_id: Any = None) -> None:
        """Restore environments from states of a pool with the same controlled players; see `EnvPool.set_state`."""
        ids = self._idle_ids(env_id, "env_ids")
        if not isinstance(states, EnvStates):
            super().set_state(states, ids)
        columns = self._state_rows(ids[:0])
        sizes = [column.itemsize * int(np.prod(column.shape[1:])) for column in columns]
        inner, parts = split_parts(self, *self._identity, states.states, sum(sizes))
        joined = np.frombuffer(b"".join(parts), np.uint8).reshape(len(parts), sum(sizes))
        values, start = [], 0
        for column, size in zip(columns, sizes, strict=True):
            part = np.ascontiguousarray(joined[:, start : start + size]).view(column.dtype)
            values.append(part.reshape(len(parts), *column.shape[1:]))
            start += size
        shown_players, flags = values[0], np.concatenate([v.view(np.uint8).ravel() for v in values[1:3]])
        if (flags > 1).any() or (shown_players < -1).any() or (shown_players >= self.spec.num_players).any():
            raise StateError("a state has values that get_state() does not return; nothing was restored")
        if len(parts) != len(ids):
            values = [value[:0] for value in values]  # an exception follows
        arrays = zip(self._state_arrays, values, strict=True)
        changes: list[Any] = [(array, ids, value) for array, value in arrays if len(value)]
        changes.append((self._games.is_unpaid, ids, False))
        call_and_assign(super().set_state, (EnvStates(inner), ids), changes, [])

    def copy_state(self, source_ids: Any, target_ids: Any) -> None:
        """Copy states between environments; see `EnvPool.copy_state`."""
        sources = self._idle_ids([] if source_ids is None else source_ids, "source_ids", True)
        targets = self._idle_ids([] if target_ids is None else target_ids, "target_ids")
        changes: list[Any] = []
        if len(sources) == len(targets):  # else an exception follows
            rows = self._state_rows(sources)
            changes = [(array, targets, value) for array, value in zip(self._state_arrays, rows, strict=True)]
            changes.append((self._games.is_unpaid, targets, False))
        call_and_assign(super().copy_state, (sources, targets), changes, [])

    @property
    def _state_arrays(self) -> list[Array]:
        """The arrays of which a state has a row, in addition to what the core keeps."""
        games, layout = self._games, self._layout
        own = [games.shown, games.rows, games.acts, games.owed]
        if self.spec.is_turn_based:
            return own
        return own + [games.arrays[layout.at[name]] for name in layout.observed]  # opponents see them in the next step

    def _state_rows(self, ids: Array) -> list[Array]:
        """Return the rows of `_state_arrays` of idle environments, in which rewards of resets are owed."""
        rows = [array[ids] for array in self._state_arrays]
        rows[3] = self._all_owed(ids)
        return rows

    def _all_owed(self, ids: Array) -> Array:
        games = self._games
        unpaid = games.arrays[self._layout.at["player:reward"]][ids]
        owed: Array = games.owed[ids] + np.where(games.is_unpaid[ids][:, None], unpaid, np.float32(0))
        return owed

    @cached_property
    def _identity(self) -> tuple[str, bytes]:
        task, digest = super()._identity
        return task, hashlib.blake2b(digest + repr(self.spec.controlled).encode(), digest_size=16).digest()

    # ---- sending and receiving ---------------------------------------------------------------------------------------

    def _sent(self, ids: Array) -> list[Any]:
        """Return the changes with which environments are in flight."""
        games = self._games
        order = np.arange(self._clock, self._clock + len(ids))
        self._clock += len(ids)
        return [
            (games.is_fresh, ids, True),
            (games.order, ids, order),
            (games.shown_at_send, ids, games.shown[ids]),
            (games.stage, ids, SENT),
        ]

    def _launch(self, ids: Array, grids: dict[str, Array]) -> None:
        """Send what `_prepared` has returned."""
        call_and_assign(super().send, (packed(grids), ids), self._sent(ids), [])

    def _check_fills(self, count: int) -> None:
        """Raise PoolStateError if a step of a number of environments of an async pool cannot return a batch."""
        outstanding, size = self.num_outstanding, self.spec.config.batch_size
        if self.is_async and count and count + outstanding < size:
            raise PoolStateError(
                f"step() with {count} envs and {outstanding} in flight cannot return a batch of {size}: step more envs "
                "at once, or use send() and recv(); nothing was sent"
            )

    def _request(
        self, min_ready: Any = None, timeout: Any = None, env_ids: Any = None, may_be_empty: bool = False
    ) -> Request:
        """Return what a call waits for; raise an exception for arguments that are not allowed, or if it never ends."""
        stage, outstanding = self._games.stage, self.num_outstanding
        deadline = None if timeout is None else time.monotonic() + as_seconds("timeout", timeout)
        need = None if min_ready is None else as_count("min_ready", min_ready, self.num_envs)
        ids = as_ids(env_ids, "env_ids")
        if ids is not None:
            for k in np.flatnonzero((ids < 0) | (ids >= self.num_envs))[:1]:
                raise EnvIdError(f"env_ids[{k}] must be between 0 and {self.num_envs - 1}, got {ids[k]}")
            ids = np.array(ids, np.int32)
            for k in np.flatnonzero(stage[ids] == IDLE)[:1]:
                raise EnvIdError(f"env_ids[{k}] is {ids[k]}, which is not in flight: send to it first")
            if len(np.unique(ids)) < len(ids):
                k = next(k for k in range(len(ids)) if ids[k] in ids[:k])
                raise EnvIdError(f"env_ids[{k}] is {ids[k]}, which appears twice: pass each id once")
            if need is not None and need > len(ids):
                raise PoolStateError(
                    f"recv(min_ready={need}) would wait forever, because env_ids has {len(ids)} entries: pass more ids"
                )
            is_whole = not self.is_async and need is None and timeout is None and len(ids) == outstanding
            return Request(ids, len(ids) if need is None else need, len(ids), deadline, is_whole)
        if outstanding == 0 and need != 0 and not may_be_empty:
            super().recv()  # raises, since nothing is in flight
        if need is not None:
            if need > outstanding:
                raise PoolStateError(
                    f"recv(min_ready={need}) would wait forever, because {outstanding} envs are in flight: send to "
                    "more envs first"
                )
            return Request(None, need, self.num_envs, deadline, False)
        if not self.is_async:
            return Request(None, outstanding, outstanding, deadline, timeout is None)
        size = self.spec.config.batch_size
        if timeout is None and outstanding < size and not (may_be_empty and outstanding == 0):
            raise PoolStateError(
                f"recv() would wait forever, because {outstanding} envs are in flight and a batch needs {size}: send "
                f"to {size - outstanding} more envs first"
            )
        return Request(None, min(size, outstanding), size, deadline, False)

    def _receive(self, reset: bool, request: Request) -> tuple[Any, list[Array], dict[int, str]]:
        """Return the result of a request, its arrays with the places of the controlled players, and its failures.

        The failures are texts by row. The caller must not do anything in between that Ctrl-C could interrupt: the
        environments of the result are idle.
        """
        stage, has_polled = self._games.stage, False
        while True:
            if self._batches:
                assign(self._plan(self._batches[0]), self._batches)
            ready = self._ready(request)
            if len(ready) >= request.need:
                break
            asking = np.flatnonzero(stage == ASKS)
            if len(asking):
                asking = asking[np.argsort(self._games.order[asking], kind="stable")].astype(np.int32)
                moves = packed(self._moves_of_opponents(asking))
                call_and_assign(super().send, (moves, asking), [(stage, asking, SENT)], [])
            left = None if request.deadline is None else max(request.deadline - time.monotonic(), 0.0)
            if left == 0 and has_polled:
                break
            has_polled = True
            self._wait(request, request.need - len(ready), left)
        return self._result(ready, reset)

    def _wait(self, request: Request, missing: int, timeout: float | None) -> None:
        """Receive rows of the core, which `_batches` then has."""
        if request.is_whole:
            call_and_append(super().recv, {}, self._batches)
            return
        ids = self._ids if request.ids is None else request.ids
        sent = ids[self._games.stage[ids] == SENT]
        if not len(sent) and timeout is not None:
            return
        limits: dict[str, Any] = {"min_ready": min(missing, len(sent)), "timeout": timeout}
        if request.ids is not None:
            limits["env_ids"] = sent
        call_and_append(super().recv, limits, self._batches)

    def _ready(self, request: Request) -> Array:
        """Return the environments whose results a request may have, in their order."""
        games = self._games
        if request.ids is not None:
            own: Array = request.ids[games.stage[request.ids] == READY]
            return own
        found = np.flatnonzero(games.stage == READY)
        ready: Array = found[np.argsort(games.order[found], kind="stable")][: request.most].astype(np.int32)
        return ready

    # ---- actions -----------------------------------------------------------------------------------------------------

    def _prepared(self, action: Any, env_id: Any) -> tuple[Array, dict[str, Array], dict[str, Array]]:
        """Return the ids of a send, the actions as the core gets them, and those of the controlled players, by field.

        The latter are (B, places, ...), or (B, ...) for one move of each environment and for fields without players.
        """
        self._check_not_asking()
        ids, fields = self._split_action(action, env_id)
        grids = {field.name: self._places_of(field, fields, ids) for field in self.spec.action_fields}
        at = np.arange(len(ids))[:, None], self._games.shown[ids]
        own = {f.name: grids[f.name][at] if has_players(f) else grids[f.name] for f in self.spec.action_fields}
        if not self.spec.is_turn_based:
            grids = self._with_opponents(grids, ids)
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
                        f"action dict needs the keys {fields}, or those of groups of players, "
                        f"{[g.name for g in self.spec.groups]}; missing are {missing}, unknown are {unknown}"
                    )
        elif len(fields) == 1:
            parts = {fields[0]: action}
        else:
            raise ActionError(f"action must be a dict with the keys {fields}, got {type(action).__name__}")
        return self._idle_ids(env_id, "env_id"), parts

    def _places_of(self, field: Any, parts: dict[str, Any], ids: Array) -> Array:
        """Return an action array as the core gets it: (B, P, ...), or of a field without players, (B, ...)."""
        count, places = len(ids), len(self.spec.shown_players)
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
        mask = self._games.rows[ids] & self._is_controlled(ids)
        num_rows = int(np.count_nonzero(mask))
        grid = np.zeros((count, self.spec.num_players, *row), given.dtype)
        if given.shape == (count, places, *row) and not names_rows:
            grid[np.arange(count)[:, None], self._games.shown[ids]] = given
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
        acts = self._games.acts[ids]
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
            seen = self._games.rows[ids] & is_own
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
        envs, players = np.nonzero(self._games.acts[ids] & ~self._is_controlled(ids))
        if not len(envs):
            return grids
        asked = self._ask(ids[envs], players)
        for name, array in asked.items():
            grid = grids[name]
            grids[name] = grid = grid.astype(np.promote_types(grid.dtype, array.dtype))
            grid[envs, players] = array
        return grids

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
        info["env_id"] = ids
        info["players"] = {"env_id": ids.copy(), "id": players.astype(np.int32)}
        self._is_asking = True
        try:
            action = self._policy(filled(layout.obs_nest, rows), info)
        finally:
            self._is_asking = False
        given = flat({"action": action})
        checked = {}
        for field in self._asked_fields:
            array = as_array("opponents returned for", field.name, given.get(field.name))
            shape = (len(ids), *(row_shape(field) if has_players(field) else field.shape))
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

    def _is_controlled(self, ids: Array) -> Array:
        """Return which players are controlled, bool (B, P)."""
        mask = np.zeros((len(ids), self.spec.num_players), np.bool_)
        mask[np.arange(len(ids))[:, None], self._games.shown[ids]] = True
        return mask

    def _plan(self, new: list[Array]) -> list[tuple[Any, Any, Any]]:
        """Return the assignments that merge a batch of the core; nothing is changed here."""
        layout, games = self._layout, self._games
        ids = self._key(new[layout.at["env_id"]])
        fresh = games.is_fresh[ids]
        begun = new[layout.at["final:mask"]] if "final:mask" in layout.at else np.zeros(len(fresh), np.bool_)
        shown_players = games.shown[ids]
        if self._alternates:
            is_first = new[layout.at["elapsed_step"]] == 0
            shown_players = (shown_players + is_first[:, None]) % self.spec.num_players
        is_later = ~fresh & games.has_ended[ids]
        values: list[Any] = list(new) if fresh.all() else self._merged(ids, new, fresh, is_later)
        at_reward, owed = layout.at["player:reward"], self._all_owed(ids)
        reward = new[at_reward]
        values[at_reward] = where_rows(fresh, reward + owed, values[at_reward])
        # After the end of an episode ("same_step"), the moves of opponents belong to the next one: their rewards are
        # owed to its first result, and if it ends before a controlled player has moved, it is not reported.
        owed = where_rows(fresh | (is_later & begun), np.zeros_like(owed), where_rows(is_later, owed + reward, owed))
        mask = new[layout.at[MASK]]
        stage = np.full(len(fresh), READY, np.int8)
        if self.spec.is_turn_based:
            turn = new[layout.at[CURRENT_PLAYER]]
            acts = np.arange(mask.shape[1]) == turn[:, None]
            stage[(turn >= 0) & ~(shown_players == turn[:, None]).any(1)] = ASKS
        else:
            acts = mask & ~new[layout.at["player:terminated"]] & ~new[layout.at["player:truncated"]]
            acts[begun] = mask[begun]  # the players of the next episode, also those whose last one has ended
        errors = games.errors[ids].copy()
        errors[fresh] = None
        of_result, texts = self._made_style.failures
        for row, text in texts.items() if of_result is new else ():
            errors[row] = text
        pairs = zip(games.arrays, values, strict=True)
        changes: list[tuple[Any, Any, Any]] = [(array, ids, value) for array, value in pairs if value is not None]
        changes += [
            (games.shown, ids, shown_players),
            (games.rows, ids, mask),
            (games.acts, ids, acts),
            (games.owed, ids, owed),
            (games.is_unpaid, ids, False),
            (games.errors, ids, errors),
            (games.has_ended, ids, begun | is_later),
            (games.is_fresh, ids, False),
            (games.stage, ids, stage),
        ]
        if self.is_async:
            changes.append((games.order, ids, np.arange(self._clock, self._clock + len(fresh))))
            self._clock += len(fresh)
        return changes

    def _key(self, ids: Array) -> Any:
        """Return what selects the rows of environments: a slice, which is faster, if these are all in order."""
        return slice(None) if len(ids) == self.num_envs and (ids == self._ids).all() else ids

    def _merged(self, ids: Any, new: list[Array], fresh: Array, is_later: Array) -> list[Array | None]:
        """Return the rows of a batch, `new`, merged with those of earlier steps; None for an array that stays as it is.

        The rows of environments that are fresh have no earlier steps.
        """
        layout, games = self._layout, self._games
        values: list[Array | None] = []
        step, mask = ~fresh & ~is_later, new[layout.at[MASK]]
        keep = games.arrays[layout.at[MASK]][ids] & ~mask & step[:, None]
        is_any_kept, is_any_fresh = keep.any(), fresh.any()
        for k, name in enumerate(layout.names):
            part, old = new[k], games.arrays[k]
            if name.startswith(("episode:", "game:")):
                ended = step & new[layout.at[name.partition(":")[0] + ":mask"]]
                if not is_any_fresh and not ended.any():
                    values.append(None)
                    continue
                value = where_rows(fresh | ended, part, old[ids])
            elif name in SUMMED:
                value = where_rows(fresh, part, where_rows(step, old[ids] + part, old[ids]))
            elif name in ANY:
                value = where_rows(fresh, part, where_rows(step, old[ids] | part, old[ids]))
            elif name == "step_type":
                first = where_rows((old[ids] == FIRST) & (part != LAST), np.full_like(part, FIRST), part)
                value = where_rows(fresh, part, where_rows(step, first, old[ids]))
            elif layout.is_of_step[k]:
                value = where_rows(~is_later, part, old[ids])
            elif name == MASK:
                value = where_rows(fresh, part, old[ids] | part)
            elif is_any_kept and layout.of_players[k] and not name.startswith(RAW_PREFIX):
                value = where_rows(keep, old[ids], part)
            else:
                value = part
            values.append(value)
        return values

    def _result(self, ids: Array, reset: bool) -> tuple[Any, list[Array], dict[int, str]]:
        """Return the result of environments in the form of the API style, see `_receive`, and make them idle."""
        layout, games, style = self._layout, self._games, self._made_style
        key, rows = self._key(ids), ids[:, None]
        now = games.shown[ids]
        step = games.shown_at_send[ids] if self._alternates and not reset else now
        style.seats_now, style.seats_of_step = now, step
        arrays = []
        for k, (array, name) in enumerate(zip(games.arrays, layout.names, strict=True)):
            if not layout.is_viewed[k]:
                part = array[ids]
            elif not self._alternates:
                part = array[key, self._own].copy() if isinstance(key, slice) else array[rows, now]
            else:
                # In a step that also begins an episode, the arrays of the step are those of the player of the last one.
                is_of_step = layout.is_of_step[k] or name == "player:reward"
                part = array[rows, step if is_of_step and "final:mask" in layout.at else now]
            if reset and name in SUMMED:  # a reset has no rewards: the next result has them
                part = np.zeros_like(part)
            arrays.append(part)
        seen = layout.view.arrays(arrays)
        if layout.row_id >= 0:
            seen[layout.row_id] = now[arrays[layout.at[MASK]]]
        has_ended = "episode:mask" in layout.at and bool(arrays[layout.at["episode:mask"]].any())
        errors = {row: text for row, text in enumerate(games.errors[ids].tolist()) if text is not None}
        result = layout.templates[0 if reset else 1].make(seen, has_ended, errors)
        games.rows[ids] = games.arrays[layout.at[MASK]][ids] & self._is_controlled(ids)
        games.is_unpaid[ids] = reset
        games.stage[ids] = IDLE  # the end: from here to the caller, Python looks for no signal
        return result, arrays, errors


def where_rows(chosen: Array, one: Array, other: Array) -> Array:
    """Return rows of one array where `chosen`, bool (B,) or (B, P), is True, and of another one elsewhere."""
    if chosen.all():
        return one
    if not chosen.any():
        return other
    return np.where(chosen.reshape(*chosen.shape, *[1] * (one.ndim - chosen.ndim)), one, other)


def as_count(name: str, value: Any, most: int) -> int:
    """Return a number of environments, at most `most`, or raise ConfigError or TypeError."""
    try:
        count = operator.index(None if isinstance(value, (bool, np.bool_)) else value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {shown(value)}") from None
    if not 0 <= count <= most:
        raise ConfigError(f"{name} must be between 0 and {most}, the number of envs, got {shown(count)}")
    return count


def as_seconds(name: str, value: Any) -> float:
    """Return a time in seconds, or raise ConfigError or TypeError."""
    try:
        seconds = float(None if isinstance(value, (bool, str, bytes)) else value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be a number of seconds, got {shown(value)}") from None
    if not seconds >= 0:
        raise ConfigError(f"{name} must be at least 0 seconds, got {seconds}")
    return seconds


_classes: dict[type, Any] = {}


def with_opponents(base: type[EnvPool]) -> Any:
    """Return the pool class for opponents of a pool class; each is made once."""
    if base not in _classes:
        members: dict[str, Any] = {"__doc__": base.__doc__, "__module__": base.__module__, "_made_by": base._made_by}
        members["_made_from"] = with_opponents, base
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
