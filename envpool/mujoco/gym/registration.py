"""Task table of Gymnasium's MuJoCo tasks: what each version changes in the options of its kind of env."""

from typing import Any

from envpool.registration import register

FAMILY = "envpool.mujoco.gym"

#: Module, env, first version, time limit, and what all versions before v5 have. The envs' own defaults are v5's.
KINDS: dict[str, tuple[str, int, int, dict[str, Any]]] = {
    "Ant": (
        "ant",
        3,
        1000,
        {"use_contact_force": False, "legacy_healthy_reward": True, "exclude_worldbody_contact_forces": False},
    ),
    "HalfCheetah": ("half_cheetah", 3, 1000, {}),
    "Hopper": ("legged", 3, 1000, {"legacy_healthy_reward": True}),
    "Humanoid": (
        "humanoid",
        3,
        1000,
        {
            "use_contact_force": False,
            "legacy_healthy_reward": True,
            "exclude_worldbody_observations": False,
            "exclude_root_actuator_forces": False,
        },
    ),
    "HumanoidStandup": (
        "humanoid_standup",
        2,
        1000,
        {"exclude_worldbody_observations": False, "exclude_root_actuator_forces": False},
    ),
    "InvertedDoublePendulum": (
        "inverted_double_pendulum",
        2,
        1000,
        {"constraint_obs_dim": 3, "reward_if_not_terminated": False},
    ),
    "InvertedPendulum": ("inverted_pendulum", 2, 1000, {"reward_if_not_terminated": False}),
    "Pusher": (
        "pusher",
        2,
        100,
        {"xml_file": "pusher.xml", "reward_after_step": False, "weighted_reward_info": False},
    ),
    "Reacher": ("reacher", 2, 50, {"reward_after_step": False, "obs_include_z_distance": True}),
    "Swimmer": ("swimmer", 3, 1000, {}),
    "Walker2d": ("legged", 3, 1000, {"xml_file": "walker2d.xml", "legacy_healthy_reward": True}),
}
#: Kinds with an option that says which version of info they give.
VERSIONED = ("Ant", "Humanoid")
#: Kinds that read contact forces.
FEELING = ("Ant", "Humanoid", "HumanoidStandup")


def options_of(kind: str, version: int) -> dict[str, Any]:
    """Return the options of a task that differ from the env's own."""
    if version == 5:
        return {"gymnasium_v5_render_camera": True}
    # mujoco-py 2, which v2 and v3 ran on, left contact forces at zero, and rewards counted them all the same.
    options = KINDS[kind][3] | {"post_constraint": version == 4 and kind in FEELING}
    if kind in VERSIONED:
        options["version"] = version
    if version < 4 and "use_contact_force" in options:
        options["use_contact_force"] = True
    return options


for kind, (module, first, limit, _) in KINDS.items():
    for version in (first, 4, 5):
        register(
            f"{kind}-v{version}",
            f"{FAMILY}.{module}",
            env=f"Gym{kind}",
            max_episode_steps=limit,
            **options_of(kind, version),
        )
