"""The side of an actor: a pool of some of the environments, and the policy if it acts there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import envpool
from envpool._support.machine import numa_nodes
from envpool.adapters.ray.rows import blank, error_entries, without_texts
from envpool.adapters.ray.shared import Address, Request, Writer
from envpool.errors import EnvStepError
from envpool.pools.recovery import drop_in_flight
from envpool.tasks.players import has_players

#: Result of a call that may fail: the failures by global env id, and the result; one of them is None.
Outcome = tuple[dict[int, str] | None, Any]


class PoolMaker:
    """Makes the pool of an actor.

    Parameters
    ----------
    task : str, callable or list of callable
        A task id for ``envpool.make_gymnasium``; or a function that returns an environment, or one function per
        environment of the actor, for ``envpool.make_python``.
    count : int
        Number of environments.
    options : dict
        Options of the pool.
    """

    def __init__(self, task: Any, count: int, options: dict[str, Any]):
        self.task, self.count, self.options = task, count, options

    def __call__(self, count: int | None = None, **options: Any) -> Any:
        """Return a new pool, with other options or with fewer environments."""
        size = {"num_envs": self.count if count is None else count}
        if isinstance(self.task, str):
            return envpool.make_gymnasium(self.task, **self.options | options | size)
        task = self.task if callable(self.task) else self.task[: size["num_envs"]]
        return envpool.make_python(task, **self.options | options | size)


class PoolActor:
    """The actor. Env ids in its arguments count from 0 in its own pool; ids in its results are global.

    If the argument `request` of a method is not None, the driver can see the memory of the actor, and the result may be
    a `Shared`.

    Parameters
    ----------
    make : PoolMaker
        Makes the pool.
    first : int
        Global id of the first environment.
    numa_index : int, optional
        The actor is bound to the CPUs of this NUMA node, modulo their number; by default to none.
    policy : callable, optional
        See `envpool.adapters.ray.RayPool`.
    """

    def __init__(self, make: PoolMaker, first: int, numa_index: int | None, policy: Any = None):
        if numa_index is not None:
            nodes = numa_nodes()
            if hasattr(os, "sched_setaffinity"):  # not on macOS, which has one node
                os.sched_setaffinity(0, nodes[numa_index % len(nodes)])
        self.make, self.first, self.policy = make, first, policy
        self.pool = make()
        self._memory = Writer()
        self._rollout: Any = None
        self._last: Any = None

    def describe(self) -> dict[str, Any]:
        """Return what the driver knows of the pool."""
        names = ("observation_space", "action_space", "metadata", "config")
        fields = self.pool.spec.action_fields
        return {name: getattr(self.pool, name) for name in names if name != "config"} | {
            "config": {k: v for k, v in self.pool.config.items() if k != "source"},
            "players": len(self.pool.spec.shown_players) if all(map(has_players, fields)) else 0,
        }

    def memory(self) -> Address:
        """Return where a driver finds results if it runs on this machine."""
        return self._memory.address()

    def answer(self, message: tuple[Any, ...]) -> Outcome:
        """Call `reset`, `exchange` or `receive`: their name and arguments are one argument, which Ray pickles once."""
        outcome: Outcome = getattr(self, message[0])(*message[1:])
        return outcome

    def reset(self, ids: Any, seeds: Sequence[int | None] | None, request: Request | None) -> Outcome:
        """Reset environments, or all if the ids are None, and return their rows."""
        self._rollout = None
        if ids is not None and len(ids) == self.pool.num_envs:
            drop_in_flight(self.pool)  # the batch of a failed step for which an interrupted driver has not asked
        return self._outcome(lambda: self.pool.reset(ids, seed=seeds), request)

    def async_reset(self) -> None:
        """Start episodes in all environments."""
        self._rollout = None
        self.pool.async_reset()

    def send(self, action: Any, ids: Any) -> None:
        """Send actions; the ids of a sync pool are None if there is an action for each environment."""
        self._rollout = None
        self.pool.send(action, ids)

    def exchange(self, action: Any, ids: Any, request: Request | None) -> Outcome:
        """Send actions and return the next batch."""
        self.send(action, ids)
        return self.receive(False, request)

    def receive(self, is_reset: bool, request: Request | None) -> Outcome:
        """Return the next batch."""
        return self._outcome(lambda: self.pool.recv(reset=is_reset), request)

    def _outcome(self, call: Callable[[], Any], request: Request | None) -> Outcome:
        if request is not None:
            self._memory.note(request)
        try:
            result = call()
        except EnvStepError as error:
            return {self.first + i: text for i, text in error.failures.items()}, None
        if self.pool.spec.text_fields:
            result = without_texts(result)
        info = result[-1]
        info["env_id"] = info["env_id"] + np.int32(self.first)
        if "env_id" in info.get("players", ()):
            info["players"] = info["players"] | {"env_id": info["players"]["env_id"] + np.int32(self.first)}
        return None, result if request is None else self._memory.write(result, request)

    def fail(self, ids: Any, text: str | None, acting: Any) -> Outcome:
        """Return the rows of environments whose state was lost: zero and truncated, as after other failures.

        Parameters
        ----------
        ids : numpy.ndarray
            The environments. The next step of each of them starts an episode.
        text : str or None
            The entry ``error`` of their infos; None leaves it out.
        acting : numpy.ndarray, dict or None
            The players that acted, in the form of ``info["player_mask"]``; None without players. They are truncated.
        """
        mode = self.pool.config["autoreset_mode"]
        with self.make(len(ids), batch_size=0, seed=0, autoreset_mode=mode) as other:
            other.reset()
            obs, reward, terminated, truncated, info = other.step(other.sample_actions(0))
        ids = np.asarray(ids, np.int32) + np.int32(self.first)
        owners: dict[str, Any] = {"env_id": ids}
        if "env_id" in info.get("players", ()):
            owners["players"] = blank(info["players"]) | {"env_id": ids[info["players"]["env_id"]]}
        else:
            owners |= {"player_mask": acting, "player_truncated": acting}
        errors = {} if text is None else error_entries(text, len(ids))
        info = blank(info) | owners | errors
        return None, (blank(obs), blank(reward), blank(terminated), np.ones_like(truncated), info)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the pool."""
        return getattr(self.pool, name)(*args, **kwargs)

    def collect(self, num_steps: int, extras: Mapping[str, Any] | None, update: Any, has_update: bool) -> Outcome:
        """Let the policy act for some steps and return the arrays of the rollout."""
        if has_update:
            self.policy.update(update)
        if self._rollout is None or self._rollout.num_steps != num_steps:
            self._rollout = envpool.Rollout(self.pool, num_steps, extras)
            self._last = self._rollout.reset()
        try:
            data, self._last = self._rollout.collect(self.policy, self._last)
        except EnvStepError as error:
            self._rollout = None
            return {self.first + i: text for i, text in error.failures.items()}, None
        names: tuple[str, ...] = ("obs", "action", "reward", "terminated", "truncated", "first", "valid")
        names += ("last_obs", "last_first")
        if self.pool.spec.num_players:
            names += ("player_mask", "player_terminated", "player_truncated", "player_valid")
        arrays = {name: getattr(data, name) for name in names}
        own = {name: getattr(data, name) for name in self._rollout.extras}
        return None, arrays | own | {"last": {name: data.last(name) for name in own}}

    def close(self) -> None:
        """Close the pool."""
        self.pool.close()
