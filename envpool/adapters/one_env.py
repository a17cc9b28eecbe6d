"""`OneEnv`: one environment of a task with players, as libraries with dicts by agent expect it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, cast

import gymnasium
import numpy as np

from envpool._support.text import shown
from envpool._support.window import can_show
from envpool.adapters.agents import OF_OPPONENTS, Agents, resolved
from envpool.config.checks import check_seed
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolClosedError
from envpool.gymnasium_api.single_env import REFUSED
from envpool.pools.classes import open_pool
from envpool.pools.recovery import EXPLAINED, explain, start_over


class OneEnv:
    """A pool of one environment with players, and its agents. Subclasses have the API of a library.

    Attributes
    ----------
    pool : GymnasiumEnvPool
        The pool.
    possible_agents : list of str
        Names of all agents, in the order of the players.
    observation_spaces, action_spaces : dict of str to gymnasium.spaces.Space
        The spaces by agent.
    """

    pool: Any
    possible_agents: list[str]
    render_mode: Any
    metadata: dict[str, Any]

    def _open(self, task_id: str, render_mode: Any, seed: int | None, options: dict[str, Any]) -> None:
        for name in (*REFUSED, "players", *OF_OPPONENTS):
            if name in options:
                raise ConfigError(
                    f"{name} is an option of pools, but this is a single environment with agents: leave it out, "
                    "or use envpool.make_gymnasium"
                )
        given = {"num_envs": 1, "autoreset_mode": "disabled", "render_mode": render_mode, "seed": seed} | options
        spec, render = resolved(task_id, given)
        self._agents = Agents(spec)
        self.pool = cast(Any, open_pool(spec, render))
        self.possible_agents = list(self._agents.names)
        self.observation_spaces = self._agents.observation_spaces
        self.action_spaces = self._agents.action_spaces
        self.render_mode = render_mode
        modes = [mode for mode in self.pool.metadata["render_modes"] if mode != "human" or can_show()]
        self.metadata = {
            "name": spec.task_id,
            "render_modes": modes,
            "render_fps": self.pool.metadata["render_fps"],
        }
        self._obs: Any = None

    @property
    def state_space(self) -> Any:
        """Space of `state`."""
        spaces = [gymnasium.spaces.flatten_space(self.observation_spaces[agent]) for agent in self.possible_agents]
        low, high = (np.concatenate([getattr(space, end) for space in spaces]) for end in ("low", "high"))
        return gymnasium.spaces.Box(low, high, dtype=np.result_type(*(space.dtype for space in spaces)))

    def state(self) -> Any:
        """Return the observations of all possible agents as one array; absent agents have zeros.

        Raises
        ------
        EnvIdError
            The environment was never reset.
        PoolClosedError
            The environment is closed.
        """
        obs, info = self._last()
        return np.concatenate(
            [
                gymnasium.spaces.flatten(self.observation_spaces[name], self._agents.observation(obs, info, 0, player))
                for player, name in enumerate(self.possible_agents)
            ]
        )

    def render(self) -> Any:
        """Return a frame, uint8 (height, width, 3); with render mode "human", show it in a window and return None."""
        frames = self.pool.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()

    def _reset(self, seed: int | None, options: dict[str, Any] | None) -> list[int]:
        """Start an episode; return the players who take part."""
        seeds = None if seed is None else [check_seed("seed", seed, self.pool.spec.max_seed)]
        obs, info = start_over(self.pool, seed=seeds, options=self._known(options))
        self._obs, self._info, self._ends = obs, info, (False, False)
        return self._present()

    def _known(self, options: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the options that the task has; the libraries' own environments ignore others."""
        if not isinstance(options, (Mapping, type(None))):
            raise TypeError(f"options must be a dict or None, got {shown(options)}")
        known = {k: v for k, v in (options or {}).items() if k in self.pool.spec.reset_option_spec}
        for name in (options or {}).keys() - known:
            warnings.warn(
                f"{self.pool.spec.task_id} has no reset option {shown(name)}, which is ignored: leave it out",
                UserWarning,
                stacklevel=4,
            )
        return known or None

    def _step(self, actions: Mapping[str, Any]) -> tuple[list[int], list[float], list[bool], list[bool]]:
        """Step the environment; return the players that have a row, and by player rewards and flags."""
        arrays = self._agents.no_actions(1)
        for name, action in actions.items():
            self._agents.put(arrays, 0, name, action)
        try:
            obs, reward, terminated, truncated, info = self.pool.step(self._agents.joined(arrays))
        except EXPLAINED as error:
            explain(self.pool, error)
            raise
        self._obs, self._info, self._ends = obs, info, (bool(terminated[0]), bool(truncated[0]))
        ended, cut = info["player_terminated"][0].tolist(), info["player_truncated"][0].tolist()
        return self._present(), reward[0].tolist(), ended, cut

    def _present(self) -> list[int]:
        return np.flatnonzero(self._info["player_mask"][0]).tolist()

    def _last(self) -> tuple[Any, dict[str, Any]]:
        if self.pool.closed:
            raise PoolClosedError("the environment is closed: make a new one")
        if self._obs is None:
            raise EnvIdError("the environment was never reset: call reset() first")
        return self._obs, self._info

    def _chosen(self, actions: Mapping[str, Any], acting: list[str]) -> dict[str, Any]:
        """Return the actions of the agents that act, or raise ActionError if one is missing or its agent is unknown."""
        if not isinstance(actions, Mapping):
            raise ActionError(f"actions must be a dict by agent, got {shown(actions)}")
        missing = [name for name in acting if name not in actions]
        if missing or not {*actions} <= {*self.possible_agents}:
            raise ActionError(
                f"actions must have a key for each agent that acts, {acting}, and for possible agents only, got "
                f"{shown(list(actions))}"
            )
        return {name: actions[name] for name in acting}

    def _known_agent(self, agent: Any) -> str:
        """Return the name of a possible agent, or raise ConfigError for any other value."""
        if agent not in self.possible_agents:
            raise ConfigError(f"agent must be one of {', '.join(self.possible_agents)}, got {shown(agent)}")
        return str(agent)

    def _observation(self, player: int) -> Any:
        return self._agents.observation(self._obs, self._info, 0, player)

    def _by_agent(self, players: list[int], value_of: Callable[[int], Any]) -> dict[str, Any]:
        """Return what a function returns for players, by the names of their agents."""
        return {self.possible_agents[p]: value_of(p) for p in players}

    def _own_info(self, player: int) -> dict[str, Any]:
        return self._agents.info(self._info, 0, player)
