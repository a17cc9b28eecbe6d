"""``make`` and its variants, under the names that EnvPool's module ``envpool.registration`` has.

``make`` is a straight line: the registry turns the task id and the options into a spec and render options, and the pool
class takes both.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from envpool.registry import registry as registry

if TYPE_CHECKING:
    from envpool.pool import EnvPool
    from envpool.spec import EnvSpec

register = registry.register
make_spec = registry.make_spec
list_all_envs = registry.list_all_envs

_pool_classes: dict[tuple[type, str], type[EnvPool]] = {}


def make(task_id: str, env_type: str, **options: Any) -> EnvPool:
    """Return a pool of environments.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``list_all_envs()``.
    env_type : {"gymnasium", "gym", "dm"}
        API style. "gym" returns what Gymnasium does, unless a ``gym`` package older than 0.26 is loaded.
    **options
        Configuration of the task, see ``make_spec``; ``gym_api`` ("auto", "gymnasium" or "legacy"), which forces what
        env_type "gym" returns; and the options of ``EnvPool.render``: ``render_mode`` (None, "rgb_array" or "human"),
        ``render_env_id`` (0), ``render_width`` and ``render_height`` (those of the upstream environment),
        ``render_camera_id`` (-1, the default camera).

    Raises
    ------
    UnknownTaskError
        There is no such task (also an AssertionError and a KeyError).
    TypeError
        An option does not exist, or its value has a wrong type.
    ConfigError
        A value is not allowed, or the task has no renderer and a render mode is given (also an AssertionError and a
        ValueError).
    ImportError
        A package is missing that the task or the render mode needs.
    """
    spec, render = registry.resolve(task_id, env_type, options)
    pool: EnvPool = (spec.pool_cls or pool_class(type(spec), spec.style))(spec, render)
    return pool


def make_dm(task_id: str, **options: Any) -> EnvPool:
    """Return ``make(task_id, "dm", **options)``."""
    return make(task_id, "dm", **options)


def make_gym(task_id: str, **options: Any) -> EnvPool:
    """Return ``make(task_id, "gym", **options)``."""
    return make(task_id, "gym", **options)


def make_gymnasium(task_id: str, **options: Any) -> EnvPool:
    """Return ``make(task_id, "gymnasium", **options)``."""
    return make(task_id, "gymnasium", **options)


def pool_class(spec_cls: type[EnvSpec], style: str) -> type[EnvPool]:
    """Return the pool class of an environment in an API style, e.g. CartPoleGymnasiumEnvPool.

    Parameters
    ----------
    spec_cls : type
        The EnvSpec class of the environment. Each class is made once: equal arguments return the same class.
    style : {"gymnasium", "gym", "dm", "vector", "arrays"}
        Name of a module in ``envpool.api``.
    """
    key = (spec_cls, style)
    if key not in _pool_classes:
        base: Any = spec_cls.definition.pool_base(import_module(f"envpool.api.{style}").pool_base())
        _pool_classes[key] = type(spec_cls.env.__name__ + base._suffix, (base,), {"__doc__": base.__doc__})
    return _pool_classes[key]


def style_of(pool_cls: type) -> str | None:
    """Return the API style of a class that `pool_class` has made; None for every other class."""
    return next((style for (_, style), made in _pool_classes.items() if made is pool_cls), None)
