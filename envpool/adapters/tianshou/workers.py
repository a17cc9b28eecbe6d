"""The workers of Tianshou: one environment each, in this process or in another one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from envpool.adapters.fleet import Fleet, Rows, raise_first

#: Interval at which workers that belong to different pools are asked in turn whether they are ready, in seconds.
TURN = 1e-3


class EnvWorker(ABC):
    """One environment of a vector environment.

    A subclass implements the abstract methods, and `wait` if it is used asynchronously. ``worker_fn(env_fn)`` of
    `BaseVectorEnv` returns a worker.

    Parameters
    ----------
    env_fn : callable
        Returns the environment.

    Attributes
    ----------
    result : tuple
        Result of the last call of `send`; `recv` returns it.
    is_closed : bool
        True after `close`.
    """

    result: Any

    def __init__(self, env_fn: Callable[[], Any]):
        self._env_fn = env_fn
        self.is_closed = False
        self.is_reset = False

    @cached_property
    def action_space(self) -> Any:
        """The action space of the environment; None if it has none."""
        return self.get_env_attr("action_space")

    @abstractmethod
    def get_env_attr(self, key: str) -> Any:
        """Return an attribute of the environment."""

    @abstractmethod
    def set_env_attr(self, key: str, value: Any) -> None:
        """Set an attribute of the environment."""

    @abstractmethod
    def send(self, action: Any, **kwargs: Any) -> None:
        """Start a step, or an episode if the action is None; `recv` returns the result."""

    def recv(self) -> Any:
        """Return (obs, info) of a new episode, or (obs, reward, terminated, truncated, info) of a step."""
        return self.result

    @abstractmethod
    def reset(self, **kwargs: Any) -> Any:
        """Start an episode; return (obs, info)."""

    def step(self, action: Any) -> Any:
        """Take one step; return (obs, reward, terminated, truncated, info)."""
        self.send(action)
        return self.recv()

    @staticmethod
    def wait(workers: list[Any], wait_num: int, timeout: float | None = None) -> list[Any]:
        """Return the workers that are ready: at least `wait_num`, or fewer after `timeout` seconds."""
        raise NotImplementedError("a worker class must implement wait() to be used with wait_num or timeout")

    def seed(self, seed: int | None = None) -> Any:
        """Seed the generator of the action space; subclasses also seed the environment."""
        return None if self.action_space is None else self.action_space.seed(seed)

    @abstractmethod
    def render(self, **kwargs: Any) -> Any:
        """Return what ``render(**kwargs)`` of the environment returns."""

    @abstractmethod
    def close_env(self) -> None:
        """Close the environment."""

    def close(self) -> None:
        """Close the environment; the method may be called again."""
        if not self.is_closed:
            self.is_closed = True
            self.close_env()


class FleetWorker(EnvWorker):
    """A worker whose environment belongs to a `Fleet`.

    Parameters
    ----------
    env_fn : callable
        Returns the environment.
    fleet : Fleet, optional
        A fleet with this environment; by default the worker makes one with a single environment.
    index : int
        Id of the environment in the fleet.
    **options
        Options of the fleet that the worker makes.
    """

    #: Where the environment runs, see `Fleet`.
    workers = "inline"

    def __init__(self, env_fn: Callable[[], Any], fleet: Fleet | None = None, index: int = 0, **options: Any):
        self.fleet = Fleet([env_fn], self.workers, **options) if fleet is None else fleet
        self.index = index
        self._is_waiting = False
        super().__init__(env_fn)

    def get_env_attr(self, key: str) -> Any:
        """Return an attribute of the environment, of the outermost wrapper that has it; None if none has."""
        return self.fleet.visit(attribute, key, ids=[self.index])[0]

    def set_env_attr(self, key: str, value: Any) -> None:
        """Set an attribute of the environment without its wrappers."""
        self.fleet.visit(set_attribute, key, value, ids=[self.index])

    def send(self, action: Any, **kwargs: Any) -> None:
        """Start a step, or run ``reset(**kwargs)`` if the action is None; `recv` returns the result."""
        if action is None:
            self.result = self.reset(**kwargs)
        else:
            self.fleet.send([self.index], [action])
            self._is_waiting = True

    def recv(self) -> Any:
        """Wait for the result of `send` and return it."""
        if self._is_waiting:
            self.poll(None)
        return self.result

    def poll(self, timeout: float | None) -> bool:
        """Return whether the result is there after waiting for it for at most `timeout` seconds."""
        if self._is_waiting:
            rows = self.fleet.receive(ids=[self.index], timeout=timeout)
            if not rows.ids:
                return False
            self._is_waiting = False
            self.result = step_of(rows)
        return True

    def reset(self, **kwargs: Any) -> Any:
        """Start an episode; a seed also seeds the action space."""
        if "seed" in kwargs:
            super().seed(kwargs["seed"])
        self._is_waiting = False
        rows = self.fleet.reset([self.index], kwargs)
        raise_first(rows)
        return rows.obs[0], rows.infos[0]

    @staticmethod
    def wait(workers: list[Any], wait_num: int, timeout: float | None = None) -> list[Any]:
        """Return the workers that are ready: at least `wait_num`, or fewer after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            ready = [worker for worker in workers if worker.poll(0.0)]
            left = None if end is None else end - time.monotonic()
            if len(ready) >= min(wait_num, len(workers)) or (left is not None and left <= 0):
                return ready
            next(worker for worker in workers if worker not in ready).poll(TURN if left is None else min(TURN, left))

    def seed(self, seed: int | None = None) -> Any:
        """Seed the environment, by its method ``seed`` or else by a reset, and its action space."""
        super().seed(seed)
        return self.fleet.visit(seed_env, seed, ids=[self.index])[0]

    def render(self, **kwargs: Any) -> Any:
        """Return what ``render(**kwargs)`` of the environment returns."""
        return self.fleet.visit(render_env, kwargs, ids=[self.index])[0]

    def close_env(self) -> None:
        """Close the fleet with all its environments."""
        self.fleet.close()


