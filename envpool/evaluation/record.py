"""``record``: videos and datasets of a policy's episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from envpool.config.checks import check_range, whole_number
from envpool.errors import ConfigError
from envpool.evaluation.datasets import VERSION, about_normalization, action_space_of, check_dataset, open_dataset
from envpool.evaluation.encoder import FORMATS
from envpool.evaluation.episodes import check_names, collect
from envpool.evaluation.playing import Player, Policy, frozen, seeds_of
from envpool.evaluation.video import Video, check_video
from envpool.rollout.rollout import stack_depth

#: Steps of a video.
STEPS = 300


class Recording(NamedTuple):
    """A file with recorded episodes, and their statistics.

    Attributes
    ----------
    path : Path
        The file or folder.
    episodes, steps : int
        Number of episodes and of their steps, of all environments together.
    mean_return : float
        Mean of the sums of the rewards of the episodes, of all players together; NaN without an episode.
    """

    path: Path
    episodes: int
    steps: int
    mean_return: float


def record(
    pool: Any,
    policy: Policy | str,
    path: str | Path,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    seeds: int | Sequence[int] | None = None,
    frames_once: bool = False,
    fps: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Recording:
    """Play a policy in a pool, and write a video or a dataset.

    Parameters
    ----------
    pool : EnvPool
        A sync pool of any kind and API style, in which nothing is in flight. It is reset, and stays open. With players,
        one of the dm style must have ``players="grid"``. If the pool normalises, its statistics
        (``pool.normalization``) are used, but do not change; a dataset contains them.
    policy : callable or "random"
        Takes the observations of all environments and returns their actions. With players, both have the form of the
        pool's option `players`.
    path : path
        An .mp4 or .gif file: a video of all environments side by side; the pool needs ``render_mode="rgb_array"``.
        An .npz or .hdf5 file: a dataset, see docs/rendering.md. A folder such as ``cartpole-expert-v0``: a dataset in
        the format of Minari.
    episodes : int, optional
        Number of episodes of a dataset: the first ones of each environment. By default one per environment, unless
        `steps` is given.
    steps : int, optional
        Datasets: the least number of steps of all environments together, instead of `episodes`; the last step of an
        episode that is still running counts as truncated. Videos: number of steps of each environment, 300 by default.
    seeds : int or sequence of int, optional
        Seeds of the environments; an int s stands for s + i. By default those that the pool was made with.
    frames_once : bool
        If True, .npz and .hdf5 files store each frame of stacked observations once. Default False.
    fps : int, optional
        Frame rate of a video in frames per second; by default real time.
    progress : callable, optional
        Called with the numbers of episodes so far and in all (or steps, if `steps` is given or for a video).

    Returns
    -------
    Recording
        The path, and the numbers of episodes and steps.

    Raises
    ------
    ConfigError, TypeError
        Arguments that are not allowed.
    PoolStateError
        Environments of the pool are in flight.
    ImportError
        A package for this kind of file is missing; the text says what to install.
    """
    path = Path(path)
    player = Player(pool, policy)
    own = pool.spec.seeds()
    given = seeds_of(own if seeds is None and own is not None else seeds, pool.num_envs)
    for name, value in (("episodes", episodes), ("steps", steps), ("fps", fps)):
        if value is not None:
            check_range(name, whole_number(name, value), 1)
    if path.suffix in FORMATS:
        if episodes is not None or frames_once:
            raise ConfigError(
                f"{'frames_once' if frames_once else 'episodes'} is an option of datasets, but {path.name!r} is a "
                "video: pass steps, or use envpool.evaluate(..., video=) for single episodes"
            )
        with frozen(pool):
            return record_video(player, path, STEPS if steps is None else int(steps), given, fps, progress)
    if fps is not None:
        raise ConfigError(f"fps is an option of videos, but {path.name!r} is a dataset: leave it out")
    if episodes is not None and steps is not None:
        raise ConfigError("episodes and steps exclude each other: leave one of them out")
    if pool.spec.num_players:
        check_players(player, path, frames_once)
    else:
        check_names(pool.spec.gymnasium_observation_space, "obs")
        check_names(action_space_of(pool), "action")
    check_dataset(path)
    if frames_once and not path.suffix:
        raise ConfigError("frames_once is not possible in Minari's format, whose reader expects whole observations")
    depth = stack_depth(pool, frames_once)
    count = (pool.num_envs if episodes is None else int(episodes)) if steps is None else None
    with frozen(pool):
        return record_dataset(player, path, count, None if steps is None else int(steps), given, depth, progress)


def check_players(player: Player, path: Path, frames_once: bool) -> None:
    """Raise ConfigError for a dataset that cannot have the episodes of players."""
    if not path.suffix:
        raise ConfigError(f"Minari's format has no players: write {path.name}.npz or {path.name}.hdf5 instead")
    if player.alternates:
        raise ConfigError(
            "a dataset has the same players in all episodes, got controlled='alternate': record each player from a "
            "pool of its own, such as one with controlled=[0]"
        )
    if frames_once:
        raise ConfigError("frames_once is not available for tasks with players: leave it out")
    if player.mode == "same_step":
        raise ConfigError(
            "autoreset_mode must be 'next_step' or 'disabled' to record episodes of tasks with players, got "
            "'same_step', whose player_mask also has the players of the next episode"
        )


def record_dataset(
    player: Player,
    path: Path,
    episodes: int | None,
    steps: int | None,
    seeds: list[int] | None,
    depth: int,
    progress: Callable[[int, int], None] | None,
) -> Recording:
    """Write a dataset; see `record`."""
    import envpool

    pool = player.pool
    about = {
        "version": VERSION,
        "envpool": envpool.__version__,
        "task": pool.spec.task_id or type(pool).__name__,
        "policy": getattr(player.policy, "__name__", type(player.policy).__name__),
        "num_envs": pool.num_envs,
        "seeds": seeds,
        "frames_once": depth,
        "stack": list(pool.spec.state_array_spec["obs"].shape) if depth else None,
        **about_normalization(pool),
    }
    done, total, returns = 0, 0, 0.0
    with open_dataset(path, about, pool) as writer:
        for episode in collect(player, seeds, episodes, steps, depth):
            writer.add(episode)
            done, total = done + 1, total + len(episode)
            returns += float(episode.reward.sum(dtype=np.float64))
            if progress is not None:
                progress(*((total, steps) if episodes is None and steps is not None else (done, episodes or 0)))
    return Recording(path, done, total, returns / done if done else float("nan"))


def record_video(
    player: Player,
    path: Path,
    steps: int,
    seeds: list[int] | None,
    fps: int | None,
    progress: Callable[[int, int], None] | None,
) -> Recording:
    """Write a video of all environments; see `record`."""
    pool = player.pool
    check_video(path)
    if pool.render_mode != "rgb_array":
        raise ConfigError("a video needs a pool that was made with render_mode='rgb_array'")
    total, elapsed, returns = np.zeros(pool.num_envs), np.zeros(pool.num_envs, np.int64), []
    with closing(Video(path, pool, fps)) as video:
        player.reset(seeds)
        count = 0
        for k in range(steps + 1):
            captions = [f"step {n}  return {r:.4g}" for n, r in zip(elapsed, total, strict=True)]
            video.add(pool.all_env_ids, captions)
            if k == steps:
                break
            step = player.step()
            begins = ~step.is_real
            total, elapsed = np.where(begins, 0, total + step.team_reward), np.where(begins, 0, elapsed + 1)
            count += int(step.is_real.sum())
            returns += total[step.ended].tolist()
            if player.mode != "next_step":
                total, elapsed = np.where(step.ended, 0, total), np.where(step.ended, 0, elapsed)
            if progress is not None:
                progress(k + 1, steps)
    return Recording(path, len(returns), count, float(np.mean(returns)) if returns else float("nan"))
