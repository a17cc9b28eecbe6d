"""Pictures equal gymnasium's of the same envs at the same moments, and drawing them changes nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import pygame
import pytest

import envpool
from tests.box2d.upstream import Policy, Walk, constant, follow, land, random
from tests.support.oracles.frames import STEPS, Size, difference

DEFAULT = (400, 600)


def slide(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
    """Full throttle in curves, and brakes: the wheels leave marks."""
    time = env.unwrapped.t  # type: ignore[attr-defined]
    return np.float32([np.sin(3 * time), 1, 0.0 if int(time) % 3 else 0.8])


@dataclass(frozen=True)
class Case:
    """A task with options, and who acts in it."""

    task_id: str
    upstream_id: str
    policy: Policy
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        policy = getattr(self.policy, "__qualname__", type(self.policy).__name__).partition(".")[0]
        return "-".join([self.task_id, *(f"{k}={v}" for k, v in self.options.items()), policy])

    @contextmanager
    def played(self, seed: int, sizes: Sequence[Size]) -> Iterator[Played]:
        """An upstream env and pools of one env each, which draw in these sizes (height, width)."""
        upstream = gymnasium.make(self.upstream_id, render_mode="rgb_array", disable_env_checker=True, **self.options)
        pools = [
            envpool.make_gymnasium(
                self.task_id, seed=seed, render_mode="rgb_array", render_height=h, render_width=w, **self.options
            )
            for h, w in sizes
        ]
        try:
            yield Played(self, upstream, dict(zip(sizes, pools, strict=True)), seed)
        finally:
            for env in (upstream, *pools):
                env.close()


class Played:
    """An upstream env and pools that do the same."""

    def __init__(self, case: Case, upstream: gymnasium.Env[Any, Any], pools: dict[Size, Any], seed: int):
        self.policy, self.upstream, self.pools = case.policy, upstream, pools
        self.obs, _ = upstream.reset(seed=seed)
        self.action: Any = None
        self.is_done, self.steps = False, 0
        for pool in pools.values():
            pool.reset()

    def step(self) -> None:
        """Step all; in the step after the last of an episode they begin the next one."""
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
        """Compare a picture of each size; return upstream's."""
        picture: Any = self.upstream.render()
        for size, pool in self.pools.items():
            expected = picture if size == DEFAULT else self.scaled(picture, size)
            (drawn,) = pool.render()
            found = difference(0, self.steps, drawn, expected)
            assert found is None, f"{what}: {found}"
        return picture

    def scaled(self, picture: np.ndarray, size: Size) -> np.ndarray:
        """What upstream would show in another size: its picture, or CarRacing's larger one, as pygame scales it."""
        if hasattr(self.upstream.unwrapped, "car"):
            surface = self.upstream.unwrapped.surf
        else:
            surface = pygame.Surface(picture.shape[1::-1], 0, 32)
            pygame.surfarray.blit_array(surface, picture.transpose(1, 0, 2))
        return pygame.surfarray.array3d(pygame.transform.smoothscale(surface, size[::-1])).transpose(1, 0, 2)


LANDER2 = "envpool-test/LunarLanderV2"
CASES = [
    Case("LunarLander-v2", LANDER2, random(2)),
    Case("LunarLander-v3", "LunarLander-v3", random(3)),
    Case("LunarLanderContinuous-v2", LANDER2, random(4), {"continuous": True}),
    Case("LunarLanderContinuous-v3", "LunarLanderContinuous-v3", random(5)),
    Case("BipedalWalker-v3", "BipedalWalker-v3", Walk()),
    Case("BipedalWalkerHardcore-v3", "BipedalWalkerHardcore-v3", random(6)),
    Case("CarRacing-v2", "envpool-test/CarRacingV2", follow),
    Case("CarRacing-v3", "CarRacing-v3", slide),
]
MORE = [
    Case("LunarLander-v3", "LunarLander-v3", land),
    Case("LunarLander-v3", "LunarLander-v3", constant(2), {"enable_wind": True, "gravity": -5.0}),
    Case("LunarLander-v2", LANDER2, land),
    Case("BipedalWalker-v3", "BipedalWalker-v3", random(7)),
    Case("BipedalWalkerHardcore-v3", "BipedalWalkerHardcore-v3", Walk()),
    Case("CarRacing-v3", "CarRacing-v3", random(8), {"domain_randomize": True, "continuous": False}),
]


def check(case: Case, seed: int, moments: Sequence[int], sizes: Sequence[Size]) -> None:
    with case.played(seed, sizes) as played:
        for step in range(max(moments) + 1):
            if step in moments:
                played.check(f"seed {seed}")
            if step < max(moments):
                played.step()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_pictures(case: Case) -> None:
    check(case, 1, STEPS, [DEFAULT, (300, 500)])


@pytest.mark.parametrize("size", [(1, 1), (84, 84), (400, 599), (401, 600), (500, 480), (700, 1100)])
def test_sizes(size: Size) -> None:
    for case in (CASES[1], CASES[4], CASES[7]):
        check(case, 3, (0, 2), [size])


