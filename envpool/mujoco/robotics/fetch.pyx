"""The Fetch tasks: an arm that reaches for a goal, or pushes, slides, or picks up an object and moves it there.

Source of the dynamics: ``gymnasium_robotics.envs.fetch.fetch_env`` and ``gymnasium_robotics.envs.robot_env``.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from envpool.mujoco.base.mujoco cimport mjEQ_WELD, mjNEQDATA
from envpool.mujoco.robotics.goals cimport (
    DISTANCE, IS_SUCCESS, GoalState, Model, Outcome, Sim, TaskFunctions, define_goal_task, distance_reward, ep_uniform,
    free_joint, goal_distance, goal_of, is_sparse, is_valid, load_robotics_model, mj_forward, mj_step, mjData, mjModel,
    mjOBJ_BODY, mjOBJ_JOINT, mjOBJ_SITE, put, put_difference, required, rng_of, robot_joints, run_scratch, seed,
    single_joint, site_velocity,
)
from envpool.mujoco.robotics.rotations cimport mat2euler
from envpool.numerics.numpy_exact cimport np_norm

from envpool.errors import ConfigError
from envpool.mujoco.robotics.fetch_options import OPTIONS, check_numbers
from envpool.mujoco.robotics.goal_pools import GoalEnvDefinition
from envpool.mujoco.robotics.rewards import distance_rewards

cdef enum:
    FINGERS = 2

# Distance from the gripper (m) within which the object never starts.
cdef double CLEARANCE = 0.1
# Distance from the origin (m) up to which places near the gripper differ from its own.
FARTHEST = 1e6

cdef struct Options:
    double gripper[3]           # position of the gripper when an episode begins (m)
    double time                 # time of the simulation when an episode begins (s)
    double height               # height of goals of an object (m)
    double obj_range
    double target_range
    double target_offset[3]
    double threshold
    bint has_object
    bint block_gripper
    bint target_in_the_air
    bint is_sparse
    int32_t grip                # ids of sites
    int32_t object
    int32_t target
    int32_t object_qpos         # address of the position of the object
    int32_t fingers[FINGERS]    # addresses of the positions of the blocked joints
    int32_t observed_qpos[FINGERS]      # addresses of the last two joints of the robot
    int32_t observed_qvel[FINGERS]
    int32_t welded              # id of the body that the mocap body moves
    int32_t num_controls        # 0: the gripper has no actuators
    int32_t control_qpos[FINGERS]       # address of the position that a control is relative to; -1: none
    # Followed by the positions and velocities with which an episode begins (nq, nv).


cdef inline const Options* options_of(const Sim* s) noexcept nogil:
    return <const Options*>s.options


# ---- episodes --------------------------------------------------------------------------------------------------------

cdef inline const double* achieved(const Sim* s) noexcept nogil:
    cdef const Options* o = options_of(s)
    return s.data.site_xpos + 3 * (o.object if o.has_object else o.grip)


cdef void measure(Sim* s) noexcept nogil:
    s.info[DISTANCE] = goal_distance(achieved(s), goal_of(s), 3)
    s.info[IS_SUCCESS] = s.info[DISTANCE] < options_of(s).threshold


cdef void place_object(Sim* s) noexcept nogil:
    """Samples the position of the object on the table, away from the gripper. build() has checked that this ends."""
    cdef const Options* o = options_of(s)
    cdef double* xy = s.data.qpos + o.object_qpos
    cdef double offset[2]
    cdef int32_t i
    offset[0] = offset[1] = 0
    while np_norm(offset, 2) < CLEARANCE:
        for i in range(2):
            xy[i] = o.gripper[i] + ep_uniform(rng_of(s), -o.obj_range, o.obj_range)
        for i in range(2):
            offset[i] = xy[i] - o.gripper[i]


cdef void sample_goal(Sim* s) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef double* goal = goal_of(s)
    cdef int32_t i
    for i in range(3):
        goal[i] = o.gripper[i] + ep_uniform(rng_of(s), -o.target_range, o.target_range)
    if o.has_object:
        for i in range(3):
            goal[i] += o.target_offset[i]
        goal[2] = o.height
        if o.target_in_the_air and ep_uniform(rng_of(s), 0.0, 1.0) < 0.5:
            goal[2] += ep_uniform(rng_of(s), 0, 0.45)


cdef int reset(Sim* s) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef const double* initial = <const double*>(o + 1)
    s.data.time = o.time
    memcpy(s.data.qpos, initial, s.model.nq * sizeof(double))
    memcpy(s.data.qvel, initial + s.model.nq, s.model.nv * sizeof(double))
    if o.has_object:
        place_object(s)
    mj_forward(s.model, s.data)
    sample_goal(s)
    measure(s)
    return 0


cdef void move_mocap(Sim* s, const float* change) noexcept nogil:
    """Moves the mocap body from the body that it is welded to; adds a fixed rotation to its orientation."""
    cdef int32_t body = options_of(s).welded, i
    for i in range(3):
        s.data.mocap_pos[i] = s.data.xpos[3 * body + i] + change[i]
    for i in range(4):
        s.data.mocap_quat[i] = s.data.xquat[4 * body + i] + (1.0 if i % 2 == 0 else 0.0)


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef float limited[4]
    cdef double control
    cdef int32_t i, _k
    for i in range(4):
        limited[i] = <float>min(max(action[i], -1.0), 1.0)
    for i in range(3):
        limited[i] *= <float>0.05
    control = 0.0 if o.block_gripper else limited[3]
    for i in range(o.num_controls):
        s.data.ctrl[i] = control if o.control_qpos[i] < 0 else s.data.qpos[o.control_qpos[i]] + control
    move_mocap(s, limited)
    for _k in range(s.config.frame_skip):
        mj_step(s.model, s.data)
    if o.block_gripper:
        for i in range(FINGERS):
            s.data.qpos[o.fingers[i]] = 0.0
        mj_forward(s.model, s.data)
    measure(s)
    out.reward = distance_reward(s.info[DISTANCE], o.threshold, o.is_sparse)
    out.terminated = False
    return 0


cdef inline void scale(double* values, int32_t n, double factor) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        values[i] *= factor


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef const double* grip = s.data.site_xpos + 3 * o.grip
    cdef const double* object = s.data.site_xpos + 3 * o.object
    cdef double dt = s.config.frame_skip * s.model.opt.timestep
    cdef double grip_velocity[3]
    cdef double velocity[6]
    cdef int32_t i
    site_velocity(s, o.grip, grip_velocity, NULL)
    scale(grip_velocity, 3, dt)
    out = put(out, grip, 3)
    if o.has_object:
        out = put(out, object, 3)
        out = put_difference(out, object, grip)
    for i in range(FINGERS):
        out[i] = s.data.qpos[o.observed_qpos[i]]
    out += FINGERS
    if o.has_object:
        mat2euler(s.data.site_xmat + 9 * o.object, out)
        site_velocity(s, o.object, velocity, velocity + 3)
        scale(velocity, 6, dt)
        out = put_difference(out + 3, velocity, grip_velocity)
        out = put(out, velocity + 3, 3)
    out = put(out, grip_velocity, 3)
    for i in range(FINGERS):
        out[i] = s.data.qvel[o.observed_qvel[i]] * dt
    out = put(out + FINGERS, achieved(s), 3)
    put(out, goal_of(s), 3)


cdef void show(const Sim* s, mjData* shown) noexcept nogil:
    """Moves the red sphere to the goal."""
    mj_forward(s.model, shown)
    memcpy(shown.site_xpos + 3 * options_of(s).target, goal_of(s), 3 * sizeof(double))


cdef TaskFunctions TASK = TaskFunctions(sizeof(GoalState), seed, reset, step, observe, is_valid, NULL, show)


# ---- the first state -------------------------------------------------------------------------------------------------

# The argument of settle().
cdef struct Setup:
    Options* options
    int32_t slides[3]           # addresses of the positions of the base,
    double slide_values[3]      # and their values
    double object_pose[7]
    double lift                 # height of the gripper above the table (m)
    int32_t frame_skip
    double* initial             # output: positions and velocities


cdef int settle(mjModel* m, mjData* d, void* argument) noexcept nogil:
    """Moves the gripper above the table, which is where all episodes begin."""
    cdef Setup* setup = <Setup*>argument
    cdef Options* o = setup.options
    cdef double start[3]
    cdef int32_t i, k
    for i in range(3):
        d.qpos[setup.slides[i]] = setup.slide_values[i]
    if o.has_object:
        memcpy(d.qpos + o.object_qpos, setup.object_pose, 7 * sizeof(double))
    for i in range(m.neq):
        if m.eq_type[i] == mjEQ_WELD:
            for k in range(7):
                m.eq_data[i * mjNEQDATA + k] = 1.0 if k == 6 else 0.0
    for _ in range(2):          # upstream calls it twice, which changes the warm start
        mj_forward(m, d)
    start[0], start[1], start[2] = -0.498, 0.005, -0.431 + setup.lift
    for i in range(3):
        d.mocap_pos[i] = start[i] + d.site_xpos[3 * o.grip + i]
    for i in range(4):
        d.mocap_quat[i] = 1.0 if i % 2 == 0 else 0.0
    for _ in range(10 * setup.frame_skip):
        mj_step(m, d)
    o.time = d.time
    memcpy(o.gripper, d.site_xpos + 3 * o.grip, sizeof(o.gripper))
    if o.has_object:
        o.height = d.site_xpos[3 * o.object + 2]
    memcpy(setup.initial, d.qpos, m.nq * sizeof(double))
    memcpy(setup.initial + m.nq, d.qvel, m.nv * sizeof(double))
    return 0


# ---- the env definition ----------------------------------------------------------------------------------------------

cdef int32_t qpos_address(Model model, str name) except -1:
    return model.m.jnt_qposadr[single_joint(model, required(model, mjOBJ_JOINT, name))]


cdef int find_joints(Options* o, Model model) except -1:
    """Finds the fingers, which the task blocks, and the last two joints of the robot, which it observes."""
    cdef int32_t joint
    o.fingers = [qpos_address(model, f"robot0:{side}_gripper_finger_joint") for side in "lr"]
    for i, joint in enumerate(robot_joints(model)[-FINGERS:]):
        o.observed_qpos[i] = model.m.jnt_qposadr[joint]
        o.observed_qvel[i] = model.m.jnt_dofadr[joint]
    if o.has_object:
        o.object_qpos = model.m.jnt_qposadr[free_joint(model, "object0:joint")]
    return 0


cdef int find_mocap(Options* o, Model model) except -1:
    """Finds the body that follows the mocap body."""
    cdef const mjModel* m = model.m
    cdef int32_t i, first, second
    required(model, mjOBJ_BODY, "robot0:mocap")
    o.welded = -1
    for i in range(m.neq):
        if m.eq_type[i] == mjEQ_WELD:
            first, second = m.eq_obj1id[i], m.eq_obj2id[i]
            if not (0 <= first < m.nbody and 0 <= second < m.nbody):    # ids of sites
                continue
            if m.body_mocapid[first] >= 0:
                o.welded = second
            elif m.body_mocapid[second] >= 0:
                o.welded = first
    if m.nmocap != 1 or o.welded < 0:
        raise ConfigError(f"{model.source} needs one mocap body and a weld that moves the gripper with it")
    return 0


cdef int find_controls(Options* o, Model model) except -1:
    """Finds what the controls of the gripper are relative to."""
    cdef const mjModel* m = model.m
    cdef int32_t i
    if m.nactuator not in (0, FINGERS) or m.nu != m.nactuator:
        raise ConfigError(f"{model.source} must have 0 or {FINGERS} actuators, got {m.nactuator}")
    o.num_controls = <int32_t>m.nactuator
    for i in range(o.num_controls):
        o.control_qpos[i] = -1
        if m.actuator_biastype[i]:
            if not 0 <= m.actuator_trnid[2 * i] < m.njnt:
                raise ConfigError(f"{model.source} has an actuator with a bias that does not act on a joint")
            o.control_qpos[i] = m.jnt_qposadr[m.actuator_trnid[2 * i]]
    return 0


CAMERA = {"distance": 2.5, "azimuth": 132.0, "elevation": -14.0, "lookat": (1.3, 0.75, 0.55)}


class Fetch(GoalEnvDefinition):
    """Move the gripper, or an object, to a goal.

    Observations float64: observation (10,), or (25,) with an object: position of the gripper (m); of the object, and
    relative to the gripper; the two fingers (m); rotation of the object (Euler angles, rad), its linear velocity
    relative to the gripper and its angular velocity; velocities of the gripper and of the fingers, all times the
    duration of a step. achieved_goal (3,), desired_goal (3,): positions of what has to be moved, and of its goal (m).
    Action float32 (4,) in [-1, 1]: displacement of the gripper (0.05 m) and of the fingers. The reward is 0 if the
    distance from the goal is at most `distance_threshold` and -1 otherwise; with ``reward_type="dense"`` it is the
    negative distance.

    Options
    -------
    has_object : bool
        If True, an object has to be moved instead of the gripper.
    block_gripper : bool
        If True, the fingers stay closed.
    target_in_the_air : bool
        If True, half of the goals of an object are above the table.
    gripper_extra_height : float
        Additional height of the gripper when an episode begins (m).
    target_offset_x, target_offset_y, target_offset_z : float
        Offset of the goals of an object (m). Its height is replaced by the height of the object.
    obj_range : float
        The object starts within this distance from the gripper along x and y (m), at least 0.08.
    target_range : float
        The goal is within this distance from the gripper along each axis (m).
    initial_slide0, initial_slide1, initial_slide2 : float
        Position of the base of the robot (m).
    initial_object_x, initial_object_y, initial_object_z : float
        Position of the object while the gripper moves to where episodes begin (m).
    """

    options = OPTIONS
    goal_size = 3
    compute_reward = staticmethod(distance_rewards)

    @staticmethod
    def build(config):
        cdef Options o
        cdef Setup setup
        cdef Model model = load_robotics_model(config)
        cdef double[::1] initial = np.zeros(model.m.nq + model.m.nv)
        check_numbers(config)
        memset(&o, 0, sizeof(Options))
        o.obj_range, o.target_range, o.threshold = config.obj_range, config.target_range, config.distance_threshold
        o.target_offset = config.target_offset_x, config.target_offset_y, config.target_offset_z
        o.has_object, o.block_gripper = config.has_object, config.block_gripper
        o.target_in_the_air = config.target_in_the_air
        o.is_sparse = is_sparse(config)
        o.grip, o.target = (required(model, mjOBJ_SITE, name) for name in ("robot0:grip", "target0"))
        if o.has_object:
            o.object = required(model, mjOBJ_SITE, "object0")
        find_joints(&o, model)
        find_mocap(&o, model)
        find_controls(&o, model)
        setup.options, setup.initial, setup.frame_skip = &o, &initial[0], config.frame_skip
        setup.lift = config.gripper_extra_height
        setup.slides = [qpos_address(model, f"robot0:slide{i}") for i in range(3)]
        setup.slide_values = config.initial_slide0, config.initial_slide1, config.initial_slide2
        setup.object_pose = config.initial_object_x, config.initial_object_y, config.initial_object_z, 1, 0, 0, 0
        run_scratch(model, settle, &setup)
        if not max([abs(x) for x in o.gripper]) <= FARTHEST:
            raise ConfigError(f"{model.source} must begin with the gripper at coordinates between -{FARTHEST:g} and "
                              f"{FARTHEST:g} m, got {list(o.gripper)}")
        header = (<const char*>&o)[:sizeof(Options)]
        return define_goal_task("Fetch", &TASK, model, config, (25 if o.has_object else 10, 3, 4),
                                header + bytes(initial), CAMERA)
