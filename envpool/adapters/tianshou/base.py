"""`BaseVectorEnv`: the interface of Tianshou's vector environments, over workers or over a pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.adapters.fleet import ids_of
from envpool.adapters.tianshou.workers import EnvWorker, check_workers
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError

#: Attributes that are lists of the attributes of the environments.
ENV_ATTRIBUTES = ("metadata", "reward_range", "spec", "action_space", "observation_space")


class BaseVectorEnv:
    """Environments that are stepped together: all of them, or in async mode those that are ready.

    Parameters
    ----------
    env_fns : sequence of callable
        One function per environment, which returns it.
    worker_fn : callable
        ``worker_fn(env_fns[i])`` returns the `EnvWorker` of environment i.
    wait_num : int, optional
        Async mode: number of environments that must have finished before ``step`` returns. By default all.
    timeout : float, optional
        Async mode: time in seconds after which ``step`` returns the environments that have finished by then, at least
        one. By default ``step`` waits for `wait_num` environments.

    Attributes
    ----------
    workers : list of EnvWorker
        One worker per environment.
    env_num : int
        Number of environments.
    is_async : bool
        True if there is a `timeout`, or a `wait_num` less than the number of environments.
    waiting_id, ready_id : list of int
        Environments that are in flight, and environments that are not.
    is_closed : bool
        True after `close`.

    Raises
    ------
    TypeError
        The workers are not of one subclass of `EnvWorker`.
    AssertionError
        `wait_num` or `timeout` is out of range, or a method is called after ``close()``.

    Notes
    -----
    ``action_space``, ``observation_space``, ``metadata``, ``spec`` and ``reward_range`` are lists with the attributes
    of all environments. Environments whose episode has ended are not reset; the caller resets them.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        worker_fn: Callable[[Callable[[], Any]], EnvWorker],
        wait_num: int | None = None,
        timeout: float | None = None,
    ):
        self._env_fns = env_fns
        self.workers = [worker_fn(fn) for fn in env_fns]
        check_workers(self.workers)
        self.worker_class = type(self.workers[0])
        self.env_num = len(env_fns)
        self.wait_num = self.env_num if wait_num is None else wait_num
        assert 1 <= self.wait_num <= self.env_num, (
            f"wait_num must be between 1 and {self.env_num}, got {shown(wait_num)}"
        )
        assert timeout is None or timeout > 0, f"timeout must be greater than 0, got {shown(timeout)}"
        self.timeout = timeout
        self.is_async = self.wait_num != self.env_num or timeout is not None
        self.waiting_conn: list[EnvWorker] = []
        self.waiting_id: list[int] = []
        self.ready_id = list(range(self.env_num))
        self.is_closed = False

    def __len__(self) -> int:
        return self.env_num

    def __getattr__(self, key: str) -> Any:
        if key in ENV_ATTRIBUTES:
            return self.get_env_attr(key)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {key!r}")

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """Return an attribute of environments.

        Parameters
        ----------
        key : str
            Name of the attribute. The outermost wrapper that has it counts; the value is None if none has it.
        id : int or array_like of int, optional
            The environments, none of which may be in flight. By default all.
        """
        return [self.workers[i].get_env_attr(key) for i in self._idle(id, may_repeat=True)]

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        """Set an attribute of environments, without their wrappers; see `get_env_attr` for `id`."""
        for i in self._idle(id, may_repeat=True):
            self.workers[i].set_env_attr(key, value)

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Start episodes in some environments; others may be in flight.

        Parameters
        ----------
        env_id : int or array_like of int, optional
            The environments, none of which may be in flight. By default all; then results in flight are dropped.
        **kwargs
            Arguments for ``reset`` of each of them, such as ``seed`` and ``options``.

        Returns
        -------
        obs : numpy.ndarray
            One row per environment, in the order of `env_id`; an object array if the observations are not arrays of
            one shape.
        infos : numpy.ndarray
            Object array of dicts.
        """
        if env_id is None and self.is_async:
            self._assert_is_not_closed()
            self._drop()
        return self._reset(self._idle(env_id), kwargs)

    def _drop(self) -> None:
        """Wait for the environments in flight and drop their results."""
        for worker in self.waiting_conn:
            with suppress(Exception):
                worker.recv()
        self.waiting_conn = []
        self._note_ready(list(self.waiting_id))

    def _reset(self, ids: list[int], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Reset environments that are idle; see `reset`."""
        for i in ids:
            self.workers[i].send(None, **kwargs)
        results = [self.workers[i].recv() for i in ids]
        for result in results:
            check_reset(result)
        return stacked([obs for obs, _ in results]), objects([info for _, info in results])

    def step(self, action: Any, id: Any = None) -> tuple[Any, Any, Any, Any, Any]:
        """Step some environments, and return environments that have finished.

        Parameters
        ----------
        action : array_like or None
            One entry for each environment of `id`. None, which only async mode accepts, sends nothing and fetches the
            results that a call with actions would return.
        id : int or array_like of int, optional
            Environments to step, none of which may be in flight. By default all environments.

        Returns
        -------
        obs, rew, terminated, truncated, infos : numpy.ndarray
            Sync mode: one row for each of `id`, in this order. Async mode: the rows of at least `wait_num`
            environments, or of fewer after the timeout, in the order in which they finished. infos is an object array
            of dicts, each with an entry ``env_id``.

        Raises
        ------
        ActionError
            The action is None in sync mode, or nothing is in flight.
        EnvIdError
            Ids are out of range or repeated.
        Exception
            Exception that an environment raised.
        """
        self._assert_is_not_closed()
        if action is None:
            if not self.is_async:
                raise ActionError("action must be an array in sync mode, got None: pass it, or wait_num or timeout")
            if not self.waiting_id:
                raise ActionError("action must be an array if no environment is in flight, got None: pass actions")
            return self._fetch()
        ids = self._idle(id)
        assert len(action) == len(ids), f"there are {len(action)} actions for {len(ids)} environments"
        return self._step(ids, action) if not self.is_async else self._step_async(ids, action)

    def _step_async(self, ids: list[int], action: Any) -> tuple[Any, Any, Any, Any, Any]:
        self.waiting_id.extend(ids)
        self.ready_id = [i for i in self.ready_id if i not in ids]
        try:
            self._send(ids, action)
        except Exception:  # the actions were refused; after an interrupt, they may be on their way
            self._note_ready(ids)
            raise
        return self._fetch()

    def _step(self, ids: list[int], action: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Step environments and wait for them."""
        for k, i in enumerate(ids):
            self.workers[i].send(action[k])
        return batch(ids, [self.workers[i].recv() for i in ids])

    def _send(self, ids: list[int], action: Any) -> None:
        """Start a step of environments."""
        for k, i in enumerate(ids):
            self.workers[i].send(action[k])
            self.waiting_conn.append(self.workers[i])

    def _fetch(self) -> tuple[Any, Any, Any, Any, Any]:
        """Wait for environments in flight."""
        ready: list[Any] = []
        while not ready:
            ready = self.worker_class.wait(self.waiting_conn, self.wait_num, self.timeout)
        ids = [self.workers.index(worker) for worker in ready]
        self.waiting_conn = [worker for worker in self.waiting_conn if worker not in ready]
        self._note_ready(ids)
        return batch(ids, [worker.recv() for worker in ready])

    def _note_ready(self, ids: list[int]) -> None:
        self.waiting_id = [i for i in self.waiting_id if i not in ids]
        self.ready_id.extend(ids)

    def seed(self, seed: Any = None) -> list[Any]:
        """Seed all environments and their action spaces.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Environment i gets ``seed + i``, or ``seed[i]``. None leaves the choice to the environments.

        Returns
        -------
        list
            One entry per environment: the value that it returns, a list of its seeds.

        Raises
        ------
        ConfigError
            The sequence does not have one seed for each environment.
        AssertionError
            An environment is in flight.
        """
        self._idle(None)
        seeds: list[int | None]
        if seed is None:
            seeds = [None] * self.env_num
        elif np.ndim(seed) == 0:
            seeds = [int(seed) + i for i in range(self.env_num)]
        else:
            seeds = list(seed)
        if len(seeds) != self.env_num:
            raise ConfigError(f"seed must have one entry for each of the {self.env_num} environments, got {len(seeds)}")
        return [worker.seed(own) for worker, own in zip(self.workers, seeds, strict=True)]

    def render(self, **kwargs: Any) -> list[Any]:
        """Return what ``render(**kwargs)`` of each environment returns; none may be in flight."""
        self._assert_is_not_closed()
        if self.waiting_id:
            raise PoolStateError(f"environments {self.waiting_id} are still stepping: fetch them before rendering")
        return [worker.render(**kwargs) for worker in self.workers]

    def close(self) -> None:
        """Close the environments; a second call raises AssertionError."""
        self._assert_is_not_closed()
        for worker in self.workers:
            worker.close()
        self.is_closed = True

    def _assert_is_not_closed(self) -> None:
        assert not self.is_closed, f"methods of {type(self).__name__} cannot be called after close()"

    def _wrap_id(self, id: Any = None) -> list[int]:
        return ids_of(id, self.env_num)

    def _assert_id(self, id: Sequence[int]) -> None:
        for i in id:
            assert i not in self.waiting_id, (
                f"cannot interact with environment {i}, which is stepping now: fetch it with step(None), or drop its "
                "results with reset()"
            )

    def _idle(self, id: Any, may_repeat: bool = False) -> list[int]:
        """Return ids as a list after checking that there are such environments, and that none is in flight."""
        self._assert_is_not_closed()
        ids = self._wrap_id(id)
        if not all(0 <= i < self.env_num for i in ids) or (len({*ids}) < len(ids) and not may_repeat):
            kind = "numbers" if may_repeat else "different numbers"
            raise EnvIdError(f"env ids must be {kind} from 0 to {self.env_num - 1}, got {shown(ids)}")
        self._assert_id(ids)
        return ids


def check_reset(result: Any) -> None:
    """Raise TypeError unless this is what ``reset`` of a gymnasium environment returns, without a tuple in it."""
    if not (isinstance(result, (tuple, list)) and len(result) == 2 and isinstance(result[1], dict)):
        raise TypeError(f"reset() must return (obs, info), as in gymnasium, got {shown(result)}")
    if isinstance(result[0], tuple):
        raise TypeError("observations that are tuples are not supported: wrap the environment, e.g. to return a dict")


def batch(ids: Sequence[int], steps: Sequence[Any]) -> tuple[Any, Any, Any, Any, Any]:
    """Return the steps of environments as a batch."""
    obs, rewards, terminated, truncated, infos = zip(*steps, strict=True)
    for i, info in zip(ids, infos, strict=True):
        info["env_id"] = i
    return stacked(obs), np.stack(rewards), np.stack(terminated), np.stack(truncated), objects(infos)


def stacked(values: Sequence[Any]) -> Any:
    """Return values as one array, or as an object array unless they are arrays or numbers of one shape."""
    if all(isinstance(value, (np.ndarray, np.generic, int, float, list)) for value in values):
        try:
            return np.stack(values)
        except ValueError:  # of different shapes
            return objects(values)
    return objects(values)


def objects(values: Sequence[Any]) -> Any:
    """Return an object array with the items of a sequence."""
    out = np.empty(len(values), object)
    if all(type(value) is dict for value in values):
        out[:] = values
    else:  # assigned one by one, since NumPy would take sequences apart
        for k, value in enumerate(values):
            out[k] = value
    return out
