"""Functions that the adapters share: making the pool, and splitting its batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from envpool.api.gymnasium import GymnasiumEnvPool
from envpool.errors import ConfigError
from envpool.pool import EnvPool
from envpool.registration import make_gymnasium, pool_class
from envpool.registry import registry
from envpool.statistics import ENTRIES

#: Entries of info that are not about a single row: which environments the rows belong to, and which episodes ended.
ID_KEYS = ("env_id", "players", "finished")


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


def split(nest: Any, count: int) -> list[Any]:
    """Return the rows of an array, or of a nest of arrays, as views; `count` is the number of rows."""
    if not isinstance(nest, dict):
        return list(nest)
    if not nest:
        return [{} for _ in range(count)]
    return [dict(zip(nest, row, strict=True)) for row in zip(*(split(v, count) for v in nest.values()), strict=True)]


def columns_of(info: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of an info that every row has."""
    some = [entry for entry in ENTRIES if f"_{entry}" in info]
    apart = {*ID_KEYS, "error", "_error", *some, *(f"_{entry}" for entry in some)}
    return {k: v for k, v in info.items() if k not in apart}


def split_info(info: dict[str, Any], extra: dict[str, list[Any]] | None = None) -> list[dict[str, Any]]:
    """Return the info of each row, without the entries that say which environment the row belongs to.

    Entries of statistics are numbers, and only in the infos of rows that have ended an episode or a game. Rows of
    environments that have failed have an entry ``error``, the text; other rows do not.

    Parameters
    ----------
    info : dict
        The info of a batch.
    extra : dict of list, optional
        Further entries, a value for each row.
    """
    statistics = [(entry, info[f"_{entry}"]) for entry in ENTRIES if f"_{entry}" in info]
    rows = split(columns_of(info) | (extra or {}), len(info["env_id"]))
    for entry, ended in statistics:
        for i in np.flatnonzero(ended).tolist():
            rows[i][entry] = {part: values[i].item() for part, values in info[entry].items()}
    for i in np.flatnonzero(info.get("_error", ())).tolist():
        rows[i]["error"] = info["error"][i]
    return rows


def row_info(info: dict[str, Any], i: int) -> dict[str, Any]:
    """Return ``split_info(info)[i]`` without the other rows."""
    row: dict[str, Any] = take(columns_of(info), i)
    for entry in ENTRIES:
        if f"_{entry}" in info and info[f"_{entry}"][i]:
            row[entry] = {part: values[i].item() for part, values in info[entry].items()}
    if "_error" in info and info["_error"][i]:
        row["error"] = info["error"][i]
    return row


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
    return {k: take(v, rows) for k, v in nest.items()} if isinstance(nest, dict) else nest[rows]
