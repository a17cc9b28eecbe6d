"""Gymnasium's MuJoCo tasks as native code that returns the same bits."""

from collections.abc import Mapping
from typing import Any

from envpool.pools.classes import classes_of


def class_defaults() -> Mapping[str, Mapping[str, Any]]:
    """Return the defaults of EnvPool's classes, those of the versions before v5."""
    from envpool.mujoco.gym.registration import TASKS

    return {f"Gym{row.task}": row.class_defaults for row in TASKS}


__getattr__ = classes_of(__name__, class_defaults)
