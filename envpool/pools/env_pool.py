"""EnvPool: the Python side of a pool, the same for all families and API styles."""

from __future__ import annotations

import atexit
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np

from envpool._core.inputs import ResetOptions, as_ids
from envpool._core.params import get_params, get_ranges, set_draws, set_params
from envpool._core.pool import Pool
from envpool._core.state import copy_states, restore_states, save_states
from envpool._support.keywords import with_alias
from envpool._support.machine import cpu_limit, numa_nodes, process_cpus
from envpool._support.packages import install
from envpool._support.text import shown
from envpool._support.window import Window
from envpool.config.checks import check_seed, check_seeds, core_code, is_sequence, nanoseconds, refused_floats
from envpool.config.params import check_values
from envpool.config.render_options import TRACK, RenderOptions, check_camera
from envpool.errors import ConfigError, EnvIdError, PoolStateError
from envpool.pools.attributes import PoolAttributes
from envpool.pools.reset_options import check_reset_options, without_mask
from envpool.pools.states import EnvStates, options_digest
from envpool.tasks.spec import EnvSpec

if TYPE_CHECKING:
    from envpool.pools.statistics import PoolStats
    from envpool.sampling.sampler import Sampler
    from envpool.transforms.normalization import Normalization

#: Follows the option `seed` in the seed of a pool's own Sampler, so that its draws are not those of an environment.
OWN_SEED = 0x616374


