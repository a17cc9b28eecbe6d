"""``make`` and its variants, under the names that EnvPool's module ``envpool.registration`` has.

``make`` is a straight line: `envpool.tasks.resolve` turns the task id and the options into a spec and render options,
and the pool class takes both.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from envpool.errors import UnknownTaskError
from envpool.tasks.registry import registry as registry

if TYPE_CHECKING:
    from envpool.config.task_options import Options
    from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
    from envpool.pools.styles.dm import DMEnvPool
    from envpool.pools.styles.gym_pool import GymPool
    from envpool.pools.styles.gymnasium import GymnasiumEnvPool
    from envpool.tasks.entries import TaskEntry
    from envpool.tasks.spec import EnvSpec

register = registry.register
list_all_envs = registry.list_all_envs

#: Entry points of gymnasium's ids of Atari and dm_control: an error that names the native id is better than a slow
#: pool.
NATIVE_UNDER_OTHER_IDS = ("ale_py.", "shimmy.dm_control")


@overload
def make(task_id: str | EnvSpec, env_type: Literal["gymnasium"], **options: Unpack[Options]) -> GymnasiumEnvPool: ...
@overload
def make(task_id: str | EnvSpec, env_type: Literal["dm"], **options: Unpack[Options]) -> DMEnvPool: ...
@overload
def make(task_id: str | EnvSpec, env_type: Literal["gym"], **options: Unpack[Options]) -> GymPool: ...
def make(task_id: str | EnvSpec, env_type: Any = ..., **options: Any) -> Any:
    """Return a pool of environments.

    Parameters
    ----------
    task_id : str or EnvSpec
        Id of the task, one of ``list_all_envs()``, or a spec that ``make_spec`` has returned. Options passed with a
        spec override its own.
    env_type : {"gymnasium", "gym", "dm"}
        API style. With "gym", results have Gymnasium's form, unless a ``gym`` package older than 0.26 is loaded.
    **options
        Configuration of the task, see ``make_spec``; ``gym_api`` ("auto", "gymnasium" or "legacy"), which selects the
        form of the results with env_type "gym"; and the options of ``EnvPool.render``: ``render_mode`` (None,
        "rgb_array" or "human"), ``render_env_id`` (0), ``render_width`` and ``render_height`` (those of the upstream
        environment), ``render_camera_id`` (-1, the default camera; "track" follows the robot).

    Returns
    -------
    GymnasiumEnvPool, DMEnvPool or GymPool
        A pool of the API style. With env_type "gym" it is a GymnasiumEnvPool or a LegacyGymEnvPool, which type
        checkers cannot know.

    Raises
    ------
    UnknownTaskError
        There is no such task (also an AssertionError and a KeyError). ``make_python`` makes pools of the environments
        that only gymnasium has.
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
    check_native(task_id)
    from envpool.pools.classes import open_pool
    from envpool.tasks.resolve import resolve

    return open_pool(*resolve(task_id, env_type, options))


def make_vec(env: Any, num_envs: int | None = None, **options: Any) -> EnvPoolVectorEnv:
    """Return environments with gymnasium's vector API, as ``gymnasium.make_vec("envpool/<task>")`` does.

    Parameters
    ----------
    env : str, EnvSpec, callable or sequence of callable
        Id of a task or a spec of ``make_spec``, any other id of gymnasium, a function that returns a new Python
        environment, or one function per environment. A message to the logger ``"envpool"`` says so if only gymnasium
        has the id: its environments are Python code.
    num_envs : int, optional
        Number of environments; by default the number of functions, that of the spec, or 1.
    **options
        Options of ``make``, or of ``make_python`` for Python environments. Without ``seed``, as in gymnasium, each call
        draws a random seed; a spec keeps its seed, and Python environments are then reset without a seed.

    Returns
    -------
    EnvPoolVectorEnv
        A ``gymnasium.vector.VectorEnv``, which owns a pool.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError, EnvCreateError
        See ``make`` and ``make_python``.
    """
    from envpool.tasks.spec import EnvSpec

    if isinstance(env, EnvSpec) or (isinstance(env, str) and (registry.has(env) or not is_known_to_gymnasium(env))):
        from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv

        return EnvPoolVectorEnv(env, num_envs, **options)
    if isinstance(env, str):
        import logging

        logging.getLogger("envpool").warning(
            "%s has no native version: its Python environments are used: `envpool docs python_envs`", env
        )
    from envpool.python_envs.vector_env import PythonVectorEnv

    return PythonVectorEnv(env, num_envs, **options)


