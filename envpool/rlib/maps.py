"""Maps of ApplePicker: the orchard, which is the default, and the check of others."""

from __future__ import annotations

from typing import Any

from envpool._support.text import shown
from envpool.errors import ConfigError

SIDE = 84  # tiles on each side of the orchard
FREE, BLOCKED = ".#"
MAX_TILES = 2**20  # one observation then has 3 MiB


def orchard() -> tuple[str, ...]:
    """Return the map of 84 x 84 tiles: seven hedges of two rows each, with four gaps in each hedge."""

    def is_hedge(row: int, column: int) -> bool:
        place = column + 10 * (row // 12 % 2)  # the gaps of neighbouring hedges do not face each other
        return row % 12 in (5, 6) and place % 21 >= 3

    return tuple("".join(BLOCKED if is_hedge(row, column) else FREE for column in range(SIDE)) for row in range(SIDE))


ORCHARD = orchard()


def check_grid(grid: Any) -> tuple[str, ...]:
    """Return a map as a tuple of strings, or raise ConfigError; None stands for the orchard."""
    if grid is None:
        return ORCHARD
    rows = tuple(grid) if isinstance(grid, (list, tuple)) else ()
    if not rows or not all(isinstance(row, str) and row for row in rows):
        raise ConfigError(
            f"grid must be a list of strings, one for each row of the map, such as ['..#', '...'], got {shown(grid)}"
        )
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ConfigError(
                f"all rows of grid must be equally long: grid[{i}] has {len(row)} tiles, but grid[0] has {len(rows[0])}"
            )
        unknown = sorted(set(row) - {FREE, BLOCKED})
        if unknown:
            raise ConfigError(
                f"grid[{i}] must consist of '.' (a free tile) and '#' (a blocked tile), got {unknown[0]!r}"
            )
    if len(rows) * len(rows[0]) > MAX_TILES:
        raise ConfigError(
            f"grid must have at most {MAX_TILES} tiles, got {len(rows)} x {len(rows[0])} tiles: use a smaller map"
        )
    num_free = sum(row.count(FREE) for row in rows)
    if num_free < 2:
        raise ConfigError(
            f"grid must have at least 2 free tiles ('.'), one for the agent and one for an apple, got {num_free}"
        )
    return rows
