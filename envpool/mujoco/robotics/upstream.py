"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest import mock

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec, load_env_creator

from envpool.mujoco.base.model import import_with_bindings
from envpool.mujoco.robotics.kitchen_config import TASKS as KITCHEN
from envpool.mujoco.robotics.registration import TASKS, Task
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


def success(env: Any, info: Mapping[str, Any]) -> Any:
    """Return whether the task is solved, which upstream's info may lack after a reset."""
    return np.float64(info.get("success", False))


def pose_distance(index: int) -> Callable[[Any, Mapping[str, Any]], Any]:
    """Return a function that computes the distance of a pose from the goal, or the angle."""

    def get(env: Any, info: Mapping[str, Any]) -> Any:
        unwrapped = env.unwrapped
        return np.float64(unwrapped._goal_distance(unwrapped._get_obs()["achieved_goal"], unwrapped.goal)[index])

    return get


def tasks(key: str) -> Callable[[Any, Mapping[str, Any]], Any]:
    """Return a function that turns an entry of info with names of tasks into zeros and ones."""
    return lambda env, info: np.array([float(name in info[key]) for name in KITCHEN])


#: Gymnasium's info of the ant.
ANT = ["reward_forward", "reward_ctrl", "reward_contact", "reward_survive"]
ANT += ["x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity"]
GOAL_INFO: Mapping[str, Any] = {"is_success": is_success, "distance": distance}
MANIPULATE_INFO: Mapping[str, Any] = {"is_success": is_success, "distance": pose_distance(0), "angle": pose_distance(1)}
#: The info arrays that are compared, by the module of the env definition: see `GymnasiumOracle`.
INFO: dict[str, Mapping[str, Any]] = {
    "fetch": GOAL_INFO,
    "hand_reach": GOAL_INFO,
    "hand_manipulate": MANIPULATE_INFO,
    "point_maze": {"success": success},
    "ant_maze": {"success": success, **{key: key for key in ANT}},
    "kitchen": {key: tasks(key) for key in ("tasks_to_complete", "step_task_completions", "episode_task_completions")},
    **{f"adroit_{name}": {"success": success} for name in ("door", "hammer", "pen", "relocate")},
}
#: Keys that upstream's info lacks, by module and version.
UPSTREAM_LACKS = {("ant_maze", "v3"): ("success", "reward_contact"), ("ant_maze", "v4"): ("reward_contact",)}


def info_of(task: Task) -> Mapping[str, Any]:
    """Return the info arrays of a task that are compared."""
    lacking = UPSTREAM_LACKS.get((task.module, task.id[-2:]), ())
    return {key: source for key, source in INFO[task.module].items() if key not in lacking}


def spec_of(task: Task) -> str | EnvSpec:
    """Return what ``gymnasium.make`` makes the upstream environment of a task from.

    A maze writes its model to the folder of temporary files and leaves it there; mazes of v3 of all processes share one
    name. Here each environment has a folder of its own while it is made.
    """
    if not task.module.endswith("_maze"):
        return task.upstream_id
    spec = gymnasium.spec(task.upstream_id)
    create = load_env_creator(str(spec.entry_point))

    def make(**kwargs: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            return create(**kwargs)

    return replace(spec, entry_point=make)


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
        spec_of(task),
        dict(kwargs or {}),
        info=info_of(task),
        packages=("gymnasium-robotics", "gymnasium", "mujoco"),
    )
