"""The conformant ``gymnasium.vector.VectorEnv``, which ``gymnasium.make_vec("envpool/<task>")`` makes.

The pools of ``envpool.make_gymnasium`` keep EnvPool's conventions, which gymnasium's vector wrappers do not share:
spaces of one environment, partial batches, infos without masks. The class in this module follows gymnasium's
conventions; it owns a pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from envpool._core.casts import as_action
from envpool._support.text import shown
from envpool.config.checks import gymnasium_mode, is_sequence
from envpool.config.render_options import RenderOptions
from envpool.errors import ActionError, ConfigError, EnvPoolError, EnvStepError, PoolClosedError, PoolStateError
from envpool.gymnasium_api.spec import WithTaskSpec
from envpool.pools.attributes import RefusesParams, call, described, set_values
from envpool.pools.classes import pool_class
from envpool.pools.recovery import EXPLAINED, check_shape, explain
from envpool.tasks.players import refuse_players
from envpool.tasks.resolve import resolve
from envpool.tasks.spec import EnvSpec

#: Value of gymnasium's ``np_random_seed`` for an environment whose seed is unknown.
UNKNOWN_SEED = -1
#: The call that resets all environments, in texts of errors.
WAY_OUT = "reset() without a mask"
#: The text of an EnvIdError of an environment whose episode has ended, with ``autoreset_mode="disabled"``.
ENDED = (
    "the episode of {env} has ended: call reset(options={'reset_mask': mask}), where the bool array mask is True for "
    "each environment whose episode has ended"
)
#: Exceptions of a pool that refuses a call, after which the observations of the last one are still those of the
#: environments. Any other exception, such as Ctrl-C, may have come between the end of a call and the use of its result.
REFUSALS = (EnvPoolError, TypeError, ValueError)
#: Render mode with which `render` returns the frames of all steps since its last call.
LISTS = "rgb_array_list"


class EnvPoolVectorEnv(RefusesParams, WithTaskSpec, VectorEnv[Any, Any, Any]):
    """Environments of one task with gymnasium's vector API.

    Parameters
    ----------
    task_id : str or EnvSpec
        Id of the task, one of ``envpool.list_all_envs()``, or a spec of ``envpool.make_spec``.
    num_envs : int, optional
        Number of environments; by default 1, or that of the spec.
    render_mode : {"rgb_array", "rgb_array_list", "human"}, optional
        Whether `render` returns frames, returns the frames of all steps since the last call, or shows a frame in a
        window. By default `render` raises.
    seed : int or sequence of int, optional
        Seed of the environments, see ``envpool.make``, until ``reset(seed=...)`` sets another one. By default, as in
        gymnasium, each object draws a random seed, unless it is made from a spec, which has one.
    **options
        Options of ``envpool.make``, such as ``autoreset_mode``, ``max_episode_steps`` and ``num_threads``.

    Attributes
    ----------
    pool : EnvPool
        The pool that steps the environments. Do not step or reset it yourself while this object is in use.

    Raises
    ------
    UnknownTaskError, ConfigError, TypeError
        See ``envpool.make``. A ``batch_size`` other than num_envs is a ConfigError, too.

    Notes
    -----
    ``reset`` and ``step`` return arrays with a row for each environment, in their order: obs in ``observation_space``,
    reward float32 (num_envs,), terminated and truncated bool (num_envs,). infos has the keys of the task, each with a
    mask ``_key`` bool (num_envs,). With ``autoreset_mode="same_step"``, the infos of a step that ends episodes also
    have ``final_obs``, an object array (num_envs,) of single observations or None, and ``final_info``. With
    ``on_error="restart"``, the infos of a batch with failed environments have ``error``, an object array (num_envs,) of
    str or None. The arrays are yours to keep and to write; but `reset` with a mask copies the rows of the other
    environments from the observations that were returned last.
    """

    pool: Any = None  # until it is made: gymnasium's VectorEnv closes itself even if __init__ raised
    _frames: Frames | None = None  # with render_mode="rgb_array_list"

    def __init__(
        self,
        task_id: str | EnvSpec,
        num_envs: int | None = None,
        *,
        render_mode: str | None = None,
        seed: Any = None,
        **options: Any,
    ):
        given = {"num_envs": num_envs, "render_mode": mode_of_pool(render_mode), "seed": seed}
        if isinstance(task_id, EnvSpec):
            given = {name: value for name, value in given.items() if value is not None}
        elif num_envs is None:
            given["num_envs"] = 1
        given = options | given
        self._open(*resolve(task_id, "gymnasium", given))
        if render_mode == LISTS:
            self._collect_frames()

    def _open(self, spec: EnvSpec, render: RenderOptions | None) -> None:
        """Make the pool of a spec, and set the attributes that follow from it."""
        refuse_players(spec, "a VectorEnv", "use envpool.make_gymnasium")
        config = spec.config
        if config.batch_size != config.num_envs:
            raise ConfigError(
                f"batch_size must be num_envs={config.num_envs} in a VectorEnv, which steps all envs, got "
                f"{config.batch_size}: leave batch_size out, or use envpool.make for an async pool"
            )
        if config.finished_episodes:
            raise ConfigError(
                "finished_episodes=True adds arrays with one row per episode, but arrays in the infos of a VectorEnv "
                "have one row per env: leave it out, or use envpool.make_gymnasium"
            )
        self.task_id = spec.task_id
        self.num_envs = config.num_envs
        self.single_observation_space = spec.observation_space
        self.single_action_space = without_env_ids(spec.action_space)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._action_dtypes = {k: s.dtype for k, s in spec.action_array_spec.items()}
        self._takes_dict = isinstance(self.single_action_space, gymnasium.spaces.Dict)
        seeds = spec.seeds()
        self._seeds = [UNKNOWN_SEED] * self.num_envs if seeds is None else seeds.tolist()
        self._obs: Any = None  # the observations returned last; None before the first reset, and after an interrupt
        self._was_interrupted = False
        # Resets with a mask, which this mode needs all the time, show the observations of the other environments again;
        # the user may have written to the arrays that were returned.
        self._copies_obs = config.autoreset_mode == "disabled"
        self.pool = pool_class(type(spec), "vector")(spec, render)
        self.render_mode = self.pool.render_mode
        self.metadata = self.pool.metadata | {"autoreset_mode": gymnasium_mode(config.autoreset_mode)}

    def _collect_frames(self) -> None:
        """Collect the frames of all steps from now on, as gymnasium's RenderCollection does."""
        self._frames = Frames(self.pool, self.num_envs)
        self.render_mode = LISTS
        self.metadata["render_modes"] = [*self.metadata["render_modes"], LISTS]

    @property
    def np_random_seed(self) -> Any:
        """The last seed of each environment, a tuple of int; -1 for one that was made and reset without a seed."""
        return tuple(self._seeds)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Reseeds the environments. An int gives environment i the seed ``seed + i``; a sequence must have num_envs
            entries, and None keeps that environment's generator unchanged.
        options : dict, optional
            Options of these resets, see ``EnvPool.reset``. With ``"reset_mask"``, a bool array (num_envs,), only
            environments whose entry is True are reset. The observations of the others are those that were returned
            last; unless ``autoreset_mode`` is "disabled", with what you have written into these arrays since.

        Returns
        -------
        obs : array or dict
            Observations of all environments, in ``observation_space``.
        infos : dict
            See the class; the masks are True for environments that were reset.

        Raises
        ------
        ConfigError, TypeError
            Seeds or options are not allowed, or the first reset has a mask.
        """
        mask = options.get("reset_mask") if isinstance(options, dict) else None
        if mask is not None:
            self._check_mask(mask)
            mask = mask.copy()  # it is read again after the reset
            options = {**(options or {}), "reset_mask": mask}
        which = np.ones(self.num_envs, np.bool_) if mask is None else mask
        if is_sequence(seed) and mask is not None:
            if len(seed) != self.num_envs:  # type: ignore[arg-type]
                raise ConfigError(
                    f"seed must have one entry for each of the {self.num_envs} environments, got {shown(seed)}"
                )
            chosen: Any = [s for s, m in zip(seed, mask, strict=True) if m]  # type: ignore[arg-type]
        else:
            chosen = seed
        try:
            obs, info = self.pool.reset(seed=chosen, options=options)
            shown_obs = obs if mask is None else replace_rows(self._obs, mask, obs)
            self._obs = copied(shown_obs) if self._copies_obs else shown_obs
        except EXPLAINED as error:
            if isinstance(error, EnvStepError) and self._frames is not None:
                self._frames.end(which)
            explain(self.pool, error, WAY_OUT)
            raise
        except REFUSALS:
            raise
        except BaseException:
            self._note_interrupt()
            raise
        self._note_seeds(seed, mask)
        if self._frames is not None:
            self._frames.begin(which)
        if mask is None:
            return shown_obs, with_masks(info, which)
        return shown_obs, with_masks(spread_rows(info, mask), mask.copy())

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all environments.

        Parameters
        ----------
        actions : array_like or dict
            Actions of all environments, in ``action_space``.

        Returns
        -------
        tuple
            (obs, reward, terminated, truncated, infos), see the class.

        Raises
        ------
        PoolStateError
            There was no reset() yet, or an earlier call was interrupted; then a reset of all environments brings them
            back.
        PoolClosedError
            The VectorEnv is closed (also a ``gymnasium.error.ClosedEnvironmentError``).
        ActionError
            The actions are not allowed.
        EnvIdError
            The episode of an environment has ended and ``autoreset_mode`` is "disabled".
        EnvStepError
            Environments failed. Their episodes have ended; the results of the other environments are dropped.
        """
        if self._obs is None:
            if self.closed:
                raise PoolClosedError("the VectorEnv is closed: make a new one")
            if self._was_interrupted:
                raise PoolStateError(f"a call was interrupted, and its results were dropped: call {WAY_OUT}")
            raise PoolStateError("step() needs a reset() first")
        if self._takes_dict:
            actions = self._cast(actions)
        try:
            obs, reward, terminated, truncated, info, final, ended_entries = self.pool.step(actions)
            vars(self)["_obs"] = copied(obs) if self._copies_obs else obs  # in each step: without __setattr__
        except ActionError:
            check_shape("actions", actions, self.action_space)
            raise
        except EXPLAINED as error:
            if isinstance(error, EnvStepError):
                self._obs, _, terminated, truncated, *_ = self.pool.recv()
                if self._frames is not None:
                    self._frames.add(terminated | truncated, self.metadata["autoreset_mode"])
            explain(self.pool, error, WAY_OUT, ENDED)
            raise
        except REFUSALS:
            raise
        except BaseException:
            self._note_interrupt()
            raise
        if info:
            info = with_masks(info, np.ones(self.num_envs, np.bool_))
        if final and final[2].any():
            final_obs, final_info, ended = final
            info["final_obs"] = split_rows(final_obs, ended)
            info["_final_obs"] = ended
            info["final_info"] = with_masks(final_info, ended.copy())
            info["_final_info"] = ended.copy()
        info |= ended_entries
        if self._frames is not None:
            self._frames.add(terminated | truncated, self.metadata["autoreset_mode"])
        return obs, reward, terminated, truncated, info

    def render(self) -> tuple[Any, ...] | None:
        """Render the environments.

        Returns
        -------
        tuple of numpy.ndarray, or None
            A frame of each environment, uint8 (height, width, 3); the frames are views of one fresh array. With
            ``render_mode="rgb_array_list"``, a list of frames of each environment: one for each reset and step since
            the last call, and since its episode began. With ``render_mode="human"``, the frame of environment
            `render_env_id` is shown in a window, and the result is None.

        Raises
        ------
        PoolStateError, RenderError
            See ``EnvPool.render``.
        """
        if self._frames is not None and not self.pool.closed:
            return self._frames.take()
        frames = self.pool.render(self.pool._ids if self.render_mode == "rgb_array" else None)
        return None if frames is None else tuple(frames)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each environment, or read an attribute that is not callable; one result each.

        Parameters
        ----------
        name : str
            ``"render"``, in goal environments also ``"compute_reward"``, ``"compute_terminated"`` or
            ``"compute_truncated"``, or a name that `get_attr` knows.
        *args, **kwargs
            Arguments of the method.

        Raises
        ------
        AttributeError
            Native environments have no such method or attribute.
        """
        if name == "render" and self._frames is not None and not self.pool.closed:
            return self._frames.take(*args, **kwargs)
        known = described(self.pool) | {
            "spec": self.spec,
            "render_mode": self.render_mode,
            "metadata": self.metadata,
            "observation_space": self.single_observation_space,
            "action_space": self.single_action_space,
        }
        return call(self.pool, known, name, args, kwargs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each environment.

        These are the parameters of the task, as the next episodes will have them, see ``set_params``, and ``spec``,
        ``max_episode_steps``, ``render_mode``, ``metadata``, ``observation_space`` and ``action_space``.

        Raises
        ------
        AttributeError
            Native environments have no such attribute.
        """
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set a parameter of the task from the next reset of each environment on, as ``pool.set_params`` does.

        Parameters
        ----------
        name : str
            Name of the parameter.
        values : object
            A list or tuple with one value per environment; any other object is the value of all.

        Raises
        ------
        AttributeError
            The task has no such parameter.
        ConfigError, TypeError
            A value is not allowed.
        """
        set_values(self.pool, name, values)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the pool. ``close()`` calls this method; it may be called again."""
        if self.pool is not None:
            self.pool.close()

    def _note_interrupt(self) -> None:
        """Forget the observations, which may not be those of the environments any more."""
        self._was_interrupted = self._obs is not None or self._was_interrupted
        self._obs = None

    def _check_mask(self, mask: Any) -> None:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            got = mask.dtype if isinstance(mask, np.ndarray) else type(mask).__name__
            raise TypeError(f"options['reset_mask'] must be a NumPy array of bool, got {got}")
        if mask.shape != (self.num_envs,) or not mask.any():
            what = "no True" if mask.shape == (self.num_envs,) else f"shape {mask.shape}"
            raise ConfigError(
                f"options['reset_mask'] must have shape ({self.num_envs},) and at least one True, got {what}"
            )
        if self._obs is None and self._was_interrupted:
            raise PoolStateError(f"a call was interrupted, and its results were dropped: call {WAY_OUT}")
        if self._obs is None:
            raise ConfigError("options['reset_mask'] needs a reset() of all environments first")

    def _note_seeds(self, seed: Any, mask: Any) -> None:
        if seed is None:
            return
        given = seed if is_sequence(seed) else [seed + i for i in range(self.num_envs)]
        for i, s in enumerate(given):
            if s is not None and (mask is None or mask[i]):
                self._seeds[i] = int(s)

    def _cast(self, actions: Any, prefix: str = "") -> Any:
        """Return a dict of actions in the dtypes of the task; gymnasium's batched Discrete spaces sample int64."""
        return {
            k: self._cast(v, f"{prefix}{k}.")
            if isinstance(v, dict)
            else as_action(prefix + k, v, self._action_dtypes[prefix + k])
            for k, v in actions.items()
        }


