"""FrankaKitchen: its tasks, the state in which episodes begin, and the limits and noise of each joint."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.robotics.model_folder import assets

Array = np.ndarray[Any, Any]

#: Task -> the positions that it concerns, and their goal.
TASKS: Mapping[str, tuple[tuple[int, ...], tuple[float, ...]]] = {
    "bottom burner": ((11, 12), (-0.88, -0.01)),
    "top burner": ((15, 16), (-0.92, -0.01)),
    "light switch": ((17, 18), (-0.69, -0.05)),
    "slide cabinet": ((19,), (0.37,)),
    "hinge cabinet": ((20, 21), (0.0, 1.45)),
    "microwave": ((22,), (-0.75,)),
    "kettle": ((23, 24, 25, 26, 27, 28, 29), (-0.23, 0.75, 1.62, 0.99, 0.0, 0.0, -0.06)),
}
#: The positions at the beginning of an episode (m, rad, quaternions).
START = (
    0.148388023, -1.76848573, 1.84390296, -2.4768576, 0.260252026, 0.712533105, 1.59515394, 0.0479267505,
    0.0371350919, -0.00026627985, -5.18043486e-05, 3.1287722e-05, -4.51199853e-05, -3.90842156e-06, -4.22629655e-05,
    6.28065475e-05, 4.04984708e-05, 0.000462730939, -0.000226906415, -0.000465501369, -0.00644129196, -0.00177048263,
    0.00108009684, -0.26939744, 0.350383255, 1.61944683, 1.00618764, 0.0040639512, -0.00662095997, -0.000268278933,
)  # fmt: skip


def read_tasks(tasks_to_complete: Any) -> list[str]:
    """Return the names of tasks without repetitions; None stands for all tasks.

    Raises
    ------
    ConfigError
        The value is not a list of names of tasks, or it is empty.
    """
    if tasks_to_complete is None:
        return list(TASKS)
    is_list = hasattr(tasks_to_complete, "__iter__") and not isinstance(tasks_to_complete, str)
    given = list(tasks_to_complete) if is_list else []
    if not given or not all(isinstance(name, str) and name in TASKS for name in given):
        raise ConfigError(
            f"tasks_to_complete must be a list of one or more of {', '.join(map(repr, TASKS))}, got "
            f"{shown(tasks_to_complete)}"
        )
    return list(dict.fromkeys(given))


def read_joints(count: int) -> Mapping[str, Array]:
    """Return the limits and the amplitudes of noise that upstream's configuration has for each joint.

    Parameters
    ----------
    count : int
        Number of joints.

    Returns
    -------
    mapping of str to numpy.ndarray
        float64: ``pos_bound`` and ``vel_bound`` (count, 2), ``pos_noise_amp`` and ``vel_noise_amp`` (count,).
    """
    root = ET.parse(assets() / "kitchen_franka" / "franka_assets" / "franka_config.xml").getroot()
    joints = [root.find(f"qpos{i}") for i in range(count)]
    found = {
        name: np.array([[float(x) for x in joint.get(name, "").split()] for joint in joints if joint is not None])
        for name in ("pos_bound", "vel_bound", "pos_noise_amp", "vel_noise_amp")
    }
    return found | {name: found[name][:, 0] for name in ("pos_noise_amp", "vel_noise_amp")}
