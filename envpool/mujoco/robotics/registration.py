"""The task table of Gymnasium-Robotics; each group of tasks is listed in a module ``ids_<group>``."""

from __future__ import annotations

from envpool.mujoco.robotics import ids_adroit, ids_fetch, ids_hand, ids_kitchen, ids_maze
from envpool.mujoco.robotics.task import Task
from envpool.tasks.entries import table

register = table(__name__)

#: All tasks.
TASKS: list[Task] = [*ids_fetch.TASKS, *ids_hand.TASKS, *ids_maze.TASKS, *ids_adroit.TASKS, *ids_kitchen.TASKS]

for row in TASKS:
    module = f"envpool.mujoco.robotics.{row.module}"
    register(row.id, module, env=row.env, max_episode_steps=row.max_episode_steps, **row.options)
