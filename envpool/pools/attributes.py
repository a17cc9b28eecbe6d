"""Attributes of native environments: the parameters of their task, and what describes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from envpool._support.keywords import with_alias
from envpool.errors import ConfigError

#: The end of errors about attributes that native environments do not have.
OWN = "environments with attributes of their own are Python environments, see envpool.make_python"
#: Methods that goal environments have in addition; Hindsight Experience Replay calls them on environments.
GOAL_METHODS = ("compute_reward", "compute_terminated", "compute_truncated")
#: Attributes of pools that only ``__init__`` sets.
FACTS = ("num_envs", "num_threads")


class ParamAttributes:
    """Mixin for a single environment of a pool: the parameters of its task are attributes.

    Reading one returns its value in the next episode, and setting one calls ``set_params``. Every other attribute is an
    ordinary one, which the native environment does not see.

    Attributes
    ----------
    pool : EnvPool
        The pool.
    env_id : int
        Id of the environment in the pool.
    """

    pool: Any
    env_id: int = 0

    def __getattr__(self, name: str) -> Any:
        if name in params_of(self):
            return values_of(self.pool, name, [self.env_id])[0]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in params_of(self):
            self.pool.set_params({name: value}, [self.env_id])
        else:
            super().__setattr__(name, value)


class RefusesParams:
    """Mixin for several environments of a task: a parameter is not set as an attribute, where it would do nothing.

    All other attributes may be set, except that those in `FACTS` keep their values.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and name in self._param_names():
            raise AttributeError(f"{name} is a parameter of the task: set it with set_params() or set_attr()")
        if name in FACTS and vars(self).get(name, value) != value:  # CleanRL sets num_envs to its value
            raise AttributeError(f"{name} cannot be changed: make a new pool")
        super().__setattr__(name, value)

    def _param_names(self) -> Any:
        """Return the names of the parameters of the task; none as long as there is no pool."""
        return params_of(self)


def params_of(env: Any) -> Any:
    """Return the parameters of the task of an environment with a pool, by name; empty if there is no pool yet."""
    pool = env.__dict__.get("pool")
    return () if pool is None else pool.spec.param_spec


def take_goal_methods(env: Any, pool: Any) -> None:
    """Give a single environment of a pool the methods in `GOAL_METHODS`, if the pool has them."""
    for name in GOAL_METHODS:
        if hasattr(pool, name):
            setattr(env, name, getattr(pool, name))


def values_of(pool: Any, name: str, env_id: Any = None) -> tuple[Any, ...]:
    """Return a parameter in the next episodes of environments: a number or an array for each."""
    return tuple(pool.get_params(env_id)[name])


def set_values(pool: Any, name: str, values: Any, env_id: Any = None) -> None:
    """Set a parameter of native environments.

    Parameters
    ----------
    pool : EnvPool
        The pool.
    name : str
        Name of the parameter.
    values : object
        A list or tuple with one value per environment; any other object is the value of all.
    env_id : int or array_like of int, optional
        The environments; by default all.

    Raises
    ------
    AttributeError
        The task has no such parameter.
    ConfigError, TypeError, EnvIdError, PoolStateError
        See ``EnvPool.set_params``.
    """
    if name not in pool.spec.param_spec:
        names = ", ".join(pool.spec.param_spec) or "none"
        raise AttributeError(
            f"the environments of {pool.spec.task_id} are native: only their parameters can be set ({names}), not "
            f"{name!r}; {OWN}"
        )
    count = pool.num_envs if env_id is None else np.size(env_id)
    if isinstance(values, (list, tuple)) and len(values) != count:
        raise ConfigError(
            f"values must have one entry for each of the {count} environments, got {len(values)}: pass an array for "
            "one value in all of them"
        )
    pool.set_params({name: values}, env_id)


