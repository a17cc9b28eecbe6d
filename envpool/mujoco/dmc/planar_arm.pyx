"""The planar arm with a hand of two domains; planar_arm.pxd documents the functions."""

from libc.math cimport M_PI, cos, sin

from envpool.mujoco.dmc.control cimport (
    body_id, ep_legacy_uniform, joint_id, put_difference, qpos_address, qvel_address, random_of, sensor_address,
    site_id,
)
from envpool.numerics.numpy_exact cimport np_log1p, np_norm

cdef enum:
    FINGER = 4                  # indices of joints
    THUMB = 6

NAMES = ("arm_root", "arm_shoulder", "arm_elbow", "arm_wrist", "finger", "fingertip", "thumb", "thumbtip")


cdef Arm find_arm(Model model) except *:
    cdef Arm arm
    for i, name in enumerate(NAMES):
        joint = joint_id(model, name)
        limited = model.m.jnt_limited[joint]
        arm.qpos[i] = qpos_address(model, name)
        arm.qvel[i] = qvel_address(model, name)
        arm.low[i] = model.m.jnt_range[2 * joint] if limited else -M_PI
        arm.high[i] = model.m.jnt_range[2 * joint + 1] if limited else M_PI
    arm.touch = sensor_address(model, "palm_touch")
    arm.hand = body_id(model, "hand")
    arm.grasp = site_id(model, "grasp")
    return arm


cdef dict arm_observations():
    return {"arm_pos": (JOINTS, 2), "arm_vel": (JOINTS,), "touch": (TOUCH_SENSORS,), "hand_pos": (POSE,)}


cdef void sample_arm(Sim* s, const Arm* arm) noexcept nogil:
    cdef int i
    for i in range(JOINTS):
        s.data.qpos[arm.qpos[i]] = ep_legacy_uniform(random_of(s), arm.low[i], arm.high[i])
    s.data.qpos[arm.qpos[FINGER]] = s.data.qpos[arm.qpos[THUMB]]


cdef double* observe_arm(const Sim* s, const Arm* arm, double* out) noexcept nogil:
    cdef int i
    for i in range(JOINTS):
        out[2 * i] = sin(s.data.qpos[arm.qpos[i]])
        out[2 * i + 1] = cos(s.data.qpos[arm.qpos[i]])
        out[2 * JOINTS + i] = s.data.qvel[arm.qvel[i]]
    out += 3 * JOINTS
    np_log1p(s.data.sensordata + arm.touch, out, TOUCH_SENSORS)
    return observe_pose(s, arm.hand, out + TOUCH_SENSORS)


cdef double site_distance(const Sim* s, int first, int second) noexcept nogil:
    cdef double between[3]
    put_difference(between, s.data.site_xpos + 3 * first, s.data.site_xpos + 3 * second)
    return np_norm(between, 3)
