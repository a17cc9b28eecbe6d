"""A pool as a native ``PufferEnv`` of PufferLib."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from envpool.adapters import needs
from envpool.adapters.buffers import StepBuffers
from envpool.adapters.player_rows import PlayerRows, row_spaces
from envpool.adapters.pools import open_same_step_pool
from envpool.config.checks import check_seed
from envpool.errors import ConfigError
from envpool.pools.recovery import EXPLAINED, explain, start_over

with needs("pufferlib"):
    import pufferlib


class PufferEnv(pufferlib.PufferEnv):
    """A pool as a ``PufferEnv``: ``vector.make(PufferEnv, env_args=["Pong-v5"], env_kwargs={"num_envs": 8})``.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``envpool.list_all_envs()``. Its observation space must be a Box, and its action space
        must not be a Dict.
    num_envs : int
        Number of environments. PufferLib calls them agents, unless the task has players, which are its agents.
    buf : dict of numpy.ndarray, optional
        Buffers that PufferLib allocates.
    seed : int, optional
        Environment i gets the seed ``seed * num_envs + i``, since PufferLib gives its PufferEnvs the seeds 0, 1, 2, ...
        Without a seed, the environments keep the default seeds of ``envpool.make``.
    **options
        Options of ``envpool.make``, except autoreset_mode.

    Attributes
    ----------
    pool : EnvPool
        The pool that steps the environments, with the API style "arrays" of this package. Do not call its methods while
        this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``. Spaces that PufferLib does not support are a ConfigError, and so are batches.

    Notes
    -----
    ``reset(seed)`` returns (observations, infos); ``step(actions)`` returns (observations, rewards, terminals,
    truncations, infos). The arrays are PufferLib's buffers, which the next step overwrites: observations
    (num_envs, ...), rewards float32, terminals and truncations bool (num_envs,). An environment whose episode ends is
    reset in the same step. infos is a list with a dict of ``episode_return`` and ``episode_length`` for each episode
    that has just ended.

    In a task with players, each place for a player is a row: player p of environment i is the agent ``i * P + p``, and
    ``num_agents`` is their number. ``masks`` says which players have a row in the step. The rows of the others are
    zero, and their ``terminals`` are True, as in PufferLib's emulation of PettingZoo. If the episode of an environment
    ends, infos has a dict for each of its players.
    """

    def __init__(self, task_id: str, num_envs: int = 1, *, buf: Any = None, seed: int | None = None, **options: Any):
        self._seed = None if seed is None else check_seed("seed", seed)
        self.pool = open_same_step_pool(task_id, num_envs, options, "PufferLib", "arrays")
        self._players = PlayerRows(self.pool) if self.pool.spec.num_players else None
        self._places = self._players.places if self._players else 1  # rows of an environment
        if self._players:
            self.single_observation_space, self.single_action_space = row_spaces(self.pool.spec, "PufferLib")
        else:
            self.single_observation_space = self.pool.single_observation_space
            self.single_action_space = self.pool.single_action_space
        if not isinstance(self.single_observation_space, gymnasium.spaces.Box):
            raise ConfigError(
                f"PufferLib needs observations in one Box; the observation space of {task_id} is "
                f"{self.single_observation_space}"
            )
        if (
            isinstance(self.single_action_space, gymnasium.spaces.Dict)
            or getattr(self.single_action_space, "start", 0) > 0
        ):
            raise ConfigError(
                f"PufferLib needs actions in one Box, or integers from 0 on; the action space of {task_id} is "
                f"{self.single_action_space}"
            )
        self.num_agents = self.pool.num_envs * self._places
        self._buffers = StepBuffers(self.pool.num_envs, self._places)
        super().__init__(buf)
        self._bind()

    def _bind(self) -> None:
        """Let the threads of the pool write steps into the buffers that this object has now."""
        self._bound = to = self.observations, self.rewards, self.terminals, self.truncations
        if self._players:
            self._grid = tuple(a.reshape(-1, self._places, *a.shape[1:]) for a in (*to, self.masks))
            to = self._grid
        self._buffers.bind(self.pool, *to)

    def reset(self, seed: int | None = None) -> tuple[Any, list[dict[str, Any]]]:
        """Start new episodes in all environments; a seed, from 0 to 2**64 - 1, reseeds their generators first."""
        own, self._seed = self._seed if seed is None else check_seed("seed", seed), None
        envs = self.pool.num_envs
        first = None if own is None else own * envs % (self.pool.spec.max_seed + 2 - envs)
        obs, *masks = start_over(self.pool, seed=first)
        self.observations[:] = obs.reshape(self.observations.shape)
        if masks:
            self.masks[:] = masks[0].reshape(-1)
        self.rewards[:] = 0
        self.terminals[:] = self.truncations[:] = False
        self._buffers.reset()
        self._bind()
        return self.observations, []

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, list[dict[str, Any]]]:
        """Step all environments. The results go into the buffers that this object had in its last ``reset``."""
        try:
            if not self._players:
                return self._buffers.step(actions)
            *_, infos = self._buffers.step(self._players.actions(actions))
        except EXPLAINED as error:
            explain(self.pool, error)
            raise
        _, _, terminals, _, masks = self._grid
        if not masks.all():
            np.logical_or(terminals, ~masks, out=terminals)
        return *self._bound, infos

    def notify(self) -> None:
        """Do nothing; PufferLib calls this method to notify environments that have something to do then."""

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()
