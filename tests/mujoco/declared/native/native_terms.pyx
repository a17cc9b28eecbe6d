"""Native terms in Cython, for tests."""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t
from libc.stdio cimport snprintf

cdef extern from "envpool/mujoco_term.h" nogil:
    const char* ENVPOOL_MUJOCO_TERM_CAPSULE
    ctypedef struct mjModel:
        int nq
    ctypedef struct mjData:
        double* qpos
        double* subtree_linvel
    void mj_subtreeVel(const mjModel* m, mjData* d)
    void mju_error(const char* text, ...)
    ctypedef struct envpool_mujoco_call:
        int32_t is_reset
        const mjModel* model
        mjData* data
        const double* inputs
        double* out
        char* text
        int32_t text_size
        int32_t num_inputs
    ctypedef struct envpool_mujoco_term:
        pass
    void envpool_mujoco_term_init(
        envpool_mujoco_term* term, const char* name, int32_t (*compute)(const envpool_mujoco_call*) noexcept nogil,
        int32_t size, int32_t num_inputs,
    )


cdef int32_t compute_pose(const envpool_mujoco_call* call) noexcept nogil:
    """Positions of the two joints, and 1 after a reset."""
    cdef int k
    for k in range(call.model.nq):
        call.out[k] = call.data.qpos[k]
    call.out[2] = call.is_reset
    return 0


cdef int32_t compute_ratio(const envpool_mujoco_call* call) noexcept nogil:
    """The first input, divided by the sum of all."""
    cdef double total = 0
    cdef int k
    for k in range(call.num_inputs):
        total += call.inputs[k]
    call.out[0] = call.inputs[0] / total
    return 0


cdef int32_t compute_momentum(const envpool_mujoco_call* call) noexcept nogil:
    """Velocity of the centre of mass of the arm (x, y, z), for which MuJoCo is called."""
    cdef int k
    mj_subtreeVel(call.model, call.data)
    for k in range(3):
        call.out[k] = call.data.subtree_linvel[3 + k]
    return 0


cdef int32_t compute_broken(const envpool_mujoco_call* call) noexcept nogil:
    """Fails in MuJoCo, except after a reset."""
    if not call.is_reset:
        mju_error(b"out of luck")
    return 0


cdef int32_t compute_limited(const envpool_mujoco_call* call) noexcept nogil:
    """The input; above 1 it fails with a text, below -1 with a code."""
    if call.inputs[0] > 1:
        snprintf(call.text, call.text_size, b"%.1f is too large", call.inputs[0])
        return 1
    call.out[0] = call.inputs[0]
    return 0 if call.inputs[0] >= -1 else 7


cdef envpool_mujoco_term POSE, RATIO, MOMENTUM, BROKEN, LIMITED
envpool_mujoco_term_init(&POSE, b"pose", compute_pose, 3, 0)
envpool_mujoco_term_init(&RATIO, b"ratio", compute_ratio, 0, 3)
envpool_mujoco_term_init(&MOMENTUM, b"momentum", compute_momentum, 3, 0)
envpool_mujoco_term_init(&BROKEN, b"broken", compute_broken, 0, 0)
envpool_mujoco_term_init(&LIMITED, b"limited", compute_limited, 0, 1)
pose = PyCapsule_New(&POSE, ENVPOOL_MUJOCO_TERM_CAPSULE, NULL)
ratio = PyCapsule_New(&RATIO, ENVPOOL_MUJOCO_TERM_CAPSULE, NULL)
momentum = PyCapsule_New(&MOMENTUM, ENVPOOL_MUJOCO_TERM_CAPSULE, NULL)
broken = PyCapsule_New(&BROKEN, ENVPOOL_MUJOCO_TERM_CAPSULE, NULL)
limited = PyCapsule_New(&LIMITED, ENVPOOL_MUJOCO_TERM_CAPSULE, NULL)