def described(pool: Any) -> dict[str, Any]:
    """Return what describes each native environment of a pool, by the names of attributes."""
    spec = pool.spec
    return {
        "spec": spec,
        "max_episode_steps": spec.max_episode_steps,
        "render_mode": pool.render_mode,
        "metadata": pool.metadata,
        "observation_space": spec.observation_space,
        "action_space": spec.action_space,
    }


def call(pool: Any, known: dict[str, Any], name: str, args: Any, kwargs: Any, env_id: Any = None) -> tuple[Any, ...]:
    """Call a method of native environments, or read an attribute of them.

    Parameters
    ----------
    pool : EnvPool
        The pool.
    known : dict
        The description of each environment, see `described`.
    name : str
        Name of the method or attribute.
    args, kwargs
        Arguments of the method.
    env_id : int or array_like of int, optional
        The environments, none of which may be in flight. By default all environments.

    Raises
    ------
    AttributeError
        Native environments have no such method or attribute.
    EnvIdError, PoolStateError
        See ``PythonPool.call``.
    """
    if name in pool.spec.param_spec:
        return values_of(pool, name, env_id)
    methods: dict[str, Callable[[list[int]], Any]] = {"render": lambda ids: pool.render(ids, *args, **kwargs)}
    for method in GOAL_METHODS:
        if hasattr(pool, method):
            methods[method] = lambda ids: [getattr(pool, name)(*args, **kwargs)] * len(ids)
    if name not in known and name not in methods:
        names = ", ".join([*pool.spec.param_spec, *known, *methods])
        raise AttributeError(
            f"the environments of {pool.spec.task_id} are native and have no attribute {name!r}; they have {names}; "
            f"{OWN}"
        )
    ids = pool._use_envs(b"get_attr" if name in known else b"call", env_id, list)
    return tuple(methods[name](ids)) if name in methods else (known[name],) * len(ids)


class PoolAttributes(RefusesParams):
    """Mixin for pools: the attributes of native environments, with the methods of pools of Python environments."""

    def _param_names(self) -> Any:
        """Return the names of the parameters of the task; none as long as the pool has no spec."""
        spec = vars(self).get("spec")
        return () if spec is None else spec.param_spec

    @with_alias("env_ids", "env_id")
    def call(self, name: str, *args: Any, env_id: Any = None, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of native environments, or read an attribute of them.

        Parameters
        ----------
        name : str
            ``"render"``, in goal environments also ``"compute_reward"``, ``"compute_terminated"`` or
            ``"compute_truncated"``, or a name that `get_attr` knows.
        *args, **kwargs
            Arguments of the method, which are those of the method of the pool.
        env_id : int or array_like of int, optional
            (B,) environments; none of them may be in flight. By default all environments.

        Returns
        -------
        tuple
            One result per environment.

        Raises
        ------
        AttributeError
            Native environments have no such method or attribute.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight.
        PoolStateError
            The pool is closed or was forked, or `render` has no render mode.
        """
        return call(self, described(self), name, args, kwargs, env_id)

    @with_alias("env_ids", "env_id")
    def get_attr(self, name: str, env_id: Any = None) -> tuple[Any, ...]:
        """Return an attribute of native environments, one value per environment.

        These are the parameters of the task, as the next episodes will have them, and ``spec``, ``max_episode_steps``,
        ``render_mode``, ``metadata``, ``observation_space`` and ``action_space``. See `call` for ids and errors.
        """
        return self.call(name, env_id=env_id)

    @with_alias("env_ids", "env_id")
    def set_attr(self, name: str, values: Any, env_id: Any = None) -> None:
        """Set a parameter of native environments from their next reset on, as ``set_params`` does.

        Parameters
        ----------
        name : str
            Name of the parameter.
        values : object
            A list or tuple with one value per environment; any other object is the value of all.
        env_id : int or array_like of int, optional
            See `env_id` of `call`.

        Raises
        ------
        AttributeError
            The task has no such parameter.
        ConfigError, TypeError
            A value is not allowed.
        EnvIdError, PoolStateError
            See `call`.
        """
        set_values(self, name, values, env_id)
