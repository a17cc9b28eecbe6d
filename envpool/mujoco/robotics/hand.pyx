"""The Shadow Hand; hand.pxd documents the functions."""

from envpool.mujoco.base.calls cimport mj_step
from envpool.mujoco.base.model cimport leave_out_visual_geoms
from envpool.mujoco.robotics.goals cimport rng_of, robot_joints
from envpool.numerics.rng cimport ep_normal

from envpool.errors import ConfigError

CAMERA = {"distance": 0.5, "azimuth": 55.0, "elevation": -25.0, "lookat": (1.0, 0.96, 0.14)}


cdef int find_hand(Hand* hand, Model model) except -1:
    cdef int32_t i, joint
    joints = robot_joints(model)
    if len(joints) > MAX_JOINTS:
        raise ConfigError(f"{model.source} must have at most {MAX_JOINTS} joints of the robot, got {len(joints)}")
    if model.m.nu != NUM_ACTIONS or model.m.nactuator != NUM_ACTIONS:
        raise ConfigError(f"{model.source} has {model.m.nu} controls, this task needs {NUM_ACTIONS}")
    hand.num_joints = len(joints)
    for i, joint in enumerate(joints):
        hand.qpos[i] = model.m.jnt_qposadr[joint]
        hand.qvel[i] = model.m.jnt_dofadr[joint]
    leave_out_visual_geoms(model.m)
    return 0


cdef void move_hand(Sim* s, const double* action) noexcept nogil:
    cdef const double* limits = s.model.actuator_ctrlrange
    cdef double low, high, control
    cdef int32_t i
    for i in range(NUM_ACTIONS):
        low, high = limits[2 * i], limits[2 * i + 1]
        control = (high + low) / 2.0 + min(max(action[i], -1.0), 1.0) * ((high - low) / 2.0)
        s.data.ctrl[i] = min(max(control, low), high)
    for _ in range(s.config.frame_skip):
        mj_step(s.model, s.data)


cdef double* put_hand(double* to, const Sim* s, const Hand* hand) noexcept nogil:
    cdef int32_t i
    for i in range(hand.num_joints):
        to[i] = s.data.qpos[hand.qpos[i]]
        to[hand.num_joints + i] = s.data.qvel[hand.qvel[i]]
    return to + 2 * hand.num_joints


cdef void add_noise(Sim* s, double* position) noexcept nogil:
    cdef int32_t i
    for i in range(3):
        position[i] += ep_normal(rng_of(s), 0.0, 0.005)
