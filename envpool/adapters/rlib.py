"""The vector environments of rlib (the repository jhare96/reinforcement-learning); rlib itself is not needed.

Importing this module registers ``ApplePicker-v0`` and ``ApplePickerDeterministic-v0`` with gymnasium, unless rlib has
done so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import make

from envpool.adapters.fleet import Fleet, raise_first
from envpool.adapters.pools import open_same_step_pool
from envpool.adapters.rlib_base import RLEnv, RLVecEnv
from envpool.gymnasium_api.ids import ENTRY_POINT
from envpool.pools.infos import last_info, pop_final, split_info, take
from envpool.pools.recovery import EXPLAINED, explain, start_over

__all__ = ["BatchEnv", "DummyBatchEnv", "RLEnv", "RLVecEnv", "VecEnv", "make"]


class FleetBatchEnv(RLVecEnv):
    """Python environments in one pool; the base of `BatchEnv` and `DummyBatchEnv`.

    Parameters
    ----------
    workers : {"inline", "process"}
        Where the environments run.
    env_constructor : callable
        ``env_constructor(env, **env_args)`` returns the wrapped environment.
    env_id : str
        Id for ``gymnasium.make``.
    num_envs : int
        Number of environments.
    make_args : dict, optional
        Keyword arguments for ``gymnasium.make``.
    env_args : dict
        Keyword arguments for `env_constructor`.

    Attributes
    ----------
    fleet : Fleet
        The pool that steps the environments. Attributes that this object does not have are taken from environment 0.
    """

    def __init__(
        self,
        workers: str,
        env_constructor: Callable[..., Any],
        env_id: str,
        num_envs: int,
        make_args: dict[str, Any] | None,
        env_args: dict[str, Any],
    ):
        env_fn = partial(new_env, env_constructor, env_id, make_args or {}, env_args)
        self.fleet = Fleet([env_fn] * num_envs, workers)
        self._all = list(range(num_envs))

    def reset(self) -> Any:
        """Start episodes in all environments and return their first observations, stacked."""
        rows = self.fleet.reset(self._all, {})
        raise_first(rows)
        return stacked(rows.obs)

    def step(self, actions: Iterable[Any]) -> tuple[Any, Any, Any, tuple[dict[str, Any], ...]]:
        """Step all environments.

        Parameters
        ----------
        actions : iterable
            One action per environment.

        Returns
        -------
        obs : numpy.ndarray
            (num_envs, ...) observations, which are the caller's.
        rewards : numpy.ndarray
            float64 (num_envs,).
        dones : numpy.ndarray
            bool (num_envs,): whether the episode has ended. The environment is not reset, unless a wrapper does so.
        infos : tuple of dict
            Infos, with ``TimeLimit.truncated``.

        Raises
        ------
        Exception
            Exception that an environment raised.
        """
        rows = self.fleet.step(self._all, actions if isinstance(actions, np.ndarray) else list(actions))
        raise_first(rows)
        ends = zip(rows.infos, rows.terminated.tolist(), rows.truncated.tolist(), strict=True)
        infos = tuple(self.merge_info(*one) for one in ends)
        return stacked(rows.obs), np.asarray(rows.rewards), rows.terminated | rows.truncated, infos

    def close(self) -> None:
        """Close the environments; the method may be called again."""
        self.fleet.close()

    def __len__(self) -> int:
        return len(self._all)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "fleet":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.fleet.visit(getattr, name, ids=[0])[0]


class BatchEnv(FleetBatchEnv):
    """Environments that run in their own processes: ``BatchEnv(AtariEnv, "PongNoFrameskip-v4", 16, k=4)``.

    Parameters
    ----------
    env_constructor : callable
        ``env_constructor(env, **env_args)`` returns the wrapped environment, usually an `RLEnv`.
    env_id : str
        Id for ``gymnasium.make``.
    num_envs : int
        Number of environments.
    blocking : bool
        Accepted for compatibility: ``step`` always returns the results.
    make_args : dict, optional
        Keyword arguments for ``gymnasium.make``.
    **env_args
        Keyword arguments for `env_constructor`.

    Raises
    ------
    EnvCreateError
        An environment could not be made; the exception that it raised is the cause.
    """

    def __init__(
        self,
        env_constructor: Callable[..., Any],
        env_id: str,
        num_envs: int,
        blocking: bool = False,
        make_args: dict[str, Any] | None = None,
        **env_args: Any,
    ):
        self.blocking = blocking
        super().__init__("process", env_constructor, env_id, num_envs, make_args, env_args)


class DummyBatchEnv(FleetBatchEnv):
    """Environments that are stepped one after the other in the thread that calls; see `BatchEnv`.

    Attributes
    ----------
    envs : list of RLEnv
        The environments.
    """

    def __init__(
        self,
        env_constructor: Callable[..., Any],
        env_id: str,
        num_envs: int,
        make_args: dict[str, Any] | None = None,
        **env_args: Any,
    ):
        super().__init__("inline", env_constructor, env_id, num_envs, make_args, env_args)

    @property
    def envs(self) -> list[Any]:
        """The environments."""
        return self.fleet.envs


class VecEnv(RLVecEnv):
    """A pool of native environments as an ``RLVecEnv``: ``PPOTrainer(envs=VecEnv("Pong-v5", num_envs=16), ...)``.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``envpool.list_all_envs()``.
    num_envs : int
        Number of environments.
    **options
        Options of ``envpool.make``, except autoreset_mode.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool that steps the environments. Attributes that a VecEnv does not have are looked up in the pool. Do not
        call the pool's methods while this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``.

    Notes
    -----
    ``step`` returns obs (num_envs, ...), rewards float32 (num_envs,), dones bool (num_envs,) and infos, a tuple of
    dicts. An environment whose episode ends is reset in the same step: its obs is the first one of the next episode,
    and its info belongs to the ended episode, with ``TimeLimit.truncated`` and the last observation as ``final_obs``.
    The arrays are yours to keep.
    """

    def __init__(self, task_id: str, num_envs: int, **options: Any):
        self.pool: Any = open_same_step_pool(task_id, num_envs, options, "rlib's trainers")

    def reset(self) -> Any:
        """Start new episodes in all environments and return their first observations."""
        obs, _ = start_over(self.pool)
        return obs

    def step(self, actions: Any) -> tuple[Any, Any, Any, tuple[dict[str, Any], ...]]:
        """Step all environments."""
        try:
            obs, rewards, terminated, truncated, info = self.pool.step(np.asarray(actions))
        except EXPLAINED as error:
            explain(self.pool, error)
            raise
        final, final_info, ended = pop_final(info)
        infos = split_info(info)
        for i in np.flatnonzero(ended).tolist():
            infos[i] = last_info(info, final_info, i) | {"final_obs": take(final, i)}
        ends = zip(infos, terminated.tolist(), truncated.tolist(), strict=True)
        return obs, rewards, ended, tuple(self.merge_info(*one) for one in ends)

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()

    def __len__(self) -> int:
        return int(self.pool.num_envs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "pool":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.pool, name)


def new_env(
    env_constructor: Callable[..., Any], env_id: str, make_args: dict[str, Any], env_args: dict[str, Any]
) -> Any:
    """Return a wrapped environment."""
    return env_constructor(gymnasium.make(env_id, **make_args), **env_args)


def stacked(obs: Any) -> Any:
    """Return observations as one array."""
    return obs if isinstance(obs, np.ndarray) else np.stack(obs)


def register_tasks() -> None:
    """Register rlib's environments with gymnasium, unless rlib has done so."""
    for task_id in ("ApplePicker-v0", "ApplePickerDeterministic-v0"):
        if task_id not in gymnasium.registry:
            gymnasium.register(task_id, entry_point=ENTRY_POINT, kwargs={"task_id": task_id})


with suppress(ImportError):  # if rlib is installed, its classes count these as subclasses
    from rlib.envs import base

    base.RLEnv.register(RLEnv)
    base.RLVecEnv.register(RLVecEnv)
register_tasks()
