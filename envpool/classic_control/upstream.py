"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.verify.gymnasium_oracle import GymnasiumOracle

#: Task id -> id in Gymnasium.
UPSTREAM_IDS = {
    "CartPole-v0": "CartPole-v0",
    "phys2d/CartPole-v0": "CartPole-v0",
    "CartPole-v1": "CartPole-v1",
    "phys2d/CartPole-v1": "CartPole-v1",
    "Pendulum-v0": "Pendulum-v1",
    "phys2d/Pendulum-v0": "Pendulum-v1",
    "Pendulum-v1": "Pendulum-v1",
    "MountainCar-v0": "MountainCar-v0",
    "MountainCarContinuous-v0": "MountainCarContinuous-v0",
    "Acrobot-v1": "Acrobot-v1",
}


def acrobot_state(env: Any, info: dict[str, Any]) -> npt.NDArray[np.float32]:
    """Return the entry ``state`` of the pool's info, which upstream does not have."""
    return np.asarray(env.unwrapped.state[:2], np.float32)


def upstream_of(task_id: str) -> GymnasiumOracle | None:
    """Return the upstream environment of a task; None if Gymnasium does not have it."""
    if task_id not in UPSTREAM_IDS:
        return None
    info = {"state": acrobot_state} if task_id == "Acrobot-v1" else {}
    return GymnasiumOracle(UPSTREAM_IDS[task_id], info=info, packages=("gymnasium",))
