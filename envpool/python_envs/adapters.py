"""Environments of other interfaces under gymnasium's: old gym, dm_env, and PettingZoo's parallel environments."""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from envpool._core.casts import CastError, fitted
from envpool._support.text import shown
from envpool.errors import ConfigError

#: Spaces of old gym by the name of their class, with the attributes that their gymnasium class takes.
_SPACES: dict[str, tuple[str, ...]] = {
    "Box": ("low", "high", "shape", "dtype"),
    "Discrete": ("n", "start"),
    "MultiDiscrete": ("nvec",),
    "MultiBinary": ("n",),
}


def adapt(env: Any) -> Any:
    """Return an environment with gymnasium's interface; environments that have it are returned as they are.

    Parameters
    ----------
    env : object
        A ``gymnasium.Env``; an environment of old gym, or of any class with ``observation_space``, ``action_space``,
        ``reset`` and ``step``; a ``dm_env.Environment``; or a ``pettingzoo.ParallelEnv``.

    Raises
    ------
    ConfigError
        The object is none of these.
    """
    if isinstance(env, gymnasium.Env):
        return env
    if hasattr(env, "possible_agents") and hasattr(env, "step"):
        return ParallelEnv(env)
    if hasattr(env, "observation_spec") and hasattr(env, "action_spec"):
        return DmEnv(env)
    if all(hasattr(env, name) for name in ("observation_space", "action_space", "reset", "step")):
        return GymEnv(env)
    raise ConfigError(
        f"an environment must be a gymnasium, gym, dm_env or PettingZoo parallel environment, got a "
        f"{type(env).__name__}: return one from the function that makes environments"
    )


class Adapter(gymnasium.Env[Any, Any]):
    """Base of the adapters; attributes that it lacks are those of the environment.

    Attributes
    ----------
    inner : object
        The environment.
    """

    def __init__(self, inner: Any):
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # not set yet, while unpickling
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def unwrapped(self) -> Any:
        """The environment without wrappers."""
        return getattr(self.inner, "unwrapped", self.inner)

    def render(self) -> Any:
        """Return what ``render()`` of the environment returns."""
        return self.inner.render()

    def close(self) -> None:
        """Close the environment."""
        if hasattr(self.inner, "close"):
            self.inner.close()


class GymEnv(Adapter):
    """An environment of old gym, or of a class that inherits from nothing: results of either length are understood."""

    def __init__(self, inner: Any):
        super().__init__(inner)
        self.observation_space = to_gymnasium(inner.observation_space)
        self.action_space = to_gymnasium(inner.action_space)
        self._takes_seed = accepts(inner.reset, "seed")
        self._needs = needed(inner.reset)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; a seed goes to ``reset(seed=)`` or, if there is none, to ``seed(seed)``."""
        if seed is not None and not self._takes_seed:
            if hasattr(self.inner, "seed"):
                self.inner.seed(seed)
            seed = None
        out = self.inner.reset(**arguments(self._needs, seed, options))
        return out if is_pair(out) else (out, {})

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one step; of a result with one `done`, ``info["TimeLimit.truncated"]`` says which kind of end it is."""
        out = self.inner.step(action)
        if len(out) == 5:
            return out  # type: ignore[no-any-return]
        obs, reward, done, info = out
        is_truncated = bool(done) and bool(info.get("TimeLimit.truncated", False))
        return obs, reward, bool(done) and not is_truncated, is_truncated, info

    def render(self) -> Any:
        """Return a frame; the ``render`` of old gym takes the mode."""
        return self.inner.render(mode="rgb_array") if accepts(self.inner.render, "mode") else self.inner.render()


class DmEnv(Adapter):
    """A dm_env environment. It has no seeds: the function that makes it must seed it.

    Attributes
    ----------
    discount : float
        Discount of the last step, for pools of the dm style.
    """

    def __init__(self, inner: Any):
        super().__init__(inner)
        self.observation_space = to_space(inner.observation_spec())
        self.action_space = to_space(inner.action_spec())
        self.discount = 1.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; the seed is ignored, and there are no options."""
        if options:
            raise ConfigError(f"a dm_env environment has no options for reset, got {shown(options)}")
        self.discount = 1.0
        return self.inner.reset().observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; an episode whose last discount is not 0 was truncated."""
        step = self.inner.step(action)
        self.discount = 1.0 if step.discount is None else float(step.discount)
        is_last = step.last()
        is_over = bool(is_last and self.discount == 0)
        return step.observation, step.reward or 0.0, is_over, bool(is_last and not is_over), {}

    def render(self) -> Any:
        """Return a frame of dm_control's physics."""
        return self.inner.physics.render()


