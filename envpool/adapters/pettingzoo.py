"""One environment of a task with players as a ``ParallelEnv`` or an ``AECEnv`` of PettingZoo."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from envpool._support.text import shown
from envpool._support.window import can_show
from envpool.adapters import needs
from envpool.adapters.agents import Agents
from envpool.errors import ActionError, ConfigError, EnvIdError
from envpool.gymnasium_api.single_env import POOL_OPTIONS
from envpool.pools.classes import open_pool
from envpool.pools.recovery import EXPLAINED, explain, start_over
from envpool.tasks.resolve import resolve

with needs("pettingzoo"):
    import pettingzoo


class OneEnv:
    """A pool of one environment with players: what `ParallelEnv` and `AECEnv` have in common."""

    pool: Any
    render_mode: Any

    def _open(self, task_id: str, render_mode: Any, seed: int | None, options: dict[str, Any]) -> None:
        for name in (*POOL_OPTIONS, "players"):
            if name in options:
                raise ConfigError(
                    f"{name} is an option of pools, but PettingZoo has single environments whose agents are dicts: "
                    "leave it out, or use envpool.make_gymnasium"
                )
        given = {"num_envs": 1, "autoreset_mode": "disabled", "render_mode": render_mode, "seed": seed} | options
        spec, render = resolve(task_id, "gymnasium", given)
        if not spec.num_players:
            raise ConfigError(
                f"{spec.task_id} has one player, and PettingZoo's environments have several agents: use gymnasium"
            )
        spec, render = resolve(task_id, "gymnasium", given | {"players": "grid"})
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
            "is_parallelizable": not self._agents.is_turn_based,
        }
        self._obs: Any = None

    @property
    def state_space(self) -> Any:
        """Space of `state`."""
        import gymnasium

        spaces = [gymnasium.spaces.flatten_space(self.observation_space(agent)) for agent in self.possible_agents]
        low, high = (np.concatenate([getattr(space, end) for space in spaces]) for end in ("low", "high"))
        return gymnasium.spaces.Box(low, high, dtype=np.result_type(*(space.dtype for space in spaces)))

    def state(self) -> Any:
        """Return the observations of all possible agents, one after the other; those of absent ones are zero.

        Raises
        ------
        PoolStateError
            The environment was never reset.
        """
        import gymnasium

        obs, info = self._last()
        return np.concatenate(
            [
                gymnasium.spaces.flatten(self.observation_space(name), self._agents.observation(obs, info, 0, player))
                for player, name in enumerate(self.possible_agents)
            ]
        )

    def observation_space(self, agent: str) -> Any:
        """Return the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the action space of an agent."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """Return a frame, uint8 (height, width, 3); with render mode "human", show it in a window and return None."""
        frames = self.pool.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()

    def _reset(self, seed: int | None, options: dict[str, Any] | None) -> list[int]:
        """Start an episode; return the players who take part."""
        obs, info = start_over(self.pool, seed=None if seed is None else [seed], options=self._known(options))
        self._obs, self._info = obs, info
        return self._present()

    def _known(self, options: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the options that the task has; PettingZoo's environments ignore others."""
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
            obs, reward, _, _, info = self.pool.step(self._agents.joined(arrays))
        except EXPLAINED as error:
            explain(self.pool, error)
            raise
        self._obs, self._info = obs, info
        ended, cut = info["player_terminated"][0].tolist(), info["player_truncated"][0].tolist()
        return self._present(), reward[0].tolist(), ended, cut

    def _present(self) -> list[int]:
        return np.flatnonzero(self._info["player_mask"][0]).tolist()

    def _last(self) -> tuple[Any, dict[str, Any]]:
        if self._obs is None:
            raise EnvIdError("the environment was never reset: call reset() first")
        return self._obs, self._info

    def _observation(self, player: int) -> Any:
        return self._agents.observation(self._obs, self._info, 0, player)

    def _own_info(self, player: int) -> dict[str, Any]:
        return self._agents.info(self._info, 0, player)


