"""The upstream environments of this family, for ``envpool verify`` and the tests."""

from __future__ import annotations

import logging
from types import ModuleType

import gymnasium

from envpool.verify.gymnasium_oracle import GymnasiumOracle


def load() -> ModuleType:
    """Return ``minatar.gym``, whose environments are registered with gymnasium after that.

    MinAtar logs a warning if seaborn and matplotlib are missing, which only its rendering needs.
    """
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        import minatar.gym
    finally:
        logging.disable(before)
    if "MinAtar/Breakout-v0" not in gymnasium.registry:
        minatar.gym.register_envs()
    module: ModuleType = minatar.gym
    return module


def upstream_of(task_id: str) -> GymnasiumOracle:
    """Return the upstream environment of a task."""
    load()
    return GymnasiumOracle(task_id, packages=("gymnasium", "MinAtar"))
