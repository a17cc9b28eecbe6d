"""The rewards of goal environments for batches of goals, as hindsight experience replay (HER) needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.mujoco.robotics.quaternions import angles_between, euler2quat, quat2euler

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


def manipulation_rewards(achieved_goal: Array, desired_goal: Array, config: Any) -> Array:
    """Return the rewards of the tasks in which a hand manipulates an object.

    Parameters
    ----------
    achieved_goal, desired_goal : numpy.ndarray
        Poses (..., 7), of equal shape: positions and quaternions.
    config : namedtuple
        The options of the task.

    Returns
    -------
    numpy.ndarray
        Rewards (...): float32 if they are sparse; otherwise of the dtype of the goals, or float64 if the rotation about
        the z-axis is ignored.
    """
    distance = np.zeros_like(achieved_goal[..., 0])
    if config.target_position != "ignore":
        distance = np.linalg.norm(achieved_goal[..., :3] - desired_goal[..., :3], axis=-1)
    quat, goal_quat = achieved_goal[..., 3:], desired_goal[..., 3:]
    if config.ignore_z_target_rotation:
        euler = quat2euler(quat.astype(np.float64))
        euler[..., 2] = quat2euler(goal_quat.astype(np.float64))[..., 2]
        quat = euler2quat(euler)
    angle = angles_between(quat, goal_quat)
    if config.reward_type == "sparse":
        is_success = (distance < config.distance_threshold) & (angle < config.rotation_threshold)
        rewards: Array = is_success.astype(np.float32) - np.float32(1.0)
        return rewards
    rewards = -(10.0 * distance + angle)
    return rewards
