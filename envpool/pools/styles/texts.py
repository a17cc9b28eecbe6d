"""Texts of environments: arrays of ASCII that are decoded when they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from envpool.errors import ConfigError


def decode(row: npt.NDArray[np.uint8]) -> str:
    """Return a row of ASCII that is padded with zeros as str."""
    return row.tobytes().partition(b"\0")[0].decode("ascii")


class Texts(Sequence[str]):
    """A sequence of str that decodes an element when it is read.

    Parameters
    ----------
    rows : numpy.ndarray
        uint8 (n, length): ASCII, padded with zeros. The sequence shows this array and does not copy it.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: npt.NDArray[np.uint8]):
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice | Any) -> Texts: ...

    def __getitem__(self, index: Any) -> str | Texts:
        """Return one text, or those that a slice, a mask or an array of indices selects."""
        rows = self.rows[index]
        return decode(rows) if rows.ndim == 1 else Texts(rows)

    def __iter__(self) -> Iterator[str]:
        return map(decode, self.rows)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return the texts as an object array of str (n,), or as an array of `dtype`."""
        if copy is False:
            raise ConfigError("copy must be None or True, got False: texts are decoded into a new array")
        return np.array(list(self), object if dtype is None else dtype)

    def __repr__(self) -> str:
        return f"Texts({list(self)!r})"
