"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.verify.gymnasium_oracle import GymnasiumOracle

#: Task id -> id in Gymnasium, which does not have the other tasks.
UPSTREAM_IDS = {
    "FrozenLake-v1": "FrozenLake-v1",
    "FrozenLake8x8-v1": "FrozenLake8x8-v1",
    "Taxi-v3": "Taxi-v4",
    "Taxi-v4": "Taxi-v4",
    "CliffWalking-v0": "CliffWalking-v1",
    "CliffWalking-v1": "CliffWalking-v1",
    "CliffWalkingSlippery-v1": "CliffWalkingSlippery-v1",
    "tabular/CliffWalking-v0": "CliffWalking-v1",
    "Blackjack-v1": "Blackjack-v1",
    "tabular/Blackjack-v0": "Blackjack-v1",
}


def float32_prob(env: Any, info: dict[str, Any]) -> np.float32:
    """Return the probability in info, which upstream gives as int or float."""
    return np.float32(info["prob"])


def upstream_of(task_id: str) -> GymnasiumOracle | None:
    """Return the upstream environment of a task; None if Gymnasium does not have it."""
    if task_id not in UPSTREAM_IDS:
        return None
    upstream_id = UPSTREAM_IDS[task_id]
    if upstream_id == "Blackjack-v1":
        return GymnasiumOracle(upstream_id, observation=lambda obs: np.array(obs, np.int32), packages=("gymnasium",))
    info: dict[str, Any] = {"prob": float32_prob}
    if upstream_id == "Taxi-v4":
        info["action_mask"] = "action_mask"
    return GymnasiumOracle(upstream_id, info=info, packages=("gymnasium",))
