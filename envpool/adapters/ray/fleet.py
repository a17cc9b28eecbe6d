"""The actors of a pool: starting them, and replacing one that was lost."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import numpy as np
import ray

from envpool.adapters.ray.actor import PoolActor, PoolMaker
from envpool.adapters.ray.placement import Placement
from envpool.adapters.ray.shared import Reader, Ticket
from envpool.config.checks import is_sequence
from envpool.config.options import POOL_DEFAULTS
from envpool.errors import ConfigError, EnvCreateError
from envpool.python_envs.faults import restart_seed

#: Exceptions of Ray if an actor, or the node that kept its answer, is gone.
LOSSES = (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError)

_logger = logging.getLogger("envpool")

#: Seconds after which a pool says that it waits for CPUs.
NOTICE = 5.0

#: Times that an actor is replaced in a row before the pool gives up.
ATTEMPTS = 3


class Fleet:
    """The actors of one pool; actor k has the environments ``starts[k]`` to ``starts[k + 1] - 1``.

    Parameters
    ----------
    task, num_envs, num_actors, placement, num_cpus, policy, start_timeout
        See `envpool.adapters.ray.RayPool`.
    options : dict
        Options of the pools of the actors.
    """

    def __init__(
        self,
        task: Any,
        num_envs: int,
        num_actors: int,
        placement: Placement,
        num_cpus: float,
        policy: Any,
        options: dict[str, Any],
        start_timeout: float | None,
    ):
        self.starts = np.linspace(0, num_envs, num_actors + 1).astype(int).tolist()
        self._task, self._placement, self._options = task, placement, dict(options)
        self._seed = self._options.pop("seed", POOL_DEFAULTS["seed"])
        if is_sequence(self._seed) and len(self._seed) != num_envs:
            raise ConfigError(
                f"seed must have one entry for each of the {num_envs} environments, got {len(self._seed)}"
            )
        self._resources = {"num_cpus": num_cpus, "max_restarts": 0, "max_task_retries": 0}
        self._policy = None if policy is None else ray.put(policy)
        self._restarts = [0] * num_actors
        self._addresses: list[Any] = [None] * num_actors  # futures
        self._readers: list[Reader | None] = [None] * num_actors
        idle = ray.available_resources().get("CPU", 0.0)
        self.actors = [self._start(k) for k in range(num_actors)]
        self.about = self._await_all(start_timeout, idle)

    def owner(self, ids: Any) -> Any:
        """Return the number of the actor of each environment."""
        return np.searchsorted(self.starts, ids, "right") - 1

    def count(self, index: int) -> int:
        """Return how many environments an actor has."""
        return int(self.starts[index + 1] - self.starts[index])

    def ids(self, index: int) -> np.ndarray[Any, Any]:
        """Return the ids of the environments of an actor, int32."""
        return np.arange(self.starts[index], self.starts[index + 1], dtype=np.int32)

    def _start(self, index: int) -> Any:
        first, count, restarts = self.starts[index], self.count(index), self._restarts[index]
        if is_sequence(self._seed):
            seed: Any = [int(s) for s in self._seed[first : first + count]]
            seed = [restart_seed(s, restarts) for s in seed] if restarts else seed
        else:
            seed = restart_seed(self._seed + first, restarts) if restarts else self._seed + first
        task = self._task[first : first + count] if isinstance(self._task, (list, tuple)) else self._task
        make = PoolMaker(task, count, self._options | {"seed": seed})
        options = self._resources | self._placement.options(index)
        numa = self._placement.numa_index(index)
        actor = ray.remote(PoolActor).options(**options).remote(make, first, numa, self._policy)
        self._addresses[index], self._readers[index] = actor.memory.remote(), None
        return actor

    def ticket(self, index: int) -> Ticket | None:
        """Return what a message needs that asks an actor for a result; None while its memory cannot be seen."""
        reader = self._reader(index)
        return None if reader is None else reader.ticket()

    def forget_answers(self) -> None:
        """Note that answers of the actors that were not read until now will never be read."""
        for index in range(len(self.actors)):
            reader = self._reader(index)
            if reader is not None:
                reader.forget()

    def _reader(self, index: int) -> Reader | None:
        address = self._addresses[index]
        if address is not None and ray.wait([address], timeout=0)[0]:
            self._addresses[index] = None
            with contextlib.suppress(OSError, *LOSSES, ray.exceptions.RayTaskError):
                self._readers[index] = Reader(ray.get(address))
        return self._readers[index]

    def _await_all(self, timeout: float | None, idle: float) -> dict[str, Any]:
        """Wait until all actors have made their pools; `idle` CPUs of the cluster were idle before they started."""
        try:
            refs = [actor.describe.remote() for actor in self.actors]
            first = NOTICE if timeout is None else min(NOTICE, timeout)
            _, waiting = ray.wait(refs, num_returns=len(refs), timeout=first)
            if waiting and (timeout is None or timeout > first):
                self._tell_of_cpus(len(waiting), idle)
                rest = None if timeout is None else timeout - first
                _, waiting = ray.wait(refs, num_returns=len(refs), timeout=rest)
            if waiting:
                raise EnvCreateError(
                    "RayPool",
                    self.starts[-1],
                    f"{len(waiting)} of {len(refs)} actors have not started within start_timeout={timeout:g} seconds: "
                    "wait until the cluster has idle CPUs, or pass num_cpus=0",
                )
            found: list[dict[str, Any]] = ray.get(refs)
        except LOSSES as error:
            self.close()
            raise EnvCreateError("RayPool", self.starts[-1], f"an actor could not make its pool: {error}") from error
        except BaseException:
            self.close()
            raise
        return found[0]

    def _tell_of_cpus(self, waiting: int, idle: float) -> None:
        """Log that actors have not started, if the cluster had too few idle CPUs for them."""
        each = self._resources["num_cpus"]
        if each * len(self.actors) > idle:
            _logger.warning(
                "RayPool waits for CPUs: %d of %d actors have not started after %g seconds. They need %g CPUs each, "
                "and %g CPUs of the cluster were idle: end what uses the others, or pass num_cpus=0",
                waiting,
                len(self.actors),
                NOTICE,
                each,
                idle,
            )

    def replace(self, index: int) -> None:
        """Start a new actor in the place of one that was lost; the seeds of its environments follow from the old."""
        ray.kill(self.actors[index])
        self._restarts[index] += 1
        self.actors[index] = self._start(index)

    def close(self) -> None:
        """End all actors, after they had a moment to close their pools."""
        ray.wait([actor.close.remote() for actor in self.actors], num_returns=len(self.actors), timeout=5)
        for actor in self.actors:
            ray.kill(actor)
