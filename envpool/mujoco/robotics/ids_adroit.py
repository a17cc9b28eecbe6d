"""The tasks of the Adroit hand."""

from __future__ import annotations

from envpool.mujoco.robotics.task import Task

TASKS = [
    Task(id_, f"adroit_{name.lower()}", f"AdroitHand{name}", 200, id_, {"reward_type": reward_type})
    for name in ("Door", "Hammer", "Pen", "Relocate")
    for suffix, reward_type in (("", "dense"), ("Sparse", "sparse"))
    for id_ in (f"AdroitHand{name}{suffix}-v1",)
]
