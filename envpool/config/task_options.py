# ruff: noqa: E741 (an option of Pendulum is called l)
"""The types of all options of ``make``, for type checkers and editors; written by scripts/task_options.py.

A type checker finds misspelt names and values of a wrong type. Options of your own environments are not listed here:
pass them as ``**options`` with ``options: dict[str, Any]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from gymnasium.vector import AutoresetMode


class CommonOptions(TypedDict, total=False):
    """The options that tasks share, see `envpool.config.options`."""

    num_envs: int
    batch_size: int
    num_threads: int
    max_num_players: int
    thread_affinity_offset: int
    seed: int | Sequence[int] | npt.NDArray[np.integer[Any]] | None
    env_seed: Sequence[int] | npt.NDArray[np.integer[Any]]
    gym_reset_return_info: bool
    autoreset_mode: Literal["next_step", "same_step", "disabled"] | AutoresetMode
    max_episode_steps: int
    numa: bool
    on_error: Literal["raise", "restart"]
    step_timeout: float | None
    episode_statistics: bool
    finished_episodes: bool
    require_finite_actions: bool
    players: Literal["rows", "grid", "dict"] | None
    observe: Literal["all", "current"] | None
    illegal_actions: Literal["raise", "lose"] | None
    randomize: Mapping[str, Sequence[Any]] | None
    time_aware: bool | Literal["normalized"]
    frame_stack: int
    float32_obs: bool
    normalize_obs: bool | Mapping[str, float]
    clip_obs: float | Sequence[float] | None
    scale_reward: float
    normalize_reward: bool | Mapping[str, float]
    reward_clip: bool | float | Sequence[float] | None
    clip_action: bool
    rescale_action: Literal[True] | Sequence[Any] | None
    render_mode: Literal["rgb_array", "human"] | None
    render_env_id: int
    render_width: int
    render_height: int
    render_camera_id: int | Literal["track"]
    preset: str | None
    gym_api: Literal["auto", "gymnasium", "legacy"]
    controlled: int | str | Sequence[int | str] | None
    opponents: Literal["random"] | Callable[..., Any]


class OtherWords(TypedDict, total=False):
    """The words of other libraries for some of these options."""

    num_workers: int
    max_cycles: int
    clip_reward: bool | float | Sequence[float] | None


class TaskOptions(TypedDict, total=False):
    """The options that only some tasks have; ``envpool spec TASK`` describes those of a task."""

    stack_num: int
    noop_max: int
    zero_discount_on_life_loss: bool
    episodic_life: bool
    use_fire_reset: bool
    img_height: int
    img_width: int
    task: str
    full_action_space: bool
    use_inter_area_resize: bool
    gray_scale: bool
    continuous: bool
    continuous_action_threshold: float
    maxpool: bool
    padding_type: str
    life_loss_info: bool
    frame_number_info: bool
    frame_skip: Any
    mode: Any
    difficulty: Any
    repeat_action_probability: Any
    reward_threshold: float
    version: int
    enable_wind: bool
    gravity: Any
    wind_power: Any
    turbulence_power: Any
    main_engine_power: Any
    side_engine_power: Any
    main_engine_y_location: Any
    side_engine_height: Any
    side_engine_away: Any
    initial_random: Any
    leg_away: Any
    leg_down: Any
    leg_w: Any
    leg_h: Any
    leg_spring_torque: Any
    lander_density: Any
    leg_density: Any
    moon_friction: Any
    hardcore: bool
    motors_torque: Any
    speed_hip: Any
    speed_knee: Any
    lidar_range: Any
    hull_density: Any
    hull_friction: Any
    friction: Any
    terrain_step: Any
    terrain_length: Any
    terrain_height: Any
    terrain_grass: Any
    terrain_startpad: Any
    terrain_roughness: Any
    stump_min: Any
    stump_max: Any
    pit_min: Any
    pit_max: Any
    pit_depth: Any
    stair_width_min: Any
    stair_width_max: Any
    stair_steps_min: Any
    stair_steps_max: Any
    domain_randomize: bool
    size: Any
    engine_power: Any
    wheel_moment_of_inertia: Any
    friction_limit: Any
    grass_friction: Any
    brake_force: Any
    track_rad: Any
    track_detail_step: Any
    track_turn_rate: Any
    track_width: Any
    border: Any
    border_min_count: Any
    playfield: Any
    lap_complete_percent: Any
    sutton_barto_reward: bool
    masscart: Any
    masspole: Any
    length: Any
    force_mag: Any
    tau: Any
    theta_threshold_radians: Any
    x_threshold: Any
    max_speed: Any
    max_torque: Any
    dt: Any
    g: Any
    m: Any
    l: Any
    min_position: Any
    max_position: Any
    goal_position: Any
    goal_velocity: Any
    force: Any
    power: Any
    min_action: Any
    max_action: Any
    book_or_nips: str
    LINK_LENGTH_1: Any
    LINK_LENGTH_2: Any
    LINK_MASS_1: Any
    LINK_MASS_2: Any
    LINK_COM_POS_1: Any
    LINK_COM_POS_2: Any
    LINK_MOI: Any
    MAX_VEL_1: Any
    MAX_VEL_2: Any
    torque_noise_max: Any
    AVAIL_TORQUE: Any
    env_name: str
    scenario: Any
    representation: str
    stacked: bool
    rewards: str
    left_agents: int
    right_agents: int
    action_set: str
    channel_dimensions: Any
    raw_info: bool
    game_engine_random_seed: Any
    physics_steps_per_frame: int
    deterministic: Any
    offsides: Any
    second_half: Any
    end_episode_on_score: Any
    end_episode_on_possession_change: Any
    end_episode_on_out_of_play: Any
    render: bool
    render_resolution_x: int
    render_resolution_y: int
    left_team_difficulty: Any
    right_team_difficulty: Any
    sticky_action_prob: float
    difficulty_ramping: bool
    use_minimal_action_set: bool
    max_steps: int
    agent_view_size: int
    see_through_walls: bool
    mission: str
    mission_bytes: int
    observation: str
    goal_direction: str
    bonus: str
    bonus_scale: float
    reset_seeds: Any
    obs_tile_size: int
    from_pixels: bool
    tile_size: int
    highlight: bool
    agent_pov: bool
    room_size: int
    num_dists: int
    num_rows: int
    num_cols: int
    doors_open: bool
    locked_room_prob: float
    locations: bool
    unblocking: bool
    implicit_unlock: bool
    action_kinds: str
    instr_kinds: str
    select_by: str
    debug: bool
    first_color: str
    second_color: str
    strict: bool
    num_doors: int
    num_objs: int
    objs_per_room: int
    start_carrying: bool
    distractors: bool
    obj_type: str
    num_crossings: int
    obstacle_type: str
    width: int
    height: int
    agent_start_pos: Any
    agent_start_dir: int
    strip2_row: int
    n_obstacles: int
    agent_pos: Any
    goal_pos: Any
    random_length: bool
    min_num_rooms: int
    max_num_rooms: int
    max_room_size: int
    key_in_box: bool
    blocked: bool
    agent_room: Any
    num_quarters: int
    num_rooms_visited: int
    num_collectors: int
    num_deposits: int
    num_treasures: int
    continuous_actions: bool
    dynamic_rescaling: bool
    benchmark_data: bool
    N: int
    num_agent_neighbors: Any
    num_landmark_neighbors: Any
    terminate_on_success: bool
    local_ratio: float
    curriculum: bool
    curriculum_stage: Any
    num_good: int
    num_adversaries: int
    num_obstacles: int
    num_food: int
    num_forests: int
    debug_info: bool
    task_name: str
    wind: Any
    density: Any
    viscosity: Any
    body_mass: Any
    body_inertia: Any
    geom_friction: Any
    dof_damping: Any
    dof_armature: Any
    dof_frictionloss: Any
    jnt_stiffness: Any
    actuator_gain: Any
    post_constraint: bool
    gymnasium_v5_render_camera: bool
    use_contact_force: bool
    use_contact_forces: Any
    include_cfrc_ext_in_observation: Any
    legacy_healthy_reward: bool
    exclude_worldbody_contact_forces: bool
    terminate_when_unhealthy: bool
    exclude_current_positions_from_observation: bool
    xml_file: str
    main_body: Any
    forward_reward_weight: float
    ctrl_cost_weight: float
    contact_cost_weight: float
    healthy_reward: float
    healthy_z_min: float
    healthy_z_max: float
    healthy_z_range: Any
    contact_force_min: float
    contact_force_max: float
    contact_force_range: Any
    reset_noise_scale: float
    velocity_min: float
    velocity_max: float
    healthy_angle_range: Any
    healthy_state_min: float
    healthy_state_max: float
    healthy_state_range: Any
    healthy_angle_min: float
    healthy_angle_max: float
    contact_cost_max: float
    exclude_worldbody_observations: bool
    exclude_root_actuator_forces: bool
    include_cinert_in_observation: bool
    include_cvel_in_observation: bool
    include_qfrc_actuator_in_observation: bool
    contact_cost_min: float
    contact_cost_range: Any
    uph_cost_weight: float
    impact_cost_weight: Any
    impact_cost_range: Any
    reward_if_not_terminated: bool
    constraint_obs_dim: int
    observation_min: float
    observation_max: float
    reward_control_weight: Any
    dist_cost_weight: float
    reward_dist_weight: Any
    near_cost_weight: float
    reward_near_weight: Any
    reward_after_step: bool
    weighted_reward_info: bool
    reset_qvel_scale: float
    cylinder_x_min: float
    cylinder_x_max: float
    cylinder_y_min: float
    cylinder_y_max: float
    cylinder_dist_min: float
    obs_include_z_distance: bool
    reset_qpos_scale: float
    reset_goal_scale: float
    reward_type: str
    has_object: bool
    block_gripper: bool
    target_in_the_air: bool
    gripper_extra_height: float
    target_offset_x: float
    target_offset_y: float
    target_offset_z: float
    obj_range: float
    target_range: float
    distance_threshold: float
    initial_slide0: float
    initial_slide1: float
    initial_slide2: float
    initial_object_x: float
    initial_object_y: float
    initial_object_z: float
    rotation_threshold: float
    target_position: str
    target_rotation: str
    target_position_low0: float
    target_position_high0: float
    target_position_low1: float
    target_position_high1: float
    target_position_low2: float
    target_position_high2: float
    randomize_initial_position: bool
    randomize_initial_rotation: bool
    ignore_z_target_rotation: bool
    touch_visualisation: str
    touch_get_obs: str
    maze_map: Any
    continuing_task: bool
    reset_target: bool
    position_noise_range: float
    maze_size_scaling: float
    maze_height: float
    tasks_to_complete: Any
    terminate_on_tasks_completed: bool
    remove_task_when_completed: bool
    robot_noise_ratio: float
    object_noise_ratio: float
    observation_keys: Any
    actions: Any
    character: str
    options: Any
    penalty_mode: str
    penalty_step: float
    penalty_time: float
    allow_all_yn_questions: bool
    allow_all_modes: bool
    spawn_monsters: bool
    wizard: bool
    no_progress_timeout: int
    channel_first: bool
    num_levels: int
    start_level: int
    use_sequential_levels: bool
    center_agent: bool
    use_backgrounds: bool
    use_monochrome_assets: bool
    restrict_themes: bool
    use_generated_assets: bool
    paint_vel_info: bool
    use_easy_jump: bool
    distribution_mode: int
    seed_rows: bool
    grid: Any
    is_deterministic: bool
    num_objects: Any
    default_reward: Any
    map_name: Any
    is_slippery: bool
    reward_schedule: Any
    desc: Any
    success_rate: Any
    is_rainy: bool
    fickle_passenger: bool
    rainy_probability: Any
    fickle_probability: Any
    n: int
    slip: Any
    small: Any
    large: Any
    natural: bool
    sab: bool
    lmp_save_dir: str
    force_speed: bool
    use_combined_action: bool
    weapon_duration: int
    reward_config: Any
    selected_weapon_reward_config: Any
    delta_button_config: Any
    cfg_path: str
    wad_path: str
    vzd_path: str
    iwad_path: str
    game_args: str
    map_id: str
    depth: bool
    labels: bool
    automap: bool
    game_variables: Any
    scenario_reward: bool


class Options(TaskOptions, OtherWords, CommonOptions, total=False):
    """The options of ``make`` and ``make_spec``."""


class Config(Protocol):
    """The validated options of a task, a named tuple; those that only some tasks have are of type Any."""

    num_envs: int
    batch_size: int
    num_threads: int
    max_num_players: int
    thread_affinity_offset: int
    seed: int | None
    env_seed: list[int]
    gym_reset_return_info: bool
    autoreset_mode: str
    max_episode_steps: int
    numa: bool
    on_error: Literal["raise", "restart"]
    step_timeout: float | None
    episode_statistics: bool
    finished_episodes: bool
    require_finite_actions: bool
    players: Literal["rows", "grid", "dict"] | None
    observe: Literal["all", "current"] | None
    illegal_actions: Literal["raise", "lose"] | None
    randomize: dict[str, tuple[Any, ...]] | None

    def __getattr__(self, name: str) -> Any: ...
