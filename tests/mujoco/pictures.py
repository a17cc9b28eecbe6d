"""Pictures of the pool and of upstream, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import envpool
from tests.oracles.actions import make_actions

SEED = 5
#: Records that are compared: the reset, and what 3, 30 and 100 steps lead to.
RECORDS = (0, 3, 30, 100)
SMALL = (48, 64)
#: Bound of controls without limits; 1 is drawn instead.
UNLIMITED = 1e10


@dataclass
class Upstream:
    """An upstream env that was made but not reset.

    Attributes
    ----------
    reset : callable
        Starts an episode.
    step : callable
        Takes an action; returns whether the episode is over.
    render : callable
        Returns a picture.
    close : callable
        Frees it.
    """

    reset: Callable[[], Any]
    step: Callable[[Any], bool]
    render: Callable[[], np.ndarray]
    close: Callable[[], Any]


def drawn_actions(task_id: str, steps: int, num_envs: int = 1) -> np.ndarray:
    """Return random actions, float64 (steps, num_envs, ...)."""
    space = envpool.make_spec(task_id).action_space
    actions = make_actions(space, "random", steps, num_envs, SEED)
    return np.where(space.high == UNLIMITED, actions / UNLIMITED, actions)


def upstream_pictures(upstream: Upstream, actions: np.ndarray, records: Sequence[int] = RECORDS) -> list[np.ndarray]:
    """Return upstream's pictures, one for each record; what follows an episode is the next one's reset."""
    found = []
    done = True
    try:
        for t in range(max(records) + 1):
            if done:
                upstream.reset()
                done = False
            else:
                done = upstream.step(actions[t - 1, 0])
            if t in records:
                found.append(np.array(upstream.render()))
    finally:
        upstream.close()
    return found


def pool_pictures(
    task_id: str, actions: np.ndarray, records: Sequence[int] = RECORDS, **options: Any
) -> list[np.ndarray]:
    """Return the pool's pictures, one for each record."""
    found = []
    with envpool.make_gymnasium(task_id, num_envs=1, seed=SEED, render_mode="rgb_array", **options) as pool:
        pool.reset()
        for t in range(max(records) + 1):
            if t:
                pool.step(actions[t - 1])
            if t in records:
                found.append(pool.render()[0])
    return found


def assert_same_pictures(
    task_id: str,
    upstream: Callable[[int, int], Upstream],
    size: tuple[int, int] | None = SMALL,
    records: Sequence[int] = RECORDS,
    **options: Any,
) -> None:
    """Assert that a pool draws upstream's pixels.

    Parameters
    ----------
    task_id : str
        The pool's task.
    upstream : callable
        (height, width) -> the env.
    size : (int, int), optional
        Height and width; without it the default ones.
    records : sequence of int
        Which ones, ascending.
    **options
        Of the pool.
    """
    height, width = size or envpool.make_spec(task_id).frame_size
    actions = drawn_actions(task_id, max(records))
    if size:
        options |= {"render_height": height, "render_width": width}
    ours = pool_pictures(task_id, actions, records, **options)
    theirs = upstream_pictures(upstream(height, width), actions, records)
    for t, mine, other in zip(records, ours, theirs, strict=True):
        assert mine.shape == other.shape == (height, width, 3)
        assert mine.dtype == other.dtype == np.uint8
        wrong = np.count_nonzero(mine != other)
        assert wrong == 0, f"{task_id} {height}x{width} after {t} steps: {wrong} bytes differ"
        assert len(np.unique(mine)) > 5, f"{task_id}: nothing is to be seen"
