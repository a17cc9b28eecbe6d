"""Environments that this family is compared with besides those of `envpool.box2d.upstream`, and policies for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.box2d import car_racing, lunar_lander
from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics

from envpool.box2d.upstream import CarRacingV2, LunarLanderV2
from tests.support.oracles.gymnasium_oracle import Upstream, reference
from tests.support.oracles.trajectory import Trajectory

#: Ids of the upstream environments of this module.
V2, BLIND = "envpool-test/LunarLanderV2", "envpool-test/BlindCar"

Policy = Callable[[gymnasium.Env[Any, Any], Any], Any]


class BlindCar(car_racing.CarRacing):
    """Renders no frames, which would take most of the time."""

    def _render(self, mode: str) -> Any:
        return np.zeros((96, 96, 3), np.uint8)


class BlindCarV2(BlindCar, CarRacingV2):
    pass


for env in (LunarLanderV2, CarRacingV2, BlindCar, BlindCarV2):
    gymnasium.register(f"envpool-test/{env.__name__}", entry_point=env, max_episode_steps=1000)


# ---- policies --------------------------------------------------------------------------------------------------------


def random(seed: int = 0) -> Policy:
    """Return a policy that draws actions."""
    rng = np.random.default_rng(seed)

    def act(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
        space = env.action_space
        if isinstance(space, gymnasium.spaces.Discrete):
            return np.int64(rng.integers(space.n))
        return rng.uniform(space.low, space.high).astype(np.float32)  # type: ignore[attr-defined]

    return act


class Constant:
    """A policy with a constant action."""

    def __init__(self, *action: float):
        self.action: Any = np.float32(action) if len(action) > 1 else np.int64(action[0])

    def __call__(self, env: gymnasium.Env[Any, Any], obs: Any) -> Any:
        return self.action


def land(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
    """Upstream's heuristic for LunarLander."""
    action = lunar_lander.heuristic(env, obs)
    return np.int64(action) if np.ndim(action) == 0 else np.float32(action)


class Walk:
    """Upstream's heuristic for BipedalWalker."""

    def __call__(self, env: gymnasium.Env[Any, Any], obs: Any) -> Any:
        if not hasattr(env.unwrapped, "heuristics") or env.unwrapped.prev_shaping is None:
            env.unwrapped.heuristics = BipedalWalkerHeuristics()
        return np.float32(env.unwrapped.heuristics.step_heuristic(obs))


def follow(env: gymnasium.Env[Any, Any], obs: Any) -> Any:
    """Drive CarRacing's car along the track."""
    car, track = env.unwrapped.car, np.array(env.unwrapped.track)[:, 2:]
    place = np.array(car.hull.position)
    target = track[(np.argmin(((track - place) ** 2).sum(1)) + 5) % len(track)] - place
    ahead = np.array(car.hull.GetWorldVector((0, 1)))
    aside = ahead[0] * target[1] - ahead[1] * target[0]
    is_slow = car.hull.linearVelocity.length < 40
    if isinstance(env.action_space, gymnasium.spaces.Discrete):
        return np.int64((2 if aside > 0 else 1) if abs(aside) > 4 else (3 if is_slow else 0))
    return np.float32([np.clip(-aside / 10, -1, 1), 0.5 if is_slow else 0.0, 0.0 if is_slow else 0.1])


# ---- recording -------------------------------------------------------------------------------------------------------


class Played(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Lets a policy act instead of the caller, and records its actions; a reset counts as an action."""

    def __init__(self, env: gymnasium.Env[Any, Any], policy: Policy, log: list[Any]):
        super().__init__(env)
        self.policy = policy
        self.log = log
        self.obs: Any = None

    def reset(self, **kwargs: Any) -> Any:
        if self.obs is not None:
            self.log.append(None)
        self.obs, info = super().reset(**kwargs)
        return self.obs, info

    def step(self, action: Any) -> Any:
        self.log.append(self.policy(self.env, self.obs))
        result = super().step(self.log[-1])
        self.obs = result[0]
        return result


@dataclass(frozen=True)
class PlayedUpstream(Upstream):
    """An upstream env in which a policy acts."""

    policy: Policy = field(default_factory=random)
    logs: tuple[list[Any], ...] = ()

    def make(self) -> gymnasium.Env[Any, Any]:
        log = next(log for log in self.logs if not log)
        return Played(super().make(), self.policy, log)


def play(task: Upstream, policy: Policy, seeds: list[int], steps: int) -> tuple[Any, Trajectory]:
    """Let a policy act in upstream envs; return its actions, for a pool, and the trajectory."""
    space = task.make().action_space
    idle = np.zeros(space.shape or (), np.float32 if space.shape else np.int32)
    upstream = PlayedUpstream(task.id, task.kwargs, info=task.info, policy=policy, logs=tuple([] for _ in seeds))
    expected = reference(upstream, np.zeros((steps, len(seeds)), np.int64), seeds)
    columns = [[idle if a is None else a for a in log] for log in upstream.logs]
    return np.stack([np.array(c, idle.dtype) for c in columns], axis=1), expected
