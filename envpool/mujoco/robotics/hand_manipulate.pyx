"""HandManipulate: a hand that moves and turns a block, an egg or a pen.

Source of the dynamics: ``gymnasium_robotics.envs.shadow_dexterous_hand.manipulate`` and, for touch sensors,
``manipulate_touch_sensors``. Upstream never calls ``mj_resetData``: the controls and the warm start of the solver
outlive episodes.
"""

from libc.math cimport M_PI
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from envpool.mujoco.robotics.goals cimport (
    DISTANCE, IS_SUCCESS, OTHER_INFO, GoalState, Model, Outcome, Sim, TaskFunctions, define_goal_task, ep_uniform, fail,
    free_joint, goal_distance, goal_of, is_sparse, is_valid, load_robotics_model, mj_forward, mjData, mjModel,
    mjOBJ_GEOM, mjOBJ_SENSOR, mjOBJ_SITE, private_float_array, put, required, rng_of, seed, sensor_index,
)
from envpool.mujoco.robotics.hand cimport CAMERA, NUM_ACTIONS, Hand, add_noise, find_hand, move_hand, put_hand
from envpool.mujoco.robotics.rotations cimport angle_between, euler2quat, normalize, quat2euler, quat_about, quat_mul
from envpool.numerics.numpy_exact cimport np_log
from envpool.numerics.rng cimport ep_integers

from envpool.mujoco.robotics.goal_pools import GoalEnvDefinition
from envpool.mujoco.robotics.hand_options import MANIPULATE_OPTIONS, check_range, check_threshold, one_of
from envpool.mujoco.robotics.quaternions import parallel_quats
from envpool.mujoco.robotics.rewards import manipulation_rewards

cdef enum:
    POSE = 7                    # numbers in a goal: a position and a quaternion
    MAX_SENSORS = 128
    NUM_PARALLEL = 24           # orientations in which an object is parallel to the axes
    SETTLING = 10               # steps that precede an episode
    MAX_ATTEMPTS = 1000         # attempts to begin an episode
    MAX_STEPS = 200000          # calls of mj_step() in these attempts; more attempts than one only if they fit
    ANGLE = OTHER_INFO          # index in Sim.info

# Values of the options, in the order of their names in build().
cdef enum:
    IGNORE, FIXED, RANDOM
cdef enum:
    Z, PARALLEL, XYZ
cdef enum:
    NO_TOUCH, BOOLEAN, SENSORDATA, LOG
cdef enum:
    HIDDEN, ON_TOUCH, ALWAYS

cdef struct Options:
    Hand hand
    double threshold            # m
    double rotation_threshold   # rad
    double low[3]               # goals relative to the object (m)
    double high[3]
    double parallel[NUM_PARALLEL][4]
    int32_t target_position
    int32_t target_rotation
    int32_t touch
    int32_t touch_visualisation
    bint is_sparse
    bint random_position
    bint random_rotation
    bint ignores_z
    int32_t object_qpos         # addresses of the pose and the velocity of the object
    int32_t object_qvel
    int32_t target_qpos         # and of the body that shows the goal
    int32_t target_qvel
    int32_t center              # id of the site in the middle of the object
    int32_t num_sensors
    int32_t sensors[MAX_SENSORS]        # indices in sensordata
    int32_t sensor_sites[MAX_SENSORS]   # ids of the sites that show them


cdef inline const Options* options_of(const Sim* s) noexcept nogil:
    return <const Options*>s.options


# ---- goals -----------------------------------------------------------------------------------------------------------

cdef void measure(Sim* s) noexcept nogil:
    """Writes the distances from the goal, and whether it is reached, to info."""
    cdef const Options* o = options_of(s)
    cdef const double* achieved = s.data.qpos + o.object_qpos
    cdef const double* goal = goal_of(s)
    cdef double euler[3]
    cdef double goal_euler[3]
    cdef double turned[4]
    s.info[DISTANCE] = 0 if o.target_position == IGNORE else goal_distance(achieved, goal, 3)
    put(turned, achieved + 3, 4)
    if o.ignores_z:
        quat2euler(turned, euler)
        quat2euler(goal + 3, goal_euler)
        euler[2] = goal_euler[2]
        euler2quat(euler, turned)
    s.info[ANGLE] = angle_between(turned, goal + 3)
    s.info[IS_SUCCESS] = s.info[DISTANCE] < o.threshold and s.info[ANGLE] < o.rotation_threshold


cdef double reward(const Sim* s) noexcept nogil:
    if options_of(s).is_sparse:
        return s.info[IS_SUCCESS] - 1.0
    return -(10.0 * s.info[DISTANCE] + s.info[ANGLE])


