"""Transforms of the arrays of observations, whose fields the environment declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from envpool._core.definition import DTYPES, RAW_PREFIX, Field
from envpool.config.spaces import ArraySpec
from envpool.errors import ConfigError
from envpool.native import PlayerGroup

MAX_DIMS = 6  # ENVPOOL_MAX_DIMS


class FieldChange(NamedTuple):
    """The transforms of one field of an environment before a batch is complete.

    Attributes
    ----------
    target : int
        Number of the field to which its rows are written.
    passes : bool
        If True, rows are written as they are, and the attributes below do not matter.
    has_time : bool
        If True, elapsed steps are appended.
    time_scale : float
        Divisor of the elapsed steps.
    depth : int
        Number of rows in a stack.
    casts : bool
        True if the target is float32 and the source is not.
    items : int
        Elements of one row, before any change.
    has_players : bool
        True if there is a row for each place of a player.
    rows : int
        Rows of one environment: 1, or the places for players.
    time_places : tuple of int
        By player, the element of a row before which the elapsed steps are inserted; empty: they are appended.
    """

    target: int
    passes: bool
    has_time: bool = False
    time_scale: float = 1.0
    depth: int = 1
    casts: bool = False
    items: int = 1
    has_players: bool = False
    rows: int = 1
    time_places: tuple[int, ...] = ()


class BatchArray(NamedTuple):
    """One array of an observation that is normalised or clipped; see `BatchTransforms`."""

    name: str
    source: int
    target: int
    dtype: int
    items: int
    has_players: bool


class Observations(NamedTuple):
    """The fields of the transformed environment, what becomes of its own, and the arrays that batches transform."""

    fields: list[Field]
    changes: list[FieldChange]
    arrays: list[BatchArray]


def transform_fields(
    fields: tuple[Field, ...],
    options: Mapping[str, Any],
    limit: int,
    num_players: int = 0,
    groups: Sequence[PlayerGroup] = (),
) -> Observations:
    """Return the fields of an environment after the transforms that the options ask for.

    Parameters
    ----------
    fields : tuple of Field
        All fields.
    options : mapping
        The options of transforms, in their normal forms.
    limit : int
        ``max_episode_steps``.
    num_players : int
        Places for players in an environment; 0 if it has none.
    groups : sequence of PlayerGroup
        The groups of the players, before any change.

    Raises
    ------
    ConfigError
        The observation of the task does not allow a transform.
    """
    made: list[Field] = []
    raw: list[Field] = []
    changes: list[FieldChange] = []
    arrays: list[BatchArray] = []
    for number, field in enumerate(fields):
        if not field.name.startswith("obs"):
            made.append(field)
            changes.append(FieldChange(number, True))
            continue
        has_players = num_players > 0 and -1 in field.shape
        check_field(field, fields, options, limit, groups if has_players else ())
        time_places = places_of_time(field, groups) if has_players and options["time_aware"] else ()
        rows = stacked(timed(field, options, limit, time_places), options, has_players)
        out = bounded(rows, options)
        items = int(np.prod(row_shape(rows), dtype=np.int64))
        is_separate = bool(options["normalize_obs"]) and rows.dtype != np.float32
        target = len(fields) + len(raw) if is_separate else number
        if is_separate:
            raw.append(rows._replace(name=RAW_PREFIX + field.name))
        casts = not is_separate and out.dtype != rows.dtype
        has_time = bool(options["time_aware"])
        scale = float(limit) if options["time_aware"] == "normalized" else 1.0
        depth = options["frame_stack"]
        passes = not (casts or has_time or depth > 1)
        own_items = int(np.prod(row_shape(field), dtype=np.int64))
        own_rows = num_players if has_players else 1
        changes.append(
            FieldChange(target, passes, has_time, scale, depth, casts, own_items, has_players, own_rows, time_places)
        )
        if options["normalize_obs"] or options["clip_obs"]:
            source_dtype = rows.dtype if is_separate else out.dtype
            arrays.append(BatchArray(field.name, target, number, DTYPES.index(source_dtype), items, has_players))
        made.append(out)
    return Observations(made + raw, changes, arrays)


def row_shape(field: Field) -> tuple[int, ...]:
    """Return the shape of a row without the player dimension."""
    return tuple(size for size in field.shape if size != -1)


def places_of_time(field: Field, groups: Sequence[PlayerGroup]) -> tuple[int, ...]:
    """Return by player the element of a row before which the elapsed steps stand: behind the player's own elements."""
    places = {
        p: int(np.prod(group.shapes.get(field.name, row_shape(field)))) for group in groups for p in group.players
    }
    return tuple(places[p] for p in sorted(places))


def transform_groups(
    groups: Sequence[PlayerGroup], fields: Sequence[Field], options: Mapping[str, Any]
) -> tuple[PlayerGroup, ...]:
    """Return groups of players whose smaller observations are those after time and stacks.

    Parameters
    ----------
    groups : sequence of PlayerGroup
        The groups that the environment declares.
    fields : sequence of Field
        The fields of the environment.
    options : mapping
        The options of transforms, in their normal forms.
    """
    names = {f.name for f in fields if f.name.startswith("obs")}
    depth = options["frame_stack"]

    def changed(shape: tuple[int, ...]) -> tuple[int, ...]:
        row = (int(np.prod(shape)) + 1,) if options["time_aware"] else shape
        return (depth, *row) if depth > 1 else row

    return tuple(
        group._replace(shapes={k: changed(shape) if k in names else shape for k, shape in group.shapes.items()})
        for group in groups
    )


