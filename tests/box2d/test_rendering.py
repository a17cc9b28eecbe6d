"""Frames of Box2D beyond the conformance cases: fading particles, marks of wheels, several threads."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from tests.box2d.cases import CAR, LANDER, WALKER
from tests.box2d.played import DEFAULT, playing, slide
from tests.box2d.upstream import Constant, Walk


def test_two_frames_of_a_moment() -> None:
    """Upstream's particles fade and its lidar advances from one frame to the next, not with time."""
    rows = [(LANDER, Constant(2), False), (WALKER, Walk(), False), (CAR, slide, True)]
    for task_id, policy, is_same in rows:
        with playing(task_id, task_id, policy, {}, 4, [DEFAULT]) as played:
            for _ in range(12):
                played.step()
            frames = [played.check(f"frame {i}") for i in range(9)]
            assert np.array_equal(frames[0], frames[1]) == is_same


def test_sliding_wheels_leave_marks() -> None:
    """The frames of `tests.box2d.played.slide` contain marks, so that their comparison covers marks."""
    with playing(CAR, CAR, slide, {}, 5, []) as played:
        for _ in range(121):
            played.step()
        assert len(played.upstream.unwrapped.car.particles) > 10  # type: ignore[attr-defined]


def test_many_at_once() -> None:
    """Frames of environments in any order, drawn by several threads, equal frames that are drawn one at a time."""
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


def test_frames_per_second() -> None:
    for task_id in ("LunarLander-v3", "BipedalWalker-v3", "CarRacing-v3"):
        with envpool.make_gymnasium(task_id, render_mode="rgb_array") as pool:
            assert pool.metadata["render_fps"] == 50 == gymnasium.make(task_id).metadata["render_fps"]


def hover(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
    """Stay in the air, with a side engine of the lander always on."""
    x, y, vx, vy, angle, spin = obs[:6]
    lean = 0.5 * (np.clip(0.5 * x + vx, -0.4, 0.4) - angle) - spin
    return np.float32([np.clip(10 * (1 - y) - 10 * vy - 1, -1, 1), 0.6 if lean < 0 else -0.6])


@pytest.mark.slow
def test_the_newest_particles_are_shown() -> None:
    """In an episode of more steps than are simulated for a frame, the oldest particles vanish."""
    age, steps = 1024, 2100
    task_id = "LunarLanderContinuous-v3"
    upstream: Any = gymnasium.make(task_id, render_mode="rgb_array", max_episode_steps=5000)
    with envpool.make_gymnasium(task_id, seed=2, render_mode="rgb_array", max_episode_steps=5000) as pool:
        obs, _ = upstream.reset(seed=2)
        pool.reset()
        emitted = [0]  # particles after each step
        for step in range(1, steps + 1):
            action = hover(upstream, obs)
            obs, _, terminated, _, _ = upstream.step(action)
            assert not terminated
            pool.step(action[None])
            particles = upstream.unwrapped.particles
            emitted.append(len(particles))
            if step in (10, steps):
                del particles[: emitted[max(0, step - age)]]
                assert 0 < len(particles) < 2048
                assert np.array_equal(pool.render()[0], upstream.render())