cdef void sample_rotation(Sim* s, double* quat) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef double angle = ep_uniform(rng_of(s), -M_PI, M_PI)
    cdef double axis[3]
    cdef int32_t i
    axis[0] = axis[1] = 0.0
    axis[2] = 1.0
    if o.target_rotation == XYZ:
        for i in range(3):
            axis[i] = ep_uniform(rng_of(s), -1.0, 1.0)
    quat_about(angle, axis, quat)
    if o.target_rotation == PARALLEL:
        quat_mul(quat, o.parallel[ep_integers(rng_of(s), 0, NUM_PARALLEL)], quat)


cdef void sample_goal(Sim* s) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef double* goal = goal_of(s)
    cdef int32_t i
    put(goal, s.data.qpos + o.object_qpos, 3)
    if o.target_position == RANDOM:
        for i in range(3):
            goal[i] += ep_uniform(rng_of(s), o.low[i], o.high[i])
    sample_rotation(s, goal + 3)
    normalize(goal + 3, 4)


# ---- episodes --------------------------------------------------------------------------------------------------------

cdef void prepare(const mjModel* shared, mjData* d) noexcept nogil:
    mj_forward(shared, d)       # as upstream's constructor, which sets the warm start of the first episode


cdef void sample_pose(Sim* s, double* pose) noexcept nogil:
    """Changes the pose of the object."""
    cdef const Options* o = options_of(s)
    cdef double turn[4]
    if o.random_rotation:
        sample_rotation(s, turn)
        quat_mul(pose + 3, turn, pose + 3)
    if o.random_position and o.target_position != FIXED:
        add_noise(s, pose)
    normalize(pose + 3, 4)


cdef bint drop_object(Sim* s) noexcept nogil:
    """Drops the object onto the hand; returns whether it has come to rest there."""
    cdef const Options* o = options_of(s)
    cdef double action[NUM_ACTIONS]
    memset(action, 0, sizeof(action))
    s.data.time = 0
    memcpy(s.data.qpos, s.model.qpos0, s.model.nq * sizeof(double))
    memset(s.data.qvel, 0, s.model.nv * sizeof(double))
    mj_forward(s.model, s.data)
    sample_pose(s, s.data.qpos + o.object_qpos)
    for _ in range(SETTLING):
        move_hand(s, action)
    mj_forward(s.model, s.data)
    return s.data.site_xpos[3 * o.center + 2] > 0.04


