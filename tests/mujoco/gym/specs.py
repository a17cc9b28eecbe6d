"""Cases of Gymnasium's MuJoCo tasks for the conformance tests: options with their defaults, and bad options."""

from __future__ import annotations

from typing import Any

from envpool.errors import ConfigError
from tests.conformance.cases import BadOption, SpecCase
from tests.mujoco.gym.upstream import IDS

#: EnvPool's options and defaults of v5, and where v4 and earlier versions differ.
COMMON = {"frame_stack": 1, "gymnasium_v5_render_camera": True}
ENVPOOL: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Ant": (
        {
            "frame_skip": 5, "use_contact_force": True, "legacy_healthy_reward": False,
            "exclude_worldbody_contact_forces": True, "terminate_when_unhealthy": True,
            "exclude_current_positions_from_observation": True, "xml_file": "ant.xml", "forward_reward_weight": 1.0,
            "ctrl_cost_weight": 0.5, "contact_cost_weight": 0.0005, "healthy_reward": 1.0, "healthy_z_min": 0.2,
            "healthy_z_max": 1.0, "contact_force_min": -1.0, "contact_force_max": 1.0, "reset_noise_scale": 0.1,
            "reward_threshold": 6000.0,
        },
        {"use_contact_force": False, "legacy_healthy_reward": True, "exclude_worldbody_contact_forces": False},
    ),
    "HalfCheetah": (
        {
            "frame_skip": 5, "exclude_current_positions_from_observation": True, "xml_file": "half_cheetah.xml",
            "ctrl_cost_weight": 0.1, "forward_reward_weight": 1.0, "reset_noise_scale": 0.1, "reward_threshold": 4800.0,
        },
        {},
    ),
    "Hopper": (
        {
            "frame_skip": 4, "terminate_when_unhealthy": True, "legacy_healthy_reward": False,
            "exclude_current_positions_from_observation": True, "xml_file": "hopper.xml", "ctrl_cost_weight": 0.001,
            "forward_reward_weight": 1.0, "healthy_reward": 1.0, "velocity_min": -10.0, "velocity_max": 10.0,
            "healthy_state_min": -100.0, "healthy_state_max": 100.0, "healthy_angle_min": -0.2,
            "healthy_angle_max": 0.2, "healthy_z_min": 0.7, "reset_noise_scale": 0.005, "reward_threshold": 6000.0,
        },
        {"legacy_healthy_reward": True},
    ),
    "Humanoid": (
        {
            "frame_skip": 5, "legacy_healthy_reward": False, "exclude_worldbody_observations": True,
            "exclude_root_actuator_forces": True, "use_contact_force": True, "forward_reward_weight": 1.25,
            "terminate_when_unhealthy": True, "exclude_current_positions_from_observation": True,
            "xml_file": "humanoid.xml", "ctrl_cost_weight": 0.1, "healthy_reward": 5.0, "healthy_z_min": 1.0,
            "healthy_z_max": 2.0, "contact_cost_weight": 5e-07, "contact_cost_max": 10.0, "reset_noise_scale": 0.01,
        },
        {
            "legacy_healthy_reward": True, "exclude_worldbody_observations": False,
            "exclude_root_actuator_forces": False, "use_contact_force": False,
        },
    ),
    "HumanoidStandup": (
        {
            "frame_skip": 5, "forward_reward_weight": 1.0, "exclude_current_positions_from_observation": True,
            "exclude_worldbody_observations": True, "exclude_root_actuator_forces": True,
            "xml_file": "humanoidstandup.xml", "ctrl_cost_weight": 0.1, "contact_cost_weight": 5e-07,
            "contact_cost_max": 10.0, "healthy_reward": 1.0, "reset_noise_scale": 0.01,
        },
        {"exclude_worldbody_observations": False, "exclude_root_actuator_forces": False},
    ),
    "InvertedDoublePendulum": (
        {
            "frame_skip": 5, "healthy_reward": 10.0, "reward_if_not_terminated": True, "constraint_obs_dim": 1,
            "xml_file": "inverted_double_pendulum.xml", "healthy_z_max": 1.0, "observation_min": -10.0,
            "observation_max": 10.0, "reset_noise_scale": 0.1, "reward_threshold": 9100.0,
        },
        {"reward_if_not_terminated": False, "constraint_obs_dim": 3},
    ),
    "InvertedPendulum": (
        {
            "frame_skip": 2, "healthy_reward": 1.0, "reward_if_not_terminated": True,
            "xml_file": "inverted_pendulum.xml", "healthy_z_min": -0.2, "healthy_z_max": 0.2, "reset_noise_scale": 0.01,
            "reward_threshold": 950.0,
        },
        {"reward_if_not_terminated": False},
    ),
    "Pusher": (
        {
            "frame_skip": 5, "ctrl_cost_weight": 0.1, "dist_cost_weight": 1.0, "near_cost_weight": 0.5,
            "xml_file": "pusher_v5.xml", "reward_after_step": True, "weighted_reward_info": True,
            "reset_qvel_scale": 0.005, "cylinder_x_min": -0.3, "cylinder_x_max": 0.0, "cylinder_y_min": -0.2,
            "cylinder_y_max": 0.2, "cylinder_dist_min": 0.17, "reward_threshold": 0.0,
        },
        {"xml_file": "pusher.xml", "reward_after_step": False, "weighted_reward_info": False},
    ),
    "Reacher": (
        {
            "frame_skip": 2, "ctrl_cost_weight": 1.0, "reward_after_step": True, "obs_include_z_distance": False,
            "dist_cost_weight": 1.0, "xml_file": "reacher.xml", "reset_qpos_scale": 0.1, "reset_qvel_scale": 0.005,
            "reset_goal_scale": 0.2, "reward_threshold": -3.75,
        },
        {"reward_after_step": False, "obs_include_z_distance": True},
    ),
    "Swimmer": (
        {
            "frame_skip": 4, "exclude_current_positions_from_observation": True, "xml_file": "swimmer.xml",
            "forward_reward_weight": 1.0, "ctrl_cost_weight": 0.0001, "reset_noise_scale": 0.1,
            "reward_threshold": 360.0,
        },
        {},
    ),
    "Walker2d": (
        {
            "frame_skip": 4, "ctrl_cost_weight": 0.001, "terminate_when_unhealthy": True,
            "exclude_current_positions_from_observation": True, "legacy_healthy_reward": False,
            "xml_file": "walker2d_v5.xml", "forward_reward_weight": 1.0, "healthy_reward": 1.0, "healthy_z_min": 0.8,
            "healthy_z_max": 2.0, "healthy_angle_min": -1.0, "healthy_angle_max": 1.0, "velocity_min": -10.0,
            "velocity_max": 10.0, "reset_noise_scale": 0.005,
        },
        {"xml_file": "walker2d.xml", "legacy_healthy_reward": True},
    ),
}  # fmt: skip
#: EnvPool's info arrays.
PLACE = ["x_position", "y_position", "distance_from_origin", "x_velocity", "y_velocity"]
INFO = {
    "Ant": ["reward_forward", "reward_ctrl", "reward_contact", "reward_survive", *PLACE],
    "HalfCheetah": ["reward_run", "reward_ctrl", "x_position", "x_velocity"],
    "Hopper": ["x_position", "x_velocity"],
    "Humanoid": ["reward_linvel", "reward_quadctrl", "reward_alive", "reward_impact", *PLACE],
    "HumanoidStandup": ["reward_linup", "reward_quadctrl", "reward_alive", "reward_impact"],
    "InvertedDoublePendulum": [],
    "InvertedPendulum": [],
    "Pusher": ["reward_dist", "reward_ctrl", "reward_near"],
    "Reacher": ["reward_dist", "reward_ctrl"],
    "Swimmer": ["reward_fwd", "reward_ctrl", *PLACE],
    "Walker2d": ["x_position", "x_velocity"],
}


