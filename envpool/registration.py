"""``make`` and its variants, under the names that EnvPool's module ``envpool.registration`` has.

``make`` is a straight line: the registry turns the task id and the options into a spec and render options, and the pool
class takes both.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from envpool.registry import registry as registry

if TYPE_CHECKING:
    from envpool.api.dm import DMEnvPool
    from envpool.api.gym_pool import GymPool
    from envpool.api.gymnasium import GymnasiumEnvPool
    from envpool.pool import EnvPool
    from envpool.spec import EnvSpec
    from envpool.task_options import Options
    from envpool.vector_env import EnvPoolVectorEnv

register = registry.register
make_spec = registry.make_spec
list_all_envs = registry.list_all_envs

_logger = logging.getLogger("envpool")
#: Entry points of gymnasium's ids of Atari and dm_control: an error that names the native id is better than a slow
#: pool.
NATIVE_UNDER_OTHER_IDS = ("ale_py.", "shimmy.dm_control")

_pool_classes: dict[tuple[type, str], type[EnvPool]] = {}


@overload
def make(task_id: str, env_type: Literal["gymnasium"], **options: Unpack[Options]) -> GymnasiumEnvPool: ...
@overload
def make(task_id: str, env_type: Literal["dm"], **options: Unpack[Options]) -> DMEnvPool: ...
@overload
def make(task_id: str, env_type: Literal["gym"], **options: Unpack[Options]) -> GymPool: ...
def make(task_id: str, env_type: Any = ..., **options: Any) -> Any:
    """Return a pool of environments.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``list_all_envs()``. For any other id of gymnasium, the result is a pool of Python
        environments, as from ``make_python(task_id, **options)``, and a message to the logger ``"envpool"`` says so.
    env_type : {"gymnasium", "gym", "dm"}
        API style. With "gym", results have Gymnasium's form, unless a ``gym`` package older than 0.26 is loaded.
    **options
        Configuration of the task, see ``make_spec``; ``gym_api`` ("auto", "gymnasium" or "legacy"), which selects the
        form of the results with env_type "gym"; and the options of ``EnvPool.render``: ``render_mode`` (None,
        "rgb_array" or "human"), ``render_env_id`` (0), ``render_width`` and ``render_height`` (those of the upstream
        environment), ``render_camera_id`` (-1, the default camera).

    Returns
    -------
    GymnasiumEnvPool, DMEnvPool or GymPool
        A pool of the API style. With env_type "gym" it is a GymnasiumEnvPool or a LegacyGymEnvPool, which type
        checkers cannot know.

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
        A package that the task or the render mode needs is missing.
    """
    if env_type is ...:
        raise TypeError(
            "make() needs the argument env_type, one of 'gymnasium', 'gym' and 'dm', for example "
            f"envpool.make({task_id!r}, env_type='gymnasium')"
        )
    if not registry.has(task_id) and is_known_to_gymnasium(task_id):
        make_python = import_module("envpool.python_envs.make").make_python
        return make_python(task_id, env_type=env_type, **python_options(task_id, options))
    spec, render = registry.resolve(task_id, env_type, options)
    return (spec.pool_cls or pool_class(type(spec), spec.style))(spec, render)


def make_vec(env: Any, num_envs: int | None = None, **options: Any) -> EnvPoolVectorEnv:
    """Return environments with gymnasium's vector API, as ``gymnasium.make_vec("envpool/<task>")`` does.

    Parameters
    ----------
    env : str, callable or sequence of callable
        Id of a task, any other id of gymnasium, a function that returns a new Python environment, or one function per
        environment.
    num_envs : int, optional
        Number of environments; by default the number of functions, or 1.
    **options
        Options of ``make``, or of ``make_python`` for Python environments. Without ``seed``, as in gymnasium, each call
        draws a random seed; Python environments are then reset without a seed.

    Returns
    -------
    EnvPoolVectorEnv
        A ``gymnasium.vector.VectorEnv``, which owns a pool.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError, EnvCreateError
        See ``make`` and ``make_python``.
    """
    if isinstance(env, str) and (registry.has(env) or not is_known_to_gymnasium(env)):
        native: EnvPoolVectorEnv = import_module("envpool.vector_env").EnvPoolVectorEnv(
            env, 1 if num_envs is None else num_envs, **options
        )
        return native
    if isinstance(env, str):
        options = python_options(env, options)
    made: EnvPoolVectorEnv = import_module("envpool.python_envs.vector_env").PythonVectorEnv(env, num_envs, **options)
    return made


def python_options(task_id: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of ``make_python`` for options of ``make``, and log that a task has no native version."""
    _logger.warning("%s has no native version: its Python environments are used, see docs/python_envs.md", task_id)
    num_threads = options.pop("num_threads", 0)
    return ({"num_workers": num_threads} if num_threads else {}) | options


def is_known_to_gymnasium(task_id: Any) -> bool:
    """Return whether gymnasium has an environment of this id that has no native version under any id."""
    if not isinstance(task_id, str):
        return False
    module, _, name = task_id.rpartition(":")  # "module:id", whose module registers the id when it is imported
    if name.startswith("envpool/") or (module and registry.has(name)):
        return False
    import gymnasium

    try:
        if module:
            import_module(module)
        entry_point = gymnasium.spec(name).entry_point
    except Exception as error:
        # What is wrong with a module, gymnasium says when it makes the environment.
        if module or isinstance(error, (gymnasium.error.Error, ImportError)):
            return bool(module)
        raise
    return entry_point is not None and not str(entry_point).startswith(NATIVE_UNDER_OTHER_IDS)


def make_dm(task_id: str, **options: Unpack[Options]) -> DMEnvPool:
    """Return ``make(task_id, "dm", **options)``."""
    return make(task_id, "dm", **options)


def make_gym(task_id: str, **options: Unpack[Options]) -> GymPool:
    """Return ``make(task_id, "gym", **options)``."""
    return make(task_id, "gym", **options)


def make_gymnasium(task_id: str, **options: Unpack[Options]) -> GymnasiumEnvPool:
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
        made = type(spec_cls.env.__name__ + base._suffix, (base,), {"__doc__": base.__doc__})
        return _pool_classes.setdefault(key, made)  # Another thread may have been faster.
    return _pool_classes[key]


def style_of(pool_cls: type) -> str | None:
    """Return the API style of a class that `pool_class` has made; None for every other class."""
    return next((style for (_, style), made in list(_pool_classes.items()) if made is pool_cls), None)
