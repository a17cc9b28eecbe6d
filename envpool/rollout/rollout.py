"""Rollout: the steps of a pool as arrays over time that the workers write in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.config.checks import convert
from envpool.errors import ConfigError
from envpool.pools.env_pool import EnvPool
from envpool.pools.opponents.opponents_pool import OpponentsPool
from envpool.pools.styles.texts import Texts
from envpool.rollout.casting import as_dtype, as_mask
from envpool.rollout.collecting import collect_with
from envpool.rollout.data import RolloutData
from envpool.rollout.mlp import MLP
from envpool.rollout.opponents import OpponentsRecorder
from envpool.rollout.places import Places
from envpool.tasks.carried import refuse_objects
from envpool.tasks.players import refuse_players

#: Names that an extra cannot have: they are arguments of `Rollout.step`, or attributes of RolloutData.
TAKEN = {"action", "env_id", *(name for name in dir(RolloutData) if not name.startswith("_")), "lengths", "num_steps"}


class Rollout(OpponentsRecorder):
    """Records the steps of a pool, and values that the learner adds to each step, as arrays (T, N, ...).

    In a sync pool, the workers write each step in place: the arrays that `step` returns are slots of the rollout, and
    nothing is copied. In an async pool, the rows of a batch are copied to the time slots of their environments.

    ``finish`` returns the arrays of a full rollout. The next rollout begins with its last observations, so no step is
    lost. Memory of a rollout is reused only after your program has released all of its arrays, and everything that
    shares their memory, such as torch tensors. A loop that keeps the last rollout while the next one fills uses memory
    for two rollouts.

    Parameters
    ----------
    pool : EnvPool
        A pool of ``envpool.make``, of any API style. Step it only through the rollout.
    num_steps : int
        T: steps of each environment in a rollout. In an async pool, the rollout is full after ``num_steps * num_envs``
        steps of all environments, or as soon as one environment has `max_steps`.
    extras : mapping of str to dtype or (dtype, shape), optional
        Values that the learner adds to each step, by name: the dtype, and the shape of one environment's row, () by
        default. For instance ``{"logprob": np.float32, "value": np.float32, "hidden": (np.float32, (64,))}``. A value
        of each player has a shape that begins with the number of players.
    max_steps : int, optional
        Async pools: the largest number of steps of one environment in a rollout, ``2 * num_steps`` by default. Time
        slots that are not reached take no physical memory.
    pin : bool
        If True, the memory is page-locked with the CUDA runtime, so that copies to a GPU are fast and run while the
        next rollout fills. Two rollouts are locked at once and take turns: keep the data of one until its copy has
        finished. The arrays of the last observations of episodes are not locked.
    frames_once : bool or int
        If True, each frame of stacked observations is stored once, which takes a quarter of the memory for stacks of
        four. The number of frames is the option `stack_num` or `frame_stack` of the task; an int gives it for other
        tasks. The observation must be one array whose first axis has the frames, the oldest first. The results of
        `step` are copied then.

    Attributes
    ----------
    pool : EnvPool
        The pool.
    num_steps, max_steps : int
        As passed; ``max_steps`` of a sync pool is ``num_steps``.
    extras : tuple of str
        Names of the extras.
    recorded : int
        Number of steps in the current rollout, over all environments.
    is_full : bool
        True if the rollout accepts no further results; call ``finish``.
    num_in_flight : int
        Number of environments in flight.
    received : int32 (B,), or None
        The env ids of the last batch of an async pool, in the order of its rows; None for all environments, in order.

    Raises
    ------
    ConfigError, TypeError
        Arguments that are not allowed.
    MemoryError
        The rollout does not fit into the memory of the process.
    PoolStateError
        The pool is closed or was forked.
    PinningError
        ``pin=True``, but there is no CUDA runtime, or it cannot lock the memory; also a RuntimeError.

    Notes
    -----
    Masks and slots, for each auto-reset mode, are explained in docs/rollout.md.
    """

    pool: EnvPool

    def __init__(
        self,
        pool: EnvPool,
        num_steps: int,
        extras: Mapping[str, Any] | None = None,
        *,
        max_steps: int | None = None,
        pin: bool = False,
        frames_once: bool | int = False,
    ):
        if not isinstance(pool, EnvPool):
            raise TypeError(
                f"pool must be a pool of envpool.make, got {type(pool).__name__}: pass the pool itself, not a wrapper"
            )
        refuse_objects(pool.spec.config, "a Rollout")
        if frames_once:
            refuse_players(pool.spec, "frames_once", "leave it out")
        self.num_steps = positive("num_steps", num_steps)
        self.max_steps = self.num_steps if max_steps is None else positive("max_steps", max_steps)
        if pool.is_async and max_steps is None:
            self.max_steps = 2 * self.num_steps
        if self.max_steps < self.num_steps or (not pool.is_async and self.max_steps != self.num_steps):
            raise ConfigError(
                f"max_steps must be at least num_steps={num_steps} in an async pool, got {shown(max_steps)}; a sync "
                "pool has num_steps steps of each env: leave max_steps out"
            )
        declared = check_extras({} if extras is None else extras)
        self._depth = stack_depth(pool, frames_once)
        pin = bool(convert("pin", pin, False))
        self._places = Places(pool) if pool.spec.num_players else None
        spread = self._places.extra if self._places and pool.spec.config.players != "grid" else None
        shown_players, begun, shapes = pool._recorded if isinstance(pool, OpponentsPool) else (None, None, None)
        super().__init__(
            pool, self.num_steps, self.max_steps, declared, pin, self._depth, shown_players, begun, shapes, spread
        )
        self.pool = pool
        self.extras = tuple(name for name, _, _ in declared)

    def reset(
        self,
        env_id: Any = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Reset environments and record their observations.

        Without env_id, all environments are reset, results in flight are dropped, and so are the steps of a rollout
        that was not finished. An async pool returns the next batch_size rows, as ``reset`` of the pool does.

        With env_id, which needs the auto-reset mode "disabled", environments whose episodes have ended begin new ones.
        Their observations replace the last observations of the ended episodes, also in the arrays that ``step`` has
        returned; the last observations are kept for `RolloutData.last_of_episodes`.

        Parameters
        ----------
        env_id, seed, options
            As for ``reset`` of the pool.

        Returns
        -------
        tuple or TimeStep
            The result of ``reset`` of the pool.

        Raises
        ------
        EnvIdError
            The episode of an environment has not ended.
        ConfigError, PoolStateError, EnvStepError, EnvTimeoutError
            As for ``reset`` of the pool.
        """
        return self._reset_envs(*self.pool._reset_request(env_id, seed, options))

    def begin(self, obs: Any, first: Any = None) -> None:
        """Begin with observations that the pool returned outside the rollout, for instance before a checkpoint.

        The steps of a rollout that was not finished are dropped. The arrays of info, `elapsed_step` and `env_id` have
        zeros for these observations.

        Parameters
        ----------
        obs : array_like or dict
            (N, ...), the last observations of all environments, in the form in which the pool returns them. Nothing may
            be in flight.
        first : array_like of bool, optional
            (N,), True where an observation is the first one of an episode; False by default.

        Raises
        ------
        ConfigError
            Arrays are missing or unknown, or have a wrong shape, or values that the dtype of the pool cannot hold; or
            `first` is not an array of bool.
        PoolStateError
            Environments are in flight, or the pool is closed or forked.
        """
        arrays = named_arrays(obs) if self._places is None else self._places.observations(obs, named_arrays)
        names = [name for name in self._layout.names if name == "obs" or name.startswith("obs:")]
        if len(names) == 1 and len(arrays) == 1:
            arrays = {names[0]: next(iter(arrays.values()))}
        if sorted(arrays) != sorted(names):
            raise ConfigError(f"obs must have the arrays {names}, got {list(arrays)}")
        dtypes = dict(zip(self._layout.names, self._layout.dtypes, strict=True))
        arrays = {name: as_dtype(name, value, dtypes[name]) for name, value in arrays.items()}
        if first is not None:
            arrays["rollout:first"] = as_mask("first", first, self.pool.num_envs)
        self._begin_with(arrays, self._places.mask if self._places else None)

    def collect(
        self, act: Callable[[Any], tuple[Any, Mapping[str, Any]]] | MLP, result: Any = None
    ) -> tuple[RolloutData, Any]:
        """Fill the rollout and return its arrays.

        In an async pool, some environments are simulated while the policy acts in others: with a batch_size of half of
        num_envs this is double buffering. All environments are in flight when the method returns, so they are
        simulated while the learner works, too.

        With an `MLP`, the whole loop runs in native code.

        Parameters
        ----------
        act : callable or MLP
            ``act(result) -> (action, extras)``: the policy. It gets a result of ``reset`` or ``step`` and returns one
            action for each of its rows, and the extras as a dict. A sync pool calls it once more for the last
            observations; the rollout keeps only the extras of this call.
        result : tuple or TimeStep, optional
            The result of ``reset``; after that, the result that this method returned. An `MLP` does not need it. After
            an exception, pass the same result again: the rollout continues with what it received last.

        Returns
        -------
        data : RolloutData
            The arrays.
        result : tuple or TimeStep or None
            The last result of a sync pool, to be passed to the next call; or None.

        Raises
        ------
        ConfigError
            The auto-reset mode is "disabled", in which the caller resets environments; the result is missing; or the
            task is not one that an `MLP` can play.
        TypeError
            `act` is not callable, or returned something else.
        PoolStateError, EnvStepError, ...
            As for `step`. The steps so far are recorded, and the next call continues the rollout, also after an
            exception of `act`.
        """
        if self.pool.spec.config.autoreset_mode == "disabled":
            raise ConfigError("collect() needs a pool that resets its environments: not autoreset_mode='disabled'")
        if not callable(act) or isinstance(act, type):
            raise TypeError(f"act must be a function or an MLP, got {shown(act)}")
        if self._unanswered is not None:  # an argument is older
            result = self._unanswered
        elif not self._needs_actions:
            result = None
        if isinstance(act, MLP):
            name, shape = act.fit(self.pool, self._depth > 0)
            last, last_extras = collect_with(self, act.policy, name, shape)
        else:
            last, last_extras = self._play(act, result)
        if not self.pool.is_async:
            self._unanswered = result if last is None else last
        data = self.finish(**last_extras)
        result, self._unanswered = self._unanswered, None
        return data, result

    def _play(self, act: Callable[[Any], Any], result: Any) -> tuple[Any, dict[str, Any]]:
        """Do steps with the actions of a function until the rollout is full; the same results as `collect_with`."""
        if result is None and self._needs_actions:
            raise ConfigError("collect() needs the last result: pass the result of reset() or collect()")
        while True:
            if result is None:
                if self.is_full:
                    return None, {}
                result = self._unanswered = self.recv()
            action, extras = answer_of(act, result)
            if self.pool.is_async:
                self.send(action, self.received, **extras)
                result = None
            elif self.is_full:
                return result, extras
            else:
                result = self._unanswered = self.step(action, **extras)

    def finish(self, **last_extras: Any) -> RolloutData:
        """End the rollout and return its arrays. The next call begins the next one with the last observations.

        A sync pool must have done ``num_steps`` steps. In an async pool, every environment that was received must have
        been sent an action, so that the extras of its last observation are known; environments stay in flight, and
        their results belong to the next rollout. The rollout need not be full.

        Parameters
        ----------
        **last_extras
            Sync pools: extras of the last observations, (N, ...), usually ``value`` for bootstrapping; zeros, or those
            of an earlier rollout, where they are missing. They are ``data.last(name)``.

        Raises
        ------
        PoolStateError
            Steps or actions are missing, or the rollout was finished already.
        ConfigError
            Extras are unknown, or have a wrong dtype or shape, or values that the declared dtype cannot hold.
        """
        return self._take_finished(last_extras, partial(RolloutData, self._layout, depth=self._depth))

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Rollout records the steps of one pool and cannot be pickled or copied: pickle the pool between two "
            "rollouts, and make a Rollout of the new pool"
        )

    def __repr__(self) -> str:
        return f"Rollout({self.num_steps} steps, extras={list(self.extras)}, {self.recorded} env steps recorded)"


