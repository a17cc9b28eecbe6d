"""Tianshou's vector environments: Dummy, Subproc and Shmem over one pool, Ray over one actor per environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from envpool.adapters.fleet import Fleet, Rows, raise_first
from envpool.adapters.tianshou.base import BaseVectorEnv, check_reset, objects, stacked
from envpool.adapters.tianshou.ray_worker import RayEnvWorker, start_ray
from envpool.adapters.tianshou.workers import (
    DummyEnvWorker,
    EnvWorker,
    FleetWorker,
    SubprocEnvWorker,
    start_options,
)
from envpool.errors import EnvStepError, advise


class FleetVectorEnv(BaseVectorEnv):
    """A vector environment whose workers share one pool.

    Parameters
    ----------
    env_fns : sequence of callable
        One function per environment, which returns it.
    worker_class : type
        Class of the workers.
    wait_num, timeout
        See `BaseVectorEnv`.
    **options
        Options of the `Fleet`.

    Attributes
    ----------
    fleet : Fleet
        The pool that steps the environments.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        worker_class: type[FleetWorker],
        wait_num: int | None = None,
        timeout: float | None = None,
        **options: Any,
    ):
        is_async = timeout is not None or wait_num not in (None, len(env_fns))
        self.fleet = Fleet(env_fns, worker_class.workers, is_async=is_async, **options)
        index = count()

        def worker_fn(env_fn: Callable[[], Any]) -> EnvWorker:
            return worker_class(env_fn, fleet=self.fleet, index=next(index))

        try:
            super().__init__(env_fns, worker_fn, wait_num, timeout)
        except BaseException:
            self.fleet.close()
            raise

    def _reset(self, ids: list[int], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        for i in ids if "seed" in kwargs else ():
            EnvWorker.seed(self.workers[i], kwargs["seed"])
        rows = self.fleet.reset(ids, kwargs)
        raise_first(rows)
        for k in range(len(ids)):
            check_reset((rows.obs[k], rows.infos[k]))
        return array_of(rows.obs), objects(rows.infos)

    def _drop(self) -> None:
        self.fleet.drop()
        self._note_ready(list(self.waiting_id))

    def _step(self, ids: list[int], action: Any) -> tuple[Any, Any, Any, Any, Any]:
        return result_of(self.fleet.step(ids, action))

    def _send(self, ids: list[int], action: Any) -> None:
        self.fleet.send(ids, action)

    def _fetch(self) -> tuple[Any, Any, Any, Any, Any]:
        while True:
            need = len(self.waiting_id) if self.fleet.is_inline else min(self.wait_num, len(self.waiting_id))
            timeout = None if self.fleet.is_inline else self.timeout
            try:
                rows = self.fleet.receive(min_ready=need, timeout=timeout)
            except EnvStepError as error:
                advise(error, "step(None) still returns the results; reset() starts new episodes")
                raise
            if rows.ids:
                self._note_ready(rows.ids)
                return result_of(rows)


def result_of(rows: Rows) -> tuple[Any, Any, Any, Any, Any]:
    """Return the result of a step, or raise what an environment raised."""
    raise_first(rows)
    for i, info in zip(rows.ids, rows.infos, strict=True):
        info["env_id"] = i
    rewards = rows.rewards if isinstance(rows.rewards, np.ndarray) else np.stack(rows.rewards)
    return array_of(rows.obs), rewards, rows.terminated, rows.truncated, objects(rows.infos)


def array_of(obs: Any) -> Any:
    """Return observations as one array."""
    return obs if isinstance(obs, np.ndarray) else stacked(obs)


class DummyVectorEnv(FleetVectorEnv):
    """Environments that are stepped one after the other in the thread that calls; see `BaseVectorEnv`."""

    def __init__(self, env_fns: Sequence[Callable[[], Any]], wait_num: int | None = None, timeout: float | None = None):
        super().__init__(env_fns, DummyEnvWorker, wait_num, timeout)


class SubprocVectorEnv(FleetVectorEnv):
    """Environments that run in their own processes; see `BaseVectorEnv` for the other parameters.

    Parameters
    ----------
    env_fns : sequence of callable
        One function per environment, which returns it.
    wait_num, timeout
        See `BaseVectorEnv`.
    share_memory : bool
        Accepted for compatibility: results that are arrays of a fixed shape always travel in shared memory.
    context : {"fork", "spawn", "forkserver"}, optional
        How the processes start.
    num_workers : int, optional
        Number of workers that share the environments. By default each environment has its own worker, which pays if
        steps wait or take milliseconds; with cheap steps, one worker per core is faster.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        wait_num: int | None = None,
        timeout: float | None = None,
        share_memory: bool = False,
        context: str | None = None,
        *,
        num_workers: int | None = None,
    ):
        self.share_memory = share_memory
        options = start_options(context) | ({} if num_workers is None else {"num_threads": num_workers})
        super().__init__(env_fns, SubprocEnvWorker, wait_num, timeout, **options)


class ShmemVectorEnv(SubprocVectorEnv):
    """The same as `SubprocVectorEnv`, which always uses shared memory."""

    def __init__(self, env_fns: Sequence[Callable[[], Any]], wait_num: int | None = None, timeout: float | None = None):
        super().__init__(env_fns, wait_num, timeout, share_memory=True)


class RayVectorEnv(BaseVectorEnv):
    """Environments that are actors of Ray, on any machine of its cluster; see `BaseVectorEnv`.

    Raises
    ------
    ImportError
        Ray is not installed.
    """

    def __init__(self, env_fns: Sequence[Callable[[], Any]], wait_num: int | None = None, timeout: float | None = None):
        start_ray()
        super().__init__(env_fns, RayEnvWorker, wait_num, timeout)
