"""The arrays that the game fills, in the order of its struct."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from envpool.native import Field

MAP = (21, 79)
TERMINAL = (24, 80)
INVENTORY = (55,)
INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class Array:
    """One array of the game.

    Attributes
    ----------
    dtype : numpy.dtype
        Its dtype in the game.
    shape : tuple of int
        Its shape.
    low, high : int
        Upstream's bounds.
    is_needed : bool
        If True, steps and rewards read the array, so that the game fills it even if it is not observed.
    """

    dtype: Any
    shape: tuple[int, ...]
    low: int
    high: int
    is_needed: bool = False

    @property
    def num_bytes(self) -> int:
        """Bytes in the game."""
        return prod(self.shape) * int(np.dtype(self.dtype).itemsize)

    def field(self, name: str) -> Field:
        """Return the entry of the field table."""
        return Field(f"obs:{name}", self.dtype, self.shape, self.low, self.high)


ARRAYS = {
    "glyphs": Array(np.int16, MAP, 0, 5976, True),
    "chars": Array(np.uint8, MAP, 0, 255),
    "colors": Array(np.uint8, MAP, 0, 15),
    "specials": Array(np.uint8, MAP, 0, 255),
    "blstats": Array(np.int64, (27,), INT32.min, INT32.max, True),
    "message": Array(np.uint8, (256,), 0, 255, True),
    "program_state": Array(np.int32, (6,), INT32.min, INT32.max, True),
    "internal": Array(np.int32, (9,), INT32.min, INT32.max, True),
    "inv_glyphs": Array(np.int16, INVENTORY, 0, 5976),
    "inv_strs": Array(np.uint8, (*INVENTORY, 80), 0, 255),
    "inv_letters": Array(np.uint8, INVENTORY, 0, 127),
    "inv_oclasses": Array(np.uint8, INVENTORY, 0, 18),
    "screen_descriptions": Array(np.uint8, (*MAP, 80), 0, 127),
    "tty_chars": Array(np.uint8, TERMINAL, 0, 255),
    "tty_colors": Array(np.int8, TERMINAL, 0, 31),
    "tty_cursor": Array(np.uint8, (2,), 0, 255),
    "misc": Array(np.int32, (3,), INT32.min, INT32.max),
}

#: Upstream's default of observation_keys, except in the challenge.
DEFAULT_KEYS = tuple(name for name in ARRAYS if name not in ("program_state", "internal", "misc"))
