"""The planar arm with a hand of ``dm_control.suite.manipulator`` and ``dm_control.suite.stacker``."""

from envpool.mujoco.dmc.control cimport Model, Sim

cdef enum:
    JOINTS = 8                  # joints of the arm: root, shoulder, elbow, wrist, finger, fingertip, thumb, thumbtip
    TOUCH_SENSORS = 5
    POSE = 4                    # numbers that describe a body in the plane: x, z (m), w and y of its quaternion
    ARM_SIZE = 3 * JOINTS + TOUCH_SENSORS + POSE

# The objects of the arm in a model.
cdef struct Arm:
    int qpos[JOINTS]            # addresses of the joints
    int qvel[JOINTS]
    double low[JOINTS]          # initial positions are sampled from [low, high)
    double high[JOINTS]
    int touch                   # address of the touch sensors
    int hand                    # id of the body
    int grasp                   # id of the site between the fingers

cdef Arm find_arm(Model model) except *
# Returns {name: shape} of the observations that observe_arm() writes.
cdef dict arm_observations()

# Samples the positions of the arm. The finger gets the position of the thumb.
cdef void sample_arm(Sim* s, const Arm* arm) noexcept nogil
# Writes ARM_SIZE numbers (arm_pos, arm_vel, touch, hand_pos); returns the address behind them.
cdef double* observe_arm(const Sim* s, const Arm* arm, double* out) noexcept nogil
# Returns the distance between two sites (m).
cdef double site_distance(const Sim* s, int first, int second) noexcept nogil


cdef inline double* observe_pose(const Sim* s, int body, double* out) noexcept nogil:
    """Writes the POSE numbers of a body; returns the address behind them."""
    out[0] = s.data.xpos[3 * body]
    out[1] = s.data.xpos[3 * body + 2]
    out[2] = s.data.xquat[4 * body]
    out[3] = s.data.xquat[4 * body + 2]
    return out + POSE