def find_native(task_id: str) -> TaskEntry:
    """Return the entry of a task id; if only gymnasium has such an environment, the error names ``make_python``."""
    check_native(task_id)
    return registry.find(task_id)


def check_native(task_id: Any) -> None:
    """Raise UnknownTaskError, which names ``make_python``, if only gymnasium has an environment of this id."""
    if not registry.has(task_id) and is_known_to_gymnasium(task_id):
        raise UnknownTaskError(
            f"{task_id} has no native version: envpool.make_python({task_id!r}, ...) makes a pool of its Python "
            "environments"
        )


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
        # gymnasium reports what is wrong with a module when it makes the environment.
        if module or isinstance(error, (gymnasium.error.Error, ImportError)):
            return bool(module)
        raise
    return entry_point is not None and not str(entry_point).startswith(NATIVE_UNDER_OTHER_IDS)


def make_spec(task_id: str | EnvSpec, **options: Unpack[Options]) -> EnvSpec:
    """Return the EnvSpec of a task.

    Parameters
    ----------
    task_id : str or EnvSpec
        Id of the task, one of ``list_all_envs()``, or a spec to which options are added.
    **options
        Configuration of the task. ``seed`` is one int for all environments, or a sequence of num_envs ints. ``preset``
        names a set of options, see `envpool.tasks.presets`; options passed with it override its own.

    Raises
    ------
    UnknownTaskError
        There is no such task (also an AssertionError and a KeyError).
    TypeError
        An option does not exist, or its value has a wrong type.
    ConfigError
        A value is not allowed (also an AssertionError and a ValueError).
    """
    check_native(task_id)
    from envpool.tasks.resolve import spec_for

    return spec_for(task_id, options)


def make_dm(task_id: str | EnvSpec, **options: Unpack[Options]) -> DMEnvPool:
    """Return ``make(task_id, "dm", **options)``, a pool with the API of dm_env; `make_gymnasium` has the options."""
    return make(task_id, "dm", **options)


def make_gym(task_id: str | EnvSpec, **options: Unpack[Options]) -> GymPool:
    """Return ``make(task_id, "gym", **options)``: a pool with the API of gym, see `make_gymnasium` for the options.

    It is a GymnasiumEnvPool; or a LegacyGymEnvPool, whose ``step`` returns (obs, reward, done, info), if a ``gym``
    package older than 0.26 is loaded. The option ``gym_api`` ("auto", "gymnasium" or "legacy") selects one of them.
    """
    return make(task_id, "gym", **options)


def make_gymnasium(task_id: str | EnvSpec, **options: Unpack[Options]) -> GymnasiumEnvPool:
    """Return a pool with gymnasium's API, as ``make(task_id, "gymnasium", **options)`` does.

    Parameters
    ----------
    task_id : str or EnvSpec
        Id of the task, one of ``list_all_envs()``, or a spec of ``make_spec``.
    **options
        Options of the pool and of the task. These are the most used ones; docs/options.md has a table of all, and
        ``envpool spec TASK_ID`` prints those of a task:

        - ``num_envs`` (1): number of environments.
        - ``batch_size`` (num_envs): rows of a batch; a pool with a smaller one is async.
        - ``num_threads`` (0): number of threads; by default one for each available CPU, at most batch_size.
        - ``seed`` (42): an int gives environment i the seed ``seed + i``, a sequence has one seed per environment, and
          None draws a random seed.
        - ``max_episode_steps``: time limit in steps; by default that of the task.
        - ``autoreset_mode`` ("next_step"): "next_step", "same_step" or "disabled".
        - ``episode_statistics`` (False): whether info has the return and the length of episodes that end.
        - ``render_mode`` (None): "rgb_array" or "human".
        - ``preset`` (None): name of a set of options of the task.

    Returns
    -------
    GymnasiumEnvPool
        ``reset`` returns (obs, info), and ``step`` returns (obs, reward, terminated, truncated, info): arrays with one
        row per environment.

    Raises
    ------
    UnknownTaskError, TypeError, ConfigError, ImportError
        As from ``make``.
    """
    return make(task_id, "gymnasium", **options)
