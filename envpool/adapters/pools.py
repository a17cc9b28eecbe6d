"""Functions that the adapters share: making the pool, and splitting its batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from envpool.api.gymnasium import GymnasiumEnvPool
from envpool.errors import ConfigError, EnvIdError, EnvStepError, EnvTimeoutError, PoolStateError, advise
from envpool.pool import EnvPool
from envpool.registration import make_gymnasium, pool_class
from envpool.registry import registry
from envpool.statistics import ENTRIES

#: Entries of info that are not about a single row: which environments the rows belong to, and which episodes ended.
ID_KEYS = ("env_id", "players", "finished")
#: Entries of info that are about the step even if the step was followed by a reset.
OF_STEPS = (*ENTRIES, "error")
#: Errors whose texts name methods of pools, see `explain`.
EXPLAINED = (EnvStepError, EnvTimeoutError, EnvIdError)


def pool_of(pool: Any, options: dict[str, Any], pool_type: type[EnvPool], make_pool: Callable[..., EnvPool]) -> Any:
    """Return the pool that the user of an adapter gave, or a pool of the task id that the user gave.

    Parameters
    ----------
    pool : str or EnvPool
        Task id, or a pool of type `pool_type`.
    options : dict
        Options of ``envpool.make``; they must be empty if `pool` is a pool.
    pool_type : type
        Type of pools that the adapter accepts.
    make_pool : callable
        The function of ``envpool`` that makes such pools.

    Raises
    ------
    TypeError
        `pool` is neither a str nor of the right type, or there are options besides a pool.
    """
    if isinstance(pool, str):
        return make_pool(pool, **options)
    maker = f"envpool.{make_pool.__name__}"
    if not isinstance(pool, pool_type):
        raise TypeError(f"expected a task id or a pool made by {maker}, got {type(pool).__name__}")
    if options:
        raise TypeError(f"{', '.join(options)}: a pool takes no options after it was made; pass them to {maker}")
    return pool


def open_pool(pool: Any, options: dict[str, Any], *, knows_same_step: bool = False) -> Any:
    """Return a pool for an adapter whose user resets the environments.

    Parameters
    ----------
    pool : str or GymnasiumEnvPool
        Task id, or a pool made by ``envpool.make_gymnasium`` whose ``batch_size`` is num_envs and whose
        ``autoreset_mode`` is not "same_step".
    options : dict
        Options of ``envpool.make``, allowed with a task id only. The default of ``autoreset_mode`` is "disabled", and
        "next_step" with ``on_error="restart"``.
    knows_same_step : bool
        If True, the adapter also works on pools that reset environments in the step that ends their episode, which is
        faster than a reset of some environments: then the default of ``autoreset_mode`` is "same_step", except with
        ``on_error="restart"``.

    Raises
    ------
    TypeError
        `pool` is neither a task id nor such a pool, or there are options besides a pool.
    ConfigError
        The pool has another ``batch_size`` or ``autoreset_mode``.
    """
    if isinstance(pool, str):
        # An env whose reset fails must not end the run: if the pool restarts it, each step tries again.
        is_restarting = options.get("on_error") == "restart"
        resets = "same_step" if knows_same_step and "autoreset_mode" not in options else None
        options = {"autoreset_mode": "next_step" if is_restarting else resets or "disabled"} | options
    else:
        resets = None
    pool = pool_of(pool, options, GymnasiumEnvPool, make_gymnasium)
    if pool.is_async:
        raise ConfigError(
            f"batch_size is {pool.config['batch_size']}, but an adapter steps all of its {pool.num_envs} envs: leave "
            "batch_size out"
        )
    if pool.config["autoreset_mode"] == "same_step" and resets is None:
        raise ConfigError(
            "autoreset_mode is 'same_step', but the user of this adapter resets environments whose episode has ended: "
            "use 'disabled' or 'next_step'"
        )
    return pool


def open_same_step_pool(
    task_id: str, num_envs: int, options: dict[str, Any], client: str, style: str = "gymnasium"
) -> Any:
    """Return a pool that resets an environment in the step that ends its episode.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``envpool.list_all_envs()``.
    num_envs : int
        Number of environments.
    options : dict
        Further options of ``envpool.make``.
    client : str
        Name of the library that expects this auto-reset mode, for the error text.
    style : str
        API style of the pool, the name of a module in ``envpool.api``.

    Raises
    ------
    ConfigError
        There is an option autoreset_mode.
    """
    if "autoreset_mode" in options:
        raise ConfigError(f"autoreset_mode is always 'same_step' for {client}: leave it out")
    options = options | {"num_envs": num_envs, "autoreset_mode": "same_step"}
    if style == "gymnasium":
        return make_gymnasium(task_id, **options)
    spec, render = registry.resolve(task_id, "gymnasium", options)
    return pool_class(type(spec), style)(spec, render)


def explain(pool: Any, error: Exception, way_out: str = "reset()") -> None:
    """Let an error of a sync pool name the methods of a class that has no ``recv``; call it before raising the error.

    A call that was interrupted, by Ctrl-C for instance, leaves environments in flight, and a failed step leaves its
    batch in the pool. The latter is dropped, so that the environments can be stepped again.

    Parameters
    ----------
    pool : EnvPool
        The pool, in which nothing is in flight between the calls of the class.
    error : EnvStepError, EnvTimeoutError or EnvIdError
        What a call of the pool has raised; see `EXPLAINED`.
    way_out : str
        The call of the class that resets all environments and drops what is in flight.

    Raises
    ------
    PoolStateError
        An earlier call was interrupted, and environments are still in flight.
    """
    if isinstance(error, EnvStepError):
        others = "The results of the other envs were dropped; " if pool.num_envs > 1 else ""
        advise(error, f"{others}{way_out} starts {'new episodes' if others else 'a new episode'}")
        drop_in_flight(pool)
    elif isinstance(error, EnvTimeoutError):
        advise(error, f"{way_out} waits for them again, and close() does not wait for them")
    elif pool.num_outstanding:
        raise PoolStateError(
            f"a call was interrupted, and {pool.num_outstanding} envs are still in flight: call {way_out}, which waits "
            "for them and drops their results"
        ) from None


def drop_in_flight(pool: Any) -> None:
    """Wait for the environments that are in flight, and drop their results."""
    while pool.num_outstanding:
        try:
            pool.recv(**{"min_ready": pool.num_outstanding} if pool.is_async else {})
        except EnvStepError:
            continue
        except EnvTimeoutError as error:
            advise(error, "The next reset waits for them again, and close() does not wait for them")
            raise


def start_over(pool: Any, way_out: str = "reset()", **kwargs: Any) -> Any:
    """Return ``pool.reset(**kwargs)`` of all environments, whatever an interrupted call has left in flight.

    `explain` describes `way_out`.
    """
    try:
        return pool.reset(**kwargs)
    except EXPLAINED as error:
        explain(pool, error, way_out)
        raise


def split(nest: Any, count: int) -> list[Any]:
    """Return the rows of an array, or of a nest of arrays, as views; `count` is the number of rows."""
    if isinstance(nest, tuple):
        return list(zip(*(split(v, count) for v in nest), strict=True))
    if not isinstance(nest, dict):
        return list(nest)
    if not nest:
        return [{} for _ in range(count)]
    return [dict(zip(nest, row, strict=True)) for row in zip(*(split(v, count) for v in nest.values()), strict=True)]


def joined_actions(actions: Any, space: Any) -> Any:
    """Return the actions of several environments in the structure of an action space, with their values in lists."""
    if isinstance(space, spaces.Dict):
        return {k: joined_actions([action[k] for action in actions], part) for k, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(joined_actions([action[k] for action in actions], part) for k, part in enumerate(space.spaces))
    return actions


def masked(info: dict[str, Any]) -> list[str]:
    """Return the keys of entries that only some rows have: those with a mask ``_key``.

    These are the statistics of what has ended, the texts of failures, and all entries of Python environments.
    """
    return [k for k in info if f"_{k}" in info]


def columns_of(info: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of an info that every row has."""
    some = masked(info)
    apart = {*ID_KEYS, *some, *(f"_{k}" for k in some)}
    return {k: v for k, v in info.items() if k not in apart}


