"""The task table of Gymnasium's MuJoCo tasks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from envpool.tasks.entries import table

register = table(__name__)


class TaskRow(NamedTuple):
    """One task in all its versions.

    Attributes
    ----------
    task : str
        Name of the task; ids are ``<task>-v<version>``, and the env definition is the class ``Gym<task>``.
    module : str
        Module of this package with the env definition.
    versions : tuple of int
        Versions that are registered.
    max_episode_steps : int
        Time limit of an episode, in steps.
    before_v5 : mapping
        Options of versions before v5. The defaults of the env definition are those of v5.
    reads_contact_forces : bool
        If True, observation or reward depend on contact forces, so v4 computes them.
    has_version_option : bool
        If True, the env definition has an option ``version``.
    """

    task: str
    module: str
    versions: tuple[int, ...]
    max_episode_steps: int
    before_v5: Mapping[str, Any] = MappingProxyType({})
    reads_contact_forces: bool = False
    has_version_option: bool = False

    @property
    def class_defaults(self) -> dict[str, Any]:
        """The defaults of EnvPool's class that differ from those of the env definition."""
        return {**self.before_v5, **({"version": 4} if self.has_version_option else {})}

    def options_of(self, version: int) -> dict[str, Any]:
        """Return the options of a version that differ from the defaults of the env definition."""
        if version == 5:
            return {"gymnasium_v5_render_camera": True}
        # mujoco-py 2, on which v2 and v3 ran, left contact forces at zero, and the rewards still counted them.
        options = {**self.before_v5, "post_constraint": version == 4 and self.reads_contact_forces}
        if self.has_version_option:
            options["version"] = version
        if version < 4 and "use_contact_force" in options:
            options["use_contact_force"] = True
        return options


ANT = {"use_contact_force": False, "legacy_healthy_reward": True, "exclude_worldbody_contact_forces": False}
STANDUP = {"exclude_worldbody_observations": False, "exclude_root_actuator_forces": False}
HUMANOID = {"use_contact_force": False, "legacy_healthy_reward": True, **STANDUP}
DOUBLE_PENDULUM = {"constraint_obs_dim": 3, "reward_if_not_terminated": False}
PENDULUM = {"reward_if_not_terminated": False}
PUSHER = {"xml_file": "pusher.xml", "reward_after_step": False, "weighted_reward_info": False}
REACHER = {"reward_after_step": False, "obs_include_z_distance": True}
WALKER = {"xml_file": "walker2d.xml", "legacy_healthy_reward": True}

TASKS = [
    TaskRow("Ant", "ant", (3, 4, 5), 1000, ANT, reads_contact_forces=True, has_version_option=True),
    TaskRow("HalfCheetah", "half_cheetah", (3, 4, 5), 1000),
    TaskRow("Hopper", "planar_walkers", (3, 4, 5), 1000, {"legacy_healthy_reward": True}),
    TaskRow("Humanoid", "humanoids", (3, 4, 5), 1000, HUMANOID, reads_contact_forces=True, has_version_option=True),
    TaskRow("HumanoidStandup", "humanoids", (2, 4, 5), 1000, STANDUP, reads_contact_forces=True),
    TaskRow("InvertedDoublePendulum", "inverted_double_pendulum", (2, 4, 5), 1000, DOUBLE_PENDULUM),
    TaskRow("InvertedPendulum", "inverted_pendulum", (2, 4, 5), 1000, PENDULUM),
    TaskRow("Pusher", "pusher", (2, 4, 5), 100, PUSHER),
    TaskRow("Reacher", "reacher", (2, 4, 5), 50, REACHER),
    TaskRow("Swimmer", "swimmer", (3, 4, 5), 1000),
    TaskRow("Walker2d", "planar_walkers", (3, 4, 5), 1000, WALKER),
]

#: Task, versions and time limit of each task, in the form of EnvPool's table of this name.
gym_mujoco_envs = [(row.task, tuple(f"v{v}" for v in row.versions), row.max_episode_steps) for row in TASKS]

for row in TASKS:
    module, env = f"envpool.mujoco.gym.{row.module}", f"Gym{row.task}"
    for v in row.versions:
        register(f"{row.task}-v{v}", module, env=env, max_episode_steps=row.max_episode_steps, **row.options_of(v))
