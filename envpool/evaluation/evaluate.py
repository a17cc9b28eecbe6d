"""``evaluate``: returns and lengths of a policy's episodes, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.config.checks import check_range, convert, is_sequence, whole_number
from envpool.errors import ConfigError, PoolStateError
from envpool.evaluation.playing import Player, Policy, check_pool, frozen, leaves, quotas, seeds_of
from envpool.evaluation.pools import open_task
from envpool.evaluation.result import SHOWN, Evaluation
from envpool.evaluation.video import Video, check_video
from envpool.pools.env_pool import EnvPool

#: Seed of the first environment, far from the seeds of training.
SEED = 1_000_000
#: Environments of a pool that is made for an evaluation.
NUM_ENVS = 32
#: Default of `max_steps`: the longest episodes of Atari games have 27,000 steps.
MAX_STEPS = 100_000


def evaluate(
    policy: Policy | str,
    task_or_pool: Any,
    episodes: int | None = None,
    seeds: int | Sequence[int] | None = None,
    *,
    num_envs: int | None = None,
    confidence: float = 0.95,
    video: str | Path | None = None,
    max_steps: int = MAX_STEPS,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Play episodes with a policy, and return a table of their returns and lengths.

    How many episodes each environment contributes is fixed beforehand, and these are its first ones. The first episodes
    that end in the whole pool would mostly be short ones.

    Parameters
    ----------
    policy : callable or "random"
        Takes the observations of all environments and returns their actions. With players, both have the form of the
        pool's option `players`.
    task_or_pool : str, callable or EnvPool
        Id of a task; any other id of gymnasium, or a function that returns an environment, for Python environments; or
        a sync pool of any kind, in which nothing is in flight, and which is reset and stays open. A task with players
        is played with ``players="grid"`` unless `options` say otherwise; a pool of the dm style must have it. If a pool
        normalises, its statistics (``pool.normalization``) are used, but do not change.
    episodes : int, optional
        Number of episodes, by default 100; one per seed if `seeds` is a sequence; or, with a pool, one per environment.
    seeds : int or sequence of int, optional
        Seeds of the environments; an int s stands for s + i. By default 1,000,000 + i for a task; those that the pool
        was made with for a pool.
    num_envs : int, optional
        Number of environments for a task: by default the number of seeds, or 32, or the number of episodes if that is
        smaller.
    confidence : float
        Level of the confidence intervals, 0.95 by default.
    video : path, optional
        An .mp4 or .gif file for videos of the best, the median and the worst episode: ``run.mp4`` writes
        ``run-best.mp4``, ``run-median.mp4`` and ``run-worst.mp4``. The actions of these episodes are played again from
        the same seeds. A pool must have ``render_mode="rgb_array"``.
    max_steps : int
        Number of steps of an episode after which an error is raised, 100,000 by default.
    progress : callable, optional
        Called after each step with the number of episodes that have ended, and the number of all.
    **options
        Options of the pool for a task. `normalize_obs` and `normalize_reward` are refused, since a new pool has no
        statistics: pass a pool whose ``normalization.set(...)`` was called.

    Returns
    -------
    Evaluation
        The episodes; ``print`` shows the table.

    Raises
    ------
    ConfigError, TypeError
        Arguments that are not allowed.
    PoolStateError
        An episode has not ended within `max_steps` steps, or could not be played again for a video; or environments of
        the pool are in flight.
    ImportError
        A package for videos is missing.

    Notes
    -----
    If the pool counts episodes (``episode_statistics=True``, which is set for a task), returns and lengths are taken
    from the statistics: with Atari's presets, of whole games with the rewards before clipping. Otherwise they are sums
    of the rewards that the pool returns. The return of an episode with players is the sum over the players. With
    ``controlled="alternate"``, the policy plays another player in each episode of an environment, and the return is
    that player's.
    """
    confidence = convert("confidence", confidence, 0.95)
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence must be between 0 and 1, got {confidence}")
    check_range("max_steps", whole_number("max_steps", max_steps), 1)
    path = None if video is None else check_video(Path(video))
    with ExitStack() as stack:
        if not isinstance(task_or_pool, str) and not callable(task_or_pool):
            check_pool(task_or_pool)
            stack.enter_context(frozen(task_or_pool))
            if options or num_envs is not None:
                given = ["num_envs"] if num_envs is not None else list(options)
                raise TypeError(f"{given[0]} is an option of a task, but a pool was passed: leave it out")
            pool, name = task_or_pool, task_or_pool.spec.task_id or type(task_or_pool).__name__
            count = whole_number("episodes", pool.num_envs if episodes is None else episodes)
            own = pool.spec.seeds()
            given_seeds = seeds_of(own if seeds is None and own is not None else seeds, pool.num_envs)
            if path is not None and pool.render_mode != "rgb_array":
                raise ConfigError("video needs a pool that was made with render_mode='rgb_array'")
        else:
            for own in {"seed", "env_seed"} & options.keys():
                raise TypeError(f"evaluate() has an argument for seeds: pass seeds=... instead of {own}=...")
            count, given_seeds = plan(episodes, seeds, num_envs)
            settings = {"episode_statistics": True} | options
            pool = stack.enter_context(open_task(task_or_pool, len(given_seeds), given_seeds, **settings))
            name = pool.spec.task_id or str(task_or_pool)
        check_range("episodes", count, 1)
        if path is not None and given_seeds is None:
            raise ConfigError("video needs environments with seeds, since episodes are played again: pass seeds=0")
        player = Player(pool, policy)
        result, actions = play(player, count, given_seeds, confidence, name, max_steps, path is not None, progress)
        if path is not None and given_seeds is not None:
            if pool is task_or_pool:
                show(pool, result, actions, path, list(given_seeds), list(range(pool.num_envs)))
            else:
                ids = sorted({int(result.env_ids[result.episode(which)]) for which in SHOWN})
                if pool.spec.controlled is not None:  # an opponent may act on all environments
                    ids = list(range(pool.num_envs))
                shown = [given_seeds[i] for i in ids]
                settings = {"render_mode": "rgb_array"} | options
                with open_task(task_or_pool, len(ids), shown, **settings) as again:
                    show(again, result, actions, path, shown, ids)
    return result


