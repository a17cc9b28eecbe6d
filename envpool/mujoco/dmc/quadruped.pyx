"""The quadruped of dm_control's suite (``dm_control.suite.quadruped``)."""

import numpy as np

from libc.math cimport INFINITY, M_PI, cos, sin

from envpool.numerics.numpy_exact cimport np_arcsinh, np_dot_matrix, np_matrix_product, np_norm, np_tanh
from envpool.mujoco.base.calls cimport mj_collision, mj_comPos, mj_kinematics, mj_resetData
from envpool.mujoco.dmc.control cimport (
    ZZ, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, ep_mt19937, fail,
    geom_id, physics_after_reset, physics_reset, private_float_array, put, qpos_address, qvel_address, random_of,
    random_unit, sensor_address, site_id, suite_task,
)
from envpool.mujoco.dmc.rewards cimport linear
from envpool.mujoco.dmc.terrain cimport RESOLUTION, sample_terrain
from envpool.numerics.rng_legacy cimport ep_legacy_standard_normal

from envpool.errors import ConfigError
from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    TORSO_QPOS = 7              # number of positions of the torso, which precede those of the hinges
    TORSO_QVEL = 6
    HINGES = 16
    IMU = 6                     # numbers from the sensors of a kind
    FORCE_TORQUE = 24
    RANGEFINDERS = 20
    MAX_ATTEMPTS = 10000        # attempts to find a height without contacts

cdef struct QuadrupedOptions:
    Options head
    double speed                # the rewarded speed (m/s)
    double upright              # lowest cosine of the angle of the torso that counts as upright
    double arena                # distance at which the reward for terrain or ball ends (m)
    double reach                # distance of the ball from the workspace that earns the full reward (m)
    double target_size          # radius (m)
    double spawn                # half the side of the square in which quadruped and ball start (m)
    int torso                   # ids of the bodies
    int ball
    int workspace               # ids of the sites
    int target
    int ball_qpos               # addresses of the joint of the ball
    int ball_qvel
    int imu                     # addresses of the sensors
    int velocity
    int force_torque
    int rangefinders


cdef inline const QuadrupedOptions* options_of(const Sim* s) noexcept nogil:
    return <const QuadrupedOptions*>s.options


# ---- start of an episode ---------------------------------------------------------------------------------------------

cdef inline void put_torso(Sim* s, const double* orientation, double x, double y, double z) noexcept nogil:
    s.data.qpos[0] = x
    s.data.qpos[1] = y
    s.data.qpos[2] = z
    put(s.data.qpos + 3, orientation, 4)


cdef int find_height(Sim* s, const double* orientation, double x, double y) noexcept nogil:
    """Lifts the quadruped in steps of a centimetre until it touches nothing; returns 0, or fail().

    Upstream resets the physics and computes everything at each height. No result of a height with contacts is used
    later, so for these heights only the contacts are computed.
    """
    cdef double z = 0.0
    cdef int attempts = 0
    mj_resetData(s.model, s.data)
    while True:
        put_torso(s, orientation, x, y, z)
        mj_kinematics(s.model, s.data)
        mj_comPos(s.model, s.data)
        mj_collision(s.model, s.data)
        if s.data.ncon == 0:
            break
        z += 0.01
        attempts += 1
        if attempts > MAX_ATTEMPTS:
            return fail(s, b"Failed to find a non-contacting configuration.")
    physics_reset(s)            # upstream ignores a PhysicsError here
    put_torso(s, orientation, x, y, z)
    physics_after_reset(s)      # and here as well
    return 0


cdef int initialize_anywhere(Sim* s) noexcept nogil:
    cdef double orientation[4]
    random_unit(s, orientation, 4)
    return find_height(s, orientation, 0.0, 0.0)


cdef int initialize_escape(Sim* s) noexcept nogil:
    sample_terrain(random_of(s), s.model.hfield_data)
    return initialize_anywhere(s)


cdef int initialize_fetch(Sim* s) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    cdef ep_mt19937* random = random_of(s)
    cdef double* ball = s.data.qpos + o.ball_qpos
    cdef double orientation[4]
    cdef double x, y
    cdef double azimuth = ep_legacy_uniform(random, 0, 2 * M_PI)
    cdef int k
    orientation[0] = cos(azimuth / 2)
    orientation[1] = orientation[2] = 0
    orientation[3] = sin(azimuth / 2)
    x = ep_legacy_uniform(random, -o.spawn, o.spawn)
    y = ep_legacy_uniform(random, -o.spawn, o.spawn)
    if find_height(s, orientation, x, y):
        return -1
    for k in range(2):
        ball[k] = ep_legacy_uniform(random, -o.spawn, o.spawn)
    ball[2] = 2
    for k in range(2):
        s.data.qvel[o.ball_qvel + k] = 5 * ep_legacy_standard_normal(random)
    return 0


