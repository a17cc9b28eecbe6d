"""Rows of nested results: taking some, joining the rows of several actors, and blank rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from envpool.pools.styles.style import error_info
from envpool.pools.styles.texts import Texts


def take(nest: Any, rows: Any) -> Any:
    """Return rows of an array, or of nested dicts and tuples of arrays."""
    if isinstance(nest, dict):
        return {k: take(v, rows) for k, v in nest.items()}
    if isinstance(nest, tuple):
        return tuple(take(v, rows) for v in nest)
    return nest[rows]


def counts_of(nest: Any) -> set[int]:
    """Return the numbers of rows that the arrays of a nest have."""
    if isinstance(nest, (dict, tuple)):
        leaves = nest.values() if isinstance(nest, dict) else nest
        return set().union(*map(counts_of, leaves))
    return {len(nest) if np.ndim(nest) else -1}


def join(nests: Sequence[Any], counts: Sequence[int]) -> Any:
    """Return the rows of several nests in one.

    Parameters
    ----------
    nests : sequence of nest
        Nests of one structure, except that dicts may lack entries: the rows of a nest without an entry become zero, or
        None if the entry has objects.
    counts : sequence of int
        Number of rows of each nest.
    """
    present = [nest for nest in nests if nest is not None]
    first = present[0]
    if isinstance(first, dict):
        keys = dict.fromkeys(key for nest in present for key in nest)
        return {k: join([None if nest is None else nest.get(k) for nest in nests], counts) for k in keys}
    if isinstance(first, tuple):
        columns = zip(*(nest if nest is not None else (None,) * len(first) for nest in nests), strict=True)
        return tuple(join(column, counts) for column in columns)
    parts = [
        np.full((count, *first.shape[1:]), None if first.dtype == object else 0, first.dtype) if nest is None else nest
        for nest, count in zip(nests, counts, strict=True)
    ]
    return np.concatenate(parts)


def blank(nest: Any) -> Any:
    """Return a nest of the same structure and types whose values are zero, or None where they are objects."""
    if isinstance(nest, dict):
        return {k: blank(v) for k, v in nest.items()}
    if isinstance(nest, tuple):
        return tuple(map(blank, nest))
    return np.full(nest.shape, None if nest.dtype == object else 0, nest.dtype)


def acting_players(result: Any, is_same_step: bool) -> Any:
    """Return the players that act next, bool in the form of ``info["player_mask"]``; None without players.

    With "same_step", an environment whose episode has ended has begun the next one: these are all that have a row.
    """
    info = result[-1]
    if "player_mask" not in info:
        return None
    if len(result) == 2:
        return info["player_mask"]
    begins = (result[2] | result[3]) & is_same_step

    def acts(mask: Any, terminated: Any, truncated: Any) -> Any:
        return mask & (begins[:, None] | ~(terminated | truncated))

    columns = info["player_mask"], info["player_terminated"], info["player_truncated"]
    if isinstance(columns[0], dict):
        return {group: acts(*(column[group] for column in columns)) for group in columns[0]}
    return acts(*columns)


def without_texts(nest: Any) -> Any:
    """Return a nest whose texts are object arrays of str."""
    if isinstance(nest, dict):
        return {k: without_texts(v) for k, v in nest.items()}
    if isinstance(nest, tuple):
        return tuple(map(without_texts, nest))
    return np.array(list(nest), dtype=object) if isinstance(nest, Texts) else nest


def error_entries(text: str, count: int) -> dict[str, Any]:
    """Return the entries of info for rows that have all failed for one reason."""
    return error_info(dict.fromkeys(range(count), text), count)
