"""Parameters of a task as attributes of its environments, for programs that set the physics in this way."""

from __future__ import annotations

from typing import Any

from envpool._support.text import shown
from envpool.errors import ConfigError


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


def params_of(env: Any) -> Any:
    """Return the parameters of the task of an environment with a pool, by name; empty if there is no pool yet."""
    pool = env.__dict__.get("pool")
    return () if pool is None else pool.spec.param_spec


def values_of(pool: Any, name: str, env_ids: Any = None) -> tuple[Any, ...]:
    """Return a parameter in the next episodes of environments: a number or an array for each."""
    return tuple(pool.get_params(env_ids)[name])


def set_values(pool: Any, name: str, values: Any) -> None:
    """Set a parameter in all environments.

    Parameters
    ----------
    pool : EnvPool
        The pool.
    name : str
        Name of the parameter.
    values : object
        A list or tuple with one value per environment; any other object is the value of all.

    Raises
    ------
    ConfigError, TypeError
        See ``EnvPool.set_params``; also if the task has no such parameter.
    """
    if name not in pool.spec.param_spec:
        names = ", ".join(pool.spec.param_spec) or "none"
        raise ConfigError(
            f"the environments of {pool.spec.task_id} are native, and attributes of them have no effect: set_params() "
            f"sets their parameters ({names}), got {shown(name)}"
        )
    if isinstance(values, (list, tuple)) and len(values) != pool.num_envs:
        raise ConfigError(
            f"values must have one entry for each of the {pool.num_envs} environments, got {len(values)}: pass an "
            "array for one value in all of them"
        )
    pool.set_params({name: values})
