"""FrankaKitchen."""

from __future__ import annotations

from envpool.mujoco.robotics.task import Task

TASKS = [Task("FrankaKitchen-v1", "kitchen", "FrankaKitchen", 280, "FrankaKitchen-v1")]
