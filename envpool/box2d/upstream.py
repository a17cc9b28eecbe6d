"""The upstream environments of this family, for ``envpool verify`` and the tests.

Version 3 is gymnasium's. Version 2 is what gymnasium 0.29.1 had, made of the installed version: the differences between
the two are written down here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import numpy as np
from gymnasium.envs.box2d import car_racing, lunar_lander
from gymnasium.envs.registration import EnvSpec

from envpool.verify.gymnasium_oracle import GymnasiumOracle

#: Second word of the seed of the generator that draws the wind of LunarLander's version 2.
WIND_STREAM = 0x77696E64
#: Name of the class of LunarLander's world.
WORLD = f"{lunar_lander.__name__}.Box2D.b2World"
PACKAGES = ("gymnasium", "box2d", "pygame-ce")


class LunarLanderV2(lunar_lander.LunarLander):
    """Keeps its world and wind over episodes; upstream draws the wind once, from numpy's global generator."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start an episode in the same world."""
        if seed is not None:
            rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, WIND_STREAM])))
            self.wind_idx, self.torque_idx = rng.integers(-9999, 9999), rng.integers(-9999, 9999)
            self.has_wind = getattr(self, "has_wind", self.enable_wind)
        world, self.enable_wind = self.world, False  # Otherwise reset() would draw the wind.
        with patch(WORLD, lambda gravity: world):
            return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        """Step with the wind that reset() kept off."""
        self.enable_wind = self.has_wind
        return super().step(action)  # type: ignore[no-untyped-call]


class CarRacingV2(car_racing.CarRacing):
    """Truncates when the lap is finished, and shows the reward without its fraction."""

    def step(self, action: Any) -> Any:
        """Step; the end of a lap truncates."""
        obs, reward, terminated, truncated, info = super().step(action)
        if info.get("lap_finished"):
            terminated, truncated = False, True
        return obs, reward, terminated, truncated, info

    def _render(self, mode: str) -> Any:
        reward, self.reward = self.reward, float(int(self.reward))
        try:
            return super()._render(mode)
        finally:
            self.reward = reward


def lap_finished(env: Any, info: Mapping[str, Any]) -> np.bool_:
    """Return whether the lap is finished, which upstream's info says only where it is."""
    return np.bool_(info.get("lap_finished", False))


#: Environments of version 2 by the name of the task.
VERSION_2: dict[str, tuple[Any, dict[str, Any]]] = {
    "LunarLander-v2": (LunarLanderV2, {}),
    "LunarLanderContinuous-v2": (LunarLanderV2, {"continuous": True}),
    "CarRacing-v2": (CarRacingV2, {}),
}


def upstream_of(task_id: str) -> GymnasiumOracle:
    """Return the upstream environment of a task."""
    info = {"lap_finished": lap_finished} if task_id.startswith("CarRacing") else {}
    if task_id not in VERSION_2:
        return GymnasiumOracle(task_id, info=info, packages=PACKAGES)
    env, kwargs = VERSION_2[task_id]
    spec = EnvSpec(task_id, entry_point=env, max_episode_steps=1000)
    note = "(gymnasium 0.29.1), made of version 3"
    return GymnasiumOracle(spec, kwargs, info=info, packages=PACKAGES, note=note)
