"""The quadruped of dm_control's suite (``dm_control.suite.quadruped``)."""

import numpy as np

from libc.math cimport INFINITY, M_PI, cos, sin
from libc.string cimport memcpy

from envpool.numerics.numpy_exact cimport np_arcsinh, np_dot_matrix, np_matrix_product, np_norm, np_tanh
from envpool.mujoco.base.calls cimport mj_collision, mj_comPos, mj_kinematics, mj_resetData
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY, mjOBJ_GEOM, mjOBJ_SITE
from envpool.mujoco.base.simulation cimport Sim, change_floats, fail
from envpool.mujoco.dmc.control cimport (
    Episode, Options, SuiteTask, define_suite_task, object_id, physics_after_reset, physics_reset, qpos_address,
    qvel_address, random_of, random_unit, sensor_address, suite_task,
)
from envpool.mujoco.dmc.rewards cimport linear
from envpool.mujoco.dmc.terrain cimport RESOLUTION, draw_terrain
from envpool.numerics.rng_legacy cimport ep_legacy_standard_normal, ep_legacy_uniform, ep_mt19937

from envpool.errors import ConfigError
from envpool.mujoco.base.opengl import MujocoTask
from envpool.mujoco.dmc.control import suite_options
from envpool.mujoco.dmc.models import check_task, load_model

cdef enum:
    TORSO_QPOS = 7              # leading positions: of the torso, then of the hinges
    TORSO_QVEL = 6
    HINGES = 16
    IMU = 6                     # numbers of sensors
    FORCE_TORQUE = 24
    RANGEFINDERS = 20
    ZZ = 8                      # element of a rotation matrix
    MAX_ATTEMPTS = 10000        # at finding a free height

cdef struct QuadrupedOptions:
    Options head
    double speed                # that is rewarded (m/s)
    double upright              # cosine from which on the torso counts as upright
    double arena                # distance at which the reward ends: of terrain and ball (m)
    double reach                # distance of the ball from the workspace that is near enough (m)
    double target_size          # radius (m)
    double spawn                # half the side of the square in which quadruped and ball start (m)
    int torso                   # bodies
    int ball
    int workspace               # sites
    int target
    int ball_qpos               # addresses
    int ball_qvel
    int imu                     # addresses of sensors
    int velocity
    int force_torque
    int rangefinders


cdef inline const QuadrupedOptions* options_of(const Sim* s) noexcept nogil:
    return <const QuadrupedOptions*>s.options


# ---- start of an episode ---------------------------------------------------------------------------------------------

cdef inline void place(Sim* s, const double* orientation, double x, double y, double z) noexcept nogil:
    s.data.qpos[0] = x
    s.data.qpos[1] = y
    s.data.qpos[2] = z
    memcpy(s.data.qpos + 3, orientation, 4 * sizeof(double))


cdef int find_height(Sim* s, const double* orientation, double x, double y) noexcept nogil:
    """Lifts the quadruped from the ground by centimetres until it touches nothing; 0, or fail().

    Upstream resets and computes everything at each height. Of the heights with contacts nothing is left afterwards, so
    they need the contacts only.
    """
    cdef double z = 0.0
    cdef int attempts = 0
    mj_resetData(s.model, s.data)
    while True:
        place(s, orientation, x, y, z)
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
    place(s, orientation, x, y, z)
    physics_after_reset(s)      # and here
    return 0


cdef int initialize_anywhere(Sim* s) noexcept nogil:
    cdef double orientation[4]
    random_unit(s, orientation, 4)
    return find_height(s, orientation, 0.0, 0.0)


cdef int initialize_escape(Sim* s) noexcept nogil:
    draw_terrain(random_of(s), s.model.hfield_data)
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
    """Horizontal distance of the ball from a site."""
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

cdef inline double* put(double* to, const double* values, int n) noexcept nogil:
    memcpy(to, values, n * sizeof(double))
    return to + n


cdef double* observe_common(const Sim* s, double* out) noexcept nogil:
    cdef const QuadrupedOptions* o = options_of(s)
    cdef const double* sensors = s.data.sensordata
    out = put(out, s.data.qpos + TORSO_QPOS, HINGES)
    out = put(out, s.data.qvel + TORSO_QVEL, HINGES)
    out = put(out, s.data.act, <int>s.model.na)
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
        if ranges[k] == -1:     # nothing is hit
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

