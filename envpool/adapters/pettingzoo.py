"""One environment of a task with players as a ``ParallelEnv`` or an ``AECEnv`` of PettingZoo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envpool._support.text import shown
from envpool.adapters import needs
from envpool.adapters.one_env import OneEnv
from envpool.errors import ActionError, ConfigError, EnvIdError
from envpool.pools.recovery import EXPLAINED

with needs("pettingzoo"):
    import pettingzoo


#: Attributes of an `AECEnv` that describe an episode.
SET_BY_RESET = ("agent_selection", "rewards", "terminations", "truncations", "infos")


class ZooEnv(OneEnv):
    """Base class of `ParallelEnv` and `AECEnv`."""

    def _open(self, task_id: str, render_mode: Any, seed: int | None, options: dict[str, Any]) -> None:
        super()._open(task_id, render_mode, seed, options)
        self.metadata["is_parallelizable"] = not self._agents.is_turn_based

    def observation_space(self, agent: str) -> Any:
        """Return the observation space of an agent."""
        return self.observation_spaces[self._known_agent(agent)]

    def action_space(self, agent: str) -> Any:
        """Return the action space of an agent."""
        return self.action_spaces[self._known_agent(agent)]


class ParallelEnv(ZooEnv, pettingzoo.ParallelEnv):
    """One environment whose agents act at the same time: ``ParallelEnv("MPE/simple_spread-v3")``.

    Parameters
    ----------
    task_id : str
        Id of a task with players that act at the same time.
    render_mode : {"rgb_array", "human"}, optional
        If "rgb_array", `render` returns frames; if "human", it shows them in a window. By default, it raises
        PoolStateError.
    seed : int, optional
        Seed of the environment until ``reset(seed=...)`` sets another one. By default, as in PettingZoo, a random
        seed is drawn.
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
        EnvIdError, PoolClosedError
            The environment was never reset, or it is closed.
        """
        self._last()
        if not self.agents:
            return {}, {}, {}, {}, {}
        chosen = self._chosen(actions, self.agents)
        try:
            present, rewards, ended, cut = self._step(chosen)
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


class AECEnv(ZooEnv, pettingzoo.AECEnv):
    """One environment whose agents act one after the other: ``AECEnv("MPE/simple_spread-v3")``.

    If the agents of the task act at the same time, the environment takes a step when all of them have chosen an action.
    In turn-based tasks, each action is a step. See `ParallelEnv` for the parameters, attributes and errors.

    Notes
    -----
    It has the methods of ``pettingzoo.AECEnv``: ``reset(seed, options)``, ``last()``, ``step(action)``,
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

    def __getattr__(self, name: str) -> Any:
        hint = " before the first reset(): call reset() first" if name in SET_BY_RESET else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the observation, the rewards since the last move, the flags and the info of `agent_selection`."""
        self._check_agents()
        return super().last(observe)  # type: ignore[no-any-return]

    def observe(self, agent: str) -> Any:
        """Return the last observation of an agent, which is zero if the agent is absent."""
        self._last()
        return self._observation(self._agents.numbers[self._known_agent(agent)])

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
        PoolClosedError
            The environment is closed.
        """
        self._check_agents()
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
        if self._movers:
            self._deads_step_first()
        elif self._agents.is_turn_based:  # the last steps of a game go round, as the moves do
            order = self.possible_agents
            after = order.index(agent) + 1
            self.agent_selection = next(name for name in order[after:] + order[:after] if name in self.agents)

    def _check_agents(self) -> None:
        """Raise EnvIdError if there is no agent that could move."""
        self._last()
        if not self.agents:
            raise EnvIdError("no agent is left: call reset() first")

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
