"""Single environments of a pool, for libraries that keep a list of environments or use their attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium

from envpool.pools.attributes import ParamAttributes, take_goal_methods
from envpool.pools.infos import last_info, pop_final, row_info, split
from envpool.python_envs.access import (
    call_method,
    get_attribute,
    has_attribute,
    is_wrapped,
    method_or_value,
    set_attribute,
)
from envpool.python_envs.python_pool import PythonPool


class SubEnv(ParamAttributes, gymnasium.Env[Any, Any]):
    """One environment of a pool, with the API of a ``gymnasium.Env``.

    The parameters of the task are attributes, see `ParamAttributes`. Other attributes that are set on a SubEnv stay in
    this object; the native environment does not see them.

    Parameters
    ----------
    pool : GymnasiumEnvPool
        The pool. It stays open when the SubEnv is closed.
    env_id : int
        Id of the environment in the pool.

    Raises
    ------
    EnvIdError
        Raised by ``reset`` and ``step`` if the environment is in flight.
    """

    spec: Any

    def __init__(self, pool: Any, env_id: int):
        self.pool = pool
        self.env_id = env_id
        self.observation_space = pool.single_observation_space
        self.action_space = deepcopy(pool.single_action_space)  # each SubEnv seeds the generator of its own space
        self._describe()

    def _describe(self) -> None:
        """Set the attributes that describe a native environment."""
        self.metadata = {name: self.pool.metadata[name] for name in ("render_modes", "render_fps")}
        self.spec = self.pool.spec
        self.max_episode_steps = self.pool.spec.max_episode_steps
        self.render_mode = self.pool.render_mode
        take_goal_methods(self, self.pool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; return its first observation and the info."""
        obs, info = self.pool.reset([self.env_id], seed=None if seed is None else [seed], options=options)
        if "_final_obs" in info:
            pop_final(info)
        return split(obs, 1)[0], row_info(info, 0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; return (obs, reward, terminated, truncated, info)."""
        obs, reward, terminated, truncated, info = self.pool.step([action], [self.env_id])
        if "_final_obs" in info:
            final_obs, final_info, ended = pop_final(info)
            own = last_info(info, final_info, 0) if ended[0] else row_info(info, 0)
            obs = final_obs if ended[0] else obs
        else:
            own = row_info(info, 0)
        return split(obs, 1)[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), own

    def render(self) -> Any:
        """Return a frame, uint8 (height, width, 3), or show it in a window; see ``EnvPool.render``."""
        frames = self.pool.render(self.env_id)
        return None if frames is None else frames[0]

    def __str__(self) -> str:
        return f"<environment {self.env_id} of {self.pool}>"


def forwarded(name: str) -> property:
    """Return a property that reads an attribute of the environment, for a name that ``gymnasium.Env`` has."""

    def get(self: PythonSubEnv) -> Any:
        return self.__getattr__(name)

    return property(get)


class PythonSubEnv(SubEnv):
    """One environment of a pool of Python environments.

    All attributes are read from the environment, except `pool`, `env_id` and the spaces. Its methods are called where
    the environment runs; ``reset`` and ``step`` call the pool, which must know of them.
    """

    _OWN = ("pool", "env_id", "observation_space", "action_space")

    metadata = forwarded("metadata")
    np_random = forwarded("np_random")
    np_random_seed = forwarded("np_random_seed")
    render_mode = forwarded("render_mode")
    spec = forwarded("spec")

    def _describe(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name in self._OWN or name.startswith("__"):  # not set yet, or a protocol of Python
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        [(is_method, value)] = self.pool._visit(method_or_value, name, env_id=[self.env_id])
        return partial(self._call, name) if is_method else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._OWN:
            object.__setattr__(self, name, value)
        else:
            self.pool.set_attr(name, [value], [self.env_id])

    def render(self) -> Any:
        """Return a frame, or show it in a window; without a render mode of the pool, call the environment's."""
        return super().render() if self.pool.render_mode is not None else self._call("render")

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        [result] = self.pool._visit(call_method, name, args, kwargs, env_id=[self.env_id])
        return result


def sub_envs(pool: Any) -> list[Any]:
    """Return a SubEnv for each environment of a pool."""
    sub_env = PythonSubEnv if isinstance(pool, PythonPool) else SubEnv
    return [sub_env(pool, i) for i in range(pool.num_envs)]


class Attributes:
    """Attributes and methods of the environments of a pool, as libraries get, set and call them.

    Parameters
    ----------
    pool : GymnasiumEnvPool
        The pool, of native or of Python environments.

    Attributes
    ----------
    envs : list of SubEnv
        An object for each environment. The objects of Python environments pass everything on to them.

    Raises
    ------
    AttributeError
        Raised by `get` and `call`: an environment has no such attribute.
    EnvIdError
        Environments are in flight.
    """

    def __init__(self, pool: Any):
        self.pool = pool
        self.are_python = isinstance(pool, PythonPool)
        self.envs = sub_envs(pool)

    def get(self, name: str, ids: Sequence[int]) -> list[Any]:
        """Return an attribute of environments."""
        if self.are_python:
            return self._visit(ids, get_attribute, name)
        return [getattr(self.envs[i], name) for i in ids]

    def has(self, name: str, ids: Sequence[int]) -> bool:
        """Return whether all of some environments have an attribute."""
        if self.are_python:
            return all(self._visit(ids, has_attribute, name))
        return all(hasattr(self.envs[i], name) for i in ids)

    def set(self, name: str, value: Any, ids: Sequence[int]) -> None:
        """Set an attribute of environments to one value."""
        if self.are_python:
            self._visit(ids, set_attribute, name, value)
        else:
            for i in ids:
                setattr(self.envs[i], name, value)

    def call(self, name: str, ids: Sequence[int], args: Any, kwargs: Any) -> list[Any]:
        """Return the results of a method of environments."""
        is_of_pool = name in ("reset", "step") or (name == "render" and self.pool.render_mode is not None)
        if self.are_python and not is_of_pool:
            return self._visit(ids, call_method, name, args, kwargs)
        return [getattr(self.envs[i], name)(*args, **kwargs) for i in ids]

    def are_wrapped(self, wrapper_class: type, ids: Sequence[int]) -> list[bool]:
        """Return whether each of some environments is inside a wrapper of a class; native environments are not."""
        return self._visit(ids, is_wrapped, wrapper_class) if self.are_python else [False for _ in ids]

    def _visit(self, ids: Sequence[int], function: Callable[..., Any], *args: Any) -> list[Any]:
        if len(set(ids)) == len(ids) > 0:
            return self.pool._visit(function, *args, env_id=ids)  # type: ignore[no-any-return]
        return [self.pool._visit(function, *args, env_id=[i])[0] for i in ids]
