"""The dog of dm_control's suite (``dm_control.suite.dog``)."""

import numpy as np

from libc.math cimport INFINITY, M_PI, cos, sin, sqrt

from envpool.numerics.numpy_exact cimport np_dot_matrix, np_norm, np_sum
from envpool.mujoco.base.calls cimport mj_objectVelocity
from envpool.mujoco.base.mujoco cimport mjJNT_HINGE, mjOBJ_GEOM, mjOBJ_SITE
from envpool.mujoco.dmc.control cimport (
    ZX, ZZ, Episode, Model, Options, Sim, SuiteTask, body_id, define_suite_task, ep_legacy_uniform, ep_mt19937, geom_id,
    physics_reset, put, put_difference, qpos_address, qvel_address, random_of, sensor_address, site_id, suite_task,
)
from envpool.mujoco.dmc.rewards cimport gaussian, linear, reciprocal
from envpool.numerics.rng_legacy cimport ep_legacy_standard_normal

from envpool.mujoco.dmc.env_definition import SuiteEnvDefinition, load_model, suite_tasks

cdef enum:
    NUM_PARTS = 3               # parts of the trunk: skull, torso, pelvis
    TORSO = 1
    PELVIS = 2
    MAX_JOINTS = 128
    NUM_INERTIAL = 3            # inertial sensors, of three numbers each
    NUM_FEET = 4

cdef double STAND_HEIGHT_FRACTION = 0.9         # fraction of the height in the default pose that counts as standing
cdef double UPRIGHT_COSINE = np.cos(np.deg2rad(30))

cdef struct DogOptions:
    Options head
    double move_speed           # the rewarded speed (m/s)
    int parts[NUM_PARTS]        # ids of the bodies
    int root                    # address of the position of the root
    int num_hinges
    int hinges[MAX_JOINTS]      # ids of the joints
    int velocity                # addresses of the sensors: velocity,
    int inertial[NUM_INERTIAL]  # inertial sensors,
    int forces[NUM_FEET]        # forces, of three numbers each,
    int touch[NUM_FEET]         # and touch
    int ball_qpos               # "fetch" only, like all members below: addresses of position and velocity of the ball
    int ball_qvel
    int head_site               # ids of the sites
    int upper_bite
    int lower_bite
    int ball                    # ids of the geoms
    int target
    int floor

cdef struct DogEpisode:
    Episode head
    double stand_height[2]      # lowest heights of torso and pelvis that count as standing (m)
    double weight               # of the dog (N)


cdef inline const DogOptions* options_of(const Sim* s) noexcept nogil:
    return <const DogOptions*>s.options


cdef inline double height(const Sim* s, int part) noexcept nogil:
    return s.data.xpos[3 * options_of(s).parts[part] + 2]


# ---- start of an episode ---------------------------------------------------------------------------------------------

cdef int initialize(Sim* s) noexcept nogil:
    cdef const DogOptions* o = options_of(s)
    cdef DogEpisode* episode = <DogEpisode*>s.task_state
    cdef ep_mt19937* random = random_of(s)
    cdef double* orientation = s.data.qpos + o.root + 3
    cdef const double* range_
    cdef double azimuth
    cdef int i
    if physics_reset(s):
        return -1
    episode.stand_height[0] = height(s, TORSO) * STAND_HEIGHT_FRACTION
    episode.stand_height[1] = height(s, PELVIS) * STAND_HEIGHT_FRACTION
    episode.weight = -s.model.opt.gravity[2] * s.model.body_subtreemass[o.parts[TORSO]]
    azimuth = ep_legacy_uniform(random, 0, 2 * M_PI)
    orientation[0] = cos(azimuth / 2)
    orientation[1] = orientation[2] = 0
    orientation[3] = sin(azimuth / 2)
    s.data.qvel[0] = 2 * ep_legacy_standard_normal(random)
    s.data.qvel[1] = 2 * ep_legacy_standard_normal(random)
    s.data.qvel[5] = 2 * ep_legacy_standard_normal(random)
    for i in range(<int>s.model.nu):
        range_ = s.model.actuator_ctrlrange + 2 * i
        s.data.act[i] = ep_legacy_uniform(random, range_[0], range_[1])
    return 0


cdef int initialize_fetch(Sim* s) noexcept nogil:
    """Also throws the ball from the rim roughly towards the center."""
    cdef const DogOptions* o = options_of(s)
    cdef ep_mt19937* random = random_of(s)
    cdef double* position = s.data.qpos + o.ball_qpos
    cdef double* velocity = s.data.qvel + o.ball_qvel
    cdef double radius, azimuth, top, speed
    if initialize(s):
        return -1
    radius = 0.75 * s.model.geom_size[3 * o.floor]
    azimuth = ep_legacy_uniform(random, 0, 2 * M_PI)
    position[0] = radius * sin(azimuth)
    position[1] = radius * cos(azimuth)
    position[2] = 0.05
    top = ep_legacy_uniform(random, 0, 3)
    speed = ep_legacy_uniform(random, 0, 5)
    velocity[0] = speed * (-sin(azimuth) + 0.05 * ep_legacy_standard_normal(random))
    velocity[1] = speed * (-cos(azimuth) + 0.05 * ep_legacy_standard_normal(random))
    velocity[2] = sqrt(2 * -s.model.opt.gravity[2] * top)
    return 0


