"""Infos of single environments as entries of a batch, in the form that gymnasium's vector environments have."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from envpool._support.text import shown

NUMBERS = (bool, int, float, np.number, np.bool_)


def check_info(info: Any) -> None:
    """Raise TypeError if the info that an environment returned is not a mapping."""
    if not isinstance(info, (dict, Mapping)):
        raise TypeError(
            f"info must be a dict, got a {type(info).__name__}: reset() must return (obs, info), and step() must "
            "return (obs, reward, terminated, truncated, info)"
        )


def kept_copy(value: Any) -> Any:
    """Return a copy of an info, or of objects, that their environment cannot change; what has no copy is shared."""
    if value is None:
        return None
    try:
        return copy.deepcopy(value)
    except Exception:  # one entry cannot be copied, for example a lock
        if isinstance(value, Mapping):
            return {k: _copy_or_itself(v) for k, v in value.items()}
        return [_copy_or_itself(v) for v in value]


def _copy_or_itself(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def snapshot(info: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an info with copies of its dicts and arrays, since a step of another environment may change them.

    All other values are shared. An info that cannot be copied, for instance since it contains itself, is returned.
    """
    try:
        return _snapshot(info)
    except Exception:
        return info


def _snapshot(info: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value.copy() if isinstance(value, np.ndarray) else _snapshot(value) if isinstance(value, dict) else value
        for key, value in info.items()
    }


def batch_infos(count: int, rows: Sequence[int], infos: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the infos of some rows as arrays with one entry per row of the batch.

    Parameters
    ----------
    count : int
        Number of rows of the batch.
    rows : sequence of int
        The rows that have an info.
    infos : sequence of dict
        Their infos.

    Returns
    -------
    dict
        For every key an array ``key`` (count, ...) and a mask ``_key``, bool (count,). Numbers and numeric arrays of
        one shape become an array of their dtype, zero where the mask is False, unless that would round integers; a dict
        becomes a nested dict; all else becomes an object array, None where the mask is False, in which arrays are
        copies. A mask takes precedence over an entry of its name.
    """
    columns: dict[str, tuple[list[int], list[Any]]] = {}
    for row, info in zip(rows, infos, strict=True):
        for key, value in info.items():
            found = columns.setdefault(key, ([], []))
            found[0].append(row)
            found[1].append(value)
    out: dict[str, Any] = {}
    masks = {f"_{key}" for key in columns}
    for key, (where, values) in columns.items():
        if key in masks:
            pass  # it stays the mask of another entry
        elif all(isinstance(v, Mapping) for v in values):
            out[key] = batch_infos(count, where, values)
        else:
            out[key] = column(count, where, values)
        mask = np.zeros(count, np.bool_)
        mask[where] = True
        out[f"_{key}"] = mask
    return out


def add_infos(
    info: dict[str, Any],
    infos: Sequence[Mapping[str, Any] | None],
    rows: Sequence[int],
    ids: Sequence[int],
    drop: Callable[[int], None],
    batched: Callable[[Sequence[int]], dict[str, Any]] | None,
    reserved: Iterable[str],
) -> None:
    """Add the infos of some rows to the info of a batch, whose own keys stay.

    An info that has no place in a batch, for instance since it contains itself, is dropped with a RuntimeWarning.

    Parameters
    ----------
    info : dict
        The info of the batch, which is changed.
    infos : sequence of dict
        (B,) infos of the rows, None for no info.
    rows : sequence of int
        The rows that are added.
    ids : sequence of int
        (B,) env ids of the rows.
    drop : callable
        ``drop(env_id)`` forgets an info for good. It is called before the warning, which a filter may turn into an
        exception.
    batched : callable or None
        ``batched(rows)`` returns the entries for the infos of some rows; by default `batch_infos`.
    reserved : iterable of str
        Keys of entries that the pool has in other batches. Like those of `info`, they are left out, with their masks.
    """

    def together(rows: Sequence[int]) -> dict[str, Any]:
        return batch_infos(len(infos), rows, [infos[row] or {} for row in rows])

    make = batched or together
    # Entries of these names, their masks, entries that have the names of these masks, and the masks of those.
    left_out = {prefix + key for key in (*info, *reserved) for prefix in ("", "_", "__")}
    chosen = [row for row in rows if infos[row] is not None]
    if not chosen or add_together(info, make, chosen, left_out) is None:
        return
    kept = []
    for row in chosen:
        problem = add_together({}, make, [row], left_out)
        if problem is None:
            kept.append(row)
        else:
            drop_with_warning([int(ids[row])], drop, problem)
    problem = add_together(info, make, kept, left_out)
    if problem is not None:  # each is possible, but not all of them together
        drop_with_warning([int(ids[row]) for row in kept], drop, problem)


def add_together(
    info: dict[str, Any],
    batched: Callable[[Sequence[int]], dict[str, Any]],
    rows: Sequence[int],
    left_out: Container[str],
) -> str | None:
    """Add the infos of rows to the info of a batch, or return why that is impossible; see `add_infos`."""
    try:
        info |= {key: value for key, value in batched(rows).items() if key not in left_out}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of a method of a key or a value
        return shown(error)
    return None


def drop_with_warning(ids: list[int], drop: Callable[[int], None], problem: str) -> None:
    """Forget the infos of environments."""
    for env_id in ids:
        drop(env_id)
    text = f"the info of environment {', '.join(map(str, ids))} was dropped, since a batch cannot contain it: {problem}"
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def column(count: int, rows: list[int], values: list[Any]) -> np.ndarray[Any, Any]:
    """Return one array for the values of some rows."""
    if all(isinstance(v, NUMBERS) for v in values) or is_stackable(values):
        array = np.asarray(values)
        if array.dtype != object and not is_rounded(values, array):  # integers may be too large for int64
            out = np.zeros((count, *array.shape[1:]), array.dtype)
            out[rows] = array
            return out
    out = np.full(count, None, dtype=object)
    for row, value in zip(rows, values, strict=True):
        out[row] = value.copy() if isinstance(value, np.ndarray) else value  # the environment may reuse it
    return out


def is_rounded(values: list[Any], array: np.ndarray[Any, Any]) -> bool:
    """Return whether integers have other values in an array, since it also holds floats or integers of other dtypes."""
    if array.dtype.kind not in "fc" or all(isinstance(value, (float, np.floating)) for value in values):
        return False
    for value, row in zip(values, array, strict=True):
        own = np.asarray(value)
        if own.dtype.kind in "iu" and [int(v) for v in own.flat] != [int(v.real) for v in row.flat]:
            return True
    return False


def is_stackable(values: list[Any]) -> bool:
    """Return whether values are numeric arrays of one shape."""
    first = values[0]
    return isinstance(first, np.ndarray) and all(
        isinstance(v, np.ndarray) and v.shape == first.shape and v.dtype.kind in "biufc" for v in values
    )
