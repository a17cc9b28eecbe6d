"""Statistics of episodes and pools: the arrays of the option `episode_statistics`, and what `EnvPool.stats` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from envpool.errors import ConfigError
from envpool.spaces import ArraySpec

if TYPE_CHECKING:
    from envpool.spec import EnvSpec

#: The entries with statistics of what has ended in a step.
ENTRIES = ("episode", "game")
#: The arrays of an entry: return, length in steps, time in seconds, and whether a row has values in the others.
PARTS: dict[str, ArraySpec] = {
    "r": ArraySpec(np.float64, []),
    "l": ArraySpec(np.int64, []),
    "t": ArraySpec(np.float64, []),
    "mask": ArraySpec(np.bool_, []),
}


@dataclass(frozen=True)
class PoolStats:
    """What a pool has counted since it was made.

    Attributes
    ----------
    steps : int
        Actions that were sent. With ``autoreset_mode="next_step"``, an action that an environment ignores because it
        starts an episode counts as well.
    resets : int
        Environments that ``reset`` and ``async_reset`` have reset.
    recv_wait : float
        Time for which calls have waited for batches without working on them, in seconds.
    wakes : int
        How often a thread of the pool was woken.
    blocks_allocated, blocks_reused : int
        Batches whose memory was allocated, and batches whose memory was reused.
    episodes : int or None
        Episodes that have ended in rows that were handed out. This and the following are None without
        ``episode_statistics=True``.
    mean_return, mean_length : float or None
        Means over the last 100 of these episodes; None if there are none.
    games : int or None
        Whole games that have ended; None if every episode of the task is a whole game.
    mean_game_return, mean_game_length : float or None
        Means over the last 100 of these games; None if there are none.
    queue_wait : float or None
        Mean time from sending an action to the moment at which a thread takes it, in seconds, over a sample: one action
        of one in 32 calls; None until there is one.
    step_times : tuple of int, or None
        Entry k is the number of steps that took between ``2**k`` and ``2**(k + 1)`` ns, for all environments together.
        Environments that a thread steps in one call share the time of the call equally. If such calls take less than a
        microsecond, only some of them are measured.
    """

    steps: int
    resets: int
    recv_wait: float
    wakes: int
    blocks_allocated: int
    blocks_reused: int
    episodes: int | None = None
    mean_return: float | None = None
    mean_length: float | None = None
    games: int | None = None
    mean_game_return: float | None = None
    mean_game_length: float | None = None
    queue_wait: float | None = None
    step_times: tuple[int, ...] | None = None


def check_statistics(episode_statistics: bool, finished_episodes: bool) -> None:
    """Raise ConfigError if the options of statistics do not fit together."""
    if finished_episodes and not episode_statistics:
        raise ConfigError(
            "finished_episodes=True needs the returns and lengths of episodes: set episode_statistics=True"
        )


def entries_of(spec: EnvSpec) -> tuple[str, ...]:
    """Return the names of the entries that the batches of a task have: "episode", and "game" if episodes are parts."""
    if not spec.config.episode_statistics:
        return ()
    return ENTRIES[:1] if spec.definition.game_fields(spec.common_config) is None else ENTRIES


def entry_arrays(spec: EnvSpec) -> dict[str, ArraySpec]:
    """Return the arrays of these entries, by the names that they have in an array spec."""
    return {f"info:{entry}.{part}": array for entry in entries_of(spec) for part, array in PARTS.items()}


def game_numbers(spec: EnvSpec, fields: Any) -> tuple[int, int, int, bool] | None:
    """Return the numbers of the fields that the statistics of games read, and whether resets continue games.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration.
    fields : sequence of envpool.native.Field
        All fields of the environment.

    Raises
    ------
    ConfigError
        ``game_fields`` of the environment definition names a field that does not exist or has another dtype or shape.
    """
    games = spec.definition.game_fields(spec.common_config)
    if games is None:
        return None
    numbers = []
    for name, dtype in ((games.reward, np.float32), (games.over, np.int32), (games.lives, np.int32)):
        found = [k for k, f in enumerate(fields) if f.name == name and f.dtype == dtype and set(f.shape) <= {-1, 1}]
        if not found:
            raise ConfigError(
                f"game_fields() of {spec.env.__name__} names {name!r}, but the environment has no field of this name "
                f"with dtype {np.dtype(dtype)} and one element"
            )
        numbers.append(found[0])
    return (*numbers, games.resets_continue)  # type: ignore[return-value]
