"""Pictures of a pool against upstream's, pixel by pixel.

Typical use::

    def test_pictures():
        upstream = Upstream("CartPole-v1", {"render_mode": "rgb_array"})
        assert_pictures("CartPole-v1", upstream)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pygame

import envpool
from tests.support.oracles.actions import make_actions
from tests.support.oracles.gymnasium_oracle import Upstream, action_row, unchanged

#: Records whose pictures are compared; 0 is the reset.
RECORDS = (0, 3, 30, 100)


def smoothly_scaled(height: int, width: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that scales a picture as pygame does."""

    def scale(picture: np.ndarray) -> np.ndarray:
        surface = pygame.image.frombuffer(np.ascontiguousarray(picture).tobytes(), picture.shape[1::-1], "RGB")
        scaled = pygame.transform.smoothscale(surface, (width, height))
        return np.frombuffer(pygame.image.tobytes(scaled, "RGB"), np.uint8).reshape(height, width, 3)

    return scale


def upstream_pictures(
    upstream: Upstream, actions: Any, seeds: Sequence[int], records: Sequence[int], renders_always: bool
) -> np.ndarray:
    """Return upstream's pictures, uint8 (len(records), num_envs, height, width, 3)."""
    pictures = []
    for i, seed in enumerate(seeds):
        env = upstream.make()
        done, mine = True, []
        for t in range(max(records) + 1):
            if done:
                env.reset(seed=seed) if t == 0 else env.reset()
                done = False
            else:
                _, _, terminated, truncated, _ = env.step(upstream.action(action_row(actions, t - 1, i)))
                done = terminated or truncated
            if t in records or renders_always:
                picture = env.render()
                if t in records:
                    mine.append(picture)
        env.close()
        pictures.append(mine)
    return np.array(pictures).swapaxes(0, 1)


def assert_pictures(
    task_id: str,
    upstream: Upstream,
    *,
    size: tuple[int, int] | None = None,
    options: Mapping[str, Any] | None = None,
    actions: str = "random",
    records: Sequence[int] = RECORDS,
    num_envs: int = 3,
    seed: int = 0,
    frame: Callable[[np.ndarray], np.ndarray] = unchanged,
    renders_always: bool = False,
) -> None:
    """Assert that a pool draws upstream's pixels.

    Parameters
    ----------
    task_id : str
        The pool's task.
    upstream : Upstream
        The env, made with a render mode; its `prepare` may set its size.
    size : (int, int), optional
        Height and width for the pool; by default the task's own.
    options : mapping
        Task options of the pool.
    actions : str
        A mode of `tests.support.oracles.actions.make_actions`.
    records : sequence of int
        Which ones are compared.
    num_envs : int
        Env i has the seed ``1000 * seed + i``.
    seed : int
        Chooses actions and seeds.
    frame : callable
        Upstream's picture -> the one to compare with.
    renders_always : bool
        Whether upstream renders each record, as what it shows may depend on when it rendered.
    """
    options = dict(options or {})
    space = envpool.make_spec(task_id, **options).action_space
    chosen = make_actions(space, actions, max(records) + 1, num_envs, seed)
    seeds = [1000 * seed + i for i in range(num_envs)]
    expected = upstream_pictures(upstream, chosen, seeds, records, renders_always)
    height, width = size or (0, 0)
    with envpool.make_gymnasium(
        task_id,
        num_envs=num_envs,
        num_threads=2,
        seed=seeds,
        render_mode="rgb_array",
        render_height=height,
        render_width=width,
        **options,
    ) as pool:
        pool.reset()
        for t in range(max(records) + 1):
            if t:
                pool.step(chosen[t - 1])
            if t in records:
                pictures = pool.render(range(num_envs))
                for i, picture in enumerate(pictures):
                    wanted = frame(expected[list(records).index(t), i])
                    assert picture.shape == wanted.shape
                    wrong = np.argwhere((picture != wanted).any(axis=2))
                    assert not len(wrong), f"env {i}, record {t}: {len(wrong)} pixels differ, the first at {wrong[0]}"


def assert_rendering_changes_nothing(task_id: str, actions: str = "random", **options: Any) -> None:
    """Assert that a pool that renders between steps returns the bits of one that does not, over several episodes."""
    space = envpool.make_spec(task_id, **options).action_space
    chosen = make_actions(space, actions, 60, 4)
    made: dict[str, Any] = {"num_envs": 4, "max_episode_steps": 20, "render_mode": "rgb_array"}
    made |= options
    with envpool.make_gymnasium(task_id, **made) as a, envpool.make_gymnasium(task_id, **made) as b:
        assert_same(a.reset(), b.reset())
        for row in chosen:
            a.render([0, 2, 3])
            assert_same(a.step(row), b.step(row))
        first = a.render(range(4))
        np.testing.assert_array_equal(first, a.render(range(4)))
        np.testing.assert_array_equal(first, b.render(range(4)))


def assert_same(a: Any, b: Any) -> None:
    """Assert that two results are equal, bit for bit."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, tuple):
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    else:
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
