"""How the values of a gymnasium space travel: as arrays of a field table, or as Python objects.

A space is a tree of Dict and Tuple spaces; its *leaves* are all other spaces. A leaf whose values are arrays of a fixed
shape and of a dtype of the ABI becomes a field. Every other leaf (Text, Sequence, Graph, float16 arrays) is carried as
a Python object per environment and is put into the result when a batch is handed out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from envpool._core.casts import as_action
from envpool._core.definition import DTYPES
from envpool.errors import ConfigError
from envpool.native import Field

MAX_FIELD_DIMS = 6

#: Field of a layout without any array, since every environment definition has at least one field.
PLACEHOLDER = "none"

#: Keys of an action dict that have env ids.
KEYS_OF_IDS = ("env_id", "players", "players.env_id")


class Leaf(NamedTuple):
    """One leaf of a space.

    Attributes
    ----------
    name : str
        Name of its field, for instance ``"obs:camera.left"``, also if it is carried as an object.
    path : tuple
        Keys and positions that lead to the leaf from the root.
    space : gymnasium.spaces.Space
        The space.
    is_field : bool
        True if the values are rows of a field; otherwise they are carried as objects.
    """

    name: str
    path: tuple[Any, ...]
    space: Any
    is_field: bool

    @property
    def is_array(self) -> bool:
        """Whether the values are arrays of a fixed shape, so that a batch of them is one array."""
        return self.space.shape is not None and self.space.dtype is not None and not is_textual(self.space)

    @property
    def misfit(self) -> str | None:
        """Why the values are carried as objects; None if they are rows of a field."""
        return misfit(self.space)

    def field(self) -> Field:
        """Return the entry of the field table."""
        low, high = bounds(self.space)
        return Field(self.name, self.space.dtype, self.space.shape, low, high)


def is_textual(space: Any) -> bool:
    """Return whether the values of a leaf are something else than numeric arrays of a fixed shape."""
    return isinstance(space, (spaces.Text, spaces.Sequence, spaces.Graph, spaces.OneOf))


def misfit(space: Any) -> str | None:
    """Return why the values of a leaf cannot be rows of a field, or None if they can."""
    if is_textual(space) or space.shape is None:
        return "its values are not arrays of a fixed shape"
    if space.dtype not in DTYPES:
        return f"its dtype is not one of {', '.join(str(d) for d in DTYPES)}"
    if len(space.shape) > MAX_FIELD_DIMS:
        return f"it has more than {MAX_FIELD_DIMS} dimensions"
    return "it has no elements" if 0 in space.shape else None


def bounds(space: Any) -> tuple[Any, Any]:
    """Return the bounds of a leaf as a field has them: numbers, arrays, or None; bounds of integers are exact."""
    if isinstance(space, spaces.Discrete):
        return int(space.start), int(space.start) + int(space.n) - 1
    if isinstance(space, spaces.MultiDiscrete):
        start, count = (np.ravel(array).tolist() for array in (space.start, space.nvec))
        last = [a + n - 1 for a, n in zip(start, count, strict=True)]
        return np.array(start, space.dtype), np.array(last, space.dtype)
    if isinstance(space, spaces.MultiBinary):
        return 0.0, 1.0
    if not isinstance(space, spaces.Box):
        return None, None
    found: list[Any] = []
    for bound in (space.low, space.high):
        values = np.ravel(bound) if space.dtype.kind in "iu" else np.asarray(bound, np.float64).ravel()
        is_open = space.dtype.kind == "f" and np.isinf(values).all()
        found.append(None if is_open else values[0].item() if (values == values[0]).all() else values)
    return found[0], found[1]


class Layout:
    """The leaves of a space, and conversions between its values and flat lists of leaves.

    Parameters
    ----------
    space : gymnasium.spaces.Space
        The space of one environment.
    root : {"obs", "action"}
        First part of the field names.
    separator : str
        Separator after the root in the names of several fields, ``":"`` or ``"."``.

    Attributes
    ----------
    leaves : list of Leaf
        All leaves, in the order of the space.
    arrays, objects : list of Leaf
        The leaves that are fields, and the others.
    """

    def __init__(self, space: Any, root: str, separator: str):
        self.space = space
        self.root = root
        self.leaves: list[Leaf] = []
        self._prefix = root + separator
        self._add(space, (), ())
        self.arrays = [leaf for leaf in self.leaves if leaf.is_field]
        self.objects = [leaf for leaf in self.leaves if not leaf.is_field]

    @property
    def is_single(self) -> bool:
        """Whether the space itself is a leaf."""
        return len(self.leaves) == 1 and not self.leaves[0].path

    def _add(self, space: Any, path: tuple[Any, ...], parts: tuple[str, ...]) -> None:
        if not isinstance(space, (spaces.Dict, spaces.Tuple)):
            name = self._prefix + ".".join(parts) if path else self.root
            self.leaves.append(Leaf(name, path, space, misfit(space) is None))
            return
        used: set[str] = set()
        for key, inner in children(space):
            part = base = re.sub(r"[.:\s]", "_", str(key)) or "_"
            number = len(used)
            while part in used:  # keys such as 1 and "1"
                part, number = f"{base}_{number}", number + 1
            used.add(part)
            self._add(inner, (*path, key), (*parts, part))

    def fields(self) -> list[Field]:
        """Return the field table; never empty."""
        return [leaf.field() for leaf in self.arrays] or [Field(self._prefix + PLACEHOLDER, np.uint8)]

    def row_bytes(self) -> list[int]:
        """Return the bytes of one environment's value, by field."""
        return [np.dtype(f.dtype).itemsize * int(np.prod(f.shape, dtype=np.int64)) for f in self.fields()]

    def packed(self, value: Any) -> Any:
        """Return a value of the space in the form in which it travels, which is its form in the space."""
        return value

    def nest(
        self,
        leaf_of: Callable[[Leaf], Any],
        dict_of: Callable[[list[tuple[Any, Any]]], Any] = dict,
        tuple_of: Callable[[list[Any]], Any] = tuple,
    ) -> Any:
        """Return a value of this structure whose leaves, dicts and tuples are what functions return for them."""
        rest = iter(self.leaves)

        def build(space: Any) -> Any:
            if isinstance(space, spaces.Dict):
                return dict_of([(key, build(inner)) for key, inner in space.spaces.items()])
            if isinstance(space, spaces.Tuple):
                return tuple_of([build(inner) for inner in space.spaces])
            return leaf_of(next(rest))

        return build(self.space)

    def space_with(self, changed: Mapping[str, Any]) -> Any:
        """Return the space with the spaces of some leaves replaced, by name."""
        if not any(leaf.name in changed for leaf in self.leaves):
            return self.space
        return self.nest(lambda leaf: changed.get(leaf.name, leaf.space), spaces.Dict, spaces.Tuple)

    def flatten(self, value: Any) -> list[Any]:
        """Return the leaves of a value of the space, or of a batch of such values."""
        return [at(value, leaf.path) for leaf in self.leaves]

    def check_actions(self) -> None:
        """Raise ConfigError if actions of this space cannot be given to a pool."""
        out = "wrap the environment, for example in gymnasium.wrappers.TransformAction"
        for leaf in self.objects:
            raise ConfigError(
                f"the action space must have numeric arrays that a batch can contain, got {leaf.space} "
                f"({misfit(leaf.space)}): {out}"
            )
        for key in self.space if isinstance(self.space, spaces.Dict) else ():
            if key in KEYS_OF_IDS:
                raise ConfigError(f"the action space must not have the key {key!r}, which stands for env ids: {out}")


def children(space: Any) -> list[tuple[Any, Any]]:
    """Return the keys or positions of a Dict or Tuple space with its inner spaces."""
    return list(space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the part of a nest to which keys and positions lead."""
    for key in path:
        value = value[key]
    return value


def batch_of_objects(leaf: Leaf, values: list[Any]) -> Any:
    """Return the batch of a leaf that is carried as objects; None stands for an environment without a value.

    Returns
    -------
    numpy.ndarray
        (B, *shape) in the dtype of the space if that has a fixed shape; otherwise an object array (B,).
    """
    if leaf.is_array:
        out = np.zeros((len(values), *leaf.space.shape), leaf.space.dtype)
    else:
        out = np.full(len(values), None, dtype=object)
    for row, value in enumerate(values):
        if value is not None:
            out[row] = value
    return out


def flat_action(layout: Layout, action: Any) -> dict[str, Any]:
    """Return a nested batch of actions as a dict of arrays by field name, in the dtypes of the fields."""
    extra = {k: v for k, v in action.items() if k in KEYS_OF_IDS} if isinstance(action, Mapping) else {}
    arrays = {leaf.name: as_action(leaf.name, at(action, leaf.path), leaf.space.dtype) for leaf in layout.leaves}
    return arrays | extra