def entry_of(values: Any, i: int) -> Any:
    """Return row i of an entry that only some rows have: a number, an array, an object, or a dict of such entries."""
    if isinstance(values, dict):
        some = masked(values)
        masks = {f"_{k}" for k in some}
        return {
            k: entry_of(v, i) for k, v in values.items() if k not in masks and (k not in some or values[f"_{k}"][i])
        }
    value = values[i]
    return value.item() if isinstance(value, np.generic) else value


def split_info(info: dict[str, Any], extra: dict[str, list[Any]] | None = None) -> list[dict[str, Any]]:
    """Return the info of each row, without the entries that say which environment the row belongs to.

    Entries that only some rows have, such as statistics of episodes, texts of failures (``error``) and the infos of
    Python environments, are in the infos of these rows only.

    Parameters
    ----------
    info : dict
        The info of a batch.
    extra : dict of list, optional
        Further entries, a value for each row.
    """
    rows = split(columns_of(info) | (extra or {}), len(info["env_id"]))
    for key in masked(info):
        for i in np.flatnonzero(info[f"_{key}"]).tolist():
            rows[i][key] = entry_of(info[key], i)
    return rows


def row_info(info: dict[str, Any], i: int) -> dict[str, Any]:
    """Return ``split_info(info)[i]`` without the other rows."""
    own = {key: entry_of(info[key], i) for key in masked(info) if info[f"_{key}"][i]}
    return take(columns_of(info), i) | own  # type: ignore[no-any-return]


def first_info(info: dict[str, Any], i: int) -> dict[str, Any]:
    """Return the info of the first observation of row i, which was reset in the step that ended its episode."""
    return {k: v for k, v in row_info(info, i).items() if k not in OF_STEPS}


def last_info(info: dict[str, Any], final_info: dict[str, Any], i: int) -> dict[str, Any]:
    """Return the info of the last step of row i, which was reset in that step; see `pop_final` for `final_info`."""
    of_step = {k: entry_of(info[k], i) for k in OF_STEPS if f"_{k}" in info and info[f"_{k}"][i]}
    return take(columns_of(info), i) | of_step | row_info(final_info, i)  # type: ignore[no-any-return]


def pop_final(info: dict[str, Any]) -> tuple[Any, dict[str, Any], Any]:
    """Remove the entries of ended episodes from the info of a pool with ``autoreset_mode="same_step"``.

    Returns
    -------
    final_obs, final_info : dict or numpy.ndarray, dict
        Last observations and infos; rows of other environments are zero.
    ended : numpy.ndarray
        bool: which rows ended an episode.
    """
    del info["_final_info"]
    return info.pop("final_obs"), info.pop("final_info"), info.pop("_final_obs")


def take(nest: Any, rows: Any) -> Any:
    """Return ``array[rows]`` of an array, or of each array of a nest."""
    if isinstance(nest, tuple):
        return tuple(take(v, rows) for v in nest)
    return {k: take(v, rows) for k, v in nest.items()} if isinstance(nest, dict) else nest[rows]