class Frames:
    """The frames of all steps since the last call of `take`, for each environment those of its current episode.

    Parameters
    ----------
    pool : EnvPool
        The pool, which has the render mode "rgb_array".
    num_envs : int
        Number of environments.
    """

    def __init__(self, pool: Any, num_envs: int):
        self._pool = pool
        self._lists: list[list[Any]] = [[] for _ in range(num_envs)]
        self._ended = np.zeros(num_envs, np.bool_)

    def end(self, which: Any) -> None:
        """Begin new lists at the next frames of the environments `which`, bool (num_envs,)."""
        self._ended |= which

    def begin(self, which: Any) -> None:
        """Collect the first frames of the environments that were reset; `which` is bool (num_envs,)."""
        self.end(which)
        self._draw(np.flatnonzero(which))

    def add(self, ended: Any, mode: AutoresetMode) -> None:
        """Collect a frame of each environment after a step that ended the episodes `ended`, bool (num_envs,)."""
        if mode == AutoresetMode.SAME_STEP:
            self.end(ended)
        self._draw(self._pool._ids)
        if mode != AutoresetMode.SAME_STEP:
            self.end(ended)

    def _draw(self, ids: Any) -> None:
        """Collect a frame of each environment, except for those that have failed, which have nothing to draw."""
        drawn = ids[~self._pool._have_failed(ids)]
        for i, frame in zip(drawn, self._pool.render(drawn), strict=True):
            if self._ended[i]:
                self._lists[i] = []
            self._lists[i].append(frame)
            self._ended[i] = False

    def take(self) -> tuple[list[Any], ...]:
        """Return the lists of frames, and begin new ones."""
        taken, self._lists = tuple(self._lists), [[] for _ in self._lists]
        return taken


