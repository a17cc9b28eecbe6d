"""A pool as an ``RLVecEnv`` of rlib (the repository jhare96/reinforcement-learning)."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.adapters.pools import split_info
from envpool.errors import ConfigError
from envpool.registration import make_gymnasium

try:
    from rlib.envs.base import RLVecEnv
except ImportError as error:
    raise ImportError(
        f"envpool.adapters.rlib needs rlib with rlib.envs.base.RLVecEnv ({error}): no package index has it, install it "
        "from its repository, jhare96/reinforcement-learning"
    ) from error


class BatchEnv(RLVecEnv):
    """A pool in the place of rlib's ``BatchEnv``: ``PPOTrainer(envs=BatchEnv("Pong-v5", num_envs=16), ...)``.

    Parameters
    ----------
    task_id : str
        See ``envpool.list_all_envs``.
    num_envs : int
        Number of environments.
    **options
        As for ``envpool.make``, except autoreset_mode.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool inside; attributes that are not found here are its own. To be left alone while this is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``.

    Notes
    -----
    ``step`` returns obs (num_envs, ...), rewards float32 (num_envs,), dones bool (num_envs,) and infos, a tuple of
    dicts. An environment whose episode ends is reset in the same step: obs is its next one, and its info is of the last
    step, with ``TimeLimit.truncated`` and the last observation as ``final_obs``. The arrays are yours to keep.
    """

    def __init__(self, task_id: str, num_envs: int, **options: Any):
        if "autoreset_mode" in options:
            raise ConfigError("autoreset_mode is 'same_step' here, as rlib's trainers want it: leave it out")
        self.pool: Any = make_gymnasium(task_id, num_envs=num_envs, autoreset_mode="same_step", **options)

    def reset(self) -> Any:
        """Start new episodes everywhere and return their observations."""
        obs, _ = self.pool.reset()
        return obs

    def step(self, actions: Any) -> tuple[Any, Any, Any, tuple[dict[str, Any], ...]]:
        """Step all environments."""
        obs, rewards, terminated, truncated, info = self.pool.step(np.asarray(actions))
        final, final_info = info.pop("final_obs"), info.pop("final_info")
        ended = info.pop("_final_obs")
        del info["_final_info"]
        infos = split_info(info)
        last = split_info({"env_id": info["env_id"]} | final_info) if ended.any() else []
        for i in np.flatnonzero(ended):
            infos[i] = last[i] | {"final_obs": row(final, i)}
        ends = zip(infos, terminated.tolist(), truncated.tolist(), strict=True)
        return obs, rewards, ended, tuple(self.merge_info(*one) for one in ends)

    def close(self) -> None:
        """Close the pool; may be called again."""
        self.pool.close()

    def __len__(self) -> int:
        return int(self.pool.num_envs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "pool":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.pool, name)


def row(nest: Any, i: Any) -> Any:
    """Return row i of an array, or of a nest of them; a view."""
    return {k: row(v, i) for k, v in nest.items()} if isinstance(nest, dict) else nest[i]
