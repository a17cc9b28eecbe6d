"""A pool as a vector environment of RLlib's old API stack.

The new stack needs nothing of this: ``config.environment("envpool:envpool/CartPole-v1").env_runners(
gym_env_vectorize_mode="vector_entry_point")``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.adapters import needs
from envpool.adapters.pools import open_pool, split, split_info
from envpool.adapters.sub_env import SubEnv, check_no_options, members
from envpool.errors import EnvStepError

with needs("rllib"):
    from ray.rllib.env import vector_env


class VectorEnv(vector_env.VectorEnv):
    """A pool as a ``VectorEnv``: ``tune.register_env("cart", lambda context: VectorEnv("CartPole-v1", num_envs=8))``.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool made by ``envpool.make_gymnasium``. ``close()`` closes it; RLlib leaves that to the garbage
        collector.
    **options
        As for ``envpool.make``, with a task id.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool inside; to be left alone while this is in use.

    Raises
    ------
    TypeError, ConfigError
        See `envpool.adapters.pools.open_pool`.

    Notes
    -----
    Spaces are those of one environment, and everything else is a list with an entry for each. Episodes that end are not
    reset; RLlib calls ``reset_at``. An environment that fails gives its exception as its observation: RLlib drops
    the episode and starts another one, and the others go on.
    """

    def __init__(self, pool: Any, **options: Any):
        self.pool = open_pool(pool, options)
        self.envs = members(self.pool)
        super().__init__(self.pool.single_observation_space, self.pool.single_action_space, self.pool.num_envs)

    def vector_reset(
        self, *, seeds: list[int | None] | None = None, options: list[dict[str, Any] | None] | None = None
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Start episodes everywhere; return the observations and the infos.

        Parameters
        ----------
        seeds : list of int or None, optional
            One for each environment; None goes on with its generator.
        options : list of dict, optional
            There are none: all must be empty.

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
        """Start an episode in one environment, by default the first; return obs, or why it failed, and info."""
        try:
            return self.envs[index or 0].reset(seed=seed, options=options)
        except EnvStepError as error:
            self.pool.recv()
            return error, {}

    def restart_at(self, index: int | None = None) -> None:
        """Do nothing: an environment that failed starts anew with its next episode."""

    def vector_step(
        self, actions: list[Any]
    ) -> tuple[list[Any], list[float], list[bool], list[bool], list[dict[str, Any]]]:
        """Step all environments, each with its action; return obs, rewards, terminateds, truncateds and infos."""
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
            terminated[i] = True  # RLlib asks for it
        return rows, reward.tolist(), terminated.tolist(), truncated.tolist(), split_info(info)

    def get_sub_environments(self) -> list[SubEnv]:
        """Return the environments, each by itself."""
        return self.envs

    def try_render_at(self, index: int | None = None) -> Any:
        """Return a picture of one environment, by default the first."""
        return self.envs[index or 0].render()

    def close(self) -> None:
        """Close the pool; may be called again."""
        self.pool.close()
