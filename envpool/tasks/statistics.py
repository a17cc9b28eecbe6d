"""The arrays of the option `episode_statistics`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from envpool.config.spaces import ArraySpec
from envpool.errors import ConfigError
from envpool.native import Field, GameFields

#: The entries with statistics of what has ended in a step.
ENTRIES = ("episode", "game")
#: The arrays of an entry: return, length in steps, time in seconds, and whether a row has values in the others.
PARTS: dict[str, ArraySpec] = {
    "r": ArraySpec(np.float64, []),
    "l": ArraySpec(np.int64, []),
    "t": ArraySpec(np.float64, []),
    "mask": ArraySpec(np.bool_, []),
}


#: The part of the entry "episode" that tasks with players have in addition: the return of each player.
PLAYER_PART = "player_r"


def entry_arrays(entries: Sequence[str], num_players: int = 0) -> dict[str, ArraySpec]:
    """Return the arrays of entries, by the names that they have in an array spec."""
    arrays = {f"info:{entry}.{part}": array for entry in entries for part, array in PARTS.items()}
    if entries and num_players:
        arrays[f"info:episode.{PLAYER_PART}"] = ArraySpec(np.float64, [num_players])
    return arrays


def game_numbers(games: GameFields | None, fields: Sequence[Field], env: str) -> tuple[int, int, int, bool] | None:
    """Return the numbers of the fields that the statistics of games read, and whether resets continue games.

    Parameters
    ----------
    games : GameFields or None
        Result of ``game_fields`` of the environment definition.
    fields : sequence of envpool.native.Field
        All fields of the environment.
    env : str
        Name of the environment's class.

    Raises
    ------
    ConfigError
        ``game_fields`` of the environment definition names a field that does not exist or has another dtype or shape.
    """
    if games is None:
        return None
    numbers = []
    for name, dtype in ((games.reward, np.float32), (games.over, np.int32), (games.lives, np.int32)):
        found = [k for k, f in enumerate(fields) if f.name == name and f.dtype == dtype and set(f.shape) <= {-1, 1}]
        if not found:
            raise ConfigError(
                f"game_fields() of {env} names {name!r}, but the environment has no field of this name "
                f"with dtype {np.dtype(dtype)} and one element"
            )
        numbers.append(found[0])
    return (*numbers, games.resets_continue)  # type: ignore[return-value]
