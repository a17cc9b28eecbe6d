"""Creation of the environments of a pool of Python environments, and their common properties."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from envpool._core.casts import CastError, fitted
from envpool._support.ending import release_at_exit, released
from envpool._support.machine import check_memory, cpu_limit
from envpool._support.text import shown
from envpool.config.checks import integer
from envpool.errors import ConfigError
from envpool.native import PlayerGroup
from envpool.python_envs.adapters import DmEnv, PlayersEnv, adapt, to_gymnasium
from envpool.python_envs.layout import Layout
from envpool.python_envs.players import PlayersLayout

#: A lower bound for the memory of a Python environment, bytes.
PER_ENV = 1024

UINT8 = np.dtype(np.uint8)


class ProcessOptions(NamedTuple):
    """How the environments of a pool are distributed among processes.

    Attributes
    ----------
    num_workers : int
        Number of processes.
    start_method : {"fork", "spawn", "forkserver"}
        The start method of the processes.
    step_timeout : float or None
        Seconds after which a process that is still stepping an environment is replaced; None waits forever.
    is_sync : bool
        True if every batch has a row of each environment.
    """

    num_workers: int
    start_method: str
    step_timeout: float | None
    is_sync: bool

    @property
    def keeps_cpus(self) -> bool:
        """Whether the thread that waits for all processes, and each of them, can have a CPU of its own."""
        return self.is_sync and self.num_workers < cpu_limit()


class EnvSource:
    """Makes the environments of a pool and knows their spaces.

    The first environment is made at once, for its spaces. It becomes environment 0 of the pool, unless the environments
    live in other processes: then it is closed.

    Parameters
    ----------
    makers : sequence of callable
        One function without arguments per environment, which returns it.
    name : str
        Name of the environments in error texts and in the names of classes.
    rebuilds : bool
        If True, an environment that failed is made again before its next reset.
    has_frames : bool
        If True, the pool renders: one more environment is made for a moment, to learn the size of a frame.
    same_step : bool
        If True, episodes are reset in their last step, so that the last infos of an episode and the first infos of the
        next one are handed out together.
    debug : bool
        If True, exceptions are raised as they are, and observations are checked against their space.

    Attributes
    ----------
    observation_space, action_space : gymnasium.spaces.Space
        The spaces of one environment.
    observations, actions : Layout or PlayersLayout
        The form in which their values travel.
    num_players : int
        Places for players in each environment; 0 if the environments have one player.
    is_turn_based : bool
        True if players move in turn.
    groups : sequence of PlayerGroup or None
        The groups of players; None if the environments have one player.
    agents : list of str
        Names of the players; empty if the environments have one player.
    time_limit : int or None
        Number of steps after which ``gymnasium.make`` lets an episode end; None if it does not.
    metadata : dict
        The metadata of the first environment.
    render_mode : str or None
        The render mode with which the first environment was made.
    frame_size : (int, int) or None
        Height and width of a frame; None if the pool does not render.
    processes : ProcessOptions or None
        Distribution of the environments among processes; None if they live in this one.
    has_discounts : bool
        True if the environments give a discount with each step, as environments of dm_env do.
    seeds : list of int
        The seeds of the environments, or that of the first one, from which those of worker processes follow; empty if
        the environments are not seeded.
    error : BaseException or None
        The reason why the environments could not be made.

    Raises
    ------
    ConfigError
        The object that a function returned is not an environment, or a space is not supported.
    """

    def __init__(
        self,
        makers: Sequence[Callable[[], Any]],
        name: str,
        *,
        rebuilds: bool,
        has_frames: bool,
        same_step: bool,
        debug: bool = False,
    ):
        self.makers = list(makers)
        self.name = name
        self.rebuilds = rebuilds
        self.same_step = same_step
        self.debug = debug
        self.processes: ProcessOptions | None = None
        self.seeds: list[int] = []
        self.is_in_use = False  # True once a pool has been made of the environments
        self.error: BaseException | None = None
        self._live: Any = None
        self._first: Any = None
        release_at_exit(self)
        self._first = self.new_env(0)
        try:
            self._describe(self._first, has_frames)
        except BaseException:
            self.close()
            raise

    def _describe(self, first: Any, has_frames: bool) -> None:
        """Note what is known about the environments from the first one."""
        self.observation_space = space_of(first, "observation_space")
        self.action_space = space_of(first, "action_space")
        self.num_players, self.is_turn_based = 0, False
        self.agents: list[str] = []
        self.groups: Sequence[PlayerGroup] | None = None
        self.observations: Layout | PlayersLayout
        self.actions: Layout | PlayersLayout
        if isinstance(first, PlayersEnv):
            self.observations, self.actions = first.observations, first.actions
            self.num_players, self.groups = len(first.numbers), first.groups
            self.is_turn_based = first.is_turn_based
            self.agents = first.observations.agents
        else:
            self.observations = Layout(self.observation_space, "obs", ":")
            actions = Layout(self.action_space, "action", ".")
            actions.check_actions()
            self.actions = actions
        self.has_discounts = isinstance(first, DmEnv)
        limit = getattr(getattr(first, "spec", None), "max_episode_steps", None)
        self.time_limit = limit if isinstance(limit, int) and 1 <= limit < 2**31 else None
        self.metadata = dict(first.get_wrapper_attr("metadata") or {})
        self.render_mode = first.get_wrapper_attr("render_mode")
        self.render_fps = int(self.metadata.get("render_fps") or 30)
        self.frame_size = self._measure_frame() if has_frames else None

    def use_processes(self, processes: ProcessOptions) -> None:
        """Let the environments of a pool live in other processes, which must not inherit the first one."""
        self.processes = processes
        self.close()

    def new_env(self, index: int) -> Any:
        """Return a new environment with gymnasium's interface."""
        env = adapt(self.makers[index]())
        if isinstance(env, PlayersEnv):
            env.checks = self.debug
        return env

    def open(self, num_envs: int, ids: Sequence[int]) -> list[Any]:
        """Return the environments of a pool by id, None for those that are not in `ids`.

        If making one raises, the others are closed.
        """
        envs: list[Any] = [None] * num_envs
        owners: dict[int, tuple[int, Any]] = {}
        try:
            for index in ids:
                first, self._first = (self._first, None) if index == 0 else (None, self._first)
                env = self.new_env(index) if first is None else first
                inner = innermost(env)
                owner, _ = owners.setdefault(id(inner), (index, inner))
                if owner != index:
                    raise ConfigError(
                        f"environment {index} is the same object as environment {owner}, and they would share one "
                        "state: the function must return a new environment with each call"
                    )
                envs[index] = env
                self._check_spaces(index, env)
        except BaseException:
            self.close_envs(envs)
            raise
        return envs

    def replacement(self, index: int) -> Any:
        """Return a new environment for one that failed; raise ConfigError if it does not fit the pool."""
        env = self.new_env(index)
        try:
            self._check_spaces(index, env)
        except BaseException:
            self.close_env(env)
            raise
        return env

    def _check_spaces(self, index: int, env: Any) -> None:
        agents = list(map(str, env.numbers)) if isinstance(env, PlayersEnv) else []
        if agents != self.agents:
            raise ConfigError(
                f"environment {index} must have the possible_agents {self.agents} of the pool, got {agents}: all "
                "environments of a pool need the same agents"
            )
        for what in ("observation_space", "action_space"):
            own, expected = getattr(env, what), getattr(self, what)
            if own != expected:
                raise ConfigError(
                    f"environment {index} must have the {what} {expected} of the pool, got {own}: all environments of "
                    "a pool need the same spaces"
                )

    def opened(self, envs: Any) -> None:
        """Note the environments of the pool that is being made."""
        self._live = envs

    def live_blocks(self) -> Any:
        """Return the memory of batches that the environments opened last share with other processes, or None."""
        return getattr(self._live, "blocks", None)

    def take_live(self) -> Any:
        """Return the environments that were opened last, and forget them."""
        live, self._live = self._live, None
        return live

    def take_error(self) -> BaseException | None:
        """Return why the environments could not be made, and forget it, since its traceback refers to this object."""
        error, self.error = self.error, None
        return error

    def close_env(self, env: Any) -> None:
        """Close an environment; an exception becomes a warning, since the pool has no further use for it."""
        if env is None:
            return
        try:
            env.close()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # such as SystemExit, which nobody could catch in compiled code
            warnings.warn(f"close() of {self.name} raised {shown(error)}", RuntimeWarning, stacklevel=2)

    def close_envs(self, envs: Sequence[Any]) -> None:
        """Close environments, the first one first, and all of them even if closing one raises."""
        with contextlib.ExitStack() as stack:
            for env in reversed(envs):
                stack.callback(self.close_env, env)

    def close(self) -> None:
        """Close the first environment if no pool has taken it."""
        first, self._first = self._first, None
        self.close_env(first)

    def release(self) -> None:
        """Forget the functions of the user, at the end of the program."""
        self.makers = [released] * len(self.makers)
        self.close()

    def _measure_frame(self) -> tuple[int, int]:
        env = self.new_env(0)
        try:
            env.reset(seed=0)
            height, width = as_frame(env.render()).shape[:2]
        except (AttributeError, NotImplementedError) as error:
            raise ConfigError(
                f"render_mode must be None unless the environments can render, but render() of {self.name} raised "
                f"{shown(error)}: leave it out"
            ) from error
        finally:
            self.close_env(env)
        return int(height), int(width)

    def frame_of(self, env: Any, height: int, width: int) -> np.ndarray[Any, Any]:
        """Return a frame of an environment, uint8 (height, width, 3), C-contiguous."""
        frame = as_frame(env.render())
        if frame.shape != (height, width, 3):
            raise ValueError(f"render() must return frames of the shape {(height, width, 3)}, got {frame.shape}")
        return frame

    def sizes(self) -> tuple[list[int], list[int]]:
        """Return the bytes of one environment's value of each action leaf and of each field."""
        return self.actions.row_bytes(), self.observations.row_bytes()

    def window(self) -> int:
        """Return the bytes that an environment in another process has for what it pickles, such as its info."""
        height, width = self.frame_size or (0, 0)
        pages = 64 << 10  # of the largest size that kernels have
        return max(1 << 20, (3 * height * width + 4096 + pages - 1) // pages * pages)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_first": None, "_live": None, "error": None}

    def __repr__(self) -> str:
        return f"<{self.name}>"


#: The check of an argument that is a number of things.
check_count = integer(1)


def space_of(env: Any, name: str) -> Any:
    """Return the attribute of an environment that is a space of gymnasium; raise ConfigError if it is none."""
    try:
        space = getattr(env, name)
    except AttributeError as error:
        raise ConfigError(
            f"{name} must be a space of gymnasium, but the environment has none ({error}): set it in the environment"
        ) from error
    to_gymnasium(space, name)  # raises ConfigError
    return space


def innermost(env: Any) -> Any:
    """Return an environment without its wrappers, or the environment itself if it cannot say what is inside."""
    try:
        inner = env.unwrapped
    except Exception:  # a property of the user's
        return env
    return env if inner is None else inner


def as_frame(frame: Any) -> np.ndarray[Any, Any]:
    """Return the result of ``render()`` as a C-contiguous array of uint8; the last frame of a list.

    Other dtypes are cast if uint8 can hold all values; otherwise, ConfigError is raised.
    """
    if isinstance(frame, list) and frame:
        frame = frame[-1]
    array = np.asarray(frame)
    if array.ndim != 3 or array.shape[2] != 3:
        raise ConfigError(
            f"render() must return an RGB array (height, width, 3), got {type(frame).__name__} of shape {array.shape}: "
            "make the environments with render_mode='rgb_array'"
        )
    try:
        return fitted(array, UINT8)
    except (CastError, TypeError) as error:
        out = "return an array of uint8"
        if array.dtype.kind == "f":
            out = "multiply frames in [0, 1] by 255 and cast them"
        raise ConfigError(f"render() must return uint8 (height, width, 3), got {error}: {out}") from error


def makers_of(env: Any, num_envs: int | None, kwargs: dict[str, Any]) -> tuple[list[Callable[[], Any]], str]:
    """Return one function per environment, and a name, for the argument `env` of ``make_python``.

    Parameters
    ----------
    env : str, callable or sequence of callable
        An id of gymnasium; a function that returns a new environment, or a class; or one function per environment.
    num_envs : int, optional
        Number of environments; by default the number of functions, or 1.
    kwargs : dict
        Keyword arguments for ``gymnasium.make`` or the function.
    """
    count = None if num_envs is None else check_count("num_envs", num_envs)
    if isinstance(env, (list, tuple)):
        if not env:
            raise ConfigError(f"env must have at least one function that returns an environment, got {shown(env)}")
        for k, fn in enumerate(env):
            if not callable(fn):
                raise ConfigError(
                    f"env[{k}] must be a function that returns an environment, got {shown(fn)}: for several "
                    "environments of one id, pass the id and num_envs"
                )
        if count not in (None, len(env)):
            raise ConfigError(f"num_envs must be {len(env)}, the number of functions in env, got {count}: leave it out")
        return [Maker(fn, kwargs) for fn in env], getattr(env[0], "__name__", "env").strip("<>")
    if not isinstance(env, str) and not callable(env):
        raise ConfigError(
            f"env must be an id of gymnasium, a function that returns an environment, or a sequence of functions, got "
            f"{shown(env)}"
        )
    count = 1 if count is None else count
    check_memory(PER_ENV * count, f"num_envs={count}", "ask for fewer envs")
    name = env if isinstance(env, str) else getattr(env, "__name__", type(env).__name__).strip("<>")
    return [Maker(env, kwargs)] * count, name


class Maker:
    """A function with keyword arguments that returns a new environment.

    Parameters
    ----------
    function : str or callable
        An id for ``gymnasium.make``, or a function.
    kwargs : dict
        Its keyword arguments.
    """

    def __init__(self, function: str | Callable[..., Any], kwargs: dict[str, Any]):
        self.function, self.kwargs = function, kwargs

    def __call__(self) -> Any:
        """Return a new environment."""
        if isinstance(self.function, str):
            import gymnasium

            return gymnasium.make(self.function, **self.kwargs)
        return self.function(**self.kwargs)
