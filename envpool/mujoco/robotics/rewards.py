"""The rewards of goal environments for batches of goals, as hindsight experience replay (HER) needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def distance_rewards(achieved_goal: Array, desired_goal: Array, config: Any) -> Array:
    """Return the rewards of tasks that depend on the distance from the goal alone.

    Parameters
    ----------
    achieved_goal, desired_goal : numpy.ndarray
        Goals (..., goal), of equal shape.
    config : namedtuple
        The options of the task: ``reward_type`` and ``distance_threshold``.

    Returns
    -------
    numpy.ndarray
        Rewards (...): float32 if they are sparse, otherwise of the dtype of the goals.
    """
    distance = np.linalg.norm(achieved_goal - desired_goal, axis=-1)
    if config.reward_type == "sparse":
        distance = (distance > config.distance_threshold).astype(np.float32)
    rewards: Array = np.negative(distance)
    return rewards
