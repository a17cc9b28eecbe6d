"""Upstream's renderers as the oracle: the pool must draw the same pixels.

Typical use::

    def upstream(size):
        return gymnasium.make("CartPole-v1", render_mode="rgb_array")

    def test_pictures():
        assert_same_pictures("CartPole-v1", upstream)
        assert_same_pictures("CartPole-v1", resized(upstream), size=(100, 150))

Use `compare` where pictures are known to differ, and say in the docs by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import envpool
from tests.support.oracles.actions import make_actions

#: Steps after which pictures are compared; 0 is the reset. Episodes that end start again, as the pool's do.
STEPS = (0, 3, 30, 100)

#: Height and width.
Size = tuple[int, int]


@dataclass(frozen=True)
class Difference:
    """How a picture differs from upstream's.

    Attributes
    ----------
    env, step : int
        Whose, and after which step.
    pixels : int
        How many differ.
    largest : int
        The largest difference of a colour.
    box : tuple of int
        First row, last row, first column, last column that differ.
    shapes : tuple
        Of the picture and of upstream's; the rest says nothing where they are not the same.
    """

    env: int
    step: int
    pixels: int = 0
    largest: int = 0
    box: tuple[int, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()


def difference(env: int, step: int, ours: np.ndarray, upstream: np.ndarray) -> Difference | None:
    """Return how two pictures differ, None if they do not."""
    if ours.shape != upstream.shape or upstream.dtype != np.uint8:
        return Difference(env, step, shapes=(ours.shape, upstream.shape))
    far = np.abs(ours.astype(int) - upstream).max(axis=2)
    if not far.any():
        return None
    rows, columns = np.nonzero(far)
    box = tuple(int(v) for v in (rows.min(), rows.max(), columns.min(), columns.max()))
    return Difference(env, step, len(rows), int(far.max()), box)


def compare(
    task: str,
    make_upstream: Callable[[Size | None], Any],
    *,
    size: Size | None = None,
    options: Mapping[str, Any] | None = None,
    steps: Sequence[int] = STEPS,
    seeds: Sequence[int] = (42, 43),
    mode: str = "random",
    camera: int | None = None,
    scale: float = 1,
    action: Callable[[Any], Any] = lambda a: a,
) -> list[Difference]:
    """Step a pool and upstream envs alike, and return how their pictures differ.

    Parameters
    ----------
    task : str
        The pool's task.
    make_upstream : callable
        Called with `size`; returns an object with gymnasium's ``reset(seed=)``, ``step(action)``, ``render()`` and
        ``close()``, whose pictures are uint8 (height, width, 3).
    size : (int, int), optional
        Height and width to ask for; by default none is asked for.
    options : mapping, optional
        More options of ``envpool.make``.
    steps : sequence of int
        After which steps pictures are compared.
    seeds : sequence of int
        One for each env.
    mode : str
        Of the actions, see `tests.support.oracles.actions.make_actions`.
    camera : int, optional
        For ``render(camera_id=...)``.
    scale : float
        What the actions are multiplied by, where bounds are far from what an env survives.
    action : callable
        One env's row of the pool's action -> upstream's action.
    """
    sized = {} if size is None else {"render_height": size[0], "render_width": size[1]}
    count, ids = max(steps), np.arange(len(seeds))
    drawn = {}
    with envpool.make_gymnasium(
        task, num_envs=len(seeds), seed=list(seeds), render_mode="rgb_array", num_threads=2, **sized, **(options or {})
    ) as pool:
        actions = make_actions(pool.action_space, mode, max(count, 1), len(seeds))
        actions = actions if scale == 1 else actions * scale
        pool.reset()
        for k in range(count + 1):
            if k in steps:
                drawn[k] = pool.render(ids, camera_id=camera)
            if k < count:
                pool.step(actions[k])
    found = []
    for i, seed in enumerate(seeds):
        upstream = make_upstream(size)
        upstream.reset(seed=seed)
        has_ended = False
        for k in range(count + 1):
            if k in steps:
                found.append(difference(i, k, drawn[k][i], upstream.render()))
            if k == count:
                break
            if has_ended:
                upstream.reset()
                has_ended = False
            else:
                has_ended = any(upstream.step(action(actions[k, i]))[2:4])
        upstream.close()
    return [d for d in found if d]


def assert_same_pictures(task: str, make_upstream: Callable[[Size | None], Any], **options: Any) -> None:
    """Assert that no pixel differs; for the options see `compare`."""
    found = compare(task, make_upstream, **options)
    assert not found, f"{task} with {options}:\n" + "\n".join(map(str, found))


class Resized:
    """An upstream env whose pictures are scaled by area, as ``cv2.INTER_AREA`` does.

    Parameters
    ----------
    env : object
        As `compare` wants it.
    size : (int, int) or None
        Height and width; None leaves the pictures as they are.
    """

    def __init__(self, env: Any, size: Size | None):
        self.reset, self.step, self.close = env.reset, env.step, env.close
        self._render, self._size = env.render, size

    def render(self) -> np.ndarray:
        """Return a picture."""
        import cv2

        picture: np.ndarray = self._render()
        if self._size is None:
            return picture
        return cv2.resize(picture, self._size[::-1], interpolation=cv2.INTER_AREA)


def resized(make: Callable[[Size | None], Any]) -> Callable[[Size | None], Any]:
    """Return a factory of envs whose pictures are scaled by area."""
    return lambda size: Resized(make(None), size)