def plan(episodes: int | None, seeds: Any, num_envs: int | None) -> tuple[int, list[int]]:
    """Return the number of episodes and the seeds of the environments of a pool for a task."""
    is_one = not is_sequence(seeds)
    if not is_one and len(seeds) == 0:
        raise ConfigError("seeds must have a seed for each environment, got none: pass an int, or leave it out")
    default = 100 if is_one else len(seeds)
    count = whole_number("episodes", default if episodes is None else episodes)
    check_range("episodes", count, 1)
    envs = (min(NUM_ENVS, count) if is_one else len(seeds)) if num_envs is None else whole_number("num_envs", num_envs)
    check_range("num_envs", envs, 1)
    return count, seeds_of(SEED if seeds is None else seeds, envs) or []


def play(
    player: Player,
    episodes: int,
    seeds: list[int] | None,
    confidence: float,
    name: str,
    max_steps: int,
    keeps_actions: bool,
    progress: Callable[[int, int], None] | None,
) -> tuple[Evaluation, list[Any]]:
    """Play the episodes; return them, and the actions of all steps if they are kept."""
    n = player.pool.num_envs
    quota = quotas(episodes, n)
    spec = player.pool.spec
    places, players = spec.shown_players, tuple(range(spec.num_players)) if player.alternates else spec.shown_players
    played, total = np.zeros(n, np.int64), np.zeros((n, len(places)) if places else n)
    length, running = np.zeros(n, np.int64), np.zeros(n, np.int64)
    found: list[tuple[int, int, float, int, bool, Any]] = []
    actions: list[Any] = []
    player.reset(seeds)
    while len(found) < episodes:
        step = player.step()
        if keeps_actions:
            actions.append(step.action)
        total += step.reward
        length += step.is_real
        running += 1
        ended, returns, lengths = step.ended, total, length if step.elapsed is None else step.elapsed
        if player.counts is not None:
            ended = np.zeros(n, bool) if step.entry is None else step.entry["mask"]
            if step.entry is not None:
                returns, lengths = step.entry["player_r"][:, places] if places else step.entry["r"], step.entry["l"]
                if step.played is not None:
                    returns = np.take_along_axis(step.entry["player_r"], step.played[:, None], 1)
        for i in np.flatnonzero(ended):
            if played[i] < quota[i]:
                row = int(i), int(played[i]), float(returns[i].sum()), int(lengths[i]), bool(step.terminated[i])
                own = returns[i].copy() if step.played is None else alone(returns[i], step.played[i], players)
                found.append((*row, own))
            played[i] += 1
        total[step.ended], length[step.ended], running[ended] = 0, 0, 0
        if progress is not None:
            progress(len(found), episodes)
        late = np.flatnonzero((running >= max_steps) & (played < quota))
        if len(late):
            raise PoolStateError(
                f"{len(late)} of {n} environments of {name} have not ended an episode within max_steps={max_steps} "
                "steps: pass max_episode_steps=N, which truncates episodes, or a larger max_steps"
            )
    found.sort(key=lambda episode: episode[:2])
    ids, numbers, returned, steps, terminated, of_players = zip(*found, strict=True)
    result = Evaluation(
        np.array(returned, np.float64),
        np.array(steps, np.int64),
        np.array(terminated, bool),
        np.array(ids, np.int64),
        np.array(numbers, np.int64),
        None if seeds is None else tuple(seeds),
        confidence,
        name,
        np.array(of_players, np.float64) if players else None,
        {group.name: group.players for group in spec.groups},
        players,
    )
    return result, actions


