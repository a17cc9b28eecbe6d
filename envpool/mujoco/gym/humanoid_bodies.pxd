"""What Humanoid and HumanoidStandup share: body observations, contact forces, and tendons in info."""

from libc.stdint cimport int32_t

from envpool.mujoco.base.calls cimport mj_rnePostConstraint
from envpool.mujoco.gym.common cimport Model, Sim, clip, put, put_state, sum_of_squares

# The observed quantities.
cdef struct BodyObservation:
    int32_t skipped             # number of leading positions that are not observed
    int32_t first_body          # 0: the world is observed as well, 1: it is not
    int32_t first_force         # the first observed actuator force
    bint cinert
    bint cvel
    bint qfrc_actuator
    bint cfrc_ext


cdef inline void observe_bodies(const Sim* s, const BodyObservation* o, double* out) noexcept nogil:
    cdef int32_t first = o.first_body, bodies = s.model.nbody - first
    out = put_state(out, s, o.skipped)
    if o.cinert:
        out = put(out, s.data.cinert + 10 * first, 10 * bodies)
    if o.cvel:
        out = put(out, s.data.cvel + 6 * first, 6 * bodies)
    if o.qfrc_actuator:
        out = put(out, s.data.qfrc_actuator + o.first_force, s.model.nv - o.first_force)
    if o.cfrc_ext:
        put(out, s.data.cfrc_ext + 6 * first, 6 * bodies)


# Reads the options include_... and exclude_...; returns the size of the observation.
cdef int32_t read_body_observation(BodyObservation* o, Model model, object config) except -1

# The cost of contacts.
cdef struct ContactCost:
    double weight
    double lowest
    double highest


cdef inline double contact_cost(const Sim* s, const ContactCost* c) noexcept nogil:
    cdef double cost = c.weight * sum_of_squares(s.data.cfrc_ext, 6 * s.model.nbody)
    return clip(cost, c.lowest, c.highest)


# Returns a table of info arrays with those of the tendons, whose values begin at index `first` of Sim.info.
cdef dict with_tendons(dict info, int first, Model model)


cdef inline void report_tendons(Sim* s, int32_t first) noexcept nogil:
    put(put(s.info + first, s.data.ten_length, s.model.ntendon), s.data.ten_velocity, s.model.ntendon)