cdef void extras(const Sim* s, double* out) noexcept nogil:
    put(out, s.data.act, s.model.na)


# ---- rewards ---------------------------------------------------------------------------------------------------------

cdef inline double stand_factor(const Sim* s, int part, double wanted) noexcept nogil:
    return gaussian(height(s, part), wanted, INFINITY, wanted)


cdef double reward_stand(const Sim* s) noexcept nogil:
    """Returns the product of the factors, multiplied one by one like NumPy does."""
    cdef const DogOptions* o = options_of(s)
    cdef const DogEpisode* episode = <const DogEpisode*>s.task_state
    cdef double touch[NUM_FEET]
    cdef double product = (stand_factor(s, TORSO, episode.stand_height[0])
                           * stand_factor(s, PELVIS, episode.stand_height[1]))
    cdef int i
    for i in range(NUM_PARTS):
        product *= linear(s.data.xmat[9 * o.parts[i] + ZZ], UPRIGHT_COSINE, INFINITY, UPRIGHT_COSINE + 1, 1)
    for i in range(NUM_FEET):
        touch[i] = s.data.sensordata[o.touch[i]]
    return product * linear(np_sum(touch, NUM_FEET), episode.weight, INFINITY, episode.weight, 1 - 0.9)


cdef inline void torso_velocity(const Sim* s, double* out) noexcept nogil:
    """Writes the velocity of the center of mass in the frame of the torso."""
    cdef const DogOptions* o = options_of(s)
    np_dot_matrix(s.data.sensordata + o.velocity, s.data.xmat + 9 * o.parts[TORSO], 3, 3, out)


cdef double reward_move(const Sim* s) noexcept nogil:
    cdef double speed = options_of(s).move_speed
    cdef double velocity[3]
    torso_velocity(s, velocity)
    return reward_stand(s) * ((4 * linear(velocity[0], speed, 2 * speed, max(1.0, speed), 1) + 1) / 5)


cdef double distance(const double* a, const double* b) noexcept nogil:
    cdef double between[3]
    put_difference(between, a, b)
    return np_norm(between, 3)


cdef double reward_fetch(const Sim* s) noexcept nogil:
    cdef const DogOptions* o = options_of(s)
    cdef const double* ball = s.data.geom_xpos + 3 * o.ball
    cdef double bite_radius = s.model.site_size[3 * o.upper_bite]
    cdef double target_radius = s.model.geom_size[3 * o.target]
    cdef double to_mouth = 0.5 * (distance(ball, s.data.site_xpos + 3 * o.upper_bite)
                                  + distance(ball, s.data.site_xpos + 3 * o.lower_bite))
    cdef double to_target = distance(ball, s.data.geom_xpos + 3 * o.target)
    cdef double reach = (6 * reciprocal(to_mouth, 0, bite_radius, 2, 1 / 0.1 - 1) + 1) / 7
    cdef double fetch = (reciprocal(to_target, 0, target_radius, s.model.geom_size[3 * o.floor], 1 / 0.1 - 1) + 1) / 2
    if to_target < 2 * target_radius:       # the dog may let go of the ball
        reach = 1
    return reward_stand(s) * reach * fetch


# ---- observations ----------------------------------------------------------------------------------------------------

cdef void observe(const Sim* s, double* out) noexcept nogil:
    cdef const DogOptions* o = options_of(s)
    cdef int i
    for i in range(o.num_hinges):
        out[i] = s.data.qpos[s.model.jnt_qposadr[o.hinges[i]]]
        out[o.num_hinges + i] = s.data.qvel[s.model.jnt_dofadr[o.hinges[i]]]
    out += 2 * o.num_hinges
    out[0] = height(s, TORSO)
    out[1] = height(s, PELVIS)
    out += 2
    for i in range(NUM_PARTS):
        out = put(out, s.data.xmat + 9 * o.parts[i] + ZX, 3)
    torso_velocity(s, out)
    out += 3
    for i in range(NUM_INERTIAL):
        out = put(out, s.data.sensordata + o.inertial[i], 3)
    for i in range(NUM_FEET):
        out = put(out, s.data.sensordata + o.forces[i], 3)
    for i in range(NUM_FEET):
        out = put(out, s.data.sensordata + o.touch[i], 1)
    put(out, s.data.act, s.model.na)


