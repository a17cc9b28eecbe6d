"""Rollouts that actors collect with their own policy: one message for many steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import ray

from envpool.adapters.ray.batches import Inbox
from envpool.adapters.ray.fleet import LOSSES, Fleet
from envpool.errors import ConfigError, EnvStepError, PoolStateError


class ActorRollout(NamedTuple):
    """A rollout that an actor has collected.

    Attributes
    ----------
    actor : int
        Number of the actor.
    env_id : numpy.ndarray
        int32 (N,), its environments.
    data : dict
        Arrays (T, N, ...), read-only: ``obs``, ``action``, ``reward``, ``terminated``, ``truncated``, ``first``,
        ``valid``, the arrays of players if there are any, and the extras; (N, ...): ``last_obs``, ``last_first``, and
        the dict ``last`` with the extras of the last observations. See docs/rollout.md.
    """

    actor: int
    env_id: np.ndarray[Any, Any]
    data: dict[str, Any]


class Collector:
    """The rollouts in flight.

    Parameters
    ----------
    fleet : Fleet
        The actors.
    inbox : Inbox
        Replaces actors that are lost.
    restarts : bool
        If True, the successor of an actor that is lost collects the rollout; else EnvStepError is raised first.
    """

    def __init__(self, fleet: Fleet, inbox: Inbox, restarts: bool):
        self._fleet, self._inbox, self._restarts = fleet, inbox, restarts
        self._actors: dict[Any, int] = {}  # by the reference of the rollout
        self._weights: Any = None
        self._asked: dict[int, tuple[int, Any]] = {}

    @property
    def is_idle(self) -> bool:
        """True if no rollout is in flight."""
        return not self._actors

    def send(
        self, num_steps: int, actors: Sequence[int] | None, extras: Mapping[str, Any] | None, weights: Any
    ) -> None:
        """Ask actors for a rollout."""
        chosen = range(len(self._fleet.actors)) if actors is None else actors
        for index in chosen:
            if index not in range(len(self._fleet.actors)) or index in self._actors.values():
                raise ConfigError(
                    f"actors must be between 0 and {len(self._fleet.actors) - 1}, without those that are collecting "
                    f"({sorted(self._actors.values())}), got {index}"
                )
        if weights is not None:
            self._weights = ray.put(weights)
        for index in chosen:
            self._asked[index] = (num_steps, extras)
            self._ask(index, weights is not None)

    def _ask(self, index: int, has_update: bool) -> None:
        num_steps, extras = self._asked[index]
        actor = self._fleet.actors[index]
        ref = actor.collect.remote(num_steps, extras, self._weights if has_update else None, has_update)
        self._actors[ref] = index
        self._inbox.forgive(index)

    def receive(self) -> ActorRollout:
        """Return the rollout that is ready first."""
        while self._actors:
            ready, _ = ray.wait(list(self._actors), num_returns=1)
            index = self._actors[ready[0]]
            ids = self._fleet.ids(index)
            try:
                failures, data = ray.get(ready[0])
            except LOSSES as error:
                self._inbox.replace(index, error)
                failures = dict.fromkeys(ids.tolist(), self._inbox.reason(index))
                data = None
            except ray.exceptions.RayTaskError as error:
                del self._actors[ready[0]]
                raise error.cause from error
            del self._actors[ready[0]]
            if failures is None:
                self._inbox.note_answer(index)
                return ActorRollout(index, ids, data)
            self._ask(index, self._weights is not None)
            if not self._restarts:
                raise EnvStepError(failures, self._inbox.autoreset_mode)
        raise PoolStateError("recv_collect() would wait forever: no actor is collecting, call send_collect() first")
