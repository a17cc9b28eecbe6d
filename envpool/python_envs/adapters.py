"""Environments of other interfaces under gymnasium's: old gym, dm_env, and PettingZoo's two forms."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.python_envs.layout import Layout
from envpool.python_envs.players import GameLayout, PlayersLayout, groups_of, unknown_agents
from envpool.python_envs.returned import (
    OLD_STEP,
    RESET_OF_AGENTS,
    STEP,
    STEP_OF_AGENTS,
    dicts_of,
    entry_of,
    flag_of,
    time_step_of,
    values_of,
)
from envpool.python_envs.space_checks import check_observation

#: Spaces of old gym by the name of their class, with the attributes that their gymnasium class takes.
_SPACES: dict[str, tuple[str, ...]] = {
    "Box": ("low", "high", "shape", "dtype"),
    "Discrete": ("n", "start"),
    "MultiDiscrete": ("nvec",),
    "MultiBinary": ("n",),
}


#: Names that every environment of gymnasium has.
INTERFACE = {*dir(gymnasium.Env), *gymnasium.Env.__annotations__}

#: Attributes in which wrappers of PettingZoo, old gym and dm_env keep the inner environment.
_INSIDE = ("env", "aec_env", "_env", "_environment")


def adapt(env: Any) -> Any:
    """Return an environment with gymnasium's interface; environments that have it are returned as they are.

    Parameters
    ----------
    env : object
        A ``gymnasium.Env``; an environment of old gym, or of any class with ``observation_space``, ``action_space``,
        ``reset`` and ``step``; a ``dm_env.Environment``; or a ``pettingzoo.ParallelEnv`` or ``AECEnv``.

    Raises
    ------
    ConfigError
        The object is not one of these.
    """
    if isinstance(env, gymnasium.Env):
        return env
    if hasattr(env, "possible_agents") and hasattr(env, "step"):
        return of_aec(env) if hasattr(env, "agent_iter") else PlayersEnv(env)
    if hasattr(env, "observation_spec") and hasattr(env, "action_spec"):
        return DmEnv(env)
    if all(hasattr(env, name) for name in ("observation_space", "action_space", "reset", "step")):
        return GymEnv(env)
    raise ConfigError(
        f"an environment must be a gymnasium, gym, dm_env or PettingZoo environment, got a "
        f"{type(env).__name__}: return one from the function that makes environments"
    )


class Adapter(gymnasium.Env[Any, Any]):
    """Base of the adapters. Users read and set attributes of the environment, not of the adapter.

    Parameters
    ----------
    inner : object
        The environment.
    given : object, optional
        The object that the user's function returned, if `inner` is a converter of it.

    Attributes
    ----------
    inner, given : object
        See the parameters.
    """

    def __init__(self, inner: Any, given: Any = None):
        self.inner = inner
        self.given = inner if given is None else given

    def has_wrapper_attr(self, name: str) -> bool:
        """Return whether the environment, or a wrapper of it that shows others' attributes, has an attribute."""
        return hasattr(self.given, name)

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute of the environment, or else the adapter's attribute of gymnasium's interface."""
        if name == "render":  # with the arguments that it takes
            return self.render
        for env in (self.given, self.unwrapped):  # wrappers of PettingZoo hide names that begin with an underscore
            if hasattr(env, name):
                return getattr(env, name)
        return getattr(self if name in INTERFACE else self.given, name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set an attribute that the environment or a wrapper of it has, on the one that has it itself."""
        setattr(owner_of(self.given, name), name, value)
        return True

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
        self.observation_space = to_gymnasium(inner.observation_space, "observation_space")
        self.action_space = to_gymnasium(inner.action_space, "action_space")
        self._takes_seed = accepts(inner.reset, "seed")
        self._needs = needed(inner.reset)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; a seed goes to ``reset(seed=)`` or, if there is none, to ``seed(seed)``."""
        if seed is not None and not self._takes_seed:
            if hasattr(self.inner, "seed"):
                self.inner.seed(seed)
            seed = None
        out = self.inner.reset(**arguments(self._needs, seed, options))
        return out if is_pair(out, self.observation_space) else (out, {})

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one step; of a result with one `done`, ``info["TimeLimit.truncated"]`` says which kind of end it is."""
        out = values_of("step", self.inner.step(action), STEP, OLD_STEP)
        if len(out) == 5:
            return out
        obs, reward, done, info = out
        is_cut = isinstance(info, Mapping) and bool(info.get("TimeLimit.truncated", False))
        return (obs, reward, False, done, info) if is_cut else (obs, reward, done, False, info)

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
            raise ConfigError(f"options must be None for a dm_env environment, got {shown(options)}")
        self.discount = 1.0
        return time_step_of("reset", self.inner.reset()).observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; an episode whose last discount is not 0 was truncated."""
        step = time_step_of("step", self.inner.step(action))
        self.discount = 1.0 if step.discount is None else float(step.discount)
        is_last = step.last()
        is_over = bool(is_last and self.discount == 0)
        return step.observation, step.reward or 0.0, is_over, bool(is_last and not is_over), {}

    def render(self) -> Any:
        """Return a frame of dm_control's physics."""
        return self.inner.physics.render()


