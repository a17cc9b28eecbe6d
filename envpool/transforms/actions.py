"""Transforms of the arrays of actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from envpool._core.definition import Field
from envpool.errors import ConfigError
from envpool.transforms.observations import row_shape


class ActionChange(NamedTuple):
    """The transforms of one array of an action.

    Attributes
    ----------
    clips, rescales : bool
        If True, the array is clipped; if True, it is then rescaled.
    numbers : tuple of numpy.ndarray
        The bounds to clip to, then intercept and gradient: an action x becomes (x - intercept) / gradient. Each is
        float64 and flat, with values of the dtype of the action.
    """

    clips: bool
    rescales: bool
    numbers: tuple[npt.NDArray[np.float64], ...]


def transform_actions(
    actions: tuple[Field, ...], options: Mapping[str, Any], num_players: int = 0
) -> tuple[list[Field], list[ActionChange | None]]:
    """Return the table of actions that the user sees, and what becomes of them.

    Raises
    ------
    ConfigError
        The task has actions that are discrete or unbounded, or the bounds do not fit their shape.
    """
    clips, rescaling = options["clip_action"], options["rescale_action"]
    if not clips and rescaling is None:
        return list(actions), [None] * len(actions)
    fields, changes = [], []
    for field in actions:
        name = "clip_action" if clips else "rescale_action"
        if field.dtype.kind != "f":
            raise ConfigError(
                f"{name} needs actions that are floats, but array {field.name!r} has dtype {field.dtype}: leave it out"
            )
        shape = (num_players, *row_shape(field)) if num_players and -1 in field.shape else row_shape(field)
        low, high = full(field.low, -np.inf, field.dtype, shape), full(field.high, np.inf, field.dtype, shape)
        if rescaling is not None and not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ConfigError(f"rescale_action needs finite bounds, which {field.name!r} does not have: leave it out")
        new_low, new_high, intercept, gradient = rescale(field, low, high, rescaling)
        numbers = (new_low, new_high, intercept, gradient)
        changes.append(ActionChange(clips, rescaling is not None, numbers))
        seen = {"low": None, "high": None} if clips else {"low": new_low, "high": new_high}
        fields.append(field._replace(**seen))
    return fields, changes  # type: ignore[return-value]


def full(bound: Any, end: float, dtype: np.dtype[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return one bound per element, in the dtype of the action; `end` if there is none."""
    values = np.asarray(end if bound is None else bound, dtype)
    return np.resize(values, int(np.prod(shape, dtype=np.int64))).reshape(shape)


def rescale(field: Field, low: Any, high: Any, rescaling: Any) -> tuple[npt.NDArray[np.float64], ...]:
    """Return new bounds, intercept and gradient, computed as gymnasium's RescaleAction does in the action's dtype."""
    if rescaling is None:
        return tuple(flat(values) for values in (low, high, np.zeros(low.shape), np.ones(low.shape)))
    try:
        new_low, new_high = (np.broadcast_to(np.asarray(b, np.float64), low.shape) for b in rescaling)
    except ValueError:
        raise ConfigError(
            f"rescale_action must be numbers, or arrays of the shape {low.shape} of the actions, got {rescaling}"
        ) from None
    width = np.array(high, np.longdouble) - np.array(low, np.longdouble)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        gradient = ((new_high - new_low) / width).astype(field.dtype)
        intercept = (gradient * -low + new_low).astype(field.dtype)
        ends = new_low.astype(field.dtype), new_high.astype(field.dtype)
        is_fine = np.isfinite([*ends, intercept]).all() and (ends[0] < ends[1]).all() and (gradient > 0).all()
        is_fine = is_fine and np.isfinite([(end - intercept) / gradient for end in ends]).all()
    if not is_fine:
        raise ConfigError(
            f"rescale_action={rescaling} cannot be computed in {field.dtype}, the dtype of the actions: use bounds of "
            "moderate size and distance, such as (-1, 1)"
        )
    return tuple(flat(values) for values in (*ends, intercept, gradient))


def flat(values: Any) -> npt.NDArray[np.float64]:
    """Return the values as a flat float64 array."""
    return np.ravel(np.asarray(values, np.float64))
