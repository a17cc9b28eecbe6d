"""Spaces (gymnasium, old gym) and specs (dm_env) of the arrays that a field table declares."""

from __future__ import annotations

import keyword
import re
import sys
from collections import namedtuple
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

#: Integers whose largest value is at least this become Box spaces rather than Discrete.
LARGEST_DISCRETE = 2**20


class ArraySpec:
    """Type, shape and bounds of one array.

    Attributes
    ----------
    dtype : numpy.dtype
        Type of the elements.
    shape : list of int
        Shape of one environment's row; a leading -1 is the player dimension.
    minimum, maximum : bool, int, float or numpy.ndarray
        Bounds, either one for all elements or one for each. An unbounded array has infinite bounds, or those of the
        dtype if it holds integers.
    is_discrete : bool
        True if the array is one integer from a small range.
    """

    def __init__(self, dtype: Any, shape: Any, low: Any = None, high: Any = None):
        self.dtype = np.dtype(dtype)
        self.shape = list(shape)
        self.minimum = self._bound(low, lowest=True)
        self.maximum = self._bound(high, lowest=False)
        self.is_discrete = self.discrete_range() is not None

    def _bound(self, value: Any, lowest: bool) -> Any:
        kind = self.dtype.kind
        if value is None:
            if kind == "b":
                return not lowest
            if kind == "f":
                return -np.inf if lowest else np.inf
            return self._limits[0 if lowest else 1]
        if np.ndim(value):
            values = value if kind in "fb" else [self._integer(v) for v in np.ravel(value)]
            return np.asarray(values, self.dtype).reshape(self.row_shape)
        return value if kind == "f" else bool(value) if kind == "b" else self._integer(value)

    @property
    def _limits(self) -> tuple[int, int]:
        return int(np.iinfo(self.dtype).min), int(np.iinfo(self.dtype).max)

    def _integer(self, bound: Any) -> int:
        """Return a bound, which may be a float that was rounded away from the range of the dtype."""
        low, high = self._limits
        exact = np.asarray(bound).item()  # a number of Python: NumPy's compare as float64
        return int(min(max(exact, low), high))

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape without the player dimension."""
        return tuple(s for s in self.shape if s != -1)

    def discrete_range(self) -> tuple[int, int] | None:
        """Return (start, number of values) if the array is one integer from a small range, else None."""
        if self.dtype.kind not in "iu" or self.row_shape not in ((), (1,)):
            return None
        low, high = int(np.min(self.minimum)), int(np.max(self.maximum))
        return None if max(high, high - low) >= LARGEST_DISCRETE else (low, high - low + 1)

    def __repr__(self) -> str:
        return f"ArraySpec(shape={self.shape}, dtype={self.dtype}, minimum={self.minimum}, maximum={self.maximum})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArraySpec):
            return NotImplemented
        return (
            (self.dtype, self.shape) == (other.dtype, other.shape)
            and np.array_equal(self.minimum, other.minimum)
            and np.array_equal(self.maximum, other.maximum)
        )

    __hash__ = None  # type: ignore[assignment]


def to_space(spec: ArraySpec, spaces: Any, letters: str | None = None) -> Any:
    """Return the space of one array.

    Parameters
    ----------
    spec : ArraySpec
        The array.
    spaces : module
        ``gymnasium.spaces`` or ``gym.spaces``.
    letters : str, optional
        The characters of an array that users see as text. Old versions of gym have no Text space and ignore them.

    Returns
    -------
    Space
        Text for an array with letters, Discrete for one integer from a small range, MultiBinary for bool of at most one
        dimension, Box otherwise.
    """
    if letters is not None and hasattr(spaces, "Text"):
        return spaces.Text(spec.shape[-1], charset=frozenset(letters))
    discrete = spec.discrete_range()
    if discrete is not None:
        start, n = discrete
        return spaces.Discrete(n, start=start) if start else spaces.Discrete(n)
    if spec.dtype.kind == "b" and len(spec.row_shape) <= 1:
        return spaces.MultiBinary(list(spec.row_shape))
    low, high = (np.broadcast_to(np.asarray(b, spec.dtype), spec.row_shape) for b in (spec.minimum, spec.maximum))
    return spaces.Box(low.copy(), high.copy(), spec.row_shape, spec.dtype.type)


def to_dm_spec(name: str, spec: ArraySpec) -> Any:
    """Return the dm_env spec of one array: DiscreteArray for one integer from 0 to n - 1, else BoundedArray."""
    from dm_env import specs

    discrete = spec.discrete_range()
    if discrete is not None and discrete[0] == 0:
        return specs.DiscreteArray(discrete[1], dtype=spec.dtype, name=name)
    return specs.BoundedArray(spec.row_shape, spec.dtype, spec.minimum, spec.maximum, name=name)


def to_players_space(spec: ArraySpec, spaces: Any) -> Any:
    """Return the space of an array whose first dimension is players.

    Parameters
    ----------
    spec : ArraySpec
        The array; its shape is (players, ...).
    spaces : module
        ``gymnasium.spaces`` or ``gym.spaces``.

    Returns
    -------
    Space
        MultiDiscrete for one integer of each player that starts at 0, MultiBinary for bool of at most two dimensions,
        Box otherwise.
    """
    low, high = (np.broadcast_to(np.asarray(b, spec.dtype), spec.row_shape) for b in (spec.minimum, spec.maximum))
    if spec.dtype.kind in "iu" and len(spec.shape) == 1 and not low.any() and int(high.max()) < LARGEST_DISCRETE:
        return spaces.MultiDiscrete(high.astype(np.int64) + 1)
    if spec.dtype.kind == "b" and len(spec.shape) <= 2:
        return spaces.MultiBinary(list(spec.shape))
    return spaces.Box(low.copy(), high.copy(), spec.row_shape, spec.dtype.type)


def to_players_dm_spec(name: str, spec: ArraySpec) -> Any:
    """Return the dm_env spec of an array whose first dimension is players."""
    from dm_env import specs

    return specs.BoundedArray(spec.row_shape, spec.dtype, spec.minimum, spec.maximum, name=name)


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``{"a.b": 1, "c": 2}`` as ``{"a": {"b": 1}, "c": 2}``."""
    out: dict[str, Any] = {}
    for key, value in flat.items():
        *parents, last = key.split(".")
        inner = out
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return out


