"""The shared Python side of the env definitions of all MuJoCo tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from envpool.mujoco.base.model_params import PARAMS, resolve_params
from envpool.mujoco.base.opengl import require_gl
from envpool.mujoco.presets import PRESETS
from envpool.native import EnvDefinition, Param

#: Options of every MuJoCo task besides frame_skip, with their defaults. The ``render_*`` options here are those of
#: observed frames (``from_pixels=True``).
OPTIONS: dict[str, Any] = {
    "frame_stack": 1,
    "debug_info": False,
    "from_pixels": False,
    "render_width": 84,
    "render_height": 84,
    "render_camera_id": -1,
}


class MujocoEnvDefinition(EnvDefinition):
    """An env definition whose frames need an OpenGL library; see `envpool.native.EnvDefinition` for the methods.

    Options
    -------
    frame_skip : int
        Number of simulation steps in a step, 1 to 10000.
    frame_stack : int
        Number of observations that an observation contains, oldest first, along an axis of their own; 1 adds no axis.
    debug_info : bool
        If True, info contains the state in which the episode began.
    from_pixels : bool
        If True, the observation is a frame, uint8 (3 * frame_stack, height, width).
    render_width, render_height : int
        Size of the frames in pixels, 1 to 4096.
    render_camera_id : int
        Camera of the frames; -1 is the default camera.
    xml_file : str
        The model: a name in Gymnasium's folder, or a path that starts with ".", "/" or "~".
    post_constraint : bool
        If False, contact forces are not computed and stay zero.
    gymnasium_v5_render_camera : bool
        If True, the default camera of frames is that of v5 of the task instead of v4.
    forward_reward_weight : float
        Weight of the forward velocity (m/s) in the reward.
    ctrl_cost_weight : float
        Weight of the sum of squared controls in the cost.
    healthy_reward : float
        Reward for a step in which the robot is healthy.
    terminate_when_unhealthy : bool
        If True, the episode terminates when the robot becomes unhealthy.
    legacy_healthy_reward : bool
        If True, the step that terminates an episode also gets `healthy_reward`.
    healthy_z_min, healthy_z_max : float
        Heights of the torso (m) between which the robot is healthy.
    healthy_z_range, healthy_angle_range, healthy_state_range : pair of float, optional
        If not None, replaces the options of the same name that end in _min and _max.
    healthy_angle_min, healthy_angle_max : float
        Angles of the torso (rad) between which the robot is healthy.
    healthy_state_min, healthy_state_max : float
        Values of the other positions and velocities between which the robot is healthy.
    reset_noise_scale : float
        Spread of the initial state.
    exclude_current_positions_from_observation : bool
        If True, the position of the robot in the plane is not observed.
    velocity_min, velocity_max : float
        Interval to which observed velocities are clipped.
    contact_force_min, contact_force_max : float
        Interval to which contact forces are clipped.
    contact_cost_weight : float
        Weight of the squared contact forces in the cost.
    contact_cost_min, contact_cost_max : float
        Interval to which the cost of contacts is clipped.
    use_contact_forces : bool, optional
        If not None, replaces `use_contact_force`.
    include_cinert_in_observation : bool
        If True, the inertias of the bodies are observed.
    include_cvel_in_observation : bool
        If True, the velocities of the bodies are observed.
    include_qfrc_actuator_in_observation : bool
        If True, the forces of the actuators are observed.
    include_cfrc_ext_in_observation : bool
        If True, the contact forces are observed.
    exclude_worldbody_observations : bool
        If True, the values of the world body are not observed.
    exclude_root_actuator_forces : bool
        If True, the actuator forces of the free joint are not observed.
    reward_control_weight : float, optional
        If not None, replaces `ctrl_cost_weight`.
    reward_dist_weight : float, optional
        If not None, replaces `dist_cost_weight`.
    reward_near_weight : float, optional
        If not None, replaces `near_cost_weight`.
    """

    unbounded = tuple(
        f"{limited}_{end}"
        for limited in (
            "healthy_z",
            "healthy_angle",
            "healthy_state",
            "velocity",
            "observation",
            "contact_force",
            "contact_cost",
        )
        for end in ("min", "max")
    )
    params: ClassVar[Mapping[str, Param]] = PARAMS
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS
    default_source = "from the model"
    continues_after_end = True
    refuses_nan = True  # Upstream's reward would be NaN: it charges the action.

    @classmethod
    def resolve_params(cls, config: Any) -> Mapping[str, Param]:
        """Return the parameters with the defaults, shapes and names of the model; see `EnvDefinition`."""
        return resolve_params(cls.build, config, cls.params)

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load the OpenGL library if frames are observed, or raise an ImportError that says how to install one."""
        if config.from_pixels:
            require_gl()

    @staticmethod
    def render_assets(config: Any, height: int, width: int) -> None:
        """Load the OpenGL library, or raise an ImportError that says how to install one."""
        require_gl()
