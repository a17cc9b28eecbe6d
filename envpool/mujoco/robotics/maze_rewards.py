"""The rewards of mazes for batches of goals, as hindsight experience replay (HER) needs them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Distance (m) up to which a goal counts as reached.
REACHED = 0.45


def maze_rewards(achieved_goal: Array, desired_goal: Array, config: Any) -> Array:
    """Return the rewards of goals in a maze.

    Parameters
    ----------
    achieved_goal, desired_goal : numpy.ndarray
        Positions (..., 2) in metres, of equal shape.
    config : namedtuple
        The options of the task: ``reward_type``.

    Returns
    -------
    numpy.ndarray
        Rewards (...): float64 if they are sparse, otherwise of the dtype of the goals.
    """
    distance: Array = np.linalg.norm(achieved_goal - desired_goal, axis=-1)
    rewards: Array = np.exp(-distance) if config.reward_type == "dense" else (distance <= REACHED).astype(np.float64)
    return rewards
