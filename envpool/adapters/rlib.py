"""A pool as an ``RLVecEnv`` of rlib (the repository jhare96/reinforcement-learning)."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.adapters.pools import open_same_step_pool, pop_final, split_info, take

try:
    from rlib.envs.base import RLVecEnv
except ImportError as error:
    raise ImportError(
        f"envpool.adapters.rlib needs rlib with rlib.envs.base.RLVecEnv ({error}): rlib is in no package index, "
        "install it from its repository, jhare96/reinforcement-learning"
    ) from error


class BatchEnv(RLVecEnv):
    """A pool that replaces rlib's ``BatchEnv``: ``PPOTrainer(envs=BatchEnv("Pong-v5", num_envs=16), ...)``.

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
        The pool that steps the environments. Attributes that a BatchEnv does not have are looked up in the pool. Do not
        call the pool's methods while this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``.

    Notes
    -----
    ``step`` returns obs (num_envs, ...), rewards float32 (num_envs,), dones bool (num_envs,) and infos, a tuple of
    dicts. An environment whose episode ends is reset in the same step: its obs is the first one of the next episode,
    and its info is that of the ended episode, with ``TimeLimit.truncated`` and the last observation as ``final_obs``.
    The arrays are yours to keep.
    """

    def __init__(self, task_id: str, num_envs: int, **options: Any):
        self.pool: Any = open_same_step_pool(task_id, num_envs, options, "rlib's trainers")

    def reset(self) -> Any:
        """Start new episodes in all environments and return their first observations."""
        obs, _ = self.pool.reset()
        return obs

    def step(self, actions: Any) -> tuple[Any, Any, Any, tuple[dict[str, Any], ...]]:
        """Step all environments."""
        obs, rewards, terminated, truncated, info = self.pool.step(np.asarray(actions))
        final, final_info, ended = pop_final(info)
        infos = split_info(info)
        last = split_info({"env_id": info["env_id"]} | final_info) if ended.any() else []
        for i in np.flatnonzero(ended):
            infos[i] = infos[i] | last[i] | {"final_obs": take(final, i)}
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
