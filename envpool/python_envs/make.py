"""``make_python``: pools of Python environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from envpool._support.machine import cpu_limit
from envpool._support.text import shown
from envpool.config.checks import canonical_mode, check_choice, check_range, check_timeout, convert
from envpool.config.options import POOL_OPTIONS, PRESET_OPTIONS, canonical
from envpool.config.render_options import RENDER_MODES, RenderOptions
from envpool.errors import ConfigError, EnvCreateError
from envpool.pools.classes import open_pool
from envpool.pools.env_pool import EnvPool
from envpool.python_envs.choice import choose, seconds_per_step
from envpool.python_envs.definition import PythonEnv
from envpool.python_envs.faults import failure_of
from envpool.python_envs.source import EnvSource, ProcessOptions, makers_of
from envpool.tasks.entries import TaskEntry
from envpool.tasks.resolve import OPTIONS_OF_POOL, resolve_entry
from envpool.tasks.spec import EnvSpec, check_names, spec_class

T = TypeVar("T")

START_METHODS = ("fork", "spawn", "forkserver")
WORKERS = ("inline", "thread", "process", "auto")

#: The most threads that wait for environments in other processes, each for its own; only async pools need several.
MOST_WAITING = 64

#: The most processes of a pool.
MOST_PROCESSES = 512


def make_python(
    env: str | Callable[..., Any] | Sequence[Callable[..., Any]],
    num_envs: int | None = None,
    batch_size: int | None = None,
    *,
    workers: str = "inline",
    num_threads: int = 0,
    start_method: str = "fork",
    env_type: str = "gymnasium",
    env_kwargs: Mapping[str, Any] | None = None,
    debug: bool = False,
    **options: Any,
) -> EnvPool:
    """Return a pool of Python environments.

    Parameters
    ----------
    env : str, callable or sequence of callable
        An id of gymnasium; a function or class that returns a new environment; or one function per environment. The
        environments have the interface of gymnasium, old gym, dm_env or PettingZoo, whose agents are players.
    num_envs : int, optional
        Number of environments; by default the number of functions, or 1.
    batch_size : int, optional
        Number of rows of a batch; by default num_envs.
    workers : {"inline", "thread", "process", "auto"}
        Where the environments run: on the thread that calls the pool, on threads, or in processes. "auto" times a few
        steps of an environment that it creates for this purpose, and chooses "process" if processes are worth their
        overhead, otherwise "inline". Default "inline".
    num_threads : int
        Number of threads or processes that run environments; 0, the default, stands for the number of CPUs, at most
        num_envs.
    start_method : {"fork", "spawn", "forkserver"}
        How processes are started: as copies of this one, as fresh interpreters, or as copies of one fresh interpreter.
        Default "fork".
    env_type : {"gymnasium", "gym", "dm"}
        API style of the pool.
    env_kwargs : mapping, optional
        Keyword arguments for ``gymnasium.make`` or for the functions.
    debug : bool
        If True, the environments run in the calling thread, whatever `workers` says, and without a step_timeout; what
        an environment raises is raised as it is, rather than as an EnvStepError; every observation is checked against
        its space; and the rows of a batch are filled with NaN or 0xAA before they are written. Default False.
    **options
        The options of ``envpool.make`` that every task has, such as ``seed``, ``autoreset_mode``, ``on_error``,
        ``step_timeout``, ``episode_statistics`` and ``render_mode``. With ``seed=None``, the first reset passes no seed
        to the environments; the default is 42.

    Returns
    -------
    EnvPool
        Environment i behaves like an environment of ``gymnasium.make(id)`` that was reset with the seed ``seed + i``.

    Raises
    ------
    ConfigError, TypeError
        An argument is not allowed, or the spaces are not supported.
    EnvCreateError
        An environment could not be created; the cause is the exception that it raised. With `debug`, this exception is
        raised itself.
    """
    return build(
        open_pool,
        env,
        num_envs,
        batch_size,
        workers=workers,
        num_threads=num_threads,
        start_method=start_method,
        env_type=env_type,
        env_kwargs=env_kwargs,
        debug=debug,
        **options,
    )


def build(
    opened: Callable[[EnvSpec, RenderOptions | None], T],
    env: str | Callable[..., Any] | Sequence[Callable[..., Any]],
    num_envs: int | None = None,
    batch_size: int | None = None,
    *,
    workers: str = "inline",
    num_threads: int = 0,
    start_method: str = "fork",
    env_type: str = "gymnasium",
    env_kwargs: Mapping[str, Any] | None = None,
    debug: bool = False,
    **options: Any,
) -> T:
    """Return what a function makes of the spec and the render options of a pool; see `make_python` for the rest."""
    check_choice("workers", workers, WORKERS)
    defaults = build.__kwdefaults__ or {}
    asked = {
        "workers": workers,
        "num_threads": num_threads,
        "start_method": start_method,
        "env_kwargs": env_kwargs,
        "debug": debug,
    }
    known = {*spec_class(PythonEnv).gen_config._fields, *OPTIONS_OF_POOL, *PRESET_OPTIONS, *defaults} - {"source"}
    check_threads = POOL_OPTIONS["num_threads"].check
    num_threads = check_threads("num_threads", num_threads)
    options = canonical(options | ({"num_threads": num_threads} if num_threads else {}), known)
    check_names(options, known, "make_python", "pass arguments of the environment in env_kwargs={...}")
    render_mode = options.get("render_mode")
    if render_mode is not None:
        check_choice("render_mode", render_mode, RENDER_MODES)
    if env_kwargs is not None and not isinstance(env_kwargs, Mapping):
        raise TypeError(
            f"env_kwargs must be a mapping from names to values of keyword arguments, got {shown(env_kwargs)}"
        )
    kwargs = dict(env_kwargs or {})
    if isinstance(env, str):
        if render_mode is not None:
            kwargs.setdefault("render_mode", "rgb_array")
        pass_time_limit(options, kwargs)
    batch_size = 0 if batch_size is None else convert("batch_size", batch_size, 0)
    makers, name = makers_of(env, num_envs, kwargs)
    check_choice("start_method", start_method, START_METHODS)
    count = check_threads("num_threads", options.pop("num_threads", 0))
    count = min(count or cpu_limit(), len(makers), MOST_PROCESSES)
    debug = convert("debug", debug, False)
    if debug and options.get("on_error") == "restart":
        raise ConfigError(
            "debug=True raises what an environment raises, and on_error='restart' reports it in info: "
            "leave one of them out"
        )
    if debug:
        workers = "inline"
        options.pop("step_timeout", None)
    timeout = check_timeout("step_timeout", options.get("step_timeout"))
    mode = canonical_mode("autoreset_mode", options.get("autoreset_mode", "next_step"))
    try:
        source = EnvSource(
            makers,
            name,
            rebuilds=options.get("on_error") == "restart",
            has_frames=render_mode is not None,
            same_step=mode == "same_step",
            debug=debug,
        )
    except ConfigError:
        raise
    except Exception as error:
        if debug:
            raise
        raise EnvCreateError(name, 1, failure_of(error)) from error
    if workers == "auto":
        workers = choose(seconds_per_step(source), len(makers), min(count, cpu_limit()))
    if workers == "process":
        options.pop("step_timeout", None)
        is_async = batch_size not in (0, len(makers))
        source.use_processes(ProcessOptions(count, start_method, timeout, not is_async))
        num_threads = min(len(makers), MOST_WAITING) if is_async else 1
    else:
        num_threads = 1 if workers == "inline" else count
    options |= {"num_envs": len(makers), "batch_size": batch_size}
    if isinstance(env, str) and source.time_limit is not None:
        options["max_episode_steps"] = source.time_limit
    own = {"source": source, "num_threads": num_threads}
    entry = TaskEntry(name, "envpool.python_envs.definition", "PythonEnv", None, None, None, own)
    try:
        spec, render = resolve_entry(entry, env_type, options)
        check_frame_size(source.frame_size, render)
        spec._other_options = {name: value for name, value in asked.items() if value != defaults[name]}
        return opened(spec, render)
    except EnvCreateError as error:
        cause = source.take_error()
        if isinstance(cause, (KeyboardInterrupt, ConfigError)) or (debug and cause is not None):
            raise cause from None
        raise error from cause
    finally:
        source.close()


def check_frame_size(own: tuple[int, int] | None, render: RenderOptions | None) -> None:
    """Raise ConfigError if a pool would have frames of another size, (height, width), than its environments have."""
    if render is not None and own is not None:
        for name, size, given in zip(("height", "width"), own, (render.height, render.width), strict=True):
            if given != size:
                raise ConfigError(
                    f"render_{name} must be {size}, the {name} of the frames of the environments, got {given}: leave "
                    "it out, or pass the size to the environments in env_kwargs"
                )


def pass_time_limit(options: dict[str, Any], kwargs: dict[str, Any]) -> None:
    """Move the option `max_episode_steps` to the keyword arguments of ``gymnasium.make``.

    The time limit of the id is a wrapper of the environment, which would end episodes before a longer limit of the
    pool.
    """
    if "max_episode_steps" not in options:
        return
    if "max_episode_steps" in kwargs:
        raise ConfigError("max_episode_steps is given twice, as an option and in env_kwargs: leave one of them out")
    limit = convert("max_episode_steps", options["max_episode_steps"], 0)
    check_range("max_episode_steps", limit, 1)
    kwargs["max_episode_steps"] = limit