class ParallelEnv(Adapter):
    """A PettingZoo parallel environment as one environment with an agent dimension.

    Observations and actions have one row per possible agent, or are dicts by agent if the spaces of agents differ. The
    reward is the sum over the agents. ``info`` has ``agent_reward`` float64 (A,), ``agent_terminated``,
    ``agent_truncated`` and ``agent_mask`` bool (A,): which agents are alive after the step. Observations of other
    agents are zero, and their actions are ignored. The episode ends when no agent is left; it is truncated if any agent
    was truncated in its last step.
    """

    def __init__(self, inner: Any):
        super().__init__(inner)
        self.agents_order = list(inner.possible_agents)
        self._needs = needed(inner.reset)
        self._own_obs = {a: to_gymnasium(inner.observation_space(a)) for a in self.agents_order}
        self._own_actions = {a: to_gymnasium(inner.action_space(a)) for a in self.agents_order}
        self._is_stacked = all(
            isinstance(s, (spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete)) and s == first
            for own in (self._own_obs, self._own_actions)
            for first in [own[self.agents_order[0]]]
            for s in own.values()
        )
        self.observation_space = self._joint(self._own_obs)
        self.action_space = self._joint(self._own_actions)

    def _joint(self, own: dict[Any, Any]) -> Any:
        if self._is_stacked:
            return gymnasium.vector.utils.batch_space(own[self.agents_order[0]], len(own))
        return spaces.Dict({str(agent): space for agent, space in own.items()})

    def _observation(self, obs: dict[Any, Any]) -> Any:
        full = {a: obs[a] if a in obs else zero_of(s) for a, s in self._own_obs.items()}
        if self._is_stacked:
            return np.stack([self._fitted(a, v) for a, v in full.items()])
        return {str(a): v for a, v in full.items()}

    def _fitted(self, agent: Any, value: Any) -> np.ndarray[Any, Any]:
        try:
            return fitted(value, np.dtype(self.observation_space.dtype))
        except CastError as error:
            raise ValueError(f"the observation of agent {shown(agent)} contains {error}") from None

    def _flags(self, values: dict[Any, Any]) -> np.ndarray[Any, Any]:
        return np.array([bool(values.get(a, False)) for a in self.agents_order])

    def _info(self, infos: dict[Any, Any], alive: Any, reward: Any, terminated: Any, truncated: Any) -> dict[str, Any]:
        entries = {"agent_reward": reward, "agent_terminated": terminated, "agent_truncated": truncated}
        return {str(a): i for a, i in infos.items() if i} | entries | {"agent_mask": alive}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        out = self.inner.reset(**arguments(self._needs, seed, options))
        obs, infos = out if is_pair(out) else (out, {})
        count = len(self.agents_order)
        none = np.zeros(count, np.bool_)
        alive = np.array([a in obs for a in self.agents_order])
        return self._observation(obs), self._info(infos, alive, np.zeros(count), none, none.copy())

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step of all agents that are alive."""
        chosen = {
            a: action[k] if self._is_stacked else action[str(a)]
            for k, a in enumerate(self.agents_order)
            if a in self.inner.agents
        }
        obs, rewards, terminations, truncations, infos = self.inner.step(chosen)
        reward = np.array([float(rewards.get(a, 0.0)) for a in self.agents_order])
        terminated, truncated = self._flags(terminations), self._flags(truncations)
        alive = np.array([a in self.inner.agents for a in self.agents_order])
        is_over = not alive.any()
        info = self._info(infos, alive, reward, terminated, truncated)
        is_truncated = is_over and bool(truncated.any())
        return self._observation(obs), float(reward.sum()), is_over and not is_truncated, is_truncated, info


def accepts(function: Any, name: str) -> bool:
    """Return whether a function has a parameter of this name, or any keywords."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def arguments(needs: tuple[str, ...] | None, seed: int | None, options: dict[str, Any] | None) -> dict[str, Any]:
    """Return the arguments of ``reset``: those that are given, and those that it needs, see `needed`."""
    given = {"seed": seed, "options": options}
    return {name: value for name, value in given.items() if value is not None or name in (needs or ())}


def needed(reset: Any) -> tuple[str, ...] | None:
    """Return which of the arguments seed and options a ``reset`` has no default for; None if it needs neither."""
    try:
        parameters = inspect.signature(reset).parameters
    except (TypeError, ValueError):
        return None
    by_name = [p for p in parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    names = tuple(p.name for p in by_name if p.name in ("seed", "options") and p.default is p.empty)
    return names or None


def is_pair(out: Any) -> bool:
    """Return whether the result of a reset is an observation with an info."""
    return isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], dict)


def zero_of(space: Any) -> Any:
    """Return zeros in the structure of a space, which need not contain them; None stands for leaves without a shape."""
    if isinstance(space, spaces.Dict):
        return {k: zero_of(s) for k, s in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(zero_of(s) for s in space.spaces)
    return np.zeros(space.shape, space.dtype) if space.shape is not None else None


def to_gymnasium(space: Any) -> Any:
    """Return a space of old gym as a space of gymnasium; gymnasium's own are returned as they are."""
    if isinstance(space, spaces.Space):
        return space
    name = type(space).__name__
    if name == "Dict":
        return spaces.Dict({k: to_gymnasium(s) for k, s in space.spaces.items()})
    if name == "Tuple":
        return spaces.Tuple([to_gymnasium(s) for s in space.spaces])
    if name not in _SPACES:
        raise ConfigError(
            f"{shown(space)} is neither a space of gymnasium nor a known space of gym: wrap the environment"
        )
    values = {k: getattr(space, k) for k in _SPACES[name] if hasattr(space, k)}
    return getattr(spaces, name)(**values)


def to_space(spec: Any) -> Any:
    """Return the space of a dm_env spec, or of a nest of specs."""
    if isinstance(spec, (list, tuple)) and not hasattr(spec, "_fields"):
        return spaces.Tuple([to_space(s) for s in spec])
    if hasattr(spec, "items"):
        return spaces.Dict({k: to_space(s) for k, s in spec.items()})
    if hasattr(spec, "_asdict"):
        return spaces.Dict({k: to_space(s) for k, s in spec._asdict().items()})
    if hasattr(spec, "num_values"):
        return spaces.Discrete(int(spec.num_values))
    if np.dtype(spec.dtype).kind in "USO":
        return spaces.Text(max_length=2**16)
    is_float = np.dtype(spec.dtype).kind == "f"
    limits = (-np.inf, np.inf) if is_float else limits_of(np.dtype(spec.dtype))
    low, high = (
        np.broadcast_to(np.asarray(getattr(spec, name, default), spec.dtype), spec.shape).copy()
        for name, default in zip(("minimum", "maximum"), limits, strict=True)
    )
    return spaces.Box(low, high, spec.shape, spec.dtype)


def limits_of(dtype: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest value of a dtype of integers or bools."""
    return (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
