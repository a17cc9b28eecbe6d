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
- While an opponent is asked, no call may change what its answer belongs to: see `_check_not_asking`.
- While one thread receives, another one may send. The notes of a send in `Games` are complete before its result is
  merged: see `_sending`.
"""

from __future__ import annotations

import hashlib
import operator
import time
from collections.abc import Sequence
from functools import cached_property
from threading import RLock, get_ident
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from envpool._core.inputs import ResetOptions, as_ids
from envpool._core.state import split_parts, with_parts
from envpool._support.keywords import with_alias
from envpool._support.text import shown
from envpool.config.checks import check_opponents
from envpool.errors import ConfigError, EnvIdError, PoolStateError, StateError
from envpool.pools.env_pool import EnvPool
from envpool.pools.opponents.actions import OpponentActions, packed
from envpool.pools.opponents.games import ASKS, IDLE, READY, SENT, Games
from envpool.pools.opponents.style import SUMMED, Layout, style_with_opponents
from envpool.pools.states import EnvStates
from envpool.pools.styles.players import MASK
from envpool.pools.uninterrupted import assign, call_and_append, call_and_assign
from envpool.sampling.sampler import Sampler

Array = npt.NDArray[Any]

#: Follows the option `seed` in the seed of random opponents.
OPPONENT_SEED = 0x6F7070
#: Episodes of an environment that opponents may end in a row before the user has moved.
MOST_UNSEEN = 1000
WAY_OUT = "make the pool without the option controlled"
RECV = "call recv() first, or reset() without ids"


class Request(NamedTuple):
    """Condition that a call of ``recv`` waits for.

    Attributes
    ----------
    ids : numpy.ndarray or None
        The environments that it may return; None for all in flight.
    need : int
        Number of results that it waits for.
    limit : int
        Number of results that it returns at most.
    deadline : float or None
        When it returns what is ready, on the clock of ``time.monotonic``.
    is_whole : bool
        True if a sync pool receives everything that is in flight.
    """

    ids: Array | None
    need: int
    limit: int
    deadline: float | None
    is_whole: bool


class OpponentsPool(OpponentActions):
    """Mixin for pools with opponents; see the module."""

    _layout: Layout

    def _begin(self, style: Any) -> None:
        """Set what is known before the first results."""
        spec = self.spec
        self._made_style, self._layout = style, style.merged
        self._alternates = spec.controlled == "alternate"
        first, last = spec.shown_players[0], spec.shown_players[-1]
        is_range = last - first + 1 == len(spec.shown_players)
        self._own: Any = slice(first, last + 1) if is_range else list(spec.shown_players)
        self._games = Games(self.num_envs, spec, self._layout, super()._reset_envs(np.zeros(0, np.int32)))
        self._batches: list[Any] = []  # of the core, not merged yet: at most one
        self._asking, self._sending = {}, RLock()  # a handler of signals may send while its thread does
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
    def _recorded(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_], list[tuple[int, ...]]]:
        """Data that a rollout records: `Games.shown`, `Games.has_begun`, and the shapes of the rows of all arrays."""
        layout, games = self._layout, self._games
        shapes = [
            (len(self.spec.shown_players), *array.shape[2:]) if is_viewed else array.shape[1:]
            for array, is_viewed in zip(games.arrays, layout.is_viewed, strict=True)
        ]
        return games.shown, games.has_begun, shapes

    @property
    def _elapsed(self) -> Array:
        """Steps of the episodes in the last results, int32 (num_envs,); where one ended, its length."""
        at, arrays = self._layout.at, self._games.arrays
        elapsed: Array = arrays[at["elapsed_step"]].copy()
        if "final:mask" in at:  # a step also begins the next episode
            np.copyto(elapsed, arrays[at["final:elapsed_step"]], where=arrays[at["final:mask"]])
        return elapsed

    @property
    def num_outstanding(self) -> int:
        """Number of environments in flight: sent, and not yet received."""
        return 0 if self.closed else int(np.count_nonzero(self._games.stage))

    # ---- calls of the user -------------------------------------------------------------------------------------------

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Send actions of the controlled players and return the result of the steps; see `recv`."""
        self._check_not_asking(receives=True)
        ids, grids, _ = self._prepared(action, env_id)
        self._check_fills(len(ids))
        self._launch(ids, self._completed(ids, grids))
        return self._receive(False, self._request(may_be_empty=not len(ids)))[0]

    def send(self, action: Any, env_id: Any = None) -> None:
        """Send actions of the controlled players; in a game without turns, with those of the opponents."""
        ids, grids, _ = self._prepared(action, env_id)
        self._launch(ids, self._completed(ids, grids))

    @with_alias("env_ids", "env_id")
    def recv(
        self,
        reset: bool = False,
        return_info: bool = True,
        *,
        min_ready: int | None = None,
        timeout: float | None = None,
        env_id: Any = None,
    ) -> Any:
        """Return results of what was sent, after the opponents have moved; see `Pool.recv` for the arguments.

        In a turn-based task, environments are stepped until a controlled player is to move or the episode has ended;
        the rewards of these steps are summed. If an opponent raises an exception, the next call continues.
        """
        self._check_not_asking(receives=True)
        return self._of_recv(self._receive(reset, self._request(min_ready, timeout, env_id))[0], reset)

    def _send_reset(
        self, env_id: Any = None, seeds: Sequence[int | None] | None = None, options: ResetOptions | None = None
    ) -> int:
        self._check_not_asking(receives=True)
        games = self._games
        ids = self._ids if env_id is None else self._idle_ids(env_id)
        changes = [*self._sent(ids), (games.owed, ids, 0), (games.is_unpaid, ids, False)]
        if self.spec.controlled == "alternate" and seeds is not None:
            seeded = ids[[seed is not None for seed in seeds]]
            changes.append((games.shown, seeded, games.first_shown(seeded)))
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
        return self._receive(True, self._request(env_id=env_id, may_be_empty=env_id is not None))

    def _check_not_asking(self, receives: bool = False) -> None:
        """Raise PoolStateError in a call of an opponent, or in one that receives while `_receive` asks opponents."""
        if get_ident() in self._asking or (receives and self.spec.is_turn_based and self._asking):
            raise PoolStateError(
                "the pool is asking its opponents for actions, and continues when they have returned them: opponents "
                "cannot step, reset or receive from it; search in another pool"
            )

    def _idle_ids(self, env_id: Any, may_repeat: bool = False, name: str = "env_id") -> Array:
        """Return ids of environments that are not in flight, all for None; or raise EnvIdError."""
        self._check_not_asking()
        given = as_ids(env_id, name)
        if given is None:
            given = self._ids
            if not self._games.stage.any():
                return given
        for k in np.flatnonzero((given < 0) | (given >= self.num_envs))[:1]:
            raise EnvIdError(f"{name}[{k}] must be between 0 and {self.num_envs - 1}, got {given[k]}")
        ids = np.array(given, np.int32)
        for k in np.flatnonzero(self._games.stage[ids])[:1]:
            raise EnvIdError(f"{name}[{k}] is {ids[k]}, which is still in flight: {RECV}")
        if not may_repeat and len(np.unique(ids)) < len(ids):
            k = next(k for k in range(len(ids)) if ids[k] in ids[:k])
            raise EnvIdError(f"{name}[{k}] is {ids[k]}, which appears twice: pass each id once")
        return ids

    def _player_mask(self, env_id: Any) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = self._games.rows[self._idle_ids(env_id, True)]
        return mask

    def _legal_mask(self, env_id: Any) -> npt.NDArray[np.bool_] | None:
        return super()._legal_mask(self._idle_ids(env_id, True))

    def xla(self) -> NoReturn:
        """Raise ConfigError: opponents are Python code."""
        raise ConfigError(f"xla() does not support opponents, which are Python code: {WAY_OUT}")

    # ---- states ------------------------------------------------------------------------------------------------------

    @with_alias("env_ids", "env_id")
    def get_state(self, env_id: Any = None) -> EnvStates:
        """Return the states of environments, with whose turn it is for the user; see `EnvPool.get_state`.

        The policy of the opponents, and the generator of random ones, are not part of them.
        """
        ids = self._idle_ids(env_id)
        states = super().get_state(ids).states
        parts = [b"".join(column[k].tobytes() for column in self._state_rows(ids)) for k in range(len(ids))]
        return EnvStates(with_parts(states, parts))

    @with_alias("env_ids", "env_id")
    def set_state(self, states: EnvStates, env_id: Any = None) -> None:
        """Restore environments from states of a pool with the same controlled players; see `EnvPool.set_state`."""
        ids = self._idle_ids(env_id)
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
        sources = self._idle_ids([] if source_ids is None else source_ids, True, "source_ids")
        targets = self._idle_ids([] if target_ids is None else target_ids, name="target_ids")
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
        rows[3] = self._games.all_owed(ids)
        return rows

    @cached_property
    def _identity(self) -> tuple[str, bytes]:
        task, digest = super()._identity
        return task, hashlib.blake2b(digest + repr(self.spec.controlled).encode(), digest_size=16).digest()

    # ---- sending and receiving ---------------------------------------------------------------------------------------

    def _sent(self, ids: Array) -> list[Any]:
        """Return the changes with which environments are in flight."""
        games = self._games
        order = np.arange(self._games.clock, self._games.clock + len(ids))
        self._games.clock += len(ids)
        return [
            (games.is_fresh, ids, True),
            (games.order, ids, order),
            (games.shown_at_send, ids, games.shown[ids]),
            (games.stage, ids, SENT),
        ]

    def _launch(self, ids: Array, grids: dict[str, Array]) -> None:
        """Send what `_completed` has returned."""
        with self._sending:
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
        self, min_ready: Any = None, timeout: Any = None, env_id: Any = None, may_be_empty: bool = False
    ) -> Request:
        """Return what a call waits for; raise an exception for arguments that are not allowed, or if it never ends."""
        stage, outstanding = self._games.stage, self.num_outstanding
        deadline = None if timeout is None else time.monotonic() + as_seconds("timeout", timeout)
        need = None if min_ready is None else as_count("min_ready", min_ready, self.num_envs)
        ids = as_ids(env_id)
        if ids is not None:
            for k in np.flatnonzero((ids < 0) | (ids >= self.num_envs))[:1]:
                raise EnvIdError(f"env_id[{k}] must be between 0 and {self.num_envs - 1}, got {ids[k]}")
            ids = np.array(ids, np.int32)
            for k in np.flatnonzero(stage[ids] == IDLE)[:1]:
                raise EnvIdError(f"env_id[{k}] is {ids[k]}, which is not in flight: send to it first")
            if len(np.unique(ids)) < len(ids):
                k = next(k for k in range(len(ids)) if ids[k] in ids[:k])
                raise EnvIdError(f"env_id[{k}] is {ids[k]}, which appears twice: pass each id once")
            if need is not None and need > len(ids):
                raise PoolStateError(
                    f"recv(min_ready={need}) would wait forever, because env_id has {len(ids)} entries: pass more ids"
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
                of_result, texts = self._made_style.failures
                texts = texts if of_result is self._batches[0] else {}
                with self._sending:
                    assign(self._games.plan(self._batches[0], texts, self._acting), self._batches)
            ready = self._ready(request)
            if len(ready) >= request.need:
                break
            asking = self._in_order(ASKS)
            if len(asking):
                self._check_seen(asking)
                moves = packed(self._moves_of_opponents(asking))
                call_and_assign(super().send, (moves, asking), [(stage, asking, SENT)], [])
            left = None if request.deadline is None else max(request.deadline - time.monotonic(), 0.0)
            if left == 0 and has_polled:
                break
            has_polled = True
            self._wait(request, request.need - len(ready), left)
        return self._result(ready, reset)

    def _check_seen(self, ids: Array) -> None:
        """Raise PoolStateError if the opponents end one episode after another; the next call lets them go on."""
        unseen = self._games.unseen
        for id in ids[unseen[ids] >= MOST_UNSEEN][:1].tolist():
            unseen[ids] = 0
            raise PoolStateError(
                f"opponents must leave moves to the controlled players, but ended {MOST_UNSEEN} episodes of env {id} "
                "in a row before one: set other opponents and call recv(), or make the pool with "
                "autoreset_mode='next_step', which returns these episodes"
            )

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
            limits["env_id"] = sent
        call_and_append(super().recv, limits, self._batches)

    def _ready(self, request: Request) -> Array:
        """Return the environments whose results a request may have, in their order."""
        if request.ids is not None:
            own: Array = request.ids[self._games.stage[request.ids] == READY]
            return own
        if request.is_whole and np.count_nonzero(self._games.stage == READY) < request.need:
            return self._ids[:0]  # all at once, or none
        return self._in_order(READY)[: request.limit]

    def _in_order(self, stage: int) -> Array:
        """Return the environments that are in a stage, int32, in the order of their results."""
        games = self._games
        found = (games.stage == stage).nonzero()[0]
        order = games.order[found]
        if (order[1:] < order[:-1]).any():
            found = found[order.argsort(kind="stable")]
        ordered: Array = found.astype(np.int32)
        return ordered

    # ---- results -----------------------------------------------------------------------------------------------------

    def _result(self, ids: Array, reset: bool) -> tuple[Any, list[Array], dict[int, str]]:
        """Return the result of environments in the form of the API style, see `_receive`, and make them idle."""
        layout, games, style = self._layout, self._games, self._made_style
        key, rows = games.key(ids), ids[:, None]
        now = games.shown[key]
        step = games.shown_at_send[key] if self._alternates and not reset else now
        style.shown_now, style.shown_at_step = now, step
        arrays = []
        for k, (array, name) in enumerate(zip(games.arrays, layout.names, strict=True)):
            if not layout.is_viewed[k]:
                part = array[key].copy() if isinstance(key, slice) else array[ids]
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
        errors = {row: text for row, text in enumerate(games.errors[key].tolist()) if text is not None}
        result = layout.templates[0 if reset else 1].make(seen, has_ended, errors, len(ids))
        games.rows[key] = games.arrays[layout.at[MASK]][key] & games.is_controlled(ids)
        games.is_unpaid[key] = reset
        games.stage[key] = IDLE  # the end: from here to the caller, Python looks for no signal
        return result, arrays, errors


def as_count(name: str, value: Any, limit: int) -> int:
    """Return a number of environments, at most `limit`, or raise ConfigError or TypeError."""
    try:
        count = operator.index(None if isinstance(value, (bool, np.bool_)) else value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {shown(value)}") from None
    if not 0 <= count <= limit:
        raise ConfigError(f"{name} must be between 0 and {limit}, the number of envs, got {shown(count)}")
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
