"""What Gymnasium's MuJoCo tasks share: ``gymnasium.envs.mujoco.mujoco_env`` and a few lines that most tasks have."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.calls cimport mj_step
from envpool.mujoco.base.simulation cimport Sim, Task
from envpool.rng cimport ep_pcg64, ep_pcg64_seed, ep_standard_normal, ep_uniform

# Sim.own of all these tasks.
cdef struct Own:
    ep_pcg64 rng


cdef inline ep_pcg64* rng_of(Sim* s) noexcept nogil:
    return &(<Own*>s.own).rng


cdef inline void seed_one(Sim* s, uint64_t seed) noexcept nogil:
    ep_pcg64_seed(rng_of(s), seed)


cdef inline void draw_positions(Sim* s, double scale) noexcept nogil:
    """qpos = initial position + uniform noise in [-scale, scale)."""
    cdef int32_t i
    for i in range(s.model.nq):
        s.data.qpos[i] = s.model.qpos0[i] + ep_uniform(rng_of(s), -scale, scale)


cdef inline void draw_uniform_velocities(Sim* s, double scale) noexcept nogil:
    cdef int32_t i
    for i in range(s.model.nv):
        s.data.qvel[i] = 0.0 + ep_uniform(rng_of(s), -scale, scale)


cdef inline void draw_normal_velocities(Sim* s, double scale) noexcept nogil:
    cdef int32_t i
    for i in range(s.model.nv):
        s.data.qvel[i] = 0.0 + scale * ep_standard_normal(rng_of(s))


cdef inline void simulate(Sim* s, const double* action) noexcept nogil:
    """Applies the action for frame_skip steps."""
    cdef int32_t _k
    memcpy(s.data.ctrl, action, s.config.num_actions * sizeof(double))
    for _k in range(s.config.frame_skip):
        mj_step(s.model, s.data)


cdef inline double dt(const Sim* s) noexcept nogil:
    """Seconds in a step."""
    return s.model.opt.timestep * s.config.frame_skip


cdef inline double clip(double x, double low, double high) noexcept nogil:
    """np.clip; NaN stays."""
    x = low if x < low else x
    return high if x > high else x


cdef inline double* put(double* to, const double* values, int32_t n) noexcept nogil:
    """Copies n numbers and returns where the next go."""
    memcpy(to, values, n * sizeof(double))
    return to + n


cdef inline double* put_clipped(double* to, const double* values, int32_t n, double low, double high) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        to[i] = clip(values[i], low, high)
    return to + n


# np.sum(np.square(np.clip(x, low, high))) of a contiguous array; infinite limits clip nothing.
cdef double sum_of_squares(const double* x, int32_t n, double low=*, double high=*) noexcept nogil

# The compiled model of option xml_file.
cdef Model model_of(object config)
# Raises ConfigError unless a model has so many positions, velocities and sites.
cdef int require(Model model, int nq, int nv, int nsite=*) except -1
# The id of a body, or ConfigError.
cdef int32_t body_of(Model model, object body) except -1
# define_task() for these tasks. camera: where the task places Gymnasium's camera (distance, elevation, lookat), as far as
# it does; camera ids are the model's.
cdef object define_gym_task(str name, const Task* task, Model model, object config, dict observations, dict info,
                            bytes options, dict camera)