# ---- rewards ---------------------------------------------------------------------------------------------------------

cdef inline double upright(const Sim* s) noexcept nogil:
    cdef double least = options_of(s).upright
    return linear(s.data.xmat[9 * options_of(s).torso + ZZ], least, INFINITY, 1 + least, 1.0)


cdef double move_reward(const Sim* s) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    return upright(s) * linear(s.data.sensordata[o.velocity], o.speed, INFINITY, o.speed, 0.5)


cdef double escape_reward(const Sim* s) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    return upright(s) * linear(np_norm(s.data.site_xpos + 3 * o.workspace, 3), o.arena, INFINITY, o.arena, 1.0)


cdef inline double ball_distance(const Sim* s, int site) noexcept nogil:
    """Returns the horizontal distance of the ball from a site."""
    cdef double between[2]
    cdef int k
    for k in range(2):
        between[k] = s.data.site_xpos[3 * site + k] - s.data.xpos[3 * options_of(s).ball + k]
    return np_norm(between, 2)


cdef double fetch_reward(const Sim* s) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    cdef double reached = linear(ball_distance(s, o.workspace), 0, o.reach, o.arena, 1.0)
    cdef double fetched = linear(ball_distance(s, o.target), 0, o.target_size, o.arena, 1.0)
    return upright(s) * (reached * (0.5 + 0.5 * fetched))


# ---- observations ----------------------------------------------------------------------------------------------------

cdef double* observe_common(const Sim* s, double* out) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    cdef const double* sensors = s.data.sensordata
    out = put(out, s.data.qpos + TORSO_QPOS, HINGES)
    out = put(out, s.data.qvel + TORSO_QVEL, HINGES)
    out = put(out, s.data.act, s.model.na)
    out = put(out, sensors + o.velocity, 3)
    out = put(out, s.data.xmat + 9 * o.torso + ZZ, 1)
    out = put(out, sensors + o.imu, IMU)
    np_arcsinh(sensors + o.force_torque, out, FORCE_TORQUE)
    return out + FORCE_TORQUE


cdef void observe_move(const Sim* s, double* out) noexcept nogil:
    observe_common(s, out)


cdef void observe_escape(const Sim* s, double* out) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    cdef const double* ranges = s.data.sensordata + o.rangefinders
    cdef int k
    out = observe_common(s, out)
    np_dot_matrix(s.data.xpos + 3 * o.torso, s.data.xmat + 9 * o.torso, 3, 3, out)
    for k in range(3):
        out[k] = -out[k]
    out += 3
    np_tanh(ranges, out, RANGEFINDERS)
    for k in range(RANGEFINDERS):
        if ranges[k] == -1:     # the ray hits nothing
            out[k] = 1


cdef void observe_fetch(const Sim* s, double* out) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    cdef const double* torso = s.data.xpos + 3 * o.torso
    cdef const double* frame = s.data.xmat + 9 * o.torso
    cdef const double* ball_velocity = s.data.qvel + o.ball_qvel
    cdef double relative[9]
    cdef double to_target[3]
    cdef int k
    out = observe_common(s, out)
    for k in range(3):
        relative[k] = s.data.xpos[3 * o.ball + k] - torso[k]
        relative[3 + k] = ball_velocity[k] - s.data.qvel[k]
        relative[6 + k] = ball_velocity[3 + k]
        to_target[k] = s.data.site_xpos[3 * o.target + k] - torso[k]
    np_matrix_product(relative, frame, 3, 3, 3, out)
    np_dot_matrix(to_target, frame, 3, 3, out + 9)


cdef void escape_extras(const Sim* s, double* out) noexcept nogil:
    cdef int i
    for i in range(RESOLUTION * RESOLUTION):
        out[i] = s.model.hfield_data[i]


# ---- tasks -----------------------------------------------------------------------------------------------------------