def answer_of(act: Callable[[Any], Any], result: Any) -> tuple[Any, dict[str, Any]]:
    """Return the actions and the extras with which a policy answers a result, or raise TypeError."""
    answer = act(result)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2 or not isinstance(answer[1], Mapping):
        raise TypeError(
            "act must return a pair (action, extras), in which extras is a dict, {} if the rollout has none, got "
            f"{shown(answer)}"
        )
    return answer[0], dict(answer[1])


def positive(name: str, value: Any) -> int:
    """Return a positive integer, or raise ConfigError or TypeError."""
    number = int(convert(name, value, 0))
    if number < 1:
        raise ConfigError(f"{name} must be at least 1, got {shown(value)}")
    return number


def stack_depth(pool: EnvPool, frames_once: Any) -> int:
    """Return the number of frames in a stack; 0 if they are not stored once. Raise ConfigError or TypeError."""
    if frames_once is False:
        return 0
    config = pool.spec.config
    depth = frames_once
    if frames_once is True and "stack_num" in config._fields:
        depth = config.stack_num
    elif frames_once is True:
        is_stacked = "frame_stack" not in pool.spec.transforms.options or config.frame_stack > 1
        depth = config.frame_stack * is_stacked
    depth = int(convert("frames_once", depth, 0))
    fields = {name: field for name, field in pool.spec.state_array_spec.items() if name.startswith("obs")}
    shape = next(iter(fields.values())).shape
    if list(fields) != ["obs"] or not shape or depth < 1 or shape[0] % depth:
        raise ConfigError(
            f"frames_once={shown(frames_once)} needs one array of observations whose first axis has stacked frames, "
            f"got { {name: tuple(field.shape) for name, field in fields.items()} } and {shown(depth)} frames: pass the "
            "number of frames, or leave frames_once out"
        )
    return depth


