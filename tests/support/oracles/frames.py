"""Frames of a pool against those of upstream environments, pixel by pixel.

Typical use::

    def upstream(size):
        return gymnasium.make("CartPole-v1", render_mode="rgb_array")

    def test_frames():
        assert_same_frames("CartPole-v1", upstream)
        assert_same_frames("CartPole-v1", resized(upstream), size=(100, 150))

Use `compare` where frames are known to differ, and document by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import pygame

import envpool
from envpool.sampling.sequences import make_actions
from envpool.verify.gymnasium_oracle import action_row
from tests.support.oracles.gymnasium_oracle import Upstream
from tests.support.results import assert_same

#: Steps after which frames are compared; 0 is the reset. The episode after one that ends starts as it does in the pool.
STEPS = (0, 3, 30, 100)

#: Height and width.
Size = tuple[int, int]


@dataclass(frozen=True)
class Difference:
    """How a frame differs from upstream's.

    Attributes
    ----------
    env, step : int
        The environment, and the step after which it was rendered.
    pixels : int
        Number of pixels that differ.
    largest : int
        The largest difference of a colour.
    box : tuple of int
        First row, last row, first column, last column that differ.
    shapes : tuple
        Shapes of the pool's frame and of upstream's where they differ; the other attributes then say nothing.
    """

    env: int
    step: int
    pixels: int = 0
    largest: int = 0
    box: tuple[int, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()


def difference(env: int, step: int, ours: np.ndarray, upstream: np.ndarray) -> Difference | None:
    """Return how two frames differ, or None if they are equal."""
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
    renders_always: bool = False,
) -> list[Difference]:
    """Step a pool and upstream environments with the same actions, and return how their frames differ.

    Parameters
    ----------
    task : str
        The pool's task.
    make_upstream : callable
        Called with `size`; returns an object with gymnasium's ``reset(seed=)``, ``step(action)``, ``render()`` and
        ``close()``, whose frames are uint8 (height, width, 3).
    size : (int, int), optional
        Height and width of the pool's frames; None stands for the default of the task.
    options : mapping, optional
        More options of ``envpool.make``.
    steps : sequence of int
        Steps after which frames are compared.
    seeds : sequence of int
        One seed per environment.
    mode : str
        Mode of the actions, see `envpool.sampling.sequences.make_actions`.
    camera : int, optional
        For ``render(camera_id=...)``.
    scale : float
        Factor for the actions, for tasks that do not survive actions at their bounds.
    renders_always : bool
        Whether upstream renders after every step; needed when its frames depend on when it rendered before.
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
            if k in steps or renders_always:
                frame = upstream.render()
                if k in steps:
                    found.append(difference(i, k, drawn[k][i], frame))
            if k == count:
                break
            if has_ended:
                upstream.reset()
                has_ended = False
            else:
                has_ended = any(upstream.step(action_row(actions, k, i))[2:4])
        upstream.close()
    return [d for d in found if d]


def assert_same_frames(task: str, make_upstream: Callable[[Size | None], Any], **options: Any) -> None:
    """Assert that no pixel differs; see `compare` for the options."""
    found = compare(task, make_upstream, **options)
    assert not found, f"{task} with {options}:\n" + "\n".join(map(str, found))


def assert_rendering_changes_nothing(task_id: str, actions: str = "random", steps: int = 60, **options: Any) -> None:
    """Assert that a pool that renders between steps returns the bits of one that does not, over several episodes.

    Parameters
    ----------
    task_id : str
        The task of both pools.
    actions : str
        A mode of `envpool.sampling.sequences.make_actions`.
    steps : int
        Number of steps.
    **options
        Options of ``envpool.make``.
    """
    made = {"num_envs": 4, "seed": 3, "max_episode_steps": 20, "render_mode": "rgb_array", **options}
    with envpool.make_gymnasium(task_id, **made) as a, envpool.make_gymnasium(task_id, **made) as b:
        assert_same(a.reset(), b.reset())
        for t, row in enumerate(make_actions(a.action_space, actions, steps, 4)):
            if t % 4 < 3:
                a.render([0, 2, 3])
            assert_same(a.step(row), b.step(row))


# ---- upstream environments and other sizes of frames -----------------------------------------------------------------


def rendered(
    upstream: Upstream, set_size: Callable[..., None] | None = None, **kwargs: Any
) -> Callable[[Size | None], Any]:
    """Return a factory of gymnasium's environment with ``render_mode="rgb_array"``.

    Parameters
    ----------
    upstream : Upstream
        The environment.
    set_size : callable, optional
        Called with the environment, and height and width as keyword arguments, when a size is asked for.
    **kwargs
        More arguments of ``gymnasium.make``.
    """

    def make(size: Size | None) -> Any:
        env = replace(upstream, kwargs={**upstream.kwargs, "render_mode": "rgb_array", **kwargs}).make()
        if size is not None and set_size is not None:
            set_size(env, height=size[0], width=size[1])
        return env

    return make


class Resized:
    """An upstream environment whose frames are scaled.

    Parameters
    ----------
    env : object
        As `compare` needs it.
    scale : callable
        Takes a frame, returns the scaled frame.
    """

    def __init__(self, env: Any, scale: Callable[[np.ndarray], np.ndarray]):
        self.reset, self.step, self.close = env.reset, env.step, env.close
        self._render, self._scale = env.render, scale

    def render(self) -> np.ndarray:
        """Return a scaled frame."""
        return self._scale(self._render())


def scaled_by_area(frame: np.ndarray, size: Size) -> np.ndarray:
    """Return a frame that ``cv2.INTER_AREA`` scaled."""
    return cv2.resize(frame, size[::-1], interpolation=cv2.INTER_AREA)


def scaled_smoothly(frame: np.ndarray, size: Size) -> np.ndarray:
    """Return a frame that ``pygame.transform.smoothscale`` scaled."""
    surface = pygame.image.frombuffer(np.ascontiguousarray(frame).tobytes(), frame.shape[1::-1], "RGB")
    scaled = pygame.transform.smoothscale(surface, size[::-1])
    return np.frombuffer(pygame.image.tobytes(scaled, "RGB"), np.uint8).reshape(*size, 3)


def resized(
    make: Callable[[Size | None], Any], scale: Callable[[np.ndarray, Size], np.ndarray] = scaled_by_area
) -> Callable[[Size | None], Any]:
    """Return a factory of environments whose frames have the default size of upstream, and are scaled after that."""

    def make_resized(size: Size | None) -> Any:
        env = make(None)
        return env if size is None else Resized(env, lambda frame: scale(frame, size))

    return make_resized
