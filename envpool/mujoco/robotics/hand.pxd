"""The Shadow Hand, which several tasks share (``gymnasium_robotics.envs.shadow_dexterous_hand.hand_env``)."""

from libc.stdint cimport int32_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Sim

cdef enum:
    NUM_ACTIONS = 20
    MAX_JOINTS = 64

# The joints of the hand: addresses of their positions and velocities, in the order in which they are observed.
cdef struct Hand:
    int32_t num_joints
    int32_t qpos[MAX_JOINTS]
    int32_t qvel[MAX_JOINTS]

# Fills the struct, and prepares the model for steps; raises ConfigError if it lacks something that the tasks need.
cdef int find_hand(Hand* hand, Model model) except -1
# Sets the controls to an action, clipped to [-1, 1], and simulates frame_skip steps.
cdef void move_hand(Sim* s, const double* action) noexcept nogil
# Writes positions and velocities of the joints; returns the address behind them.
cdef double* put_hand(double* to, const Sim* s, const Hand* hand) noexcept nogil
# Adds noise to a position (m): of the object when an episode begins, or of a goal.
cdef void add_noise(Sim* s, double* position) noexcept nogil
# Gymnasium's default camera of these tasks.
cdef dict CAMERA