def check_extras(extras: Mapping[str, Any]) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    """Return name, dtype and shape of each extra, or raise ConfigError or TypeError."""
    if not isinstance(extras, Mapping):
        raise TypeError(f"extras must be a mapping from names to dtypes or (dtype, shape), got {shown(extras)}")
    checked = []
    for name, value in extras.items():
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("_") or name in TAKEN:
            raise ConfigError(
                "names of extras must be identifiers that begin with a letter, other than "
                f"{', '.join(sorted(TAKEN))}, got {shown(name)}"
            )
        dtype, shape = value if isinstance(value, tuple) else (value, ())
        try:
            dtype, shape = np.dtype(dtype), tuple(positive(f"shape of {shown(name)}", s) for s in shape)
        except TypeError as error:
            raise TypeError(
                f"extras[{shown(name)}] must be a dtype or (dtype, shape), got {shown(value)}: {error}"
            ) from error
        if dtype.kind not in "biuf" or dtype.itemsize > 8 or len(shape) > 6:
            raise ConfigError(
                f"extras[{shown(name)}] must have booleans, integers or floats of at most 8 bytes, and at most 6 "
                f"dimensions, got dtype {dtype} and shape {shown(shape)}"
            )
        checked.append((name, dtype, shape))
    return checked


def named_arrays(obs: Any) -> dict[str, Any]:
    """Return the arrays of observations by their names in the pool."""
    return {
        f"obs:{name}" if name else "obs": value.rows if isinstance(value, Texts) else value
        for name, value in flattened(obs).items()
    }


def flattened(nest: Any) -> dict[str, Any]:
    """Return the leaves of a nested dict by their keys, joined with dots; a leaf itself has the key ""."""
    if not isinstance(nest, Mapping):
        return {"": nest}
    return {f"{k}.{j}" if j else str(k): v for k, inner in nest.items() for j, v in flattened(inner).items()}
