"""The scaffold of Gymnasium's MuJoCo tasks; common.pxd documents the functions."""

import numpy as np

from libc.math cimport INFINITY
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t

from envpool.mujoco.base.calls cimport mj_forward
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY
from envpool.mujoco.base.model_params cimport load_xml_file
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.numerics.numpy_exact cimport np_sum
from envpool.numerics.rng cimport ep_pcg64, ep_pcg64_is_valid, ep_pcg64_seed, ep_standard_normal

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.gym.options import ASSETS, limits, model_path, scale, weights

cdef enum:
    MAX_SUMMANDS = 128          # np.sum splits longer arrays


cdef double sum_of_squares(const double* x, int32_t n, double low=-INFINITY, double high=INFINITY) noexcept nogil:
    cdef double squares[MAX_SUMMANDS]
    cdef double value
    cdef int32_t i, half
    if n > MAX_SUMMANDS:        # split where np.sum splits
        half = n // 2
        half -= half % 8
        return sum_of_squares(x, half, low, high) + sum_of_squares(x + half, n - half, low, high)
    for i in range(n):
        value = clip(x[i], low, high)
        squares[i] = value * value
    return np_sum(squares, n)


cdef void seed(Sim* s, uint64_t value) noexcept nogil:
    ep_pcg64_seed(rng_of(s), value)


cdef bint is_valid(const void* task_state) noexcept nogil:
    cdef const ep_pcg64* rng = &(<const TaskState*>task_state).rng
    return ep_pcg64_is_valid(rng)


cdef void reset_normal(Sim* s, double noise_scale) noexcept nogil:
    cdef int32_t i
    sample_positions(s, noise_scale)
    for i in range(s.model.nv):
        s.data.qvel[i] = 0.0 + noise_scale * ep_standard_normal(rng_of(s))
    mj_forward(s.model, s.data)


cdef Model load_gym_model(object config, int nq, int nv, int nsite=0):
    path = model_path(config.xml_file)
    cdef Model model = load_xml_file(path, path.parent != ASSETS)
    for what, has, needed in (
        ("positions (nq)", model.m.nq, nq), ("velocities (nv)", model.m.nv, nv), ("sites", model.m.nsite, nsite)
    ):
        if has < needed:
            raise ConfigError(f"{model.source} has {has} {what}, this task needs at least {needed}")
    return model


cdef object action_range_of(Model model):
    cdef Py_ssize_t i
    bounds = [(model.m.actuator_ctrlrange[2 * i], model.m.actuator_ctrlrange[2 * i + 1]) for i in range(model.m.nu)]
    return np.array(bounds, np.float64).reshape(-1, 2).T


cdef int32_t body_id(Model model, object body) except -1:
    cdef int found
    if isinstance(body, str):
        found = model.find(mjOBJ_BODY, body)
        if found < 0:
            raise ConfigError(f"{model.source} has no body called {shown(body)}, which this task needs")
        return found
    if isinstance(body, (int, np.integer)) and not isinstance(body, bool) and 0 <= body < model.m.nbody:
        return body
    raise ConfigError(f"main_body must be the name of a body or between 0 and {model.m.nbody - 1}, got {shown(body)}")


cdef int read_locomotion(Locomotion* l, object config, int hidden) except -1:
    l.forward_reward_weight, l.ctrl_cost_weight = weights(config, "forward_reward_weight", "ctrl_cost_weight")
    l.reset_noise_scale = scale(config)
    l.skipped = hidden * config.exclude_current_positions_from_observation
    return 0


cdef void observe_locomotion(const Sim* s, double* out) noexcept nogil:
    put_state(out, s, (<const Locomotion*>s.options).skipped)


cdef int read_health(Health* h, object config) except -1:
    (h.reward,) = weights(config, "healthy_reward")
    h.z_min, h.z_max = limits(config, "healthy_z_range", "healthy_z_min", "healthy_z_max")
    h.terminates = config.terminate_when_unhealthy
    h.legacy_reward = config.legacy_healthy_reward
    return 0


cdef object define_gym_task(str name, const TaskFunctions* task, Model model, object config, int32_t observation_size,
                            dict info, const void* options, size_t options_size, dict camera=None):
    cdef CameraView view = gymnasium_view(model, camera or {})
    return define_task(name, task, model, config, {"obs": (observation_size,)}, info, action_range_of(model),
                       (<const char*>options)[:options_size], &view)
