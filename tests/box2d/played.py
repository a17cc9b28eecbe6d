"""Playing upstream environments of Box2D and pools side by side, and comparing their frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
import pygame

import envpool
from tests.box2d.upstream import Policy
from tests.support.oracles.frames import Size, difference

DEFAULT = (400, 600)


def slide(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
    """Drive at full throttle in curves, and brake, so that the wheels leave marks."""
    time = env.unwrapped.t  # type: ignore[attr-defined]
    return np.float32([np.sin(3 * time), 1, 0.0 if int(time) % 3 else 0.8])


class Played:
    """An upstream environment and pools of one environment each, which all do the same.

    Parameters
    ----------
    upstream : gymnasium.Env
        The upstream environment, made with ``render_mode="rgb_array"``.
    pools : dict
        Height and width -> a pool whose frames have this size.
    policy : callable
        Chooses actions.
    seed : int
        Seed of the first episode.
    """

    def __init__(self, upstream: gymnasium.Env[Any, Any], pools: dict[Size, Any], policy: Policy, seed: int):
        self.policy, self.upstream, self.pools = policy, upstream, pools
        self.obs, _ = upstream.reset(seed=seed)
        self.action: Any = None
        self.is_done, self.steps = False, 0
        for pool in pools.values():
            pool.reset()

    def step(self) -> None:
        """Step all of them; the step after the last one of an episode starts the next episode."""
        if self.is_done:
            self.obs, _ = self.upstream.reset()
            self.is_done = False
        else:
            self.action = self.policy(self.upstream, self.obs)
            self.obs, _, terminated, truncated, _ = self.upstream.step(self.action)
            self.is_done = terminated or truncated
        self.steps += 1
        for pool in self.pools.values():
            obs, *_ = pool.step(np.asarray([self.action], np.float32 if np.ndim(self.action) else np.int32))
            assert np.array_equal(obs[0], self.obs)

    def check(self, what: Any) -> np.ndarray:
        """Compare the frames of each size; return upstream's frame."""
        frame: Any = self.upstream.render()
        for size, pool in self.pools.items():
            expected = frame if size == DEFAULT else self.scaled(frame, size)
            (drawn,) = pool.render()
            found = difference(0, self.steps, drawn, expected)
            assert found is None, f"{what}: {found}"
        return frame

    def scaled(self, frame: np.ndarray, size: Size) -> np.ndarray:
        """Return upstream's frame, or CarRacing's larger surface, in another size, as pygame scales it."""
        if hasattr(self.upstream.unwrapped, "car"):
            surface = self.upstream.unwrapped.surf
        else:
            surface = pygame.Surface(frame.shape[1::-1], 0, 32)
            pygame.surfarray.blit_array(surface, frame.transpose(1, 0, 2))
        return pygame.surfarray.array3d(pygame.transform.smoothscale(surface, size[::-1])).transpose(1, 0, 2)


@contextmanager
def playing(
    task_id: str, upstream_id: str, policy: Policy, options: dict[str, Any], seed: int, sizes: Sequence[Size]
) -> Iterator[Played]:
    """Yield an upstream environment and a pool for each height and width; close them afterwards."""
    upstream = gymnasium.make(upstream_id, render_mode="rgb_array", disable_env_checker=True, **options)
    pools = [
        envpool.make_gymnasium(task_id, seed=seed, render_mode="rgb_array", render_height=h, render_width=w, **options)
        for h, w in sizes
    ]
    try:
        yield Played(upstream, dict(zip(sizes, pools, strict=True)), policy, seed)
    finally:
        for env in (upstream, *pools):
            env.close()


def compare_frames(
    task_id: str,
    upstream_id: str,
    policy: Policy,
    options: dict[str, Any],
    seed: int,
    moments: Sequence[int],
    sizes: Sequence[Size],
) -> None:
    """Assert that the frames after certain steps are equal."""
    with playing(task_id, upstream_id, policy, options, seed, sizes) as played:
        for step in range(max(moments) + 1):
            if step in moments:
                played.check(f"seed {seed}")
            if step < max(moments):
                played.step()