class DummyEnvWorker(FleetWorker):
    """A worker whose environment runs in the thread that calls; see `FleetWorker` for the parameters.

    Attributes
    ----------
    env : object
        The environment.
    """

    @property
    def env(self) -> Any:
        """The environment."""
        return self.fleet.envs[self.index]


class SubprocEnvWorker(FleetWorker):
    """A worker whose environment runs in another process; see `FleetWorker` for the parameters.

    Parameters
    ----------
    env_fn : callable
        Returns the environment.
    share_memory : bool
        Accepted for compatibility: results that are arrays of a fixed shape always travel in shared memory.
    context : {"fork", "spawn", "forkserver"}, optional
        How the process starts.
    """

    workers = "process"

    def __init__(
        self,
        env_fn: Callable[[], Any],
        share_memory: bool = False,
        context: str | None = None,
        *,
        fleet: Fleet | None = None,
        index: int = 0,
    ):
        self.share_memory = share_memory
        super().__init__(env_fn, fleet, index, **start_options(context))


def start_options(context: str | None) -> dict[str, Any]:
    """Return the options of a fleet that starts its processes in a given way."""
    return {} if context is None else {"start_method": context}


def step_of(rows: Rows) -> Any:
    """Return the step of the only environment of some rows, or raise the exception that it raised."""
    raise_first(rows)
    return (
        rows.obs[0],
        rows.rewards[0],
        bool(rows.terminated[0]),
        bool(rows.truncated[0]),
        rows.infos[0],
    )


# ---- visits of environments: functions of this module, so that they can be pickled -----------------------------------


def attribute(env: Any, key: str) -> Any:
    """Return an attribute of the outermost wrapper that has it; None if none has."""
    while True:
        if hasattr(env, key):
            return getattr(env, key)
        if not hasattr(env, "env"):
            return None
        env = env.env


def set_attribute(env: Any, key: str, value: Any) -> None:
    """Set an attribute of an environment without its wrappers."""
    setattr(getattr(env, "unwrapped", env), key, value)


def seed_env(env: Any, seed: int | None) -> Any:
    """Seed an environment by its method ``seed``, or else by a reset."""
    try:
        return env.seed(seed)
    except (AttributeError, NotImplementedError):
        env.reset(seed=seed)
        return [seed]


def render_env(env: Any, kwargs: dict[str, Any]) -> Any:
    """Return what ``render(**kwargs)`` of an environment returns; None if it has no such method."""
    return env.render(**kwargs) if hasattr(env, "render") else None


def check_workers(workers: Sequence[Any]) -> None:
    """Raise TypeError unless workers are of one subclass of `EnvWorker`."""
    kinds = {type(worker) for worker in workers}
    if len(kinds) != 1 or not issubclass(kinds.pop(), EnvWorker):
        raise TypeError(
            "worker_fn must return objects of one subclass of EnvWorker, got "
            f"{', '.join(sorted(type(worker).__name__ for worker in workers))}"
        )