cdef int reset(Sim* s) noexcept nogil:
    cdef int32_t attempts = max(1, min(MAX_ATTEMPTS, MAX_STEPS // (SETTLING * s.config.frame_skip)))
    for _ in range(attempts):
        if drop_object(s):
            sample_goal(s)
            measure(s)
            return 0
    return fail(s, b"the object did not come to rest on the palm in 1000 attempts or 200000 simulation steps")


cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil:
    move_hand(s, action)
    measure(s)
    out.reward = reward(s)
    out.terminated = False
    return 0


cdef double* put_touch(double* out, const Sim* s, const Options* o) noexcept nogil:
    cdef double value
    cdef int32_t i
    for i in range(o.num_sensors):
        value = s.data.sensordata[o.sensors[i]]
        out[i] = value > 0.0 if o.touch == BOOLEAN else value + 1.0 if o.touch == LOG else value
    if o.touch == LOG:
        np_log(out, out, o.num_sensors)
    return out + o.num_sensors


cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const Options* o = options_of(s)
    cdef const double* pose = s.data.qpos + o.object_qpos
    out = put_hand(out, s, &o.hand)
    out = put(out, s.data.qvel + o.object_qvel, 6)
    out = put(out, pose, POSE)
    if o.touch != NO_TOUCH:
        out = put_touch(out, s, o)
    out = put(out, pose, POSE)
    put(out, goal_of(s), POSE)


cdef void paint(float* rgba, float red, float green, float alpha) noexcept nogil:
    rgba[0], rgba[1], rgba[2], rgba[3] = red, green, 0, alpha


cdef void show(const Sim* s, mjData* shown) noexcept nogil:
    """Moves the body that shows the goal, beside the hand if its position is ignored, and paints the sensors."""
    cdef const Options* o = options_of(s)
    cdef float* rgba
    cdef int32_t i
    put(shown.qpos + o.target_qpos, goal_of(s), POSE)
    if o.target_position == IGNORE:
        shown.qpos[o.target_qpos] += 0.15
    memset(shown.qvel + o.target_qvel, 0, 6 * sizeof(double))
    mj_forward(s.model, shown)
    for i in range(o.num_sensors):
        rgba = s.model.site_rgba + 4 * o.sensor_sites[i]
        if o.touch_visualisation == HIDDEN:
            rgba[3] = 0
        elif o.touch_visualisation == ON_TOUCH and shown.sensordata[o.sensors[i]] != 0:
            paint(rgba, 1, 0, 0.5)
        elif o.touch_visualisation == ON_TOUCH:
            paint(rgba, 0, 0.5, 0.2)


cdef TaskFunctions TASK = TaskFunctions(sizeof(GoalState), seed, reset, step, observe, is_valid, NULL, show)


# ---- the env definition ----------------------------------------------------------------------------------------------

cdef list find_sensors(Options* o, Model model):
    """Finds the touch sensors, each by its name and that of its site; returns the array that show() changes."""
    cdef int32_t i, k = 0
    for i in range(model.m.nsensor):
        name = model.name_of(mjOBJ_SENSOR, i)
        if "robot0:TS_" in name and k < MAX_SENSORS:
            o.sensors[k] = sensor_index(model, i)
            o.sensor_sites[k] = required(model, mjOBJ_SITE, name.replace("robot0:TS_", "robot0:T_"))
            k += 1
    o.num_sensors = k
    return [private_float_array(model, &model.m.site_rgba, 4 * model.m.nsite, 0, 0)] if k else []


class HandManipulate(GoalEnvDefinition):
    """Move and turn an object to a goal with a hand.

    Observations float64: observation (61,), or (153,) with touch sensors: positions (rad) and velocities (rad/s) of the
    24 joints, velocity (6,) and pose (7,) of the object, 92 touch sensors; achieved_goal (7,), desired_goal (7,): the
    pose of the object, position (m) and quaternion, and its goal. Action float32 (20,) in [-1, 1]: positions of the
    actuated joints, relative to their ranges. The reward is 0 if the goal is reached and -1 otherwise; with
    ``reward_type="dense"`` it is minus ten times the distance (m) minus the angle (rad).

    Options
    -------
    rotation_threshold : float
        Angle from the goal (rad) up to which it counts as reached.
    target_position : str
        "random", "fixed" or "ignore": the goal is at a random place, where the object is, or its position is ignored.
    target_rotation : str
        "xyz", "z" or "parallel": a random orientation, a random one about the vertical axis, or a random one about this
        axis after another that is parallel to the axes.
    target_position_low0, target_position_low1, target_position_low2 : float
        Lowest position of random goals along x, y and z, relative to the object (m).
    target_position_high0, target_position_high1, target_position_high2 : float
        Highest position of random goals.
    randomize_initial_position, randomize_initial_rotation : bool
        If True, the object starts with a random displacement, or a random orientation.
    ignore_z_target_rotation : bool
        If True, the angle about the z-axis of the object is ignored.
    touch_get_obs : str
        "off", "boolean", "sensordata" or "log": the observation lacks the sensors, or has whether they feel a force,
        the force, or log(1 + force).
    touch_visualisation : str
        "off", "on_touch" or "always": frames show no sensors, the sensors in colours that tell which ones feel a force,
        or all sensors in the colours of the model.
    """

    options = MANIPULATE_OPTIONS
    goal_size = POSE
    compute_reward = staticmethod(manipulation_rewards)

    @staticmethod
    def build(config):
        cdef Options o
        cdef Model model = load_robotics_model(config)
        cdef int32_t joint, hidden, i
        memset(&o, 0, sizeof(Options))
        check_threshold(config, "distance_threshold")
        check_threshold(config, "rotation_threshold")
        o.threshold, o.rotation_threshold = config.distance_threshold, config.rotation_threshold
        for i in range(3):
            o.low[i], o.high[i] = check_range(config, i)
        for i, quat in enumerate(parallel_quats()):
            o.parallel[i] = quat
        o.target_position = one_of(config, "target_position", ("ignore", "fixed", "random"))
        o.target_rotation = one_of(config, "target_rotation", ("z", "parallel", "xyz"))
        o.touch = one_of(config, "touch_get_obs", ("off", "boolean", "sensordata", "log"))
        o.touch_visualisation = one_of(config, "touch_visualisation", ("off", "on_touch", "always"))
        o.is_sparse = is_sparse(config)
        o.random_position, o.random_rotation = config.randomize_initial_position, config.randomize_initial_rotation
        o.ignores_z = config.ignore_z_target_rotation
        find_hand(&o.hand, model)
        joint = free_joint(model, "object:joint")
        o.object_qpos, o.object_qvel = model.m.jnt_qposadr[joint], model.m.jnt_dofadr[joint]
        joint = free_joint(model, "target:joint")
        o.target_qpos, o.target_qvel = model.m.jnt_qposadr[joint], model.m.jnt_dofadr[joint]
        o.center = required(model, mjOBJ_SITE, "object:center")
        hidden = model.find(mjOBJ_GEOM, "object_hidden")
        if hidden >= 0:
            model.m.geom_rgba[4 * hidden + 3] = 1           # all frames of upstream show it
        private_arrays = find_sensors(&o, model)
        size = 2 * o.hand.num_joints + 6 + POSE + (o.num_sensors if o.touch else 0)
        header = (<const char*>&o)[:sizeof(Options)]
        return define_goal_task("HandManipulate", &TASK, model, config, (size, POSE, NUM_ACTIONS), header, CAMERA,
                                {"angle": ANGLE}, private_arrays, prepare)
