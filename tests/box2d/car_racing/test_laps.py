"""Whole laps of CarRacing return gymnasium's bits, observed frames included."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool

TASK = "CarRacing-v3"
#: Upstream draws one frame of this many, as drawing takes most of its time.
FRAME_EVERY = 3


class Lap:
    """A drive around a track in upstream's env, recorded until the lap is finished."""

    def __init__(self, seed: int, **options: Any):
        self.seed = seed
        self.env: Any = gymnasium.make(TASK, max_episode_steps=2000, **options).unwrapped
        self.draw, self.steps = self.env._render, 0
        self.env._render = self.render
        self.frames = [self.env.reset(seed=seed)[0]]
        self.track = np.array(self.env.track)
        self.actions: list[np.ndarray] = []
        self.rewards: list[np.float32] = []
        self.ended: list[bool] = []
        while not any(self.ended):
            self.actions.append(self.choose())
            frame, reward, terminated, _, info = self.env.step(self.actions[-1])
            self.frames.append(frame)
            self.rewards.append(np.float32(reward))
            self.ended.append(terminated)
        assert info["lap_finished"]

    def render(self, mode: str) -> np.ndarray | None:
        """Draw a frame, or skip it."""
        self.steps += 1
        return None if (self.steps + self.seed) % FRAME_EVERY else self.draw(mode)

    def choose(self) -> np.ndarray:
        """Steer towards a tile ahead; slow down before turns."""
        car = self.env.car.hull
        x, y = car.position
        speed, n = math.hypot(*car.linearVelocity), len(self.track)
        here = int(np.hypot(self.track[:, 2] - x, self.track[:, 3] - y).argmin())
        aim = self.track[(here + 4 + int(speed / 12)) % n]
        off = turn(math.atan2(aim[3] - y, aim[2] - x) - car.angle - math.pi / 2)
        ahead = here + np.arange(int(4 + speed / 4))
        bend = max(abs(turn(b)) for b in self.track[(ahead + 5) % n, 1] - self.track[ahead % n, 1])
        wanted = max(30, 70 * (1 - bend / 1.2))
        gas = 0.0 if speed >= wanted else 0.6 if abs(off) < 0.2 else 0.15
        brake = 0.0 if speed <= wanted + 3 else 0.3 if abs(off) < 0.3 else 0.1
        return np.array([np.clip(-1.2 * off, -1, 1), gas, brake], np.float32)


def turn(angle: float) -> float:
    """Return the same angle between -pi and pi."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


@pytest.mark.parametrize("laps", [pytest.param(4, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.sweep)])
def test_laps(laps: int) -> None:
    assert compare_frames([Lap(seed) for seed in range(laps)]) > 400 * laps


def compare_frames(laps: list[Lap]) -> int:
    """Drive the same laps in a pool; return how many frames were compared."""
    compared = 0
    longest = max(len(lap.actions) for lap in laps)
    seeds = [lap.seed for lap in laps]
    with envpool.make_gymnasium(TASK, num_envs=len(laps), env_seed=seeds, max_episode_steps=2000) as pool:
        obs, _ = pool.reset()
        for t in range(longest + 1):
            for lap, frame in zip(laps, obs, strict=True):
                if t < len(lap.frames) and lap.frames[t] is not None:
                    assert np.array_equal(frame, lap.frames[t]), f"seed {lap.seed}, step {t}"
                    compared += 1
            if t < longest:
                obs, reward, terminated, _, info = pool.step(
                    np.array([lap.actions[min(t, len(lap.actions) - 1)] for lap in laps])
                )
            for i, lap in enumerate(laps):
                if t < len(lap.actions):
                    assert reward[i] == lap.rewards[t], f"seed {lap.seed}, step {t}"
                    assert terminated[i] == lap.ended[t] == info["lap_finished"][i]
    return compared