cdef void observe_fetch(const Sim* s, double* out) noexcept nogil:
    cdef const DogOptions* o = options_of(s)
    cdef const double* frame = s.data.site_xmat + 9 * o.head_site
    cdef const double* place = s.data.site_xpos + 3 * o.head_site
    cdef double between[3]
    cdef double head[6]
    cdef double ball[6]
    observe(s, out)
    out += s.config.observation_size - 9
    put_difference(between, s.data.geom_xpos + 3 * o.ball, place)
    np_dot_matrix(between, frame, 3, 3, out)
    mj_objectVelocity(s.model, s.data, mjOBJ_SITE, o.head_site, head, 0)
    mj_objectVelocity(s.model, s.data, mjOBJ_GEOM, o.ball, ball, 0)
    put_difference(between, ball + 3, head + 3)     # the last three numbers are linear
    np_dot_matrix(between, frame, 3, 3, out + 3)
    put_difference(between, s.data.geom_xpos + 3 * o.target, place)
    np_dot_matrix(between, frame, 3, 3, out + 6)


# ---- the tasks -------------------------------------------------------------------------------------------------------

cdef SuiteTask STAND = suite_task(sizeof(DogEpisode), initialize, reward_stand, observe)
cdef SuiteTask MOVE = suite_task(sizeof(DogEpisode), initialize, reward_move, observe)
cdef SuiteTask FETCH = suite_task(sizeof(DogEpisode), initialize_fetch, reward_fetch, observe_fetch)
STAND.extras = MOVE.extras = FETCH.extras = extras

# The time in which the dog can cross the floor at the speed of the task (s).
TIME_LIMIT = 15


cdef int find_joints_and_sensors(Model model, DogOptions* o) except -1:
    cdef int joint
    o.root = qpos_address(model, "root")
    o.num_hinges = 0
    for joint in range(min(<int>model.m.njnt, MAX_JOINTS)):
        if model.m.jnt_type[joint] == mjJNT_HINGE:
            o.hinges[o.num_hinges] = joint
            o.num_hinges += 1
    o.velocity = sensor_address(model, "torso_linvel")
    o.inertial = [sensor_address(model, name) for name in ("accelerometer", "velocimeter", "gyro")]
    o.forces = [sensor_address(model, name) for name in ("foot_L", "foot_R", "hand_L", "hand_R")]
    o.touch = [sensor_address(model, name) for name in ("palm_L", "palm_R", "sole_L", "sole_R")]
    return 0


cdef int find_ball(Model model, DogOptions* o) except -1:
    o.ball_qpos, o.ball_qvel = qpos_address(model, "ball_root"), qvel_address(model, "ball_root")
    o.head_site = site_id(model, "head")
    o.upper_bite, o.lower_bite = site_id(model, "upper_bite"), site_id(model, "lower_bite")
    o.ball, o.target, o.floor = geom_id(model, "ball"), geom_id(model, "target"), geom_id(model, "floor")
    return 0


class DmcDog(SuiteEnvDefinition):
    """Stand, move or fetch a ball as a dog with 73 joints and 38 muscles.

    Observations float64: joint_angles (73,) (rad); joint_velocites (73,) (rad/s; the spelling is upstream's);
    torso_pelvis_height (2,) (m); z_projection (9,), the z components of the axes of skull, torso and pelvis;
    torso_com_velocity (3,) (m/s); inertial_sensors (9,); foot_forces (12,) (N); touch_sensors (4,) (N); actuator_state
    (38,); in "fetch" also ball_state (6,) (m, m/s) and target_position (3,) (m) in the frame of the head. Action
    float64 (38,) in [-1, 1]. The reward is a product of factors in [0, 1]: height, upright body parts, weight on the
    feet, and the speed (1, 3 or 9 m/s) or the distance of the ball from the mouth and from the target.
    """

    # The speed (m/s), which also determines the size of the floor.
    options, tasks = suite_tasks(3, stand=1, walk=1, trot=3, run=9, fetch=0)

    @staticmethod
    def define(config, speed):
        cdef DogOptions o
        cdef Model model
        cdef const SuiteTask* task = &STAND if config.task_name == "stand" else &MOVE
        fetches = config.task_name == "fetch"
        model = load_model("dog", 10, False) if fetches else load_model("dog", speed * TIME_LIMIT)
        o.move_speed = speed
        o.parts = [body_id(model, name) for name in ("skull", "torso", "pelvis")]
        find_joints_and_sensors(model, &o)
        observations = {
            "joint_angles": (o.num_hinges,), "joint_velocites": (o.num_hinges,), "torso_pelvis_height": (2,),
            "z_projection": (3 * NUM_PARTS,), "torso_com_velocity": (3,), "inertial_sensors": (3 * NUM_INERTIAL,),
            "foot_forces": (3 * NUM_FEET,), "touch_sensors": (NUM_FEET,), "actuator_state": (model.m.na,),
        }
        if fetches:
            task = &FETCH
            find_ball(model, &o)
            observations |= {"ball_state": (6,), "target_position": (3,)}
        return define_suite_task("DmcDog", task, model, config, observations, &o.head, sizeof(o), {"act0": model.m.na})