class SetByInit:
    """An attribute that ``__init__`` sets; reading it in a pool whose ``__init__`` failed raises PoolStateError."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, pool: Any, owner: type | None = None) -> Any:
        if pool is None:
            return self
        raise PoolStateError(
            f"the pool was never initialized and has no {self.name}: its __init__ failed, or a subclass did not call it"
        )


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum of some values; None if one of them is unknown."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


#: Pools that are still open. They are closed at exit, before the libraries they use are unloaded.
_open_pools: weakref.WeakSet[EnvPool] = weakref.WeakSet()


class EnvPool(PoolAttributes, Pool):
    """Many environments of one task, stepped by native threads.

    ``envpool.make`` makes an instance of one of its subclasses. If ``batch_size == num_envs``, the pool is sync:
    ``step`` returns the environments it was given, in their order. If ``batch_size`` is less, the pool is async:
    ``recv`` returns the first ``batch_size`` environments that have finished their step.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    render : RenderOptions, optional
        How the pool renders. By default, it has no render mode, and ``render()`` raises PoolStateError.

    Attributes
    ----------
    spec : EnvSpec
        Task and configuration.
    num_envs : int
        Number of environments.
    num_threads : int
        Number of threads.
    all_env_ids : numpy.ndarray
        int32 (num_envs,): 0 to num_envs - 1.
    render_mode : {"rgb_array", "human"} or None
        The option `render_mode` of ``make``.
    metadata : dict
        ``render_modes``, the render modes that pools of this task can have, and ``render_fps``, the frame rate that the
        metadata of the upstream environment name, in frames per second.
    """

    #: Subclass of `envpool.pools.styles.style.Style` that names the arrays of a batch.
    _style: ClassVar[Any]
    #: For a class that `envpool.pools.classes.pool_class` has made: this function and the name of the style.
    _made_by: ClassVar[tuple[Callable[..., Any], str] | None] = None
    #: The class whose specs the pool takes.
    _spec_cls: ClassVar[type[EnvSpec]] = EnvSpec
    #: Ending of the names of the pool classes of this style.
    _suffix: ClassVar[str] = "EnvPool"

    # A destructor of a base class, such as that of gymnasium before 1.3, also closes a pool whose __init__ failed.
    _normalization: Normalization | None = None
    spec: EnvSpec = cast(Any, SetByInit())
    num_envs: int = cast(Any, SetByInit())
    num_threads: int = cast(Any, SetByInit())
    all_env_ids: np.ndarray[Any, Any] = cast(Any, SetByInit())
    _ids: np.ndarray[Any, Any] = cast(Any, SetByInit())  # the user may write to all_env_ids
    _render_options: RenderOptions | None = cast(Any, SetByInit())
    _window: Window | None = None

    def __init__(self, spec: EnvSpec, render: RenderOptions | None = None):
        if not isinstance(spec, self._spec_cls):
            got = type(spec).__name__ if isinstance(spec, EnvSpec) else shown(spec)
            raise TypeError(f"spec must be a {self._spec_cls.__name__}, got {got}: see envpool.make_spec")
        self.spec = spec
        config = spec.config
        self.num_envs = config.num_envs
        spec.definition.check_requirements(spec.common_config)
        num_threads = min(config.num_threads or min(config.batch_size, cpu_limit()), config.num_envs)
        style = self._style(spec)
        self._normalization = spec.transforms.normalization(style.transforms)
        super().__init__(
            render.capsule if render else spec.capsule,
            config.num_envs,
            config.batch_size,
            num_threads,
            config.thread_affinity_offset,
            numa_nodes() if config.numa else [sorted(process_cpus())],
            config.max_episode_steps,
            core_code(config.autoreset_mode),
            spec.seeds,
            style,
            config.on_error == "restart",
            nanoseconds(config.step_timeout),
            refused_floats(config.require_finite_actions, spec.definition.refuses_nan),
            config.observe == "current",
            config.illegal_actions != "lose",
        )
        self.num_threads = num_threads
        self._ids = np.arange(config.num_envs, dtype=np.int32)
        self.all_env_ids = self._ids.copy()
        self.render_mode = render.mode if render else None
        self.metadata: dict[str, Any] = {
            "render_modes": spec.render_modes,
            "render_fps": spec.render_fps,
        }
        params = spec.param_spec
        values = {name: getattr(config, name) for name in params}
        own = {name: value for name, value in values.items() if np.ndim(value) > len(params[name].shape)}
        if spec.draws is not None:  # the values until the first draw; build() got other ones
            own |= {k: params[k].default if values[k] is None else values[k] for k in spec.draws.ranges}
        self.set_params(own)
        if spec.draws is not None:
            set_draws(self, spec.draws, None)
        self._render_options = render
        self._window = Window(f"{spec.task_id} (env pool {id(self):x})")
        style.set_attributes(self)
        _open_pools.add(self)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration as a dict, with the ``num_threads`` that the pool has."""
        return dict(self.spec.config._asdict()) | {"num_threads": self.num_threads}

    @property
    def normalization(self) -> Normalization | None:
        """The running statistics, or None; they are replaced by its `set`, not by another object."""
        return self._normalization

    @normalization.setter
    def normalization(self, value: Any) -> None:
        raise AttributeError(
            "normalization cannot be assigned, since the pool computes with its own statistics: copy those of another "
            "pool with pool.normalization.set(other.normalization.get())"
        )

    @property
    def closed(self) -> bool:
        """Whether the pool is closed."""
        return self._is_closed

    is_closed = closed

    @property
    def is_async(self) -> bool:
        """Whether a batch holds fewer environments than the pool."""
        return bool(self.spec.config.batch_size != self.spec.config.num_envs)

    @property
    def opponents(self) -> Any:
        """The policy of the players that the option `controlled` does not name; None without this option."""
        return None

    @opponents.setter
    def opponents(self, policy: Any) -> None:
        raise ConfigError("opponents play the players that are not controlled: make the pool with controlled, e.g. [0]")

    def reset(
        self,
        env_id: Any = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
    ) -> Any:
        """Start new episodes and return their first observations.

        Parameters
        ----------
        env_id : array_like of int, optional
            Environments to reset; none of them may be in flight. By default all environments are reset, and results
            that are in flight are dropped.
        seed : int or sequence of int, optional
            Reseeds the environments. An int gives environment i the seed ``seed + i``; a sequence must have one entry
            per reset environment, and None keeps that environment's generator unchanged. By default all generators are
            kept.
        options : dict or sequence of dict, optional
            Options of these resets, by the names of `EnvSpec.reset_option_spec`; they do not hold for later resets. A
            value is that of all environments, or an array with one more dimension and one row per reset environment. A
            sequence has a dict, or None, for each reset environment. Python environments get the dict as it is. In a
            dict, ``"reset_mask"``, a bool array (num_envs,), selects the environments instead of env_id.

        Returns
        -------
        tuple or TimeStep
            The rows of env_id, in that order; other environments stay in flight. Without env_id, an async pool returns
            the next batch_size rows.

        Raises
        ------
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight.
        PoolStateError
            The pool is closed, or another call is using it.
        EnvStepError
            Environments failed to start an episode, and the option `on_error` is "raise".
        EnvTimeoutError
            Environments have been running for longer than the option `step_timeout`.
        ConfigError, TypeError
            Seeds or options are not allowed.
        """
        return self._reset_envs(*self._reset_request(env_id, seed, options))

    def _of_recv(self, result: Any, reset: bool) -> Any:
        """Return what recv() returns of a result in the form of step(), or with `reset` in that of reset()."""
        return result

    def async_reset(self) -> None:
        """Start new episodes in all environments without waiting; ``recv`` returns their first observations."""
        self._send_reset()

    def _reset_request(
        self, env_id: Any, seed: Any, options: Any
    ) -> tuple[Any, list[int | None] | None, ResetOptions | None]:
        """Return the ids, seeds and options of a reset as the core takes them, from the arguments of `reset`."""
        checked = None
        env_id = as_ids(self._masked_ids(env_id, options))
        if options is not None:
            checked = self._reset_options(without_mask(options), self.num_envs if env_id is None else len(env_id))
        return env_id, self._reset_seeds(env_id, seed), checked

    def _reset_options(self, options: Any, count: int) -> ResetOptions | None:
        """Return the options of `count` resets as the core takes them, or raise ConfigError."""
        return check_reset_options(self.spec, options, count)

    def _masked_ids(self, env_id: Any, options: Any) -> Any:
        """Return the ids that the arguments of reset() select, None for all."""
        if not isinstance(options, dict) or options.get("reset_mask") is None:
            return env_id
        if env_id is not None:
            raise ConfigError("reset() takes env_id or options['reset_mask'], not both")
        mask, shape = np.asarray(options["reset_mask"]), (self.spec.config.num_envs,)
        if mask.shape != shape or mask.dtype != np.bool_ or not mask.any():
            raise ConfigError(
                f"options['reset_mask'] must be a bool array of shape {shape} with at least one True, got {mask.dtype} "
                f"{mask.shape}{', all False' if mask.size and not mask.any() else ''}"
            )
        return np.flatnonzero(mask)

    def _reset_seeds(self, env_id: Any, seed: Any) -> list[int | None] | None:
        """Return one seed, or None, for each environment that is reset."""
        if seed is None:
            return None
        ids = self._ids if env_id is None else env_id
        if is_sequence(seed):
            known = [0 if s is None else s for s in seed]
            checked = check_seeds("seed", known, len(ids), self.spec.max_seed)
            return [None if s is None else c for s, c in zip(seed, checked, strict=True)]
        known = [i if 0 <= i < self.num_envs else None for i in ids.tolist()]  # the core refuses other ids
        first = check_seed("seed", seed, self.spec.max_seed, 1 + max((i for i in known if i is not None), default=0))
        return [None if i is None else first + i for i in known]

    def xla(self) -> tuple[Any, Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
        """Return functions that step this pool inside code that JAX compiles; they keep the pool alive.

        Returns
        -------
        handle : numpy.ndarray
            uint8 (8,); identifies the pool. Each call takes a handle and returns a new one. Pass the new one to the
            next call, which keeps the calls in order.
        recv : callable
            ``recv(handle) -> (handle, batch)``: the next batch_size rows, in the form that ``step`` returns.
        send : callable
            ``send(handle, action, env_id=None) -> handle``.
        step : callable
            ``step(handle, action, env_id=None) -> (handle, batch)``. A sync pool returns the rows of env_id, in that
            order; an async pool returns the next batch_size rows.

        Raises
        ------
        ImportError
            JAX is missing, or it was missing when envpool was built.
        PoolStateError
            The pool is closed, or the process was forked after the pool was made.

        Notes
        -----
        A call that fails raises ``jax.errors.JaxRuntimeError`` with the message that the method of the pool would
        raise. If JAX is limited to 32 bits, the 64-bit arrays of a batch are returned as 32-bit arrays, and actions may
        have 32 bits as well.
        """
        try:
            import jax.ffi  # noqa: F401
        except ImportError as error:
            raise ImportError(f"xla() needs jax: {install('jax')} ({error})") from error
        from envpool.xla.functions import make_functions

        return make_functions(self)

    @with_alias("env_ids", "env_id")
    def get_state(self, env_id: Any = None) -> EnvStates:
        """Return the states of environments, from which `set_state` continues them exactly.

        A state contains everything on which later results depend: the simulation, the random generator or the seed that
        is pending, the elapsed steps, and whether the next step starts an episode. The environments do not change.

        Parameters
        ----------
        env_id : int or array_like of int, optional
            Environments to save, (B,), each once; none of them may be in flight. By default all environments.

        Returns
        -------
        EnvStates
            One state per id, in that order. It holds no memory of the pool and can be pickled.

        Raises
        ------
        StateError
            The task does not support states, or the last step of an environment failed.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight or being rendered.
        PoolStateError
            The pool is closed or was forked.
        """
        return EnvStates(save_states(self, *self._identity, env_id))

    @with_alias("env_ids", "env_id")
    def set_state(self, states: EnvStates, env_id: Any = None) -> None:
        """Restore environments; each continues exactly as the environment whose state was saved.

        No observations are returned: the one that belongs to a state is the last one that was received before it was
        saved.

        Parameters
        ----------
        states : EnvStates
            (B,) states of a pool of the same task and options, in any process. The numbers of environments and threads,
            ``batch_size``, the seeds and the API style may differ.
        env_id : int or array_like of int, optional
            Environments to restore, (B,), each once; none of them may be in flight. By default all environments.

        Raises
        ------
        StateError
            A state is truncated, corrupt, or of another task, other options or another version; the numbers of states
            and ids differ; or the task does not support states. No environment has changed, unless replaying an episode
            fails (NetHack, ViZDoom): the environments before it have then been restored, and the next step of the
            failed one starts an episode.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight or being rendered.
        PoolStateError
            The pool is closed or was forked.
        TypeError
            `states` is not an EnvStates.
        """
        if not isinstance(states, EnvStates):
            raise TypeError(
                f"states must be an EnvStates, got {type(states).__name__}: pass the result of get_state() or of "
                "EnvStates.from_bytes()"
            )
        restore_states(self, *self._identity, tuple(states.states), env_id)
        if self.normalization is not None:
            self.normalization.restart(env_id)

    def copy_state(self, source_ids: Any, target_ids: Any) -> None:
        """Copy states between environments of this pool, as ``set_state(get_state(source_ids), target_ids)``.

        Parameters
        ----------
        source_ids : int or array_like of int
            (B,) ids; an id may appear several times.
        target_ids : int or array_like of int
            (B,) ids, each once. Environment ``target_ids[i]`` becomes a copy of ``source_ids[i]``, including its random
            generator. A target must not be the source of another target.

        Raises
        ------
        StateError
            The task does not support states, or the last step of a source failed.
        EnvIdError
            Ids are out of range, of environments that are in flight or being rendered, or not allowed together.
        PoolStateError
            The pool is closed or was forked.
        """
        copy_states(self, self._identity[0], source_ids, target_ids)
        if self.normalization is not None:
            self.normalization.copy(source_ids, target_ids)

    @with_alias("env_ids", "env_id")
    def set_params(self, params: Mapping[str, Any], env_id: Any = None) -> None:
        """Change parameters of environments, such as physical constants, from their next reset on.

        Parameters
        ----------
        params : mapping of str to array_like
            New values, by the names of `EnvSpec.param_spec`: one value for all environments of the call, or an array
            (B, ...) with one value per environment. Parameters that are not named keep their values. Those that the
            option `randomize` draws for each episode cannot be set.
        env_id : int or array_like of int, optional
            (B,) ids, each once; by default all environments.

        Raises
        ------
        ConfigError
            A parameter does not exist, or a value or a shape is not allowed.
        TypeError
            A value is not numeric.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight or being rendered.
        PoolStateError
            The pool is closed or was forked.
        """
        ids = as_ids(env_id, "env_id")
        count = self.num_envs if ids is None else len(ids)
        values = check_values(self.spec.param_spec, params, count, self.spec.task_id or type(self.spec).__name__)
        set_params(self, list(values), ids)

    @with_alias("env_ids", "env_id")
    def get_params(self, env_id: Any = None, *, in_force: bool = False) -> dict[str, Any]:
        """Return the parameters that the next episodes of environments will have.

        Parameters
        ----------
        env_id : int or array_like of int, optional
            (B,) ids, each once; by default all environments.
        in_force : bool
            If True, return the parameters of the current episodes instead. Default False.

        Returns
        -------
        dict of str to numpy.ndarray
            One array (B, ...) per parameter; empty if the task has none. A parameter that is drawn for each episode has
            its last value.

        Raises
        ------
        EnvIdError, PoolStateError
            As for `set_params`.
        """
        values = get_params(self, env_id, in_force)
        return dict(zip(self.spec.param_spec, values, strict=False))  # options of resets follow the parameters

    @with_alias("env_ids", "env_id")
    def set_randomize(self, randomize: Mapping[str, Sequence[Any]] | None, env_id: Any = None) -> None:
        """Change from which distributions environments draw parameters, from their next reset on.

        A parameter that is no longer drawn has the value that was passed to ``make`` again, or its default. A value
        that came with a restored state is kept.

        Parameters
        ----------
        randomize : mapping of str to sequence, or None
            The option `randomize` of ``make``. It replaces the distributions of all parameters; None ends all draws.
        env_id : int or array_like of int, optional
            (B,) ids, each once; by default all environments.

        Raises
        ------
        ConfigError, TypeError
            A parameter does not exist, or a distribution is not allowed; nothing has changed.
        EnvIdError
            Ids are out of range, repeated, or of environments that are in flight or being rendered.
        PoolStateError
            The pool is closed or was forked.
        """
        set_draws(self, self.spec._make_draws(randomize), env_id)

    @with_alias("env_ids", "env_id")
    def get_randomize(self, env_id: Any = None) -> list[dict[str, tuple[Any, ...]]]:
        """Return the distributions from which environments draw parameters.

        Parameters
        ----------
        env_id : int or array_like of int, optional
            (B,) ids; by default all environments.

        Returns
        -------
        list of dict
            For each environment what `set_randomize` accepts; empty if it draws nothing.

        Raises
        ------
        EnvIdError
            Ids are out of range.
        PoolStateError
            The pool is closed or was forked.
        """
        return [{} if ranges is None else dict(ranges) for ranges in get_ranges(self, env_id)]

    @cached_property
    def _identity(self) -> tuple[str, bytes]:
        """Task id and digest of the options, by which states of this task are recognised."""
        return self.spec.task_id or "", options_digest(
            self.spec.config, self.spec.param_spec, self.spec.transforms.options
        )

    def sample_actions(self, rng: Any = None, env_id: Any = None) -> Any:
        """Return random actions that ``step`` and ``send`` accept, with the distribution of the action space.

        Parameters
        ----------
        rng : envpool.rollout.Sampler, numpy.random.Generator, int or sequence of int, optional
            Where the random numbers come from. A Sampler or Generator advances; a seed gives the same actions in every
            call. By default a Sampler of the pool, which starts from the option `seed` and does not affect the
            environments.
        env_id : array_like of int, optional
            (B,): the environments that will get the actions. By default all.

        Returns
        -------
        numpy.ndarray or dict
            A row for each environment, (B, ...), in the dtype of the action. If the action has several arrays, a
            nested dict of them with the keys ``env_id`` and ``players``. A task with players gets actions in the form
            of the option `players`: for ``"rows"``, a row for each player in the last results of these environments,
            none of which may be in flight. A turn-based task gets one legal move for each environment, (B, ...); if
            it says which moves are legal, none of these environments may be in flight.

        Raises
        ------
        EnvIdError
            Ids are out of range.
        TypeError, ConfigError
            `rng` is something else, or a seed is not allowed.

        Notes
        -----
        Integers and bools are uniform. Floats are uniform between two bounds; with one bound, the distance to it is
        exponential with mean 1; without bounds, they are standard normal. Closed pools can be asked as well.
        """
        from envpool.sampling.sampler import as_sampler

        ids = self._ids if env_id is None else as_ids(env_id)
        assert ids is not None
        for k in np.flatnonzero((ids < 0) | (ids >= self.num_envs))[:1]:
            raise EnvIdError(f"env_id[{k}] must be between 0 and {self.num_envs - 1}, got {ids[k]}")
        sampler = self._own_sampler if rng is None else as_sampler(rng)
        ids = ids.astype(np.int32)
        if not self.spec.num_players:
            return self._random_actions.draw(sampler, ids)
        if self.spec.is_turn_based:
            return self._random_actions.draw(sampler, ids, legal=self._legal_mask(ids))
        mask = self._player_mask(ids) if self.spec.config.players == "rows" else None
        return self._random_actions.draw(sampler, ids, mask)

    @cached_property
    def _own_sampler(self) -> Sampler:
        from envpool.sampling.sampler import Sampler

        seed = self.spec.config.seed
        return Sampler(None if seed is None else [seed, OWN_SEED])

    @cached_property
    def _random_actions(self) -> Any:
        from envpool.sampling.random_actions import random_actions_of

        return random_actions_of(self.spec)

    def seed(self, seed: int | Sequence[int] | None = None) -> None:
        """Do nothing but warn. Old gym seeds environments with this method; here ``make`` and ``reset`` do."""
        warnings.warn("seed() does nothing: pass seed to envpool.make(...) or to reset(seed=...)", stacklevel=2)

    @with_alias("env_ids", "env_id")
    def render(self, env_id: Any = None, camera_id: int | Literal["track"] | None = None) -> Any:
        """Render environments as their last step or reset left them; their states do not change.

        Parameters
        ----------
        env_id : int or array_like of int, optional
            Environments to render, (B,), in any order. Environments in flight are waited for, and ``recv`` still
            returns their results. By default the option `render_env_id`.
        camera_id : int or "track", optional
            Number of a camera of the task, -1 for the default camera, or "track" for `EnvSpec.tracking_camera`. By
            default the option `render_camera_id`.

        Returns
        -------
        numpy.ndarray or None
            Frames, uint8 (B, height, width, 3), RGB, of the size that was passed to ``make``, in a fresh array that is
            yours to keep. If the render mode is "human", a single frame is shown in a window, and the result is None.

        Raises
        ------
        PoolStateError
            The pool was made without a render mode, an environment was never reset, another thread is rendering, the
            pool is closed, or the process was forked after the pool was made.
        EnvIdError
            Ids are out of range, or there is more than one for the window.
        RenderError
            An environment could not be rendered, or there is no display.
        ConfigError, TypeError
            The camera is not allowed.
        """
        options = self._render_options
        if options is None:
            raise PoolStateError(
                "render() needs a render mode: make the pool with render_mode='rgb_array' or render_mode='human'"
            )
        ids = as_ids(options.env_id if env_id is None else env_id, "env_id")
        assert ids is not None
        camera: Any = options.camera if camera_id is None else check_camera("camera_id", camera_id)
        if camera == TRACK:
            camera = self.spec.tracking_camera
        if options.mode == "human" and len(ids) != 1:
            raise EnvIdError(f"render_mode='human' shows one env, got {len(ids)} ids: use render_mode='rgb_array'")
        frames = self._render_frames(ids, options.height, options.width, camera, options.assets)
        if options.mode == "rgb_array":
            return frames
        assert self._window is not None
        self._window.show(frames[0])
        return None

    def stats(self) -> PoolStats:
        """Return the counters of the pool; any thread may call this method at any time.

        A closed pool returns its last values.

        Raises
        ------
        PoolStateError
            The pool was never initialized.
        """
        from envpool.pools.statistics import PoolStats

        totals = self._totals()
        of_players, of_groups = totals["mean_player_returns"], None
        if of_players is not None:
            of_groups = {name: total(of_players[p] for p in players) for name, players in self.spec.all_groups.items()}
        return PoolStats(**totals, mean_group_returns=of_groups, num_threads=self.num_threads)

    def close(self, **kwargs: Any) -> None:
        """Stop and join the threads and free the environments.

        The method may be called again. On a closed pool, ``stats``, the calls of ``normalization`` and, in tasks
        without players, ``sample_actions`` still work; all other calls raise a PoolClosedError. A thread is left
        behind, and the memory that it uses is freed when it returns, if it has been running for longer than the option
        `step_timeout`, if Ctrl-C interrupts the wait for it, or if one of its environments calls this method.
        """
        try:
            super().close()
        finally:
            self._after_close()

    def _close_at_once(self) -> None:
        """Do what `close` does without waiting for threads."""
        super()._close_at_once()
        self._after_close()

    def _after_close(self) -> None:
        if self._window is not None:
            self._window.close()

    def __len__(self) -> int:
        return int(self.spec.config.num_envs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if "spec" not in vars(self):
            return f"{type(self).__name__}, never initialized"
        return self.spec.text(type(self).__name__) + (", closed" if self.closed else "")

    __str__ = __repr__

    def __reduce__(self) -> Any:
        from envpool.pools.pickling import reduce_pool

        return reduce_pool(self)


@atexit.register
def _close_all() -> None:
    pools = list(_open_pools)
    try:
        while pools:
            pools.pop().close()
    except KeyboardInterrupt:  # the user does not want to wait for environments
        for pool in pools:
            pool._close_at_once()
        raise