class PlayersEnv(Adapter):
    """A PettingZoo parallel environment, whose possible agents are the players.

    Parameters
    ----------
    inner : pettingzoo.ParallelEnv
        The environment.
    is_turn_based : bool
        If True, it was an AECEnv whose agents move in turn: the agent whose turn it is takes the action.
    given : object, optional
        See `Adapter`.

    Attributes
    ----------
    observations, actions : PlayersLayout
        The form in which values travel. The actions of agents that move in turn have the Layout of a move.
    is_turn_based : bool
        See `is_turn_based` above.
    groups : list of PlayerGroup
        Groups of agents with equal spaces.
    present, ended, cut : numpy.ndarray
        bool (P,): which players have a row after the last call, since they acted or join; which of them have
        terminated; and which were truncated.
    checks : bool
        If True, observations are compared with the space of their agent.

    Raises
    ------
    ConfigError
        There are no agents, two of them have one name, or their spaces are not supported.

    Notes
    -----
    ``reset`` and ``step`` return observations as lists of arrays with a row for each player, see `PlayersLayout`, and
    actions have this form, too. The arrays are used again. Rewards are a list with one value for each player. The info
    has the infos of the agents by player, and under -1 all entries that belong to no agent.
    """

    def __init__(self, inner: Any, is_turn_based: bool = False, given: Any = None):
        super().__init__(inner, given)
        self.is_turn_based = is_turn_based
        self.numbers = {agent: player for player, agent in enumerate(inner.possible_agents)}
        if not 0 < len({*map(str, inner.possible_agents)}) == len(inner.possible_agents):
            raise ConfigError(
                f"possible_agents of {type(inner).__name__} must have at least one agent, and different names, got "
                f"{shown(inner.possible_agents)}"
            )
        self._needs = needed(inner.reset)
        own_obs = {str(a): to_gymnasium(inner.observation_space(a), f"observation_space({a!r})") for a in self.numbers}
        own_actions = {str(a): to_gymnasium(inner.action_space(a), f"action_space({a!r})") for a in self.numbers}
        self.actions: Any
        self.observations: PlayersLayout
        if is_turn_based:
            self.actions = layout_of_moves(own_actions)
            self.observations = GameLayout(own_obs, self.actions.space)
            self.groups = groups_of(list(self.numbers), self.observations)
        else:
            self.actions = PlayersLayout(own_actions, "action", ".")
            self.observations = PlayersLayout(own_obs, "obs", ":")
            self.groups = groups_of(list(self.numbers), self.observations, self.actions)
        self.observation_space, self.action_space = self.observations.space, self.actions.space
        self.checks = False
        self.present, self.ended, self.cut = (np.zeros(len(self.numbers), np.bool_) for _ in range(3))
        self._obs = self.observations.new_arrays()
        self._acting: list[Any] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start an episode."""
        out = self.inner.reset(**arguments(self._needs, seed, options))
        obs, infos = dicts_of("reset", out if is_pair(out) else (out, {}), RESET_OF_AGENTS)
        self._acting = list(self.inner.agents)
        unknown_agents(self._acting, self.numbers)
        if not self._acting:
            raise ValueError("reset() must leave at least one agent in env.agents, got none")
        for player in range(len(self.numbers)):
            self.present[player] = self.ended[player] = self.cut[player] = False
        for agent in self._acting:
            self.present[self.numbers[agent]] = True
        return self._packed(obs), self._info(infos)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, Any]:
        """Take one step of the agents that act. The episode ends when no agent is left."""
        before = self._acting
        if self.is_turn_based:
            out = take_turn(self.inner, action)
        else:
            out = self.inner.step({agent: self.actions.take(action, self.numbers[agent]) for agent in before})
        obs, rewards, terminations, truncations, infos = dicts_of("step", out, STEP_OF_AGENTS)
        alive = {*self.inner.agents}
        unknown_agents(alive, self.numbers)
        results = {"rewards": rewards, "terminations": terminations, "truncations": truncations}
        for name, by_agent in results.items():
            unknown_agents(by_agent, self.numbers, f"agents of the {name}")
        self._acting, values = [], []
        for agent, player in self.numbers.items():
            has_acted, is_alive = agent in before, agent in alive
            reward, *flags = (entry_of(name, by_agent, agent, has_acted) for name, by_agent in results.items())
            ended, cut = flag_of("the termination", flags[0], agent), flag_of("the truncation", flags[1], agent)
            is_out = ended or cut or not is_alive
            self.present[player] = has_acted or not is_out
            self.ended[player] = has_acted and (ended or (not is_alive and not cut))
            self.cut[player] = has_acted and cut
            values.append(reward)
            if not is_out:
                self._acting.append(agent)
        is_over = not self._acting
        # The pool gives the ends of an environment to all players that are present.
        has_ended = is_over and not (self.present & ~self.ended).any()
        return self._packed(obs), values, has_ended, is_over and not has_ended, self._info(infos)

    def _packed(self, obs: Mapping[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """Return observations as arrays. An agent whose episode has ended may have none: its row is zero."""
        layout = self.observations
        if isinstance(layout, GameLayout):
            mover = self.inner.aec_env.agent_selection if self._acting else None
            layout.put_turn(self._obs, self.numbers.get(mover, -1), obs.get(mover))
        for agent, player in self.numbers.items():
            if agent in obs and self.present[player]:
                if self.checks:
                    check_observation(self.observations.space[str(agent)], obs[agent], (agent,))
                own = layout.own_part(obs[agent]) if isinstance(layout, GameLayout) else obs[agent]
                layout.put(self._obs, player, own)
            elif agent in self._acting:
                raise ValueError(f"the observations must have each agent of env.agents, got none of {shown(agent)}")
            else:
                layout.clear(self._obs, player)
        return self._obs

    def _info(self, infos: Mapping[Any, Any]) -> dict[int, Any]:
        """Return the infos that are not empty."""
        found: dict[int, Any] = {}
        for key, value in infos.items():
            if key in self.numbers:
                if value is None:
                    continue
                if not isinstance(value, Mapping):
                    raise TypeError(f"the info of agent {shown(key)} must be a dict, got {shown(value)}")
                if value and self.present[self.numbers[key]]:
                    found[self.numbers[key]] = value
            else:
                found.setdefault(-1, {})[key] = value
        return found


def layout_of_moves(by_agent: Mapping[str, Any]) -> Layout:
    """Return the layout of a move, for agents that move in turn; raise ConfigError if their action spaces differ."""
    first, *others = by_agent.items()
    for agent, space in others:
        if space != first[1]:
            raise ConfigError(
                f"agents that move in turn must have equal action spaces, got {space} for {agent!r} and {first[1]} for "
                f"{first[0]!r}: wrap the environment, for example by wrappers of SuperSuit"
            )
    layout = Layout(first[1], "action", ".")
    layout.check_actions()
    return layout


def of_aec(env: Any) -> PlayersEnv:
    """Return a PettingZoo AECEnv as an environment of players, by PettingZoo's own converters.

    If ``metadata["is_parallelizable"]`` is True, all agents act in each step; otherwise, they move in turn.
    """
    from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel

    if env.metadata.get("is_parallelizable", False):
        return PlayersEnv(aec_to_parallel(env), given=env)
    return PlayersEnv(turn_based_aec_to_parallel(env), is_turn_based=True, given=env)


def take_turn(converter: Any, action: Any) -> tuple[Any, ...]:
    """Return what `step` of PettingZoo's ``turn_based_aec_to_parallel`` returns for the action of the agent that moves.

    PettingZoo's method also writes whose turn it is into the infos of the game, so that it fails if one is None.
    """
    game = converter.aec_env
    game.step(action)
    results = [{**game.rewards}, {**game.terminations}, {**game.truncations}, {**game.infos}]
    obs = {agent: game.observe(agent) for agent in game.agents}
    while game.agents and (game.terminations[game.agent_selection] or game.truncations[game.agent_selection]):
        game.step(None)
    converter.agents = game.agents
    return (obs, *results)


def owner_of(env: Any, name: str) -> Any:
    """Return the outermost of an environment and its wrappers that has an attribute itself, not only shows it."""
    while not has_itself(env, name):
        inside = next((getattr(env, where) for where in _INSIDE if has_itself(env, where)), None)
        if not hasattr(inside, name):
            break
        env = inside
    return env


def has_itself(env: Any, name: str) -> bool:
    """Return whether an object has an attribute without its ``__getattr__``."""
    return inspect.getattr_static(env, name, env) is not env


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


def is_pair(out: Any, space: Any = None) -> bool:
    """Return whether the result of a reset is an observation with an info, rather than a pair of the Tuple `space`."""
    if not isinstance(out, tuple) or len(out) != 2 or not isinstance(out[1], dict):
        return False
    last = space.spaces[-1] if isinstance(space, spaces.Tuple) and len(space.spaces) == 2 else None
    return not isinstance(last, spaces.Dict) or out[1].keys() != last.spaces.keys()


def zero_of(space: Any) -> Any:
    """Return zeros in the structure of a space, which need not contain them; None stands for leaves without a shape."""
    if isinstance(space, spaces.Dict):
        return {k: zero_of(s) for k, s in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(zero_of(s) for s in space.spaces)
    return np.zeros(space.shape, space.dtype) if space.shape is not None else None


def to_gymnasium(space: Any, what: str) -> Any:
    """Return a space of old gym as a space of gymnasium; gymnasium's own are returned as they are.

    Parameters
    ----------
    space : gymnasium.spaces.Space or gym.spaces.Space
        The space.
    what : str
        The attribute that has it, for error texts.
    """
    if isinstance(space, spaces.Space):
        return space
    name = type(space).__name__
    if name == "Dict":
        return spaces.Dict({k: to_gymnasium(s, what) for k, s in space.spaces.items()})
    if name == "Tuple":
        return spaces.Tuple([to_gymnasium(s, what) for s in space.spaces])
    if name not in _SPACES:
        raise ConfigError(
            f"{what} must be a space of gymnasium, or a known space of gym, got {shown(space)}: set it in the "
            "environment, or wrap the environment"
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
