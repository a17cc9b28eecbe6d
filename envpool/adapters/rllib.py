"""A pool as a vector environment of RLlib's old API stack, and environments with agents for both stacks.

With one player, the new API stack needs no adapter: ``config.environment("envpool:envpool/CartPole-v1").env_runners(
gym_env_vectorize_mode="vector_entry_point")``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from envpool._support.text import shown
from envpool.adapters import needs
from envpool.adapters.fleet import Fleet, Rows
from envpool.adapters.one_env import OneEnv
from envpool.adapters.pools import open_pool
from envpool.adapters.sub_env import SubEnv, sub_envs
from envpool.errors import ConfigError, EnvPoolError, EnvStepError
from envpool.pools.infos import split, split_info
from envpool.pools.recovery import EXPLAINED, drop_in_flight, explain, start_over

with needs("rllib"):
    from ray.rllib.env import multi_agent_env, vector_env

logger = logging.getLogger(__name__)

#: How often `GymVectorEnv.vector_reset` replaces an environment whose reset raises.
MOST_RESETS = 10


class RestartError(EnvPoolError, RuntimeError):
    """Several new environments in a row, each of which replaced the one before, could not be reset."""


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
    Spaces describe one environment; all other values are lists with one entry per environment. Environments whose
    episode has ended are not reset: RLlib calls ``reset_at``. If an environment fails, its observation is the
    exception: RLlib drops the episode and starts another one, while the other environments continue.
    """

    def __init__(self, pool: Any, **options: Any):
        self.pool = open_pool(pool, options)
        self.envs = sub_envs(self.pool)
        super().__init__(self.pool.single_observation_space, self.pool.single_action_space, self.pool.num_envs)

    @staticmethod
    def vectorize_gym_envs(
        make_env: Callable[[int], Any] | None = None,
        existing_envs: list[Any] | None = None,
        num_envs: int = 1,
        action_space: Any = None,
        observation_space: Any = None,
        restart_failed_sub_environments: bool = False,
        env_config: Any = None,
        policy_config: Any = None,
    ) -> GymVectorEnv:
        """Return a vector environment of Python environments; see `GymVectorEnv` for the parameters."""
        return GymVectorEnv(
            make_env,
            existing_envs,
            num_envs,
            observation_space=observation_space,
            action_space=action_space,
            restart_failed_sub_environments=restart_failed_sub_environments,
        )

    def vector_reset(
        self, *, seeds: list[int | None] | None = None, options: list[dict[str, Any] | None] | None = None
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Start episodes in all environments; return the observations and the infos.

        Parameters
        ----------
        seeds : list of int or None, optional
            One seed per environment; None keeps that environment's generator unchanged.
        options : list of dict, optional
            Options of each environment for this reset, see ``EnvPool.reset``.

        Raises
        ------
        EnvStepError
            An environment failed.
        """
        obs, info = start_over(self.pool, "vector_reset()", seed=seeds, options=options)
        return split(obs, self.num_envs), split_info(info)

    def reset_at(
        self, index: int | None = None, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in one environment, by default the first; return (obs or the exception, info)."""
        drop_in_flight(self.pool)  # left by an interrupted call
        try:
            obs, info = self.envs[index or 0].reset(seed=seed, options=options)
        except EnvStepError as error:
            drop_in_flight(self.pool)
            return error, {}
        return obs, info

    def restart_at(self, index: int | None = None) -> None:
        """Do nothing: an environment that failed recovers when its next episode starts."""

    def vector_step(
        self, actions: list[Any]
    ) -> tuple[list[Any], list[float], list[bool], list[bool], list[dict[str, Any]]]:
        """Step all environments; return (obs, rewards, terminateds, truncateds, infos)."""
        failures: dict[int, str] = {}
        try:
            result = self.pool.step(np.stack(actions))
        except EnvStepError as error:
            failures = error.failures
            result = self.pool.recv()
        except EXPLAINED as error:
            explain(self.pool, error, "vector_reset() or reset_at()")
            raise
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


class GymVectorEnv(vector_env.VectorEnv):
    """Python environments in a pool as a ``VectorEnv``; they run in the thread that calls.

    Parameters
    ----------
    make_env : callable, optional
        ``make_env(index)`` returns a new environment.
    existing_envs : list of gymnasium.Env, optional
        The first environments; `make_env` makes the others.
    num_envs : int
        Number of environments.
    observation_space, action_space : gymnasium.spaces.Space, optional
        Spaces of one environment; by default the spaces of environment 0.
    restart_failed_sub_environments : bool
        If True, an environment that raises an exception is replaced by ``make_env(index)``, and the exception is
        returned as its observation. If False, the exception is raised.

    Attributes
    ----------
    fleet : Fleet
        The pool that steps the environments.

    Raises
    ------
    ConfigError
        There are fewer existing environments than `num_envs`, and no `make_env`.
    EnvCreateError
        An environment could not be made; the exception that it raised is the cause.
    """

    def __init__(
        self,
        make_env: Callable[[int], Any] | None = None,
        existing_envs: list[Any] | None = None,
        num_envs: int = 1,
        *,
        observation_space: Any = None,
        action_space: Any = None,
        restart_failed_sub_environments: bool = False,
        env_config: Any = None,
        policy_config: Any = None,
    ):
        existing = list(existing_envs or [])[:num_envs]
        self.make_env = make_env
        self.restart_failed_sub_environments = restart_failed_sub_environments
        new_envs = [partial(self._new_env, i) for i in range(len(existing), num_envs)]
        self.fleet = Fleet([partial(one, env) for env in existing] + new_envs)
        first = self.fleet.envs[0]
        super().__init__(
            observation_space=observation_space or first.observation_space,
            action_space=action_space or first.action_space,
            num_envs=num_envs,
        )
        self._all = list(range(num_envs))

    def vector_reset(
        self, *, seeds: list[int | None] | None = None, options: list[dict[str, Any] | None] | None = None
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Start episodes in all environments; return the observations and the infos.

        Parameters
        ----------
        seeds : list of int or None, optional
            One seed per environment; None keeps that environment's generator unchanged.
        options : list of dict or None, optional
            Options of each environment.

        Raises
        ------
        RestartError
            With `restart_failed_sub_environments`, several new environments in a row could not be reset.
        """
        results = []
        for i in self._all:
            seed, own = (seeds or [None] * self.num_envs)[i], (options or [None] * self.num_envs)[i]
            results.append(self._reset_until_it_works(i, seed, own))
        return [obs for obs, _ in results], [info for _, info in results]

    def reset_at(
        self, index: int | None = None, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in one environment, by default the first; return (obs or the exception, info)."""
        rows = self.fleet.reset([index or 0], {"seed": seed, "options": options})
        self._restart_failed(rows)
        return rows.errors.get(rows.ids[0], rows.obs[0]), rows.infos[0]

    def _reset_until_it_works(self, index: int, seed: Any, options: Any) -> tuple[Any, dict[str, Any]]:
        """Return (obs, info) of the first of at most MOST_RESETS environments, which replace each other."""
        for _ in range(MOST_RESETS):
            obs, info = self.reset_at(index, seed=seed, options=options)
            if not isinstance(obs, Exception):
                return obs, info
        raise RestartError(
            f"reset() of environment {index} raised an exception {MOST_RESETS} times in a row, each time in a new "
            f"environment; the last one was {shown(obs)}: correct the environment that make_env({index}) returns"
        ) from obs

    def restart_at(self, index: int | None = None) -> None:
        """Replace one environment, by default the first, by a new one."""
        index = index or 0
        try:
            self.fleet.envs[index].close()
        except Exception as error:
            logger.warning("close() of environment %d, which is replaced, raised %r", index, error)
        self.fleet.replace(index, self._new_env(index))
        logger.warning("environment %d was restarted", index)

    def vector_step(
        self, actions: list[Any]
    ) -> tuple[list[Any], list[float], list[bool], list[bool], list[dict[str, Any]]]:
        """Step all environments; return (obs, rewards, terminateds, truncateds, infos).

        An environment that was restarted has the exception as its observation, the reward 0, and both flags.
        """
        rows = self.fleet.step(self._all, actions)
        self._restart_failed(rows)
        for i, info in enumerate(rows.infos):
            if not isinstance(info, dict):
                raise ConfigError(f"the info of environment {i} must be a dict, got {shown(info)}")
        obs, rewards, terminated, truncated = (list(column) for column in rows[1:5])
        for i, error in rows.errors.items():
            obs[i], terminated[i], truncated[i] = error, True, True
        return obs, list(map(plain, rewards)), list(map(bool, terminated)), list(map(bool, truncated)), rows.infos

    def get_sub_environments(self) -> list[Any]:
        """Return the environments."""
        return self.fleet.envs

    def try_render_at(self, index: int | None = None) -> Any:
        """Return what ``render()`` of one environment returns, by default of the first."""
        return self.fleet.envs[index or 0].render()

    def close(self) -> None:
        """Close the environments; the method may be called again."""
        self.fleet.close()

    def _new_env(self, index: int) -> Any:
        if self.make_env is None:
            raise ConfigError(
                f"make_env must be a function that returns environment {index}, got None: pass it, or more environments"
            )
        return self.make_env(index)

    def _restart_failed(self, rows: Rows) -> None:
        """Restart environments that have raised exceptions, or raise the first of these."""
        for i, error in rows.errors.items():
            if not self.restart_failed_sub_environments:
                raise error
            logger.error("environment %d raised an exception", i, exc_info=error)
            self.restart_at(i)


class MultiAgentEnv(OneEnv, multi_agent_env.MultiAgentEnv):
    """One environment with agents: ``tune.register_env("tag", lambda context: MultiAgentEnv("MPE/simple_tag-v3"))``.

    Parameters
    ----------
    task_id : str
        Id of a task with players.
    render_mode : {"rgb_array", "human"}, optional
        If "rgb_array", `render` returns frames; if "human", it shows them in a window. By default, it raises
        PoolStateError.
    seed : int, optional
        Seed of the environment until ``reset(seed=...)`` sets another one. By default, a random seed is drawn.
    **options
        Options of ``envpool.make``, except ``players`` and those that concern several environments.

    Attributes
    ----------
    agents : list of str
        The agents that are in the episode.
    possible_agents : list of str
        All agents, in the order of the players: the name of the group, and the number in it.
    observation_spaces, action_spaces : dict of str to gymnasium.spaces.Space
        The spaces by agent.
    pool : GymnasiumEnvPool
        The pool. Do not call its methods while this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``. The task must have players.

    Notes
    -----
    Observations have the agents that act next and those whose episode has just ended. In turn-based tasks, they have
    the agent that moves next, and at the end all agents; rewards have all agents. ``terminateds["__all__"]`` and
    ``truncateds["__all__"]`` are the ends of the environment.
    """

    def __init__(self, task_id: str, *, render_mode: Any = None, seed: int | None = None, **options: Any):
        self._open(task_id, render_mode, seed, options)
        self._agent_ids = {*self.possible_agents}
        self.agents = self.possible_agents.copy()
        super().__init__()
        self.observation_space = gymnasium.spaces.Dict(self.observation_spaces)
        self.action_space = gymnasium.spaces.Dict(self.action_spaces)
        self._acting: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; return the first observations and the infos by agent.

        Parameters
        ----------
        seed : int, optional
            Reseeds the environment. By default its generator continues.
        options : dict, optional
            The options of resets that the task has; others are ignored with a UserWarning.
        """
        present = self._reset(seed, options)
        self.agents = [self.possible_agents[p] for p in present]
        ready = self._ready(present)
        self._acting = [self.possible_agents[p] for p in ready]
        return self._by_agent(ready, self._observation), self._by_agent(ready, self._own_info)

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Take one step; return (obs, rewards, terminateds, truncateds, infos) by agent.

        Parameters
        ----------
        action_dict : dict
            The action of each agent that acts. Actions of other possible agents are ignored.

        Raises
        ------
        ActionError
            An action is missing or not allowed.
        EnvIdError
            The environment was never reset, or its episode has ended.
        EnvStepError
            The environment failed; its episode has ended.
        """
        present, rewards, ended, cut = self._step(self._chosen(action_dict, self._acting))
        self.agents = [self.possible_agents[p] for p in present if not (ended[p] or cut[p])]
        ready = self._ready(present)
        self._acting = [name for name in (self.possible_agents[p] for p in ready) if name in self.agents]
        is_over, is_cut = self._ends
        return (
            self._by_agent(ready, self._observation),
            self._by_agent(present, rewards.__getitem__),
            self._by_agent(present, ended.__getitem__) | {"__all__": is_over},
            self._by_agent(present, cut.__getitem__) | {"__all__": is_cut},
            self._by_agent(ready, self._own_info),
        )

    def _ready(self, present: list[int]) -> list[int]:
        """Return the players that get an observation."""
        if not self._agents.is_turn_based or any(self._ends):
            return present
        return [self._agents.mover(self._info, 0)]


def one(env: Any) -> Any:
    """Return the argument."""
    return env


def plain(reward: Any) -> Any:
    """Return a number as a float; RLlib's rewards of several agents stay as they are."""
    return float(reward) if isinstance(reward, (int, float, np.number)) else reward
