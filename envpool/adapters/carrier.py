"""`Carrier`: a Python environment in a pool whose user sees exactly what the environment returns.

A pool has one observation space and float32 rewards, and handles the ends of episodes. The vector
environments of other libraries instead return whatever an environment returns, and leave all resets and their arguments
to the caller. A Carrier translates between the two: it shows the pool an environment whose episodes never end. The
observation of this environment has the fields of the wire: the observation of the carried environment, its reward in
float64, and its two flags. Values that do not fit these fields are passed in the info as a `Parcel`, which the pool
treats as an object.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

#: Spaces whose values are arrays of a fixed shape.
ARRAYS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
#: Types of most rewards.
NUMBERS = (float, int, np.float64, np.float32)


@dataclass
class Parcel:
    """Results of a step or a reset that do not fit the fields of the wire.

    Attributes
    ----------
    info : object
        The info.
    obs, reward : tuple or None
        The observation or the reward as the only item, if it does not fit its field; otherwise None.
    error : Exception or None
        Exception that the environment raised instead.
    """

    info: Any = field(default_factory=dict)
    obs: tuple[Any] | None = None
    reward: tuple[Any] | None = None
    error: Exception | None = None


def is_regular(space: Any) -> bool:
    """Return whether the values of a space are arrays of fixed shapes, or nests of such arrays."""
    if isinstance(space, spaces.Dict):
        return bool(space.spaces) and all(map(is_regular, space.spaces.values()))
    if isinstance(space, spaces.Tuple):
        return bool(space.spaces) and all(map(is_regular, space.spaces))
    return isinstance(space, ARRAYS) and all(size > 0 for size in space.shape or ())


def checker_of(space: Any) -> Callable[[Any], bool]:
    """Return a function that tells whether a value would come out of the arrays of a space as it is."""
    if isinstance(space, spaces.Dict):
        of_key = {key: checker_of(inner) for key, inner in space.spaces.items()}
        return lambda value: (
            type(value) is dict
            and value.keys() == of_key.keys()
            and all(check(value[key]) for key, check in of_key.items())
        )
    if isinstance(space, spaces.Tuple):
        checks = [checker_of(inner) for inner in space.spaces]
        return lambda value: (
            type(value) is tuple
            and len(value) == len(checks)
            and all(check(part) for check, part in zip(checks, value, strict=True))
        )
    shape, dtype = space.shape, np.dtype(space.dtype)
    accepts_int = shape == () and dtype == np.int64
    return lambda value: (
        value.shape == shape and value.dtype == dtype
        if isinstance(value, (np.ndarray, np.generic))
        else accepts_int and type(value) is int
    )


class Wire:
    """The spaces of the carriers of one pool, which the first environment determines.

    Attributes
    ----------
    space : gymnasium.spaces.Space
        Observation space of the carriers.
    obs_space : gymnasium.spaces.Space or None
        Observation space of the environments; None if all observations travel in parcels.
    action_space : gymnasium.spaces.Space
        Action space of the carriers.
    blank : object
        An observation that is zero.
    carries_actions : bool
        If True, actions travel in the arrays of the pool; if False, `Carrier.prepare_action` gets them.
    """

    def __init__(self) -> None:
        self.space: Any = None
        self.obs_space: Any = None
        self.blank: Any = None

    def settle(self, env: Any) -> None:
        """Note the spaces of the first environment."""
        if self.space is not None:
            return
        obs_space, action_space = (space_of(env, name) for name in ("observation_space", "action_space"))
        self.obs_space = obs_space if is_regular(obs_space) else None
        self.carries_actions = isinstance(action_space, ARRAYS) and is_regular(action_space)
        self.action_space = action_space if self.carries_actions else spaces.Box(0, 1, (), np.uint8)
        fields: dict[str, Any] = {
            "reward": spaces.Box(-np.inf, np.inf, (), np.float64),
            "ends": spaces.Box(0, 3, (), np.int64),  # 1 for terminated, 2 for truncated; int64 travels fastest
        }
        if self.obs_space is not None:
            fields["obs"] = self.obs_space
            self.blank = blank_of(self.obs_space)
            self.fits = checker_of(self.obs_space)
        self.space = spaces.Dict(fields)


def space_of(env: Any, name: str) -> Any:
    """Return a space of an environment; None if it has none, as a PettingZoo environment with a space per agent."""
    try:
        return getattr(env, name, None)
    except NotImplementedError:
        return None


def blank_of(space: Any) -> Any:
    """Return a value of a space that is zero."""
    if isinstance(space, spaces.Dict):
        return {key: blank_of(inner) for key, inner in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(map(blank_of, space.spaces))
    return np.zeros(space.shape, space.dtype)


class Carrier(gymnasium.Env[Any, Any]):
    """One environment, in the form that a pool steps.

    Parameters
    ----------
    env_fn : callable
        Returns an environment of gymnasium, of old gym, or any other with ``reset`` and ``step``.
    wire : Wire
        The spaces, shared by all carriers of a pool.
    is_remote : bool
        If True, results leave this process, so that they must survive pickling.
    """

    def __init__(self, env_fn: Callable[[], Any], wire: Wire, is_remote: bool):
        self.wire, self.is_remote = wire, is_remote
        self.env = env_fn()
        wire.settle(self.env)
        self.observation_space, self.action_space = wire.space, wire.action_space
        self.next_reset: dict[str, Any] | None = {}
        self.next_action: tuple[Any] | None = None

    @property
    def unwrapped(self) -> Any:
        """The environment without wrappers."""
        return getattr(self.env, "unwrapped", self.env)

    # ---- calls of the pool -------------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode with the arguments of `prepare_reset`; the pool's, such as its seed, are ignored."""
        kwargs, self.next_reset, self.next_action = self.next_reset, {}, None
        if kwargs is None:
            return {"reward": 0.0, "ends": 0, "obs": self.wire.blank}, {}
        try:
            out = self.env.reset(**kwargs)
        except Exception as error:
            return self._failed(error)
        obs, info = out if isinstance(out, (tuple, list)) and len(out) == 2 else (out, {})
        return self._packed(obs, 0.0, False, False, info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; the pool never sees an end of an episode."""
        if self.next_action is not None:
            (action,), self.next_action = self.next_action, None
        try:
            out = self.env.step(action)
        except Exception as error:
            row, info = self._failed(error)
        else:
            if len(out) == 5:
                obs, reward, terminated, truncated, info = out
            else:
                obs, reward, done, info = out
                truncated = bool(done) and bool(info.get("TimeLimit.truncated", False))
                terminated = bool(done) and not truncated
            row, info = self._packed(obs, reward, terminated, truncated, info)
        return row, 0.0, False, False, info

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def _packed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> tuple[Any, dict[str, Any]]:
        odd_obs, odd_reward = None, None
        if type(reward) not in NUMBERS and not isinstance(reward, (bool, np.floating, np.integer)):
            odd_reward, reward = (reward,), 0.0
        if self.wire.obs_space is None:
            odd_obs = (obs,)
        elif not self.wire.fits(obs):
            odd_obs, obs = (obs,), self.wire.blank
        row = {"reward": reward, "ends": (1 if terminated else 0) + (2 if truncated else 0), "obs": obs}
        if not info and odd_obs is None and odd_reward is None:
            return row, {}
        return row, {"parcel": Parcel(info, odd_obs, odd_reward)}

    def _failed(self, error: Exception) -> tuple[Any, dict[str, Any]]:
        row = {"reward": 0.0, "ends": 0, "obs": self.wire.blank}
        return row, {"parcel": Parcel(error=portable(error) if self.is_remote else error)}

    # ---- calls of `Fleet` --------------------------------------------------------------------------------------------

    def prepare_reset(self, kwargs: dict[str, Any] | None) -> None:
        """Set the arguments of the next reset; with None, it does not reset the environment, and the pool continues."""
        self.next_reset = kwargs

    def prepare_action(self, action: Any) -> None:
        """Set the action of the next step, if it does not travel in the arrays of the pool."""
        self.next_action = (action,)

    def replace(self, env: Any) -> None:
        """Put another environment in the place of this one, which its user has closed."""
        self.env = env

    def visit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(env, *args)``."""
        return function(self.env, *args)


def portable(error: Exception) -> Exception:
    """Return an exception that survives pickling, with its traceback as a note."""
    text = "".join(traceback.format_exception(error)).rstrip()
    try:
        copy: Exception = pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(text)
    copy.add_note(text)
    return copy