def test_two_pictures_of_a_moment() -> None:
    """Upstream's particles fade, and its lidar goes on, from one picture to the next, not with time."""
    lander = Case("LunarLander-v3", "LunarLander-v3", constant(2))
    for case, is_same in ((lander, False), (CASES[4], False), (CASES[7], True)):
        with case.played(4, [DEFAULT]) as played:
            for _ in range(12):
                played.step()
            pictures = [played.check(f"picture {i}") for i in range(9)]
            assert np.array_equal(pictures[0], pictures[1]) == is_same


def test_wheels_leave_marks() -> None:
    with CASES[7].played(5, [DEFAULT]) as played:
        for step in range(121):
            if step % 40 == 0:
                played.check("sliding")
            played.step()
        assert len(played.upstream.unwrapped.car.particles) > 10  # type: ignore[attr-defined]


def test_many_at_once() -> None:
    """Envs in any order, drawn by several threads, look as each drawn alone."""
    for task_id in ("LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3"):
        pools = [
            envpool.make_gymnasium(task_id, num_envs=6, seed=9, num_threads=n, render_mode="rgb_array") for n in (1, 3)
        ]
        action = np.stack([pools[0].action_space.sample() for _ in range(6)])
        for pool in pools:
            pool.reset()
            for _ in range(5):
                pool.step(action.astype(np.int32) if action.dtype == np.int64 else action)
        order = [4, 0, 5, 2]
        together = pools[1].render(order)
        assert together.shape == (4, 400, 600, 3)
        assert np.array_equal(together, np.concatenate([pools[0].render(i) for i in order]))
        for pool in pools:
            pool.close()


@pytest.mark.parametrize("task_id", ["LunarLander-v3", "LunarLander-v2", "BipedalWalkerHardcore-v3", "CarRacing-v3"])
def test_drawing_changes_nothing(task_id: str) -> None:
    """Not one bit of what comes later, over episodes too."""
    pools = [
        envpool.make_gymnasium(task_id, num_envs=3, seed=7, max_episode_steps=25, render_mode="rgb_array")
        for _ in range(2)
    ]
    rng = np.random.default_rng(8)
    for pool in pools:
        pool.reset()
    for step in range(60):
        space = pools[0].action_space
        if isinstance(space, gymnasium.spaces.Discrete):
            action = np.full(3, 2, np.int32) if step % 3 else rng.integers(0, 4, 3).astype(np.int32)
        else:
            action = rng.uniform(space.low, space.high, (3, *space.shape)).astype(np.float32)
        if step % 4 < 2:
            pools[0].render([0, 2])
        for seen, unseen in zip(pools[0].step(action)[:4], pools[1].step(action)[:4], strict=True):
            assert seen.tobytes() == unseen.tobytes()
    for pool in pools:
        pool.close()


def test_speed_of_the_window() -> None:
    for task_id in ("LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3"):
        with envpool.make_gymnasium(task_id, render_mode="rgb_array") as pool:
            assert pool.metadata["render_fps"] == 50 == gymnasium.make(task_id).metadata["render_fps"]


def hover(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
    """Stay in the air, a side engine of the lander being always on."""
    x, y, vx, vy, angle, spin = obs[:6]
    lean = 0.5 * (np.clip(0.5 * x + vx, -0.4, 0.4) - angle) - spin
    return np.float32([np.clip(10 * (1 - y) - 10 * vy - 1, -1, 1), 0.6 if lean < 0 else -0.6])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES + MORE, ids=str)
def test_pictures_of_many_seeds(case: Case) -> None:
    """Rarely, and then each time."""
    is_car = case.task_id.startswith("CarRacing")
    for seed in range(10, 12 if is_car else 15):
        check(case, seed, (*STEPS, 170, 230), [DEFAULT])
    check(case, 15, range(12 if is_car else 60), [DEFAULT])


@pytest.mark.slow
def test_whole_walks_and_landings() -> None:
    for case, steps in ((CASES[4], 1100), (MORE[0], 900), (MORE[2], 900)):
        check(case, 1, range(0, steps, 13), [DEFAULT])


@pytest.mark.slow
def test_the_newest_particles_are_shown() -> None:
    """An episode with more particles than are kept: the oldest vanish."""
    kept, steps = 2048, 2100
    task_id = "LunarLanderContinuous-v3"
    upstream: Any = gymnasium.make(task_id, render_mode="rgb_array", max_episode_steps=5000)
    with envpool.make_gymnasium(task_id, seed=2, render_mode="rgb_array", max_episode_steps=5000) as pool:
        obs, _ = upstream.reset(seed=2)
        pool.reset()
        for step in range(1, steps + 1):
            action = hover(upstream, obs)
            obs, _, terminated, _, _ = upstream.step(action)
            assert not terminated
            pool.step(action[None])
            if step in (10, steps):
                particles = upstream.unwrapped.particles
                assert (len(particles) > kept) == (step > 10)
                del particles[:-kept]
                assert np.array_equal(pool.render()[0], upstream.render())
