"""What Humanoid and HumanoidStandup share: an observation with the inertia, velocity and forces of each body."""

from libc.stdint cimport int32_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.gym.common cimport put, put_state

# What is observed.
cdef struct Observed:
    int32_t skipped             # leading positions that are not
    int32_t first_body          # 0: with the world, 1: without
    int32_t first_force         # of the actuator forces
    bint cinert
    bint cvel
    bint qfrc_actuator
    bint cfrc_ext


cdef inline void observe_bodies(const Sim* s, const Observed* o, double* out) noexcept nogil:
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


# Fills `o`; returns the size of the observation.
cdef int32_t choose(Observed* o, Model model, object config) except -1
# Adds the info arrays of tendons, whose values begin at `first`, to those of a task.
cdef dict with_tendons(dict info, int first, Model model)


cdef inline void tell_tendons(Sim* s, int32_t first) noexcept nogil:
    put(put(s.info + first, s.data.ten_length, s.model.ntendon), s.data.ten_velocity, s.model.ntendon)
