"""Maps of FrozenLake: those that have names, and the check of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._support.text import shown
from envpool.errors import ConfigError

MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": ("SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"),
}
LETTERS = "SFHG"
MAX_CELLS = 2**20  # so that the observation space stays Discrete


def named_map(map_name: Any, size: int) -> tuple[str, ...]:
    """Return the map called map_name, or the square map of this size if map_name is None."""
    if map_name is not None:
        if not isinstance(map_name, str) or map_name not in MAPS:
            raise ConfigError(
                f"map_name must be {' or '.join(map(repr, MAPS))}, got {shown(map_name)}: pass any other map as desc"
            )
        return MAPS[map_name]
    if size not in (4, 8):
        raise ConfigError(f"size must be 4 or 8, got {shown(size)}: pass a map of any other size as desc")
    return MAPS[f"{size}x{size}"]


def check_map(desc: Any) -> tuple[str, ...]:
    """Return a map as a tuple of strings, or raise ConfigError."""
    try:
        rows = tuple("".join(row) for row in desc) if isinstance(desc, (list, tuple)) else ()
    except TypeError:
        rows = ()
    if not rows or not rows[0]:
        raise ConfigError(
            f"desc must be a list of strings, one for each row of the map, such as ['SFH', 'FFG'], got {shown(desc)}"
        )
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ConfigError(
                f"all rows of desc must be equally long: desc[{i}] is {shown(row)} with {len(row)} cells, but desc[0] "
                f"has {len(rows[0])}"
            )
        unknown = sorted(set(row) - set(LETTERS))
        if unknown:
            raise ConfigError(
                f"desc[{i}] must consist of 'S' (start), 'F' (frozen), 'H' (hole) and 'G' (goal), got {unknown[0]!r} "
                f"in {shown(row)}"
            )
    if not any("S" in row for row in rows):
        raise ConfigError(f"desc must contain 'S' (start) at least once, got {shown(desc)}")
    if len(rows) * len(rows[0]) > MAX_CELLS:
        raise ConfigError(
            f"desc must have at most {MAX_CELLS} cells, got {len(rows)} x {len(rows[0])} cells: use a smaller map"
        )
    return rows


def letters_of(desc: Any) -> npt.NDArray[np.uint8]:
    """Return a map, or a list of maps of one shape, as ASCII codes; or raise ConfigError.

    Parameters
    ----------
    desc : array_like
        Strings, letters, or ASCII codes.

    Returns
    -------
    numpy.ndarray
        uint8 (rows, columns) or (maps, rows, columns).
    """
    if isinstance(desc, np.ndarray) and desc.dtype.kind in "US":
        desc = np.char.decode(desc).tolist() if desc.dtype.kind == "S" else desc.tolist()
    given = as_codes(desc)
    if given is not None:
        desc = np.vectorize(chr, otypes=[str])(given.clip(0, 0x10FFFF)).tolist()
    if given.ndim == 3 if given is not None else is_list_of_maps(desc):
        maps = [check_map(rows) for rows in desc]
        shapes = sorted({(len(rows), len(rows[0])) for rows in maps})
        if len(shapes) > 1:
            raise ConfigError(
                f"all maps of desc must have the same shape, got maps of {shapes[0][0]} x {shapes[0][1]} and of "
                f"{shapes[1][0]} x {shapes[1][1]} cells"
            )
        return np.array([codes_of(rows) for rows in maps])
    return codes_of(check_map(desc))


def as_codes(desc: Any) -> npt.NDArray[np.integer[Any]] | None:
    """Return numbers (rows, columns) or (maps, rows, columns) as an array, and None for anything else."""
    try:
        array = np.asarray(desc)
    except ValueError:
        return None
    return array if array.dtype.kind in "iu" and array.ndim in (2, 3) and array.size else None


def is_list_of_maps(desc: Any) -> bool:
    """Return whether letters are nested more deeply than those of one map."""
    first = desc[0] if isinstance(desc, (list, tuple)) and desc else None
    inner = first[0] if isinstance(first, (list, tuple)) and first else None
    return isinstance(inner, (list, tuple)) or (isinstance(inner, str) and len(inner) > 1)


def codes_of(rows: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    """Return the ASCII codes of a map, uint8 (rows, columns)."""
    return np.array([list(row.encode()) for row in rows], np.uint8)