def alone(returned: Any, player: int, players: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return the return of the one player that a policy was, among NaN for the others."""
    of_players = np.full(len(players), np.nan)
    of_players[player] = returned[0]
    return of_players


def show(pool: EnvPool, result: Evaluation, actions: list[Any], path: Path, seeds: list[int], ids: list[int]) -> None:
    """Write the videos of the best, the median and the worst episode: play the actions of environments `ids` again."""
    player = Player(pool, lambda obs: None)
    rows = np.array(ids)
    wanted: dict[tuple[int, int], list[tuple[Video, str]]] = {}
    with ExitStack() as stack:
        for which in SHOWN:
            at = result.episode(which)
            caption = f"{which}: return {result.returns[at]:.4g}, {result.lengths[at]} steps"
            file = path.with_name(f"{path.stem}-{which}{path.suffix}")
            video = stack.enter_context(closing(Video(file, pool)))
            key = ids.index(int(result.env_ids[at])), int(result.numbers[at])
            wanted.setdefault(key, []).append((video, caption))
        player.reset(seeds)
        number = np.zeros(len(ids), np.int64)
        draw(wanted, number, np.ones(len(ids), bool))
        missing = set(wanted)
        for action in actions:
            step = player.step(leaves(action, lambda array: np.asarray(array)[rows]))
            # With next_step, a step that only begins an episode shows its start; in other modes, the last step does.
            begins = ~step.is_real if player.mode == "next_step" else step.ended
            draw(wanted, number, ~begins)
            over = step.ended if player.counts is None else np.zeros(len(ids), bool)
            if step.entry is not None:
                over = step.entry["mask"]
            missing -= {(int(i), int(number[i])) for i in np.flatnonzero(over)}
            number += over
            draw(wanted, number, begins)
            if not missing:
                return
        raise PoolStateError(
            "the episodes did not end as before when their actions were played again, so the videos are wrong: the "
            "environments depend on more than their seeds and actions"
        )


def draw(wanted: dict[tuple[int, int], list[tuple[Video, str]]], number: Any, mask: Any) -> None:
    """Add a frame to the videos of the episodes that the environments of a mask play."""
    for i in np.flatnonzero(mask).tolist():
        for video, caption in wanted.get((i, int(number[i])), ()):
            video.add(i, caption)