def check_field(
    field: Field,
    fields: tuple[Field, ...],
    options: Mapping[str, Any],
    limit: int,
    groups: Sequence[PlayerGroup] = (),
) -> None:
    """Raise ConfigError if a transform is not defined for an array of the observation.

    `groups` are the groups of the players, empty if the array has no rows of players.
    """
    low, high = (None if bound is None else end(bound) for bound, end in ((field.low, np.min), (field.high, np.max)))
    spec = ArraySpec(field.dtype, field.shape, low, high)
    is_box = not spec.is_discrete and (field.dtype.kind != "b" or len(spec.row_shape) > 1)
    what = f"array {field.name!r} of the observation has dtype {field.dtype} and shape {spec.row_shape}"
    if options["normalize_obs"] and not is_box:
        raise ConfigError(f"normalize_obs needs observations whose space is a Box, but {what}: leave it out")
    is_float = field.dtype.kind == "f" or options["float32_obs"] or options["normalize_obs"]
    if options["clip_obs"] and not is_float:
        raise ConfigError(f"clip_obs needs floats, but {what}: set float32_obs=True or normalize_obs, or leave it out")
    if options["time_aware"]:
        num_arrays = sum(f.name.startswith("obs") for f in fields)
        if num_arrays > 1 or field.dtype.kind != "f":
            raise ConfigError(
                f"time_aware needs an observation that is one array of floats, but {what}"
                f"{f' and is one of {num_arrays}' if num_arrays > 1 else ''}: read the elapsed steps in "
                "info['elapsed_step'] instead"
            )
        smaller = [g.name for g in groups if g.shapes.get(field.name, row_shape(field)) != row_shape(field)]
        if smaller and len(spec.row_shape) > 1:
            raise ConfigError(
                f"time_aware needs rows of one dimension if players such as {smaller[0]!r} have smaller ones, but "
                f"{what}: read the elapsed steps in info['elapsed_step'] instead"
            )
    if options["time_aware"] == "normalized" and limit == np.iinfo(np.int32).max:
        raise ConfigError(
            "time_aware='normalized' needs a time limit, which the task does not have: set max_episode_steps, or use "
            "time_aware=True"
        )
    if options["frame_stack"] > 1 and len(spec.row_shape) + bool(groups) == MAX_DIMS:
        raise ConfigError(f"frame_stack={options['frame_stack']} adds a dimension to {MAX_DIMS} others: leave it out")


def full_bounds(field: Field, ends: tuple[float, float]) -> tuple[Any, Any]:
    """Return the bounds of every element, float64 arrays of the row shape; `ends` for an array without bounds.

    If the players have bounds of their own, the result has the bounds of all rows, one player after the other.
    """
    shape = row_shape(field)
    low, high = (end if value is None else value for value, end in zip((field.low, field.high), ends, strict=True))
    if max(np.size(low), np.size(high)) > np.prod(shape, dtype=np.int64):
        shape = (max(np.size(low), np.size(high)),)
        low, high = np.resize(low, shape), np.resize(high, shape)
    return tuple(  # type: ignore[return-value]
        np.broadcast_to(np.asarray(v, np.float64).reshape(shape if np.ndim(v) else ()), shape) for v in (low, high)
    )


def timed(field: Field, options: Mapping[str, Any], limit: int, places: tuple[int, ...] = ()) -> Field:
    """Return the field of rows that are flattened and have the elapsed steps at their ends.

    With players, `places` is a result of `places_of_time`.
    """
    if not options["time_aware"]:
        return field
    bounds = full_bounds(field, (-np.inf, np.inf))
    last = 1.0 if options["time_aware"] == "normalized" else float(limit)
    size = int(np.prod(row_shape(field), dtype=np.int64))
    if not places:
        low, high = (np.append(bound.ravel(), end) for bound, end in zip(bounds, (0.0, last), strict=True))
        return field._replace(shape=(size + 1,), low=low, high=high)
    low, high = (
        np.concatenate(
            [
                np.insert(row, place, end)
                for row, place in zip(
                    np.broadcast_to(bound.reshape(-1, size), (len(places), size)), places, strict=True
                )
            ]
        )
        for bound, end in zip(bounds, (0.0, last), strict=True)
    )
    return field._replace(shape=(-1, size + 1), low=low, high=high)


def stacked(field: Field, options: Mapping[str, Any], has_players: bool = False) -> Field:
    """Return the field of stacks of rows, the oldest first."""
    depth = options["frame_stack"]
    if depth == 1:
        return field
    shape = row_shape(field)
    low, high = (  # a row of bounds, or one for each player
        value
        if value is None or np.ndim(value) == 0
        else np.tile(np.reshape(value, (-1, int(np.prod(shape, dtype=np.int64)))), depth).ravel()
        for value in (field.low, field.high)
    )
    return field._replace(shape=(*([-1] if has_players else []), depth, *shape), low=low, high=high)


def bounded(field: Field, options: Mapping[str, Any]) -> Field:
    """Return the field that is handed out: dtype and bounds after normalisation, cast and clipping."""
    if options["normalize_obs"]:
        field = field._replace(dtype=np.dtype(np.float32), low=None, high=None)
    elif options["float32_obs"] and field.dtype != np.float32:
        ends = (-np.inf, np.inf) if field.dtype.kind == "f" else integer_range(field.dtype)
        low, high = full_bounds(field, ends)
        field = field._replace(dtype=np.dtype(np.float32), low=low.ravel(), high=high.ravel())
    if options["clip_obs"]:
        low, high = (np.clip(bound, *options["clip_obs"]) for bound in full_bounds(field, (-np.inf, np.inf)))
        field = field._replace(low=low.ravel(), high=high.ravel())
    return field


def integer_range(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the smallest and the largest value of a dtype of integers or bools."""
    if dtype.kind == "b":
        return 0.0, 1.0
    return float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
