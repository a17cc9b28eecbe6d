"""`Fleet`: Python environments in a pool, for vector environments whose callers reset them and get what they return."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from envpool._core.casts import as_action
from envpool.adapters.carrier import Carrier, Parcel, Wire
from envpool.config.options import POOL_OPTIONS, canonical
from envpool.errors import ActionError, EnvIdError, EnvStepError
from envpool.pools.recovery import EXPLAINED, drop_in_flight, explain
from envpool.python_envs.make import make_python


class Rows(NamedTuple):
    """Results of some environments, in the order of their ids.

    Attributes
    ----------
    ids : list of int
        The environments.
    obs : numpy.ndarray or list
        Observations: an array with one row per environment, which is the caller's, or a list of whatever the
        environments returned.
    rewards : numpy.ndarray or list
        Rewards: float64 (B,), or a list if an environment has returned something else than a number.
    terminated, truncated : numpy.ndarray
        bool (B,).
    infos : list of dict
        Infos, as the environments returned them.
    errors : dict of int to Exception
        Exceptions that environments raised instead, by id.
    """

    ids: list[int]
    obs: Any
    rewards: Any
    terminated: np.ndarray[Any, Any]
    truncated: np.ndarray[Any, Any]
    infos: list[dict[str, Any]]
    errors: dict[int, Exception]


class Maker:
    """Makes one environment of a fleet.

    Parameters
    ----------
    env_fn : callable
        Returns the environment.
    wire : Wire
        The spaces.
    is_remote : bool
        See `Carrier`.
    """

    def __init__(self, env_fn: Callable[[], Any], wire: Wire, is_remote: bool):
        self.env_fn, self.wire, self.is_remote = env_fn, wire, is_remote

    def __call__(self) -> Carrier:
        """Return a new environment."""
        return Carrier(self.env_fn, self.wire, self.is_remote)


class Fleet:
    """Environments of a pool that their user resets.

    Parameters
    ----------
    env_fns : sequence of callable
        One function per environment, which returns it.
    workers : {"inline", "process"}
        Where the environments run, see ``envpool.make_python``.
    is_async : bool
        If True, `receive` may be called for some of the environments in flight while others continue.
    **options
        Further options of ``envpool.make_python``.

    Raises
    ------
    EnvCreateError
        An environment could not be made; the exception that it raised is the cause.
    """

    pool: Any

    def __init__(
        self, env_fns: Sequence[Callable[[], Any]], workers: str = "inline", *, is_async: bool = False, **options: Any
    ):
        self.is_inline, self.is_async = workers == "inline", is_async
        self.wire = Wire()
        self._all = list(range(len(env_fns)))
        if not self.is_inline:
            options = {"num_threads": len(env_fns)} | canonical(options, POOL_OPTIONS)
            if is_async:  # the steps of a batch as large as the pool would be one unit
                options["batch_size"] = max(len(env_fns) - 1, 1)
        makers = [Maker(fn, self.wire, workers == "process") for fn in env_fns]
        self.pool = make_python(makers, workers=workers, autoreset_mode="disabled", **options)
        # The pool refuses steps before the first reset; an environment may allow them.
        self.pool.call("prepare_reset", None)
        self.pool.reset(np.arange(len(env_fns), dtype=np.int32))

    @property
    def envs(self) -> list[Any]:
        """The environments; available only if the fleet runs inline."""
        return [carrier.env for carrier in self.pool.envs.envs]

    def reset(self, ids: Sequence[int], kwargs: dict[str, Any] | Sequence[dict[str, Any]]) -> Rows:
        """Start episodes in some environments, which must not be in flight; others may be.

        Parameters
        ----------
        ids : sequence of int
            The environments.
        kwargs : dict, or sequence of dict
            Arguments for the ``reset`` of all these environments, or of each of them.
        """
        try:
            return self._reset(ids, kwargs)
        except EnvIdError:
            if self.is_async or not self.pool.num_outstanding:
                raise
        drop_in_flight(self.pool)  # left by an interrupted call
        return self._reset(ids, kwargs)

    def _reset(self, ids: Sequence[int], kwargs: dict[str, Any] | Sequence[dict[str, Any]]) -> Rows:
        for k, i in enumerate(ids):
            own = kwargs if isinstance(kwargs, dict) else kwargs[k]
            if own:
                self.pool.call("prepare_reset", own, env_id=[i])
        try:
            obs, info = self.pool.reset(np.asarray(ids, np.int32))
        except EnvStepError as error:
            explain(self.pool, error)
            raise
        return self._rows(obs, info)

    def step(self, ids: Sequence[int], actions: Any) -> Rows:
        """Step some environments and wait for them; `actions` has one entry for each of them."""
        try:
            obs, _, _, _, info = self.pool.step(self._wired(ids, actions), self._chosen(ids))
        except EXPLAINED as error:
            explain(self.pool, error)
            raise
        return self._rows(obs, info)

    def send(self, ids: Sequence[int], actions: Any) -> None:
        """Start a step of some environments; `actions` has one entry for each of them."""
        self.pool.send(self._wired(ids, actions), self._chosen(ids))

    def receive(self, *, ids: Any = None, min_ready: int | None = None, timeout: float | None = None) -> Rows:
        """Wait for these environments, or until `min_ready` are ready or the timeout has expired."""
        chosen = {"env_id": np.asarray(ids, np.int32)} if ids is not None else {"min_ready": min_ready}
        obs, _, _, _, info = self.pool.recv(timeout=timeout, **chosen)
        return self._rows(obs, info)

    def visit(self, function: Callable[..., Any], *args: Any, ids: Sequence[int]) -> list[Any]:
        """Return ``function(env, *args)`` of some environments, which must not be in flight."""
        return list(self.pool.call("visit", function, *args, env_id=list(ids)))

    def replace(self, index: int, env: Any) -> None:
        """Put another environment in the place of one that was closed, in a fleet that runs inline."""
        self.pool.call("replace", env, env_id=[index])

    def drop(self) -> None:
        """Wait for the environments in flight and drop their results."""
        drop_in_flight(self.pool)

    def close(self) -> None:
        """Close the environments; the method may be called again."""
        self.pool.close()

    def _chosen(self, ids: Sequence[int]) -> np.ndarray[Any, Any] | None:
        """Return ids for the pool; None stands for all environments in their order."""
        return None if ids == self._all else np.asarray(ids, np.int32)

    def _wired(self, ids: Sequence[int], actions: Any) -> np.ndarray[Any, Any]:
        """Return the actions for the pool; actions that are not arrays of its space go to the carriers."""
        space = self.wire.action_space
        array = as_actions(actions, space) if self.wire.carries_actions else None
        if array is not None:
            return array
        if len(actions) != len(ids):  # no action may be left for a later step
            raise ActionError(
                f"actions must have one entry for each of the {len(ids)} environments, got {len(actions)}"
            )
        for i, action in zip(ids, actions, strict=True):
            self.pool.call("prepare_action", action, env_id=[i])
        return np.stack([blank_action(space)] * len(ids))

    def _rows(self, obs: dict[str, Any], info: dict[str, Any]) -> Rows:
        ids = info["env_id"].tolist()
        terminated, truncated = (obs["ends"] & 1).astype(np.bool_), obs["ends"] > 1
        observations = obs.get("obs")
        if observations is not None and not isinstance(observations, np.ndarray):
            observations = unbatched(observations, len(ids))
        rows = Rows(ids, observations, obs["reward"], terminated, truncated, [{} for _ in ids], {})
        return unpacked(rows, info["parcel"].tolist()) if "parcel" in info else rows


def unpacked(rows: Rows, parcels: list[Parcel | None]) -> Rows:
    """Return rows with the contents of their parcels; None stands for no parcel."""
    found = [(k, parcel) for k, parcel in enumerate(parcels) if parcel is not None]
    for k, parcel in found:
        rows.infos[k] = parcel.info
        if parcel.error is not None:
            rows.errors[rows.ids[k]] = parcel.error
    odd_obs = [(k, parcel.obs[0]) for k, parcel in found if parcel.obs is not None]
    odd_rewards = [(k, parcel.reward[0]) for k, parcel in found if parcel.reward is not None]
    if odd_obs or rows.obs is None:
        rows = rows._replace(obs=[None] * len(rows.ids) if rows.obs is None else list(rows.obs))
    if odd_rewards:
        rows = rows._replace(rewards=rows.rewards.tolist())
    for k, obs in odd_obs:
        rows.obs[k] = obs
    for k, reward in odd_rewards:
        rows.rewards[k] = reward
    return rows


def raise_first(rows: Rows) -> None:
    """Raise the first exception that an environment raised, with a note that names the environment."""
    for i, error in rows.errors.items():
        error.add_note(f"raised by environment {i}")
        raise error


def as_actions(actions: Any, space: Any) -> np.ndarray[Any, Any] | None:
    """Return actions as an array (B, ...) of the space, or None if they are not arrays of its shape and kind."""
    try:
        array = np.asarray(actions)
    except ValueError:
        return None
    if array.shape[1:] != space.shape or array.dtype == object:
        return None
    same_kind = np.can_cast(array.dtype, space.dtype, "same_kind") or (
        array.dtype.kind in "iub" and space.dtype.kind in "iu"
    )
    return as_action("action", array, space.dtype) if same_kind else None


def blank_action(space: Any) -> np.ndarray[Any, Any]:
    """Return a valid action of a space of arrays."""
    if isinstance(space, spaces.Box):
        return np.asarray(space.low)
    start = getattr(space, "start", 0)
    return np.broadcast_to(np.asarray(start, space.dtype), space.shape)


def unbatched(nest: Any, count: int) -> list[Any]:
    """Return the rows of an array, or of nested dicts and tuples of arrays, as views; `count` is the number of rows."""
    if isinstance(nest, dict):
        columns = [unbatched(value, count) for value in nest.values()]
        return [dict(zip(nest, row, strict=True)) for row in zip(*columns, strict=True)]
    if isinstance(nest, tuple):
        return list(zip(*(unbatched(value, count) for value in nest), strict=True))
    return list(nest)


def ids_of(given: Any, count: int) -> list[int]:
    """Return ids that a user gave as an int, as a sequence, or as None for all, as a list."""
    if given is None:
        return list(range(count))
    if np.ndim(given) == 0:
        return [operator.index(given)]
    return [operator.index(i) for i in given]
