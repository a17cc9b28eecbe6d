"""Splitting the results of a batch, above all its info, into those of single environments."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.tasks.statistics import ENTRIES

#: Entries of info that are not about a single row: which environments the rows belong to, and which episodes ended.
ID_KEYS = ("env_id", "players", "finished")
#: Entries of info that are about the step even if the step was followed by a reset.
OF_STEPS = (*ENTRIES, "error")


def split(nest: Any, count: int) -> list[Any]:
    """Return the rows of an array, or of a nest of arrays, as views; `count` is the number of rows."""
    if isinstance(nest, tuple):
        return list(zip(*(split(v, count) for v in nest), strict=True))
    if not isinstance(nest, dict):
        return list(nest)
    if not nest:
        return [{} for _ in range(count)]
    return [dict(zip(nest, row, strict=True)) for row in zip(*(split(v, count) for v in nest.values()), strict=True)]


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


def put(nest: Any, rows: Any, values: Any) -> None:
    """Assign ``array[rows] = values`` for an array, or for each array of a nest; all values may be one number."""
    if isinstance(nest, dict):
        for k, v in nest.items():
            put(v, rows, values[k] if isinstance(values, dict) else values)
    elif isinstance(nest, tuple):
        for k, part in enumerate(nest):
            put(part, rows, values[k] if isinstance(values, tuple) else values)
    else:
        nest[rows] = values