class ParallelEnv(OneEnv, pettingzoo.ParallelEnv):
    """One environment whose agents act at the same time: ``ParallelEnv("MPE/simple_spread-v3")``.

    Parameters
    ----------
    task_id : str
        Id of a task with players that act at the same time.
    render_mode : {"rgb_array", "human"}, optional
        Whether `render` returns frames or shows them in a window. By default, `render` raises PoolStateError.
    seed : int, optional
        Seed of the environment until ``reset(seed=...)`` sets another one. By default, as in PettingZoo, it is drawn
        from the entropy of the system.
    **options
        Options of ``envpool.make``, except ``players`` and those that concern several environments.

    Attributes
    ----------
    agents : list of str
        The agents that act in the next step.
    possible_agents : list of str
        All agents, in the order of the players: the name of the group, and the number in it.
    pool : GymnasiumEnvPool
        The pool. Do not call its methods while this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``. The task must have players, which do not move in turn.

    Notes
    -----
    ``reset(seed, options)`` returns (obs, infos), and ``step(actions)`` returns (obs, rewards, terminations,
    truncations, infos), dicts by agent. They have the agents that acted in the step, and those that join with it.
    Rewards are the float32 rewards of the pool. An agent whose episode has ended is in `agents` no more.
    """

    def __init__(self, task_id: str, *, render_mode: Any = None, seed: int | None = None, **options: Any):
        self._open(task_id, render_mode, seed, options)
        if self._agents.is_turn_based:
            self.pool.close()
            raise ConfigError(f"the agents of {task_id} move in turn: use aec_env")
        self.agents: list[str] = []

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
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
        return self._by_agent(present, self._observation), self._by_agent(present, self._own_info)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take one step; return (obs, rewards, terminations, truncations, infos) by agent.

        Parameters
        ----------
        actions : dict
            The action of each agent in `agents`. Actions of other possible agents are ignored. If no agent is left, the
            results are empty, as in PettingZoo.

        Raises
        ------
        ActionError
            An action is missing or not allowed.
        EnvStepError
            The environment failed; its episode has ended.
        """
        if not self.agents and self._obs is not None:
            return {}, {}, {}, {}, {}
        self._last()
        missing = [name for name in self.agents if name not in actions]
        strangers = [name for name in actions if name not in self.possible_agents]
        if missing or strangers:
            raise ActionError(
                f"actions must have a key for each agent in env.agents, {self.agents}, got {shown(list(actions))}"
            )
        try:
            present, rewards, ended, cut = self._step({name: actions[name] for name in self.agents})
        except EXPLAINED:
            self.agents = []
            raise
        self.agents = [self.possible_agents[p] for p in present if not (ended[p] or cut[p])]
        return (
            self._by_agent(present, self._observation),
            self._by_agent(present, rewards.__getitem__),
            self._by_agent(present, ended.__getitem__),
            self._by_agent(present, cut.__getitem__),
            self._by_agent(present, self._own_info),
        )

    def _by_agent(self, players: list[int], value_of: Any) -> dict[str, Any]:
        return {self.possible_agents[p]: value_of(p) for p in players}


class AECEnv(OneEnv, pettingzoo.AECEnv):
    """One environment whose agents act one after the other: ``AECEnv("MPE/simple_spread-v3")``.

    If the agents of the task act at the same time, the environment takes a step when all of them have chosen an action.
    In turn-based tasks, each action is a step. See `ParallelEnv` for the parameters, attributes and errors.

    Notes
    -----
    The methods are those of ``pettingzoo.AECEnv``: ``reset(seed, options)``, ``last()``, ``step(action)``,
    ``agent_iter()``, ``observe(agent)``. An agent whose episode has ended takes one last step with the action None. In
    turn-based tasks with masks of legal moves, observations are dicts of ``observation`` and ``action_mask``, which is
    zero for agents that do not move.
    """

    agent_selection: str

    def __init__(self, task_id: str, *, render_mode: Any = None, seed: int | None = None, **options: Any):
        self._open(task_id, render_mode, seed, options)
        self.agents: list[str] = []

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode; see `ParallelEnv.reset`."""
        present = self._reset(seed, options)
        self.agents = [self.possible_agents[p] for p in present]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {self.possible_agents[p]: self._own_info(p) for p in present}
        self._skip_agent_selection = None
        self._begin_cycle()

    def observe(self, agent: str) -> Any:
        """Return the last observation of an agent; that of one which is absent is zero."""
        self._last()
        return self._observation(self._agents.numbers[agent])

    def step(self, action: Any) -> None:
        """Take the action of the agent `agent_selection`; None if its episode has ended.

        Raises
        ------
        ActionError
            The action is not allowed. The agent is still to move.
        EnvStepError
            The environment failed; its episode has ended.
        EnvIdError
            There is no agent: `reset` starts an episode.
        """
        if not self.agents:
            raise EnvIdError("no agent is left: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ActionError(
                    f"the episode of agent {agent!r} has ended: its last action must be None, got {shown(action)}"
                )
            self._was_dead_step(None)
            return
        if self._agents.is_turn_based or agent == self._movers[-1]:
            self._advance(self._actions | {agent: action})
        else:
            self._agents.put(self._agents.no_actions(1), 0, agent, action)  # a wrong action raises now
            self._actions[agent] = action
            self._clear_rewards()
            self.agent_selection = self._movers[self._movers.index(agent) + 1]
        if agent in self._cumulative_rewards:
            self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._deads_step_first()

    def _advance(self, actions: dict[str, Any]) -> None:
        """Step the environment with the actions of all agents that move, and note the results."""
        try:
            present, rewards, ended, cut = self._step(actions)
        except EXPLAINED:
            self.agents = []
            raise
        names = [self.possible_agents[p] for p in present]
        self.agents = names.copy()
        self.rewards = {name: rewards[p] for p, name in zip(present, names, strict=True)}
        self.terminations = {name: ended[p] for p, name in zip(present, names, strict=True)}
        self.truncations = {name: cut[p] for p, name in zip(present, names, strict=True)}
        self.infos = {name: self._own_info(p) for p, name in zip(present, names, strict=True)}
        self._cumulative_rewards = {name: self._cumulative_rewards.get(name, 0.0) for name in names}
        self._begin_cycle()

    def _begin_cycle(self) -> None:
        """Note which agents move before the next step of the environment, and select the first one."""
        self._actions: dict[str, Any] = {}
        if self._agents.is_turn_based:
            mover = self._agents.mover(self._info, 0)
            self._movers = [self.possible_agents[mover]] if mover >= 0 else []
        else:
            self._movers = [name for name in self.agents if not (self.terminations[name] or self.truncations[name])]
        self.agent_selection = (self._movers or self.agents or [""])[0]


def parallel_env(task_id: str, **options: Any) -> ParallelEnv:
    """Return a `ParallelEnv`, under the name that PettingZoo's modules give to such a function.

    Parameters
    ----------
    task_id : str
        Id of a task with players, such as ``"MPE/simple_spread-v3"``.
    **options
        ``render_mode``, ``seed``, and the options of ``envpool.make``, see `ParallelEnv`.
    """
    return ParallelEnv(task_id, **options)


def aec_env(task_id: str, **options: Any) -> AECEnv:
    """Return an `AECEnv`; see `parallel_env` for the parameters."""
    return AECEnv(task_id, **options)
