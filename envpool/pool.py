"""EnvPool: the pool in Python, the same for every family and API style."""

from __future__ import annotations

import atexit
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from envpool._core.env_ids import as_ids
from envpool._core.pool import Pool, available_cpus
from envpool.autoreset import MODES
from envpool.errors import ConfigError, EnvIdError, PoolStateError
from envpool.render_options import View, check_camera, fps, modes
from envpool.spec import EnvSpec, check_seed, check_seeds, is_sequence
from envpool.window import Window

#: Pools that are still open; closed at exit, before the libraries they use go away.
_open_pools: weakref.WeakSet[EnvPool] = weakref.WeakSet()


class EnvPool(Pool):
    """Many environments of one task, stepped by native threads.

    ``envpool.make`` makes one of its subclasses. With ``batch_size == num_envs`` the pool is sync: ``step`` returns the
    envs it was given, in that order. With less it is async: ``recv`` returns the first ``batch_size`` envs that have
    finished their step.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    view : View, optional
        How it renders; without one it does not.

    Attributes
    ----------
    spec : EnvSpec
        As given.
    num_envs : int
        Number of environments.
    all_env_ids : numpy.ndarray
        int32 (num_envs,): 0 to num_envs - 1.
    render_mode : {"rgb_array", "human"} or None
        As given to ``make``.
    metadata : dict
        ``render_modes``, which are possible, and ``render_fps``, pictures a second at the task's own speed.
    """

    _style: ClassVar[Any]
    _suffix: ClassVar[str] = "EnvPool"

    def __init__(self, spec: EnvSpec, view: View | None = None):
        self._spec = spec
        self.spec = spec
        config = spec.config
        self.num_envs = config.num_envs
        if check := getattr(spec.env, "check_requirements", None):
            check(config)
        super().__init__(
            view.capsule if view else spec.capsule,
            config.num_envs,
            config.batch_size,
            config.num_threads or min(config.batch_size, available_cpus()),
            config.thread_affinity_offset,
            config.max_episode_steps,
            MODES.index(config.autoreset_mode),
            spec.seeds,
            self._style(spec),
        )
        self.all_env_ids = np.arange(config.num_envs, dtype=np.int32)
        self.render_mode = view.mode if view else None
        self.metadata: dict[str, Any] = {"render_modes": modes(spec), "render_fps": fps(spec)}
        self._view = view
        self._window = Window(f"{spec.task_id} (env pool {id(self):x})")
        _open_pools.add(self)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration as a dict."""
        return dict(self._spec.config._asdict())

    @property
    def is_async(self) -> bool:
        """Whether a batch holds fewer envs than the pool."""
        return bool(self._spec.config.batch_size != self._spec.config.num_envs)

    def reset(
        self,
        env_id: Any = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Start new episodes and return their first observations.

        Parameters
        ----------
        env_id : array_like of int, optional
            Envs to reset, idle ones. By default all; rows still in flight are dropped then.
        seed : int or sequence of int, optional
            Reseeds: an int gives env i the seed ``seed + i``, a sequence has one entry for each env that is reset,
            where None leaves it as it is.
        options : dict, optional
            ``{"reset_mask": bool array (num_envs,)}`` instead of env_id.

        Returns
        -------
        tuple or TimeStep
            The rows of env_id, in that order, while others stay in flight; without env_id, in an async pool, the next
            batch_size rows.

        Raises
        ------
        EnvIdError, PoolStateError, EnvStepError, ConfigError
            Bad or busy ids, closed pool, failed envs, bad seeds or options.
        """
        env_id = as_ids(self._masked_ids(env_id, options))
        return self.reset_envs(env_id, self._reset_seeds(env_id, seed))

    def async_reset(self) -> None:
        """Start new episodes in all envs without waiting; ``recv`` returns them."""
        self.send_reset()

    def _masked_ids(self, env_id: Any, options: dict[str, Any] | None) -> Any:
        """Return the ids that reset() means."""
        if not options:
            return env_id
        if not isinstance(options, dict):
            raise ConfigError(f"reset(options=...) must be a dict, got {options!r}")
        unknown = [k for k in options if k != "reset_mask"]
        if unknown:
            raise ConfigError(f"reset(options=...) supports 'reset_mask' only, got {unknown}")
        if env_id is not None:
            raise ConfigError("reset() takes env_id or options['reset_mask'], not both")
        mask, shape = np.asarray(options["reset_mask"]), (self._spec.config.num_envs,)
        if mask.shape != shape or mask.dtype != np.bool_ or not mask.any():
            raise ConfigError(
                f"options['reset_mask'] must be a bool array of shape {shape} with a True in it, got {mask.dtype} "
                f"{mask.shape}{', all False' if mask.size and not mask.any() else ''}"
            )
        return np.flatnonzero(mask)

    def _reset_seeds(self, env_id: Any, seed: Any) -> list[int | None] | None:
        """Return one seed, or None, for each env that is reset."""
        if seed is None:
            return None
        ids = self.all_env_ids if env_id is None else env_id
        if is_sequence(seed):
            known = [0 if s is None else s for s in seed]
            checked = check_seeds("seed", known, len(ids))
            return [None if s is None else c for s, c in zip(seed, checked, strict=True)]
        seed = check_seed("seed", seed)
        # The core refuses ids that are out of range.
        return [seed + int(i) if 0 <= i < self.num_envs else None for i in ids]

    def xla(self) -> tuple[Any, Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
        """Return what steps this pool inside functions that JAX compiles; the functions keep the pool alive.

        Returns
        -------
        handle : numpy.ndarray
            uint8 (8,): stands for the pool. Each call takes one and returns the next; passing that on orders the calls.
        recv : callable
            ``recv(handle) -> (handle, batch)``: the next batch_size rows, in the form of ``step``.
        send : callable
            ``send(handle, action, env_id=None) -> handle``.
        step : callable
            ``step(handle, action, env_id=None) -> (handle, batch)``. Sync: the rows of env_id, in that order. Async:
            the next batch_size rows.

        Raises
        ------
        ImportError
            JAX is missing, or was when envpool was built.
        PoolStateError
            Closed, or used after a fork.

        Notes
        -----
        A call that fails raises ``jax.errors.JaxRuntimeError`` with the text that the pool's own method would have.
        Where JAX is limited to 32 bits, 64-bit arrays of a batch come as 32-bit ones, and actions may be given so.
        """
        try:
            import jax.ffi  # noqa: F401
        except ImportError as error:
            raise ImportError(f"xla() needs jax: `pip install 'envpool[jax]'` ({error})") from error
        from envpool.xla.functions import make_functions

        return make_functions(self)

    def seed(self, seed: int | Sequence[int] | None = None) -> None:
        """Do nothing but warn: old gym's way to seed. Pass seed to ``make`` or to ``reset`` instead."""
        warnings.warn("seed() does nothing: pass seed to envpool.make(...) or to reset(seed=...)", stacklevel=2)

    def render(self, env_ids: Any = None, camera_id: int | None = None) -> Any:
        """Draw environments as their last step or reset left them, which changes nothing about them.

        Parameters
        ----------
        env_ids : int or array_like of int, optional
            (B,) which ones, in any order, idle or in flight; those in flight are waited for, and their rows stay for
            ``recv``. By default the option `render_env_id`.
        camera_id : int, optional
            A camera of the task, -1 for the default one. By default the option `render_camera_id`.

        Returns
        -------
        numpy.ndarray or None
            uint8 (B, height, width, 3), RGB, of the size fixed by ``make``; a fresh array, yours to keep. With
            ``render_mode="human"`` one environment is shown in a window, and there is no result.

        Raises
        ------
        PoolStateError
            ArrayLayout without a render mode, environments that were never reset, another thread renders, closed, forked.
        EnvIdError
            Ids out of range, or more than one for the window.
        RenderError
            Environments that could not be drawn, or no display.
        ConfigError, TypeError
            A bad camera.
        """
        view = self._view
        if view is None:
            raise PoolStateError(
                "render() needs a render mode: make the pool with render_mode='rgb_array' or render_mode='human'"
            )
        ids = as_ids(view.env_id if env_ids is None else env_ids, "env_ids")
        assert ids is not None
        camera = view.camera if camera_id is None else check_camera("camera_id", camera_id)
        if view.mode == "rgb_array":
            return self.render_frames(ids, view.height, view.width, camera, view.assets)
        if len(ids) != 1:
            raise EnvIdError(f"render_mode='human' shows one env, got {len(ids)} env_ids: use render_mode='rgb_array'")
        self._window.show(self.render_frames(ids, view.height, view.width, camera, view.assets)[0])
        return None

    def close(self, **kwargs: Any) -> None:
        """Stop and join the threads and free the envs. May be called again; every other call raises afterwards."""
        super().close()
        self._window.close()
        self.closed = True

    def __len__(self) -> int:
        return int(self._spec.config.num_envs)

    def __enter__(self) -> EnvPool:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return type(self).__name__ + repr(self._spec.config)[len("Config") :]

    __str__ = __repr__

    def __reduce__(self) -> Any:
        raise TypeError("a pool has threads and cannot be pickled: pickle pool.spec and make a pool from it")


_classes: dict[tuple[type, str], type[EnvPool]] = {}


def pool_class(spec_cls: type[EnvSpec], style: str) -> type[EnvPool]:
    """Return the pool class of a kind of env, e.g. CartPoleGymnasiumEnvPool; the same one each time.

    Parameters
    ----------
    spec_cls : type
        Its EnvSpec class.
    style : {"gymnasium", "gym", "dm"}
        API style.
    """
    key = (spec_cls, style)
    if key not in _classes:
        from importlib import import_module

        base = import_module(f"envpool.api.{style}").pool_base()
        _classes[key] = type(spec_cls.env.__name__ + base._suffix, (base,), {"__doc__": base.__doc__})
    return _classes[key]


@atexit.register
def _close_all() -> None:
    for pool in list(_open_pools):
        pool.close()