# Arguments of upstream's make_model(); in "walk" and "run" the floor is as large as an episode lets the quadruped go.
TASKS = {
    "walk": {"floor_size": 20 * 0.5},
    "run": {"floor_size": 20 * 5},
    "escape": {"floor_size": 40, "terrain": True, "rangefinders": True},
    "fetch": {"walls_and_ball": True},
}
SPEEDS = {"walk": 0.5, "run": 5}


class DmcQuadruped(MujocoTask):
    """Walk or run on four legs, escape from a bowl, or fetch a ball.

    Observations float64: egocentric_state (44,), positions and velocities of the hinges (rad, rad/s) and activations;
    torso_velocity (3,) (m/s); torso_upright (), cosine of the torso's angle from upright; imu (6,), acceleration and
    angular velocity (m/s**2, rad/s); force_torque (24,), arsinh of forces and torques at the toes (N, Nm). ``"escape"``
    has also origin (3,), the middle of the bowl in the torso's frame (m), and rangefinder (20,), tanh of the distances
    (m), 1 where nothing is hit; ``"fetch"`` has ball_state (9,), position, velocity and angular velocity of the ball,
    and target_position (3,) in the torso's frame (m, m/s, rad/s). Action float64 (12,): yaw, lift and extension of
    each leg. The reward is in [0, 1] for an upright torso and for speed, distance from the origin, or the ball's
    distance from quadruped and target.

    Options
    -------
    task_name : str
        ``"walk"``, ``"run"``, ``"escape"`` or ``"fetch"``.
    frame_skip, frame_stack, debug_info
        See docs/mujoco.md. With debug_info ``"escape"`` has also ``info["terrain0"]`` (40401,): the heights, in [0, 1].
    """

    options = suite_options("walk", 4)

    @staticmethod
    def build(config):
        """Return the capsule of this kind."""
        cdef QuadrupedOptions o
        cdef Model model
        cdef const SuiteTask* task = &MOVE
        name = check_task(config, list(TASKS))
        model = load_model("quadruped", function="make_model", **TASKS[name])
        o.torso = object_id(model, mjOBJ_BODY, "torso")
        o.workspace = object_id(model, mjOBJ_SITE, "workspace")
        o.imu = sensor_address(model, "imu_accel")
        o.velocity = sensor_address(model, "velocimeter")
        o.force_torque = sensor_address(model, "force_toe_front_left")
        o.upright = 1.0
        observations = {
            "egocentric_state": (2 * HINGES + model.m.na,),
            "torso_velocity": (3,),
            "torso_upright": (),
            "imu": (IMU,),
            "force_torque": (FORCE_TORQUE,),
        }
        extras, changes = {}, []
        if name in SPEEDS:
            o.speed = SPEEDS[name]
        elif name == "escape":
            task = &ESCAPE
            if model.m.nhfielddata != RESOLUTION * RESOLUTION:
                raise ConfigError(f"{model.source} has a height field of {model.m.nhfielddata} points, not of "
                                  f"{RESOLUTION * RESOLUTION}: this is not the dm_control that the task is for")
            o.arena = model.m.hfield_size[0]
            o.upright = np.cos(np.deg2rad(20))
            o.rangefinders = sensor_address(model, "rf_00")
            observations |= {"origin": (3,), "rangefinder": (RANGEFINDERS,)}
            extras = {"terrain0": RESOLUTION * RESOLUTION}
            changes = [change_floats(model, &model.m.hfield_data, RESOLUTION * RESOLUTION)]
        else:
            task = &FETCH
            o.ball = object_id(model, mjOBJ_BODY, "ball")
            o.target = object_id(model, mjOBJ_SITE, "target")
            o.ball_qpos = qpos_address(model, "ball_root")
            o.ball_qvel = qvel_address(model, "ball_root")
            floor = model.m.geom_size[3 * object_id(model, mjOBJ_GEOM, "floor")]
            o.arena = floor * np.sqrt(2)
            o.spawn = 0.9 * floor
            o.reach = model.m.site_size[3 * o.workspace] + model.m.geom_size[3 * object_id(model, mjOBJ_GEOM, "ball")]
            o.target_size = model.m.site_size[3 * o.target]
            observations |= {"ball_state": (9,), "target_position": (3,)}
        return define_suite_task(
            "DmcQuadruped", task, model, config, observations, &o.head, sizeof(o), extras, changes
        )
