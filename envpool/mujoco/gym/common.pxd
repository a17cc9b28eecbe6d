"""What Gymnasium's MuJoCo tasks share: ``gymnasium.envs.mujoco.mujoco_env`` and a few lines that most tasks have."""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.calls cimport mj_forward, mj_step
from envpool.mujoco.base.simulation cimport Outcome, Sim, Task
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_seed, ep_standard_normal, ep_uniform

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


cdef inline void reset_uniform(Sim* s, double scale) noexcept nogil:
    draw_positions(s, scale)
    draw_uniform_velocities(s, scale)
    mj_forward(s.model, s.data)


cdef inline void reset_normal(Sim* s, double scale) noexcept nogil:
    draw_positions(s, scale)
    draw_normal_velocities(s, scale)
    mj_forward(s.model, s.data)


cdef inline void simulate(Sim* s, const double* action) noexcept nogil:
    """Applies the action for frame_skip steps."""
    cdef int32_t _k
    memcpy(s.data.ctrl, action, s.config.num_actions * sizeof(double))
    for _k in range(s.config.frame_skip):
        mj_step(s.model, s.data)


cdef inline int step_rewarded(Sim* s, const double* action, Outcome* out, bint after,
                              void (*tell_reward)(Sim* s, const double* action, Outcome* out) noexcept nogil
                              ) noexcept nogil:
    """Task.step where the reward is that of the state after the step, or before; the task never terminates."""
    if not after:
        tell_reward(s, action, out)
    simulate(s, action)
    if after:
        tell_reward(s, action, out)
    out.terminated = False
    return 0


cdef inline bint is_finite(const Sim* s) noexcept nogil:
    """Whether all positions and velocities are numbers."""
    cdef int32_t i
    for i in range(s.model.nq):
        if not isfinite(s.data.qpos[i]):
            return False
    for i in range(s.model.nv):
        if not isfinite(s.data.qvel[i]):
            return False
    return True


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


cdef inline double* put_state(double* to, const Sim* s, int32_t skipped) noexcept nogil:
    """Positions but the leading ones, and velocities."""
    to = put(to, s.data.qpos + skipped, s.model.nq - skipped)
    return put(to, s.data.qvel, s.model.nv)


cdef inline void put_difference(double* to, const Sim* s, int32_t body, int32_t other) noexcept nogil:
    """From one body to another."""
    cdef int32_t i
    for i in range(3):
        to[i] = s.data.xpos[3 * body + i] - s.data.xpos[3 * other + i]


# np.sum(np.square(np.clip(x, low, high))) of a contiguous array; infinite limits clip nothing.
cdef double sum_of_squares(const double* x, int32_t n, double low=*, double high=*) noexcept nogil

# The compiled model of option xml_file.
cdef Model model_of(object config)
# Raises ConfigError unless a model has so many positions, velocities and sites.
cdef int require(Model model, int nq, int nv, int nsite=*) except -1
# The id of a body, or ConfigError.
cdef int32_t body_of(Model model, object body) except -1
# define_task() for these tasks. camera: where the task places Gymnasium's camera (distance, elevation, lookat), as far
# as it does.
cdef object define_gym_task(str name, const Task* task, Model model, object config, dict observations, dict info,
                            bytes options, dict camera)