def single(nest: Any) -> Any:
    """Return the leaf of a nest that has only one, else the nest."""
    inner = nest
    while isinstance(inner, dict) and len(inner) == 1:
        inner = next(iter(inner.values()))
    return nest if isinstance(inner, dict) else inner


def dict_space(nest: Mapping[str, Any], spaces: Any) -> Any:
    """Return nested Dict spaces for a nested dict of spaces."""
    return spaces.Dict({k: dict_space(v, spaces) if isinstance(v, dict) else v for k, v in nest.items()})


def space_of_nest(nest: Any, spaces: Any) -> Any:
    """Return the Dict space of a nested dict of spaces; a space itself is returned unchanged."""
    return dict_space(nest, spaces) if isinstance(nest, dict) else nest


def named_or_leaf(name: str, nest: Any) -> Any:
    """Return `named` of a nested dict; everything else is returned unchanged."""
    return named(name, nest) if isinstance(nest, dict) else nest


def named(name: str, nest: Mapping[str, Any]) -> Any:
    """Return a nested dict as nested named tuples; keys that are not valid identifiers are replaced."""
    values = [named(k, v) if isinstance(v, dict) else v for k, v in nest.items()]
    fields: list[str] = []
    for key in nest:
        field = identifier(key)
        repeats = sum(f == field or f.startswith(f"{field}_") for f in fields)
        fields.append(f"{field}_{repeats}" if field in fields else field)
    return named_tuple(identifier(name), fields)(*values)


def named_tuple(name: str, fields: Iterable[str], defaults: Iterable[Any] | None = None) -> Any:
    """Return a class of named tuples that can be pickled although it is not an attribute of a module."""
    made: Any = namedtuple(name, list(fields), defaults=defaults)  # type: ignore[misc]
    made.__reduce__ = reduced  # type: ignore[method-assign, assignment]
    return made


def reduced(values: Any) -> tuple[Any, ...]:
    """Return what pickling a tuple of a class of `named_tuple` needs."""
    defaults = tuple(values._field_defaults.values())
    return restored, (type(values).__name__, values._fields, defaults, tuple(values))


def restored(name: str, fields: Iterable[str], defaults: Iterable[Any], values: Iterable[Any]) -> Any:
    """Return the tuple that `reduced` has pickled."""
    return named_tuple(name, fields, defaults)(*values)


def identifier(name: str) -> str:
    """Return a name in which everything that a named tuple does not allow is replaced."""
    name = re.sub(r"\W", "_", name)
    return f"field_{name}" if not name or name[0] in "_0123456789" or keyword.iskeyword(name) else name


def loaded_spaces() -> Any:
    """Return ``gym.spaces`` if the ``gym`` package is loaded, else ``gymnasium.spaces``."""
    gym = sys.modules.get("gym")
    return gymnasium_spaces() if gym is None else gym.spaces


def gymnasium_spaces() -> Any:
    """Return ``gymnasium.spaces``; gymnasium is imported on the first call."""
    import gymnasium.spaces

    return gymnasium.spaces
