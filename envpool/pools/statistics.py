"""The counters of a pool, which `EnvPool.stats` returns."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PoolStats:
    """Counters of a pool since it was made.

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
    num_threads : int
        Threads of the pool.
    episodes : int or None
        Episodes that have ended in rows that were handed out. This and the following are None without
        ``episode_statistics=True``.
    mean_return, mean_length : float or None
        Means over the last 100 of these episodes; None if there are none.
    mean_player_returns : tuple of (float or None), or None
        Tasks with players: the mean return of each player over these episodes, in the order of the numbers, also of
        players that `opponents` play; None if there are none. In a game with the rewards 1, 0 and -1, this is the share
        of games that were won, less that of games that were lost.
    mean_group_returns : dict of str to (float or None), or None
        Likewise the sums over the players of each group.
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
        microsecond, about one in 16 of them is measured, and counts for all 16.
    """

    steps: int
    resets: int
    recv_wait: float
    wakes: int
    blocks_allocated: int
    blocks_reused: int
    num_threads: int
    episodes: int | None = None
    mean_return: float | None = None
    mean_length: float | None = None
    mean_player_returns: tuple[float | None, ...] | None = None
    mean_group_returns: dict[str, float | None] | None = field(default=None, hash=False)
    games: int | None = None
    mean_game_return: float | None = None
    mean_game_length: float | None = None
    queue_wait: float | None = None
    step_times: tuple[int, ...] | None = None
