"""How users see the arrays of a batch of environments with players: as rows, as a grid, or by group.

A batch has a place for each player of each environment, present or not: its arrays of players have the shape
(B, P, ...). That is the grid. If all players are present, rows are the same memory with another shape; otherwise the
rows of those that are present are copied, once. Groups are slices of the grid.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from envpool._core.definition import RAW_PREFIX
from envpool.native import PlayerGroup

MASK = "player:mask"
#: The numbers of the environments and of the players to which rows belong.
ROW_IDS = ("row:env_id", "row:id")
#: Begins the names of the arrays that `Rows` and `Groups` also have as a grid.
GRID = "grid:"


class Grid:
    """Arrays (B, P, ...): the memory of the batch. Places of players that are not present are zero.

    Parameters
    ----------
    names : sequence of str
        Names of the arrays of a batch.
    of_players : collection of str
        Names of those that have a place for each player.

    Attributes
    ----------
    names : tuple of str
        Names of the arrays that `arrays` returns.
    whole : tuple of str
        Those of the arrays of the batch as they are, in its order.
    """

    def __init__(self, names: Sequence[str], of_players: Collection[str]):
        self.names = self.whole = tuple(names)

    def arrays(self, arrays: list[Any]) -> list[Any]:
        """Return the arrays that users see of those of a batch."""
        return arrays


class Rows:
    """Arrays (R, ...): a row for each player that is present, sorted by environment and player; see `Grid`.

    Observations and arrays of players are also there as a grid, under their names after `GRID`, for the entry of
    episodes that have ended and for rollouts.
    """

    def __init__(self, names: Sequence[str], of_players: Collection[str]):
        self._mask, self._env_id = names.index(MASK), names.index("env_id")
        self._of_players = [k for k, name in enumerate(names) if is_viewed(name, of_players) and name != MASK]
        obs = [k for k, name in enumerate(names) if name.removeprefix("final:").startswith("obs")]
        self._grids = sorted({*obs, *self._of_players})
        self.names = (*names, *ROW_IDS, *(GRID + names[k] for k in self._grids))
        self.whole = tuple(GRID + name if k in self._of_players else name for k, name in enumerate(names))
        # For batches of one number of environments: the places of all players, and the ids of their rows.
        self._places: Any = np.zeros(0, np.intp)
        self._ids: Any = np.zeros(0, np.int32)

    def arrays(self, arrays: list[Any]) -> list[Any]:
        """Return the arrays that users see of those of a batch."""
        grids = [arrays[k] for k in self._grids]
        mask = arrays[self._mask]
        envs, players = mask.shape
        rows = envs * players
        seen = arrays.copy()
        if np.count_nonzero(mask) == rows:
            for k in self._of_players:
                array = arrays[k]
                seen[k] = array.reshape(rows, *array.shape[2:])
            if len(self._ids) != rows:
                self._places = np.repeat(np.arange(envs), players)
                self._ids = np.tile(np.arange(players, dtype=np.int32), envs)
            return [*seen, arrays[self._env_id].take(self._places), self._ids.copy(), *grids]
        places = np.flatnonzero(mask)
        for k in self._of_players:
            array = arrays[k]
            seen[k] = array.reshape(rows, *array.shape[2:]).take(places, 0)
        return [*seen, arrays[self._env_id].take(places // players), (places % players).astype(np.int32), *grids]


class Groups:
    """Arrays (B, players of a group, ...) by group; see `Grid`.

    Parameters
    ----------
    names, of_players
        See `Grid`.
    groups : sequence of PlayerGroup
        The groups.
    """

    def __init__(self, names: Sequence[str], of_players: Collection[str], groups: Sequence[PlayerGroup]):
        split = [k for k, name in enumerate(names) if is_viewed(name, of_players)]
        self._shared = [k for k in range(len(names)) if k not in split]
        self._split = split
        self._parts = [(k, part_of(names[k].removeprefix("final:"), group)) for group in groups for k in split]
        self.names = (
            *(names[k] for k in self._shared),
            *(f"{names[k]}@{group.name}" for group in groups for k in split),
            *(GRID + names[k] for k in split),
        )
        self.whole = tuple(GRID + name if k in split else name for k, name in enumerate(names))

    def arrays(self, arrays: list[Any]) -> list[Any]:
        """Return the arrays that users see of those of a batch."""
        parts = (arrays[k][part] for k, part in self._parts)
        return [*(arrays[k] for k in self._shared), *parts, *(arrays[k] for k in self._split)]


def is_viewed(name: str, of_players: Collection[str]) -> bool:
    """Return whether users see the rows of players of an array.

    The returns of an episode are those of all its players, also of those that are not present any more, and arrays of
    the transforms are not handed out.
    """
    return name in of_players and not name.startswith("episode:") and RAW_PREFIX not in name


def part_of(name: str, group: PlayerGroup) -> tuple[Any, ...]:
    """Return the index of the part of an array (B, P, ...) that belongs to a group: slices, if its players adjoin."""
    first, last = group.players[0], group.players[-1]
    adjoin = last - first + 1 == len(group.players)
    players = slice(first, last + 1) if adjoin else list(group.players)
    return (slice(None), players, *map(slice, group.shapes.get(name, ())))


def view_of(kind: str, names: Sequence[str], of_players: Collection[str], groups: Sequence[PlayerGroup]) -> Any:
    """Return the view of a value of the option `players`."""
    if kind == "dict":
        return Groups(names, of_players, groups)
    return (Rows if kind == "rows" else Grid)(names, of_players)


def names_of_group(names: Sequence[str], group: PlayerGroup) -> list[str]:
    """Return the names of the arrays of a group, among those of `Groups`."""
    return [name for name in names if name.endswith(f"@{group.name}")]
