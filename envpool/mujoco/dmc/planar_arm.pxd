"""The planar arm with a hand of ``dm_control.suite.manipulator`` and ``dm_control.suite.stacker``."""

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Sim

cdef enum:
    JOINTS = 8                  # of the arm: root, shoulder, elbow, wrist, finger, fingertip, thumb, thumbtip
    TOUCH_SENSORS = 5
    POSE = 4                    # numbers of a body in the plane: x, z (m), w and y of its quaternion
    ARM_SIZE = 3 * JOINTS + TOUCH_SENSORS + POSE

# Where the arm is in a model.
cdef struct Arm:
    int qpos[JOINTS]            # addresses
    int qvel[JOINTS]
    double low[JOINTS]          # first positions are drawn from [low, high)
    double high[JOINTS]
    int touch                   # address of the touch sensors
    int hand                    # body
    int grasp                   # site between the fingers

cdef Arm find_arm(Model model) except *
# {name: shape} of what observe_arm writes.
cdef dict arm_observations()

# Draws the positions of the arm, the finger like the thumb.
cdef void draw_arm(Sim* s, const Arm* arm) noexcept nogil
# Writes ARM_SIZE numbers: arm_pos, arm_vel, touch, hand_pos; returns where the next go.
cdef double* observe_arm(const Sim* s, const Arm* arm, double* out) noexcept nogil
# Distance of two sites (m).
cdef double site_distance(const Sim* s, int first, int second) noexcept nogil


cdef inline double* observe_pose(const Sim* s, int body, double* out) noexcept nogil:
    """Writes POSE numbers of a body; returns where the next go."""
    out[0] = s.data.xpos[3 * body]
    out[1] = s.data.xpos[3 * body + 2]
    out[2] = s.data.xquat[4 * body]
    out[3] = s.data.xquat[4 * body + 2]
    return out + POSE
