"""The resets of declared tasks: draws from the generator of the conventions, in the order of the declaration."""

from libc.stdint cimport int32_t, int64_t

from envpool.mujoco.base.calls cimport mj_step
from envpool.mujoco.base.mujoco cimport mjData, mjModel
from envpool.mujoco.base.simulation cimport Sim
from envpool.mujoco.declared.program cimport Program, ResetRow, registers_of
from envpool.mujoco.dmc.control cimport physics_step, random_of, randomize_joints
from envpool.mujoco.gym.common cimport rng_of
from envpool.numerics.numpy_exact cimport np_norm
from envpool.numerics.rng cimport ep_integers, ep_standard_normal, ep_uniform
from envpool.numerics.rng_legacy cimport ep_legacy_randint, ep_legacy_standard_normal, ep_legacy_uniform

cdef extern from "model_arrays.h" nogil:
    void ep_set_keyframe(const mjModel* m, mjData* d, int64_t key)

# The meaning of the two numbers (low, high) of each target:
#   ASSIGN              high is the value
#   UNIFORM             the ends of the interval
#   UNIFORM_NOISE       the ends of the interval of what is added
#   NORMAL              mean and standard deviation
#   NORMAL_NOISE        high is the standard deviation of what is added
#   DISC                two numbers, uniform in the disc with the radius `high` around 0, by rejection from its square
# Others: KEYFRAME sets one of n keyframes, whose ids are the targets; RANDOM_JOINTS is dm_control's randomizer; SETTLE
# simulates n steps of MuJoCo and sets the time to zero.
cdef enum Op:
    ASSIGN, UNIFORM, UNIFORM_NOISE, NORMAL, NORMAL_NOISE, DISC, KEYFRAME, RANDOM_JOINTS, SETTLE

#: The operations by name, for the compiler.
RESET_OPS = {
    "assign": ASSIGN, "uniform": UNIFORM, "uniform_noise": UNIFORM_NOISE, "normal": NORMAL,
    "normal_noise": NORMAL_NOISE, "disc": DISC, "keyframe": KEYFRAME, "random_joints": RANDOM_JOINTS, "settle": SETTLE,
}


cdef inline double uniform(Sim* s, const Program* p, double low, double high) noexcept nogil:
    return ep_legacy_uniform(random_of(s), low, high) if p.is_suite else ep_uniform(rng_of(s), low, high)


cdef inline double normal(Sim* s, const Program* p) noexcept nogil:
    return ep_legacy_standard_normal(random_of(s)) if p.is_suite else ep_standard_normal(rng_of(s))


cdef inline int64_t choice(Sim* s, const Program* p, int64_t n) noexcept nogil:
    return ep_legacy_randint(random_of(s), 0, n) if p.is_suite else ep_integers(rng_of(s), 0, n)


cdef inline int settle(Sim* s, const Program* p, int32_t n) noexcept nogil:
    cdef int32_t _
    if p.is_suite:
        if physics_step(s, n):
            return -1
    else:
        for _ in range(n):
            mj_step(s.model, s.data)
    s.data.time = 0
    return 0


cdef void sample_disc(Sim* s, const Program* p, double radius, double* x, double* y) noexcept nogil:
    cdef double[2] point
    while True:
        point[0] = uniform(s, p, -radius, radius)
        point[1] = uniform(s, p, -radius, radius)
        if np_norm(point, 2) < radius:
            break
    x[0], y[0] = point[0], point[1]


cdef inline double drawn(Sim* s, const Program* p, int32_t op, double old, double low, double high) noexcept nogil:
    """Returns the new value of a number."""
    if op == UNIFORM:
        return uniform(s, p, low, high)
    if op == UNIFORM_NOISE:
        return old + uniform(s, p, low, high)
    if op == NORMAL:
        return low + high * normal(s, p)
    if op == NORMAL_NOISE:
        return old + high * normal(s, p)
    return high


cdef int run_resets(Sim* s, const Program* p) noexcept nogil:
    cdef const ResetRow* row
    cdef const int32_t* targets
    cdef double* array
    cdef int32_t i, k
    for i in range(p.num_resets):
        row = &p.resets[i]
        targets = p.indices + row.targets
        array = registers_of(s) if row.is_register else (<double**>(<char*>s.data + row.member))[0]
        if row.op == SETTLE:
            if settle(s, p, row.n):
                return -1
        elif row.op == KEYFRAME:
            ep_set_keyframe(s.model, s.data, targets[choice(s, p, row.n) if row.n > 1 else 0])
        elif row.op == RANDOM_JOINTS:
            randomize_joints(s)
        elif row.op == DISC:
            sample_disc(s, p, p.constants[row.high], array + targets[0], array + targets[1])
        else:
            for k in range(row.n):
                array[targets[k]] = drawn(
                    s, p, row.op, array[targets[k]], p.constants[row.low + k], p.constants[row.high + k]
                )
    return 0
