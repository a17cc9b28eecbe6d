"""A single environment of a pool, for libraries that keep a list of environments."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium

from envpool.adapters.pools import pop_final, split, split_info
from envpool.error_texts import shown
from envpool.errors import ConfigError
from envpool.param_attributes import ParamAttributes


class SubEnv(ParamAttributes, gymnasium.Env[Any, Any]):
    """One environment of a pool, with the API of a ``gymnasium.Env``.

    The parameters of the task are attributes, see `ParamAttributes`. Other attributes that are set on a SubEnv stay in
    this object; the native environment does not see them.

    Parameters
    ----------
    pool : GymnasiumEnvPool
        The pool. It stays open when the SubEnv is closed.
    env_id : int
        Id of the environment in the pool.

    Raises
    ------
    EnvIdError
        Raised by ``reset`` and ``step`` if the environment is in flight.
    """

    spec: Any

    def __init__(self, pool: Any, env_id: int):
        self.pool = pool
        self.env_id = env_id
        self.observation_space = pool.single_observation_space
        self.action_space = deepcopy(pool.single_action_space)  # each SubEnv seeds the generator of its own space
        self.metadata = {"render_modes": pool.metadata["render_modes"]}
        self.spec = pool.spec
        self.render_mode = pool.render_mode
        if hasattr(pool, "compute_reward"):  # goal environments; HER calls it on environments
            self.compute_reward = pool.compute_reward

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; return its first observation and the info."""
        check_no_options(options)
        obs, info = self.pool.reset([self.env_id], seed=None if seed is None else [seed])
        if "_final_obs" in info:
            pop_final(info)
        return split(obs, 1)[0], split_info(info)[0]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; return (obs, reward, terminated, truncated, info)."""
        obs, reward, terminated, truncated, info = self.pool.step([action], [self.env_id])
        if "_final_obs" in info:
            final_obs, final_info, ended = pop_final(info)
            if ended[0]:
                obs, info = final_obs, info | final_info
        return split(obs, 1)[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), split_info(info)[0]

    def render(self) -> Any:
        """Return a frame, uint8 (height, width, 3), or show it in a window; see ``EnvPool.render``."""
        frames = self.pool.render(self.env_id)
        return None if frames is None else frames[0]

    def __str__(self) -> str:
        return f"<environment {self.env_id} of {self.pool}>"


def check_no_options(options: dict[str, Any] | None) -> None:
    """Raise ConfigError if there are options for a reset."""
    if options:
        raise ConfigError(f"the environments of a pool have no options for reset, got {shown(options)}")


def sub_envs(pool: Any) -> list[SubEnv]:
    """Return a SubEnv for each environment of a pool."""
    return [SubEnv(pool, i) for i in range(pool.num_envs)]
