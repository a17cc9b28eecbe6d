"""State of the environments in a pool with opponents, and how it merges the steps that are one for the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.definition import CURRENT_PLAYER
from envpool.pools.opponents.style import Kind, Layout
from envpool.pools.styles.players import MASK

Array = npt.NDArray[Any]

FIRST, LAST = 0, 2  # values of step_type
#: Values of `Games.stage`: the user has the result; the core steps the environment, or has its row; an opponent acts
#: next; the result is complete.
IDLE, SENT, ASKS, READY = range(4)


class Games:
    """State of each environment, in arrays by env id. The methods change nothing.

    Parameters
    ----------
    num_envs : int
        Number of environments.
    spec : EnvSpec
        The task.
    layout : Layout
        The arrays of a batch.
    empty : sequence of numpy.ndarray
        The arrays of a batch without rows.

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
    has_begun : numpy.ndarray
        bool (num_envs,): whether an episode has begun in the steps since the send. After moves of opponents, the result
        does not tell: its elapsed_step counts them.
    unseen : numpy.ndarray
        int64 (num_envs,): how many episodes have begun and ended since the send without a move of the user.
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
    clock : int
        Counts sends and results, see `order`.
    """

    def __init__(self, num_envs: int, spec: Any, layout: Layout, empty: Sequence[Array]):
        self._layout, self._num_envs, self._num_players = layout, num_envs, spec.num_players
        self._is_turn_based, self._alternates = spec.is_turn_based, spec.controlled == "alternate"
        self._is_async = spec.config.batch_size < num_envs
        self.clock, self._all_ids, self._numbers = 0, np.arange(num_envs), np.arange(spec.num_players)
        self._is_shown = np.zeros((num_envs, spec.num_players), np.bool_)  # except with "alternate"
        self._is_shown[:, list(spec.shown_players)] = True
        places, players = len(spec.shown_players), spec.num_players
        self.stage, self.order = np.zeros(num_envs, np.int8), np.zeros(num_envs, np.int64)
        self.is_fresh = np.ones(num_envs, np.bool_)
        self.has_ended, self.has_begun = np.zeros((2, num_envs), np.bool_)
        self.unseen = np.zeros(num_envs, np.int64)
        self.shown = np.empty((num_envs, places), np.int32)
        self.shown[:] = spec.shown_players
        if spec.controlled == "alternate":
            self.shown[:] = self.first_shown(self._all_ids)
        self.shown_at_send = self.shown.copy()
        self.rows, self.acts = np.zeros((2, num_envs, players), np.bool_)
        self.owed, self.is_unpaid = np.zeros((num_envs, players), np.float32), np.zeros(num_envs, np.bool_)
        self.errors = np.full(num_envs, None, object)
        self.arrays = [np.zeros((num_envs, *a.shape[1:]), a.dtype) for a in empty]

    def first_shown(self, ids: Array) -> Array:
        """Return what `shown` is before the first episode of environments, with "alternate".

        The player of the user in environment i is i, modulo P, and the next one in each episode.
        """
        first: Array = (ids % self._num_players - 1)[:, None]
        return first

    def all_owed(self, ids: Any) -> Array:
        """Return the rewards that the next results of environments have in addition, float32 (B, P)."""
        is_unpaid = self.is_unpaid[ids]
        owed: Array = self.owed[ids].copy()
        if is_unpaid.any():
            owed += np.where(is_unpaid[:, None], self.arrays[self._layout.at["player:reward"]][ids], np.float32(0))
        return owed

    def is_controlled(self, ids: Array) -> Array:
        """Return which players are controlled, bool (B, P)."""
        if not self._alternates:
            return self._is_shown[: len(ids)]
        mask = np.zeros((len(ids), self._num_players), np.bool_)
        mask[np.arange(len(ids))[:, None], self.shown[ids]] = True
        return mask

    def plan(
        self, new: Sequence[Array], texts: Mapping[int, str], acting: Callable[[Array], Array]
    ) -> list[tuple[Any, Any, Any]]:
        """Return the assignments that merge a batch of the core; `texts` are those of failures by row.

        `acting` returns which players of environments act next, bool (n, P).
        """
        layout = self._layout
        ids = self.key(new[layout.at["env_id"]])
        fresh = self.is_fresh[ids]
        are_fresh, is_any_fresh = fresh.all(), fresh.any()
        changes: list[tuple[Any, Any, Any]] = []
        has_next = "final:mask" in layout.at  # a step also begins the next episode
        begun = new[layout.at["final:mask"]] if has_next else np.False_
        is_later = ~fresh & self.has_ended[ids] if has_next else np.zeros(len(fresh), np.bool_)
        if has_next:
            changes.append((self.has_ended, ids, begun | is_later))
            changes.append((self.unseen, ids, np.where(fresh, 0, self.unseen[ids]) + (begun & is_later)))
        is_first = new[layout.at["elapsed_step"]] == 0
        changes.append((self.has_begun, ids, is_first | (~fresh & self.has_begun[ids])))
        mask = new[layout.at[MASK]]
        if self._is_turn_based:
            turn = new[layout.at[CURRENT_PLAYER]]
            acts = self._numbers == turn[:, None]
        else:
            acts = mask & ~new[layout.at["player:terminated"]] & ~new[layout.at["player:truncated"]]
            if has_next and begun.any():
                acts[begun] = acting(new[layout.at["env_id"]][begun])  # the players of the next episode
        shown_players = self.shown[ids]
        if self._alternates:
            begins = is_first & acts.any(1)  # a reset that failed begins no episode
            shown_players = (shown_players + begins[:, None]) % self._num_players
            changes.append((self.shown, ids, shown_players))
        values: list[Any] = list(new) if are_fresh else self._merged(ids, new, fresh, is_later)
        at_reward, owed = layout.at["player:reward"], self.all_owed(ids)
        reward = new[at_reward]
        if is_any_fresh:
            values[at_reward] = select(fresh, reward + owed, values[at_reward])
        # After the end of an episode ("same_step"), the moves of opponents belong to the next one: their rewards are
        # owed to its first result, and if it ends before a controlled player has moved, it is not reported.
        if has_next:
            owed = select(is_later, owed + reward, owed)
        owed[fresh | (is_later & begun)] = 0
        stage = np.full(len(fresh), READY, np.int8)
        if self._is_turn_based:
            stage[(turn >= 0) & ~(shown_players == turn[:, None]).any(1)] = ASKS
        if texts or is_any_fresh:
            errors = self.errors[ids].copy()
            errors[fresh] = None
            for row, text in texts.items():
                errors[row] = text
            changes.append((self.errors, ids, errors))
        pairs = zip(self.arrays, values, strict=True)
        changes += [(array, ids, value) for array, value in pairs if value is not None]
        changes += [
            (self.rows, ids, mask),
            (self.acts, ids, acts),
            (self.owed, ids, owed),
            (self.is_unpaid, ids, False),
            (self.is_fresh, ids, False),
            (self.stage, ids, stage),
        ]
        if self._is_async:
            changes.append((self.order, ids, np.arange(self.clock, self.clock + len(fresh))))
            self.clock += len(fresh)
        return changes

    def key(self, ids: Array) -> Any:
        """Return what selects the rows of environments: a slice if these are all in order, else an array of intp."""
        if len(ids) == self._num_envs and (ids == self._all_ids).all():
            return slice(None)
        return ids.astype(np.intp)

    def _merged(self, ids: Any, new: Sequence[Array], fresh: Array, is_later: Array) -> list[Array | None]:
        """Return the rows of a batch, `new`, merged with those of earlier steps; None for an array that stays as it is.

        The rows of environments that are fresh have no earlier steps.
        """
        layout = self._layout
        values: list[Array | None] = []
        step, mask = ~fresh & ~is_later, new[layout.at[MASK]]
        keep = self.arrays[layout.at[MASK]][ids] & ~mask & step[:, None]
        is_any_kept, is_any_fresh, are_steps = keep.any(), fresh.any(), step.all()

        def where_step(value: Array, old: Array, part: Array) -> Array:
            """Return a value for rows that are further steps, the new one for fresh rows, the old one for the rest."""
            if are_steps:
                return value
            value = select(step, value, old[ids])
            return select(fresh, part, value) if is_any_fresh else value

        for name, kind, part, old in zip(layout.names, layout.kinds, new, self.arrays, strict=True):
            value: Array | None = part
            if kind == Kind.ENTRY:
                ended = step & new[layout.at[name.partition(":")[0] + ":mask"]]
                is_kept = not is_any_fresh and not ended.any()
                value = None if is_kept else select(fresh | ended, part, old[ids])
            elif kind == Kind.SUM:
                value = where_step(old[ids] + part, old, part)
            elif kind == Kind.ANY:
                value = where_step(old[ids] | part, old, part)
            elif kind == Kind.STEP_TYPE:
                first = select((old[ids] == FIRST) & (part != LAST), np.full_like(part, FIRST), part)
                value = where_step(first, old, part)
            elif kind == Kind.OF_STEP:
                value = part if are_steps else select(is_later, old[ids], part)
            elif kind == Kind.MASK:
                value = select(fresh, part, old[ids] | part) if is_any_fresh else old[ids] | part
            elif kind == Kind.PLAYERS and is_any_kept:
                value = select(keep, old[ids], part)
            values.append(value)
        return values


def select(chosen: Array, one: Array, other: Array) -> Array:
    """Return rows of one array where `chosen`, bool (B,) or (B, P), is True, and of another one elsewhere."""
    return np.where(chosen.reshape(*chosen.shape, *[1] * (one.ndim - chosen.ndim)), one, other)