def spec(task_id: str) -> SpecCase:
    """Return the case of a task."""
    name, _, version = task_id.partition("-v")
    newest, older = ENVPOOL[name]
    options = COMMON | newest
    if version != "5":
        options |= older | {"gymnasium_v5_render_camera": False}
    if version in "23" and "use_contact_force" in options:
        options["use_contact_force"] = True
    limit = {"Pusher": 100, "Reacher": 50}.get(name, 1000)
    options["max_episode_steps"] = limit
    # Gymnasium computes contact forces in v4; EnvPool does not by default.
    options["post_constraint"] = version == "5" or (version == "4" and name in ("Ant", "Humanoid", "HumanoidStandup"))
    threshold = options.get("reward_threshold")
    # EnvPool's reward threshold of Hopper is not gymnasium's.
    upstream_id = task_id if version in "45" and name != "Hopper" else None
    return SpecCase(task_id, upstream_id, limit, threshold, options=options, has_more_options=True)


SPECS = [spec(task_id) for task_id in IDS]

BAD: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("Ant-v5", {"frame_skip": 0}, ConfigError, "frame_skip must be between 1 and 10000.*, got 0"),
    ("Ant-v5", {"frame_stack": 0}, ConfigError, "frame_stack must be between 1 and 10000.*, got 0"),
    ("Ant-v5", {"frame_skip": 1.5}, TypeError, "frame_skip must be of type int, got 1.5"),
    (
        "Ant-v5",
        {"reset_noise_scale": -0.1},
        ConfigError,
        r"reset_noise_scale must be between 0\.0 and 1e100.*, got -0\.1",
    ),
    ("Ant-v5", {"reset_noise_scale": float("nan")}, ConfigError, "reset_noise_scale must .*, got nan"),
    ("Ant-v5", {"ctrl_cost_weight": float("inf")}, ConfigError, "ctrl_cost_weight must be a finite number, got inf"),
    ("Ant-v5", {"forward_reward_weight": 1e300}, ConfigError, "forward_reward_weight must be .* float32 can hold"),
    ("Ant-v5", {"contact_force_max": float("-inf")}, ConfigError, "contact_force_max must be greater than -inf"),
    ("Hopper-v5", {"velocity_max": float("-inf")}, ConfigError, "velocity_max must be greater than -inf"),
    (
        "Reacher-v5",
        {"reward_dist_weight": float("nan")},
        ConfigError,
        "reward_dist_weight must be a finite number, got nan",
    ),
    ("Reacher-v5", {"reward_threshold": float("nan")}, ConfigError, "reward_threshold must be a finite number"),
    ("Ant-v5", {"healthy_z_range": 1.0}, ConfigError, r"healthy_z_range must be a pair of numbers.*, got 1\.0"),
    ("Ant-v5", {"healthy_z_range": (0, 1, 2)}, ConfigError, "healthy_z_range must be a pair of numbers.*, got .*"),
    ("Ant-v5", {"healthy_z_range": ("low", "high")}, ConfigError, "healthy_z_range must be a pair.*, got .*"),
    ("Ant-v5", {"healthy_z_range": (float("nan"), 1)}, ConfigError, r"healthy_z_range\[0\] must not be NaN"),
    ("Ant-v5", {"healthy_z_max": float("nan")}, ConfigError, "healthy_z_max must not be NaN"),
    ("Ant-v5", {"main_body": "torsoo"}, ConfigError, "ant.xml' has no body called 'torsoo'"),
    ("Ant-v5", {"main_body": 14}, ConfigError, "main_body must be the name of a body or between 0 and 13, got 14"),
    ("Ant-v5", {"main_body": -1}, ConfigError, "main_body must be .*, got -1"),
    ("Ant-v5", {"main_body": 1.0}, ConfigError, r"main_body must be .*, got 1\.0"),
    ("Ant-v5", {"use_contact_forces": 2}, TypeError, "use_contact_forces must be of type bool, got 2"),
    ("Ant-v5", {"version": 2}, ConfigError, "version must be one of 3, 4, 5, got 2"),
    ("Ant-v5", {"xml_file": "ants.xml"}, ConfigError, r"got 'ants\.xml', but there is no file .*ant\.xml"),
    ("Ant-v5", {"xml_file": "~nouser/ant.xml"}, ConfigError, "got '~nouser/ant.xml', but ~nouser is"),
    ("Ant-v5", {"xml_file": "/no/" + "a" * 5000}, ConfigError, r"no file /no/a{196}\.\.\. .*: correct the path"),
    ("Ant-v5", {"xml_file": "/no/ant.xml"}, ConfigError, "no file /no/ant.xml: correct the path, or write the name"),
    (
        "Reacher-v5",
        {"xml_file": "ant.xml"},
        ConfigError,
        "ant.xml' has no body called 'fingertip', which this task needs",
    ),
    (
        "InvertedDoublePendulum-v5",
        {"xml_file": "ant.xml"},
        ConfigError,
        "ant.xml' has 0 sites, this task needs at least",
    ),
    ("InvertedPendulum-v5", {"reward_threshold": "high"}, TypeError, "reward_threshold must be of type float"),
    (
        "InvertedDoublePendulum-v5",
        {"constraint_obs_dim": 4},
        ConfigError,
        "constraint_obs_dim must be between 0 and 3.*, got 4",
    ),
    ("Pusher-v5", {"cylinder_dist_min": 5.0}, ConfigError, r"cylinder_dist_min must be at most 0\.35.*, got 5\.0"),
    ("Pusher-v5", {"cylinder_x_max": -0.4}, ConfigError, r"got cylinder_x_min=-0\.3 and cylinder_x_max=-0\.4"),
    (
        "Reacher-v5",
        {"reset_goal_scale": 0.0},
        ConfigError,
        r"reset_goal_scale must be between 1e-100 and 1e100.*, got 0\.0",
    ),
    ("Reacher-v5", {"reward_dist_weight": "much"}, TypeError, "reward_dist_weight must be of type float, got 'much'"),
]
BAD_OPTIONS = [BadOption(task_id, options, error, [text]) for task_id, options, error, text in BAD]