cdef SuiteTask MOVE = suite_task(sizeof(Episode), initialize_anywhere, move_reward, observe_move)
cdef SuiteTask ESCAPE = suite_task(sizeof(Episode), initialize_escape, escape_reward, observe_escape)
cdef SuiteTask FETCH = suite_task(sizeof(Episode), initialize_fetch, fetch_reward, observe_fetch)
ESCAPE.extras = escape_extras

# The rewarded speeds (m/s).
SPEEDS = {"walk": 0.5, "run": 5}


cdef int find_terrain(Model model, QuadrupedOptions* o) except -1:
    if model.m.nhfielddata != RESOLUTION * RESOLUTION:
        raise ConfigError(
            f"{model.source} has a height field of {model.m.nhfielddata} points instead of {RESOLUTION * RESOLUTION}: "
            "it comes from a dm_control that these tasks do not support"
        )
    o.arena = model.m.hfield_size[0]
    o.upright = np.cos(np.deg2rad(20))
    o.rangefinders = sensor_address(model, "rf_00")
    return 0


cdef int find_ball(Model model, QuadrupedOptions* o) except -1:
    floor = model.m.geom_size[3 * geom_id(model, "floor")]
    o.arena = floor * np.sqrt(2)
    o.spawn = 0.9 * floor
    o.reach = model.m.site_size[3 * o.workspace] + model.m.geom_size[3 * geom_id(model, "ball")]
    o.ball, o.target = body_id(model, "ball"), site_id(model, "target")
    o.ball_qpos, o.ball_qvel = qpos_address(model, "ball_root"), qvel_address(model, "ball_root")
    o.target_size = model.m.site_size[3 * o.target]
    return 0


class DmcQuadruped(SuiteEnvDefinition):
    """Walk or run on four legs, escape from a bowl, or fetch a ball.

    Observations float64: egocentric_state (44,), positions and velocities of the hinges (rad, rad/s) and activations;
    torso_velocity (3,) (m/s); torso_upright (), the cosine of the angle of the torso from upright; imu (6,),
    acceleration and angular velocity (m/s**2, rad/s); force_torque (24,), arsinh of forces and torques at the toes (N,
    Nm). "escape" also has origin (3,), the middle of the bowl in the frame of the torso (m), and rangefinder (20,),
    tanh of the distances (m), 1 where nothing is hit. "fetch" also has ball_state (9,), position, velocity and angular
    velocity of the ball, and target_position (3,), both in the frame of the torso (m, m/s, rad/s). Action float64
    (12,): yaw, lift and extension of each leg. The reward in [0, 1] is high for an upright torso and for the speed, the
    distance from the origin, or a ball near the quadruped and the target.
    """

    # The arguments of upstream's make_model(). The quadruped cannot leave the floor in an episode.
    options, tasks = suite_tasks(
        4, walk={"floor_size": 20 * SPEEDS["walk"]}, run={"floor_size": 20 * SPEEDS["run"]},
        escape={"floor_size": 40, "terrain": True, "rangefinders": True}, fetch={"walls_and_ball": True},
    )

    @staticmethod
    def define(config, model_arguments):
        cdef QuadrupedOptions o
        cdef Model model = load_model("quadruped", function="make_model", **model_arguments)
        cdef const SuiteTask* task = &MOVE
        o.torso = body_id(model, "torso")
        o.workspace = site_id(model, "workspace")
        o.imu = sensor_address(model, "imu_accel")
        o.velocity = sensor_address(model, "velocimeter")
        o.force_torque = sensor_address(model, "force_toe_front_left")
        o.upright = 1.0
        observations = {
            "egocentric_state": (2 * HINGES + model.m.na,), "torso_velocity": (3,), "torso_upright": (), "imu": (IMU,),
            "force_torque": (FORCE_TORQUE,),
        }
        extras, private_arrays = {}, []
        if config.task_name in SPEEDS:
            o.speed = SPEEDS[config.task_name]
        elif config.task_name == "escape":
            task = &ESCAPE
            find_terrain(model, &o)
            observations |= {"origin": (3,), "rangefinder": (RANGEFINDERS,)}
            extras = {"terrain0": RESOLUTION * RESOLUTION}
            size = RESOLUTION * RESOLUTION
            private_arrays = [private_float_array(model, &model.m.hfield_data, size, 0, size)]
        else:
            task = &FETCH
            find_ball(model, &o)
            observations |= {"ball_state": (9,), "target_position": (3,)}
        return define_suite_task("DmcQuadruped", task, model, config, observations, &o.head, sizeof(o), extras,
                                 private_arrays)
