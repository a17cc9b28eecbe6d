"""`MultiAgentVectorEnv`: a pool of a task with players in the form of Tianshou's ``PettingZooEnv``."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import gymnasium
import numpy as np

from envpool.adapters.agents import OF_OPPONENTS, Agents, resolved
from envpool.adapters.sub_env import SubEnv
from envpool.adapters.tianshou.base import BaseVectorEnv, objects
from envpool.adapters.tianshou.pools import PoolWorker, one
from envpool.errors import ConfigError, EnvIdError
from envpool.pools.classes import open_pool
from envpool.pools.recovery import EXPLAINED, drop_in_flight, explain


class MultiAgentVectorEnv(BaseVectorEnv):
    """Environments whose agents act one by one: ``MultiAgentVectorEnv("MPE/simple_spread-v3", num_envs=16)``.

    It returns the same values as a ``DummyVectorEnv`` of Tianshou's ``PettingZooEnv``. An environment takes a step when
    all of its agents have chosen their actions; in turn-based tasks, each action is a step. All environments that can
    take a step do so at the same time.

    Parameters
    ----------
    task_id : str
        Id of a task with players, whose agents have equal spaces.
    num_envs : int
        Number of environments.
    **options
        Further options of ``envpool.make``, except ``players``, ``autoreset_mode``, ``batch_size``,
        ``controlled`` and ``opponents``.

    Attributes
    ----------
    agents : list of str
        All agents, in the order of the players.
    agent_idx : dict of str to int
        The numbers of the agents. With these attributes, ``MultiAgentOnPolicyAlgorithm(env=...)`` takes this object.
    pool : GymnasiumEnvPool
        The pool that steps the environments. Do not call its methods while this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``. The task must have players with equal spaces.

    Notes
    -----
    An observation is a dict of ``agent_id`` (the agent that moves next), ``obs``, and, if actions are discrete,
    ``mask``: a list of bool. Rewards are float64 (num_envs, agents); they are zero until the environment takes its
    step. The flags belong to the agent: as in Tianshou, an episode is over when the episode of one agent is.
    """

    def __init__(self, task_id: str, num_envs: int = 1, **options: Any):
        for name in ("players", "autoreset_mode", "batch_size", *OF_OPPONENTS):
            if name in options:
                raise ConfigError(f"MultiAgentVectorEnv does not have the option {name}: leave it out")
        spec, render = resolved(task_id, {"num_envs": num_envs, "autoreset_mode": "disabled"} | options)
        self._players = Agents(spec)
        self.agents, self.agent_idx = self._players.names, self._players.numbers
        for spaces in (self._players.observation_spaces, self._players.action_spaces):
            for agent, space in spaces.items():
                if space != spaces[self.agents[0]]:
                    raise ConfigError(
                        f"the agents of {task_id} must have equal spaces, but {agent!r} has {space}, and "
                        f"{self.agents[0]!r} has {spaces[self.agents[0]]}: use PettingZooEnv with a wrapper of "
                        f"SuperSuit around envpool.adapters.pettingzoo.aec_env({task_id!r})"
                    )
        self.pool = cast(Any, open_pool(spec, render))
        envs = [SubEnv(self.pool, i) for i in range(self.pool.num_envs)]
        super().__init__([partial(one, env) for env in envs], PoolWorker)
        for env in envs:
            env.observation_space = obs_of(self._players.observation_spaces[self.agents[0]])
            env.action_space = self._players.action_spaces[self.agents[0]]
            env.agents, env.agent_idx = self.agents, self.agent_idx
        # For each environment: its last results, with its row in them; the players that must choose an action before
        # its next step; the player whose turn it is; and the chosen actions.
        self._results: list[Any] = [None] * len(envs)
        self._movers: list[list[int]] = [[] for _ in envs]
        self._selected = [-1] * len(envs)
        self._chosen = self._players.no_actions(len(envs))

    def _reset(self, ids: list[int], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        if isinstance(kwargs.get("seed"), (int, np.integer)):
            kwargs["seed"] = [kwargs["seed"]] * len(ids)
        drop_in_flight(self.pool)  # left by an interrupted call
        try:
            obs, info = self.pool.reset(ids, **kwargs)
        except EXPLAINED as error:
            explain(self.pool, error)
            raise
        for row, i in enumerate(ids):
            self._note(i, obs, info, row)
        return objects([self._observation(i) for i in ids]), objects([self._info(i) for i in ids])

    def _step(self, ids: list[int], action: Any) -> tuple[Any, Any, Any, Any, Any]:
        for i in ids:
            if self._selected[i] not in self._movers[i]:
                raise EnvIdError(f"the episode of environment {i} has ended, or it was never reset: call reset({i})")
        for i, own in zip(ids, action, strict=True):
            self._players.put(self._chosen, i, self.agents[self._selected[i]], own)
        rewards = np.zeros((len(ids), len(self.agents)))
        terminated, truncated = np.zeros(len(ids), np.bool_), np.zeros(len(ids), np.bool_)
        complete = [i for i in ids if self._selected[i] == self._movers[i][-1]]
        if complete:
            obs, reward, _, _, info = self._step_pool(complete)
        places = {i: row for row, i in enumerate(complete)}
        for k, i in enumerate(ids):
            if i in places:
                row = places[i]
                self._note(i, obs, info, row)
                rewards[k] = reward[row]
                terminated[k] = info["player_terminated"][row, self._selected[i]]
                truncated[k] = info["player_truncated"][row, self._selected[i]]
            else:
                self._selected[i] = self._movers[i][self._movers[i].index(self._selected[i]) + 1]
        infos = objects([self._info(i) | {"env_id": i} for i in ids])
        return objects([self._observation(i) for i in ids]), rewards, terminated, truncated, infos

    def _step_pool(self, ids: list[int]) -> Any:
        try:
            return self.pool.step(self._players.joined({path: a[ids] for path, a in self._chosen.items()}), ids)
        except EXPLAINED as error:
            for i in ids:
                self._movers[i] = []
            explain(self.pool, error)
            raise

    def _note(self, i: int, obs: Any, info: dict[str, Any], row: int) -> None:
        """Note the results of an environment, and select the first agent: one whose episode has ended, if any."""
        self._results[i] = obs, info, row
        present = np.flatnonzero(info["player_mask"][row]).tolist()
        out: list[int] = []
        if "player_terminated" in info:
            is_out = info["player_terminated"][row] | info["player_truncated"][row]
            out = [p for p in present if is_out[p]]
        mover = self._players.mover(info, row) if self._players.is_turn_based else -1
        if self._players.is_turn_based:
            self._movers[i] = [mover] if mover >= 0 and not out else []
        else:
            self._movers[i] = [p for p in present if p not in out]
        if self._players.is_turn_based and mover < 0:  # as `AECEnv`: the one after the last mover
            out.sort(key=lambda p: p <= self._selected[i])
        self._selected[i] = (out or self._movers[i])[0]

    def _observation(self, i: int) -> dict[str, Any]:
        player = self._selected[i]
        obs, info, row = self._results[i]
        own = self._players.observation(obs, info, row, player)
        named: dict[str, Any] = {"agent_id": self.agents[player], "obs": own}
        space = self._players.action_spaces[self.agents[player]]
        if isinstance(own, dict) and "action_mask" in own:
            named |= {"obs": own["observation"], "mask": [bool(is_legal) for is_legal in own["action_mask"]]}
        elif isinstance(space, gymnasium.spaces.Discrete):
            named["mask"] = [True] * int(space.n)
        return named

    def _info(self, i: int) -> dict[str, Any]:
        _, info, row = self._results[i]
        return self._players.info(info, row, self._selected[i])

    def seed(self, seed: Any = None) -> list[Any]:
        """Reseed and reset all environments; see `BaseVectorEnv.seed`."""
        own: list[int | None]
        if seed is None:
            own = [None] * len(self)
        else:
            own = [int(seed) + i for i in range(len(self))] if np.ndim(seed) == 0 else list(seed)
        self.reset(seed=own)
        return [[one_seed] for one_seed in own]

    def close(self) -> None:
        """Close the pool; a second call raises AssertionError."""
        super().close()
        self.pool.close()


def obs_of(space: Any) -> Any:
    """Return the space of ``obs``, without the mask of legal moves."""
    has_mask = isinstance(space, gymnasium.spaces.Dict) and "action_mask" in space.spaces
    return space["observation"] if has_mask else space
