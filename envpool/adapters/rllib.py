"""A pool as a vector environment of RLlib's old API stack.

The new API stack needs no adapter: ``config.environment("envpool:envpool/CartPole-v1").env_runners(
gym_env_vectorize_mode="vector_entry_point")``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.adapters import needs
from envpool.adapters.pools import open_pool, split, split_info
from envpool.adapters.sub_env import SubEnv, check_no_options, sub_envs
from envpool.errors import EnvStepError

with needs("rllib"):
    from ray.rllib.env import vector_env


class VectorEnv(vector_env.VectorEnv):
    """A pool as a ``VectorEnv``: ``tune.register_env("cart", lambda context: VectorEnv("CartPole-v1", num_envs=8))``.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool made by ``envpool.make_gymnasium``. ``close()`` closes the pool; RLlib does not call it and
        leaves the pool to the garbage collector.
    **options
        Options of ``envpool.make``, allowed with a task id only.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool that steps the environments. Do not call its methods while this object is in use.

    Raises
    ------
    TypeError, ConfigError
        See `envpool.adapters.pools.open_pool`.

    Notes
    -----
    Spaces are those of one environment; all other values are lists with one entry per environment. Environments whose
    episode has ended are not reset: RLlib calls ``reset_at``. If an environment fails, its observation is the
    exception: RLlib drops the episode and starts another one, while the other environments continue.
    """

    def __init__(self, pool: Any, **options: Any):
        self.pool = open_pool(pool, options)
        self.envs = sub_envs(self.pool)
        super().__init__(self.pool.single_observation_space, self.pool.single_action_space, self.pool.num_envs)

    def vector_reset(
        self, *, seeds: list[int | None] | None = None, options: list[dict[str, Any] | None] | None = None
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Start episodes in all environments; return the observations and the infos.

        Parameters
        ----------
        seeds : list of int or None, optional
            One seed per environment; None keeps that environment's generator unchanged.
        options : list of dict, optional
            Options of each environment. Since the environments have none, all entries must be empty.

        Raises
        ------
        EnvStepError
            An environment failed.
        """
        for env_options in options or []:
            check_no_options(env_options)
        obs, info = self.pool.reset(seed=seeds)
        return split(obs, self.num_envs), split_info(info)

    def reset_at(
        self, index: int | None = None, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in one environment, by default the first; return (obs or the exception, info)."""
        try:
            return self.envs[index or 0].reset(seed=seed, options=options)
        except EnvStepError as error:
            self.pool.recv()
            return error, {}

    def restart_at(self, index: int | None = None) -> None:
        """Do nothing: an environment that failed recovers when its next episode starts."""

    def vector_step(
        self, actions: list[Any]
    ) -> tuple[list[Any], list[float], list[bool], list[bool], list[dict[str, Any]]]:
        """Step all environments; return (obs, rewards, terminateds, truncateds, infos)."""
        failures: dict[int, str] = {}
        self.pool.send(np.stack(actions))
        try:
            result = self.pool.recv()
        except EnvStepError as error:
            failures = error.failures
            result = self.pool.recv()
        obs, reward, terminated, truncated, info = result
        rows = split(obs, self.num_envs)
        for i, text in failures.items():
            rows[i] = EnvStepError({i: text})
            terminated[i] = True  # RLlib requires it
        return rows, reward.tolist(), terminated.tolist(), truncated.tolist(), split_info(info)

    def get_sub_environments(self) -> list[SubEnv]:
        """Return a SubEnv for each environment."""
        return self.envs

    def try_render_at(self, index: int | None = None) -> Any:
        """Return a frame of one environment, by default the first."""
        return self.envs[index or 0].render()

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()