def mode_of_pool(render_mode: str | None) -> str | None:
    """Return the render mode of the pool for that of a VectorEnv."""
    return "rgb_array" if render_mode == LISTS else render_mode


def without_env_ids(space: Any) -> Any:
    """Return an action space without the env ids that EnvPool's dict actions have."""
    if not isinstance(space, gymnasium.spaces.Dict):
        return space
    return gymnasium.spaces.Dict({k: v for k, v in space.items() if k not in ("env_id", "players")})


def with_masks(info: dict[str, Any], mask: Any) -> dict[str, Any]:
    """Return a nested info that has a mask ``_key`` for every key; entries with a mask of their own keep it."""
    out: dict[str, Any] = {}
    masks = {f"_{k}" for k in info}  # keys of Python environments need not be str
    for k, v in info.items():
        out[k] = with_masks(v, mask) if isinstance(v, dict) else v
        if k not in masks and f"_{k}" not in info:
            out[f"_{k}"] = mask
    return out


def copied(nest: Any) -> Any:
    """Return a copy of an array or of a nest of arrays."""
    if isinstance(nest, dict):
        return {k: copied(v) for k, v in nest.items()}
    return tuple(map(copied, nest)) if isinstance(nest, tuple) else nest.copy()


def replace_rows(nest: Any, mask: Any, rows: Any) -> Any:
    """Return a copy of an array or of a nest of arrays, with the rows for which the mask is True replaced."""
    if isinstance(nest, dict):
        return {k: replace_rows(v, mask, rows[k]) for k, v in nest.items()}
    if isinstance(nest, tuple):
        return tuple(replace_rows(v, mask, r) for v, r in zip(nest, rows, strict=True))
    out = nest.copy()
    out[mask] = rows
    return out


def spread_rows(nest: dict[str, Any], mask: Any) -> dict[str, Any]:
    """Return nested arrays that have the given rows where the mask is True, and zeros or None elsewhere."""
    out: dict[str, Any] = {}
    for k, v in nest.items():
        if isinstance(v, dict):
            out[k] = spread_rows(v, mask)
        else:
            out[k] = np.full((len(mask), *v.shape[1:]), None if v.dtype == object else 0, v.dtype)
            out[k][mask] = v
    return out


def split_rows(nest: Any, mask: Any) -> Any:
    """Return an object array that has single observations where the mask is True, and None elsewhere."""
    out = np.full(len(mask), None, dtype=object)
    for i in np.flatnonzero(mask):
        out[i] = row_of(nest, i)
    return out


def row_of(nest: Any, i: Any) -> Any:
    """Return a copy of row i of an array or of a nest of arrays."""
    if isinstance(nest, dict):
        return {k: row_of(v, i) for k, v in nest.items()}
    if isinstance(nest, tuple):
        return tuple(row_of(v, i) for v in nest)
    is_discrete = nest.ndim == 1 and nest.dtype != np.bool_
    return nest[i] if is_discrete else np.array(nest[i])
