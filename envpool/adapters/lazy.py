"""`LazyRows`: a list of dicts that are created when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, SupportsIndex


def on_all_rows(name: str) -> Any:
    """Return the method of list with this name, preceded by making all rows."""
    method = getattr(list, name)

    def call(self: LazyRows, *args: Any, **kwargs: Any) -> Any:
        self.make_all()
        for other in args:
            if isinstance(other, LazyRows):  # list would look into it without asking
                other.make_all()
        return method(self, *args, **kwargs)

    call.__name__, call.__doc__ = name, method.__doc__
    return call


class RowMaker(Protocol):
    """Makes the items of a `LazyRows`."""

    def row(self, i: int) -> Any:
        """Return a new item i."""

    def rows(self) -> list[Any]:
        """Return a new list of all items, in less time."""


class LazyRows(list[Any]):
    """A list whose items are made on first access; a reader cannot tell it from a list of these items.

    Looking at single items makes these items; everything else makes all of them. An item that was made stays in the
    list, so that it can be changed. A copy or pickle is a plain list.

    Parameters
    ----------
    count : int
        Number of items.
    maker : RowMaker
        Makes the items.
    """

    # Until all items are made, `_maker` is not None, the list itself is empty, and `_made` has those that are.
    __slots__ = ("_count", "_made", "_maker")

    def __init__(self, count: int, maker: RowMaker):
        self._count = count
        self._maker: RowMaker | None = maker
        self._made: dict[int, Any] | None = None

    def make_all(self) -> None:
        """Make the items that are not made yet."""
        if self._maker is None:
            return
        rows = self._maker.rows()
        for i, row in (self._made or {}).items():
            rows[i] = row
        self._maker = self._made = None
        list.extend(self, rows)

    def __len__(self) -> int:
        return self._count if self._maker is not None else list.__len__(self)

    def __getitem__(self, index: Any) -> Any:
        if self._maker is None or isinstance(index, slice):
            self.make_all()
            return list.__getitem__(self, index)
        i = index.__index__()
        i += self._count if i < 0 else 0
        if not 0 <= i < self._count:
            raise IndexError("list index out of range")
        if self._made is None:
            self._made = {}
        if i not in self._made:
            self._made[i] = self._maker.row(i)
        return self._made[i]

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._maker is None or isinstance(index, slice):
            self.make_all()
            list.__setitem__(self, index, value)
            return
        i = index.__index__()
        i += self._count if i < 0 else 0
        if not 0 <= i < self._count:
            raise IndexError("list assignment index out of range")
        if self._made is None:
            self._made = {}
        self._made[i] = value

    def __iter__(self) -> Iterator[Any]:
        self.make_all()
        return list.__iter__(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return list, (list(self),)

    def __copy__(self) -> list[Any]:
        return list(self)

    def __radd__(self, other: list[Any]) -> list[Any]:
        """Return ``other + self``, which list would compute without asking for the items."""
        return other + list(self) if isinstance(other, list) else NotImplemented

    __add__ = on_all_rows("__add__")
    __contains__ = on_all_rows("__contains__")
    __delitem__ = on_all_rows("__delitem__")
    __eq__ = on_all_rows("__eq__")
    __ge__ = on_all_rows("__ge__")
    __gt__ = on_all_rows("__gt__")
    __hash__ = None
    __iadd__ = on_all_rows("__iadd__")
    __imul__ = on_all_rows("__imul__")
    __le__ = on_all_rows("__le__")
    __lt__ = on_all_rows("__lt__")
    __mul__ = on_all_rows("__mul__")
    __ne__ = on_all_rows("__ne__")
    __repr__ = on_all_rows("__repr__")
    __reversed__ = on_all_rows("__reversed__")
    __rmul__ = on_all_rows("__rmul__")
    __sizeof__ = on_all_rows("__sizeof__")
    append = on_all_rows("append")
    clear = on_all_rows("clear")
    copy = on_all_rows("copy")
    count = on_all_rows("count")
    extend = on_all_rows("extend")
    index = on_all_rows("index")
    insert = on_all_rows("insert")
    pop = on_all_rows("pop")
    remove = on_all_rows("remove")
    reverse = on_all_rows("reverse")
    sort = on_all_rows("sort")
