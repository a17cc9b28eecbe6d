"""The simulation of Ant, for tasks with other goals: AntMaze.

The struct of options of such a task begins with an `AntOptions`, and its Sim.task_state with a TaskState.
"""

from libc.stdint cimport int32_t

from envpool.mujoco.gym.common cimport Health, Locomotion, Model, Outcome, Sim

cdef struct AntOptions:
    Locomotion locomotion
    Health health               # both ends of the interval of heights are inclusive
    double contact_cost_weight
    double force_min            # contact forces are clipped
    double force_max
    int32_t main_body
    int32_t version
    bint costs_contacts
    bint observes_contacts
    bint computes_contacts
    int32_t first_body          # the first body whose contact forces are observed

# The entries of Sim.info that the functions below write.
cdef enum:
    X_POSITION, Y_POSITION, DISTANCE, X_VELOCITY, Y_VELOCITY, FORWARD, CTRL, CONTACT, SURVIVE, OTHER_INFO

# Fills the struct from the options of a pool, except for `locomotion`; raises ConfigError.
cdef int read_ant(AntOptions* o, Model model, object config) except -1
# Returns the numbers in an observation.
cdef int32_t observation_size(const AntOptions* o, Model model) noexcept

# Writes the position to Sim.info.
cdef void report_position(Sim* s) noexcept nogil
# TaskFunctions.step and TaskFunctions.observe.
cdef int step(Sim* s, const double* action, Outcome* out) noexcept nogil
cdef void observe(const Sim* s, double* out) noexcept nogil
