"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np

from envpool.mujoco.base.model import import_with_bindings
from envpool.mujoco.robotics.registration import TASKS
from envpool.verify.gymnasium_oracle import GymnasiumOracle


def load_robotics() -> Any:
    """Import ``gymnasium_robotics``, register its environments, and let them work with the MuJoCo of this package.

    Since MuJoCo 3.12, the members of its enums do not equal NumPy's integers if they stand on the left, so the check of
    the types of joints fails. Here this module of the package gets an enum of plain integers.
    """
    mujoco = import_with_bindings("mujoco")
    package = import_with_bindings("gymnasium_robotics")
    utils: Any = import_with_bindings("gymnasium_robotics.utils.mujoco_utils")
    joints = {name: int(value) for name, value in mujoco.mjtJoint.__members__.items()}
    utils.mujoco = SimpleNamespace(**{**vars(mujoco), "mjtJoint": SimpleNamespace(**joints)})
    gymnasium.register_envs(package)
    return package


def is_success(env: Any, info: Mapping[str, Any]) -> Any:
    """Return whether the goal is reached. Upstream's info has it as float32, and not after a reset."""
    unwrapped = env.unwrapped
    reached = unwrapped._is_success(unwrapped._get_obs()["achieved_goal"], unwrapped.goal)
    assert info.get("is_success", reached) == reached
    return np.float64(reached)


def distance(env: Any, info: Mapping[str, Any]) -> Any:
    """Return the distance from the goal, which upstream's info does not have."""
    unwrapped = env.unwrapped
    return np.linalg.norm(unwrapped._get_obs()["achieved_goal"] - unwrapped.goal, axis=-1)


def pose_distance(index: int) -> Callable[[Any, Mapping[str, Any]], Any]:
    """Return a function that computes the distance of a pose from the goal, or the angle."""

    def get(env: Any, info: Mapping[str, Any]) -> Any:
        unwrapped = env.unwrapped
        return np.float64(unwrapped._goal_distance(unwrapped._get_obs()["achieved_goal"], unwrapped.goal)[index])

    return get


GOAL_INFO: Mapping[str, Any] = {"is_success": is_success, "distance": distance}
MANIPULATE_INFO: Mapping[str, Any] = {"is_success": is_success, "distance": pose_distance(0), "angle": pose_distance(1)}
#: The info arrays that are compared, by the module of the env definition: see `GymnasiumOracle`.
INFO: dict[str, Mapping[str, Any]] = {
    "fetch": GOAL_INFO,
    "hand_reach": GOAL_INFO,
    "hand_manipulate": MANIPULATE_INFO,
}


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> GymnasiumOracle:
    """Return the upstream environment of a task.

    Parameters
    ----------
    task_id : str
        The task. Versions that need mujoco-py are compared with the current ones.
    kwargs : mapping, optional
        Arguments for ``gymnasium.make``.
    """
    load_robotics()
    task = next(task for task in TASKS if task.id == task_id)
    return GymnasiumOracle(
        task.upstream_id,
        dict(kwargs or {}),
        info=INFO[task.module],
        packages=("gymnasium-robotics", "gymnasium", "mujoco"),
    )
