"""What Gymnasium's MuJoCo tasks share; common.pxd says what there is."""

import warnings

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from envpool.numerics.numpy_exact cimport np_sum
from envpool.mujoco.base.calls cimport mjv_defaultCamera
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.mujoco cimport mjOBJ_BODY
from envpool.mujoco.base.renderer cimport View
from envpool.mujoco.base.simulation cimport Task, define_task

from envpool.errors import ConfigError
from envpool.mujoco.base.model import load_file, register_plugins
from envpool.mujoco.gym.options import ASSETS, model_path

cdef enum:
    LONGEST = 128               # what np.sum adds without splitting


cdef double sum_of_squares(const double* x, int32_t n, double low=-INFINITY, double high=INFINITY) noexcept nogil:
    cdef double squares[LONGEST]
    cdef double value
    cdef int32_t i, half
    if n > LONGEST:             # where np.sum splits too
        half = n // 2
        half -= half % 8
        return sum_of_squares(x, half, low, high) + sum_of_squares(x + half, n - half, low, high)
    for i in range(n):
        value = clip(x[i], low, high)
        squares[i] = value * value
    return np_sum(squares, n)


cdef Model model_of(object config):
    cdef Model model
    path = model_path(config.xml_file)
    is_own = path.parent != ASSETS
    if is_own:
        register_plugins()
    model = load_file(path, "xml_file")
    if is_own and model.remarks:
        warnings.warn(f"{model.source}: {model.remarks}", stacklevel=2)
    return model


cdef object action_range_of(Model model):
    """Lowest and highest control of each actuator: float64 (2, nu)."""
    cdef Py_ssize_t i
    limits = [(model.m.actuator_ctrlrange[2 * i], model.m.actuator_ctrlrange[2 * i + 1]) for i in range(model.m.nu)]
    return np.array(limits, np.float64).reshape(-1, 2).T


cdef int require(Model model, int nq, int nv, int nsite=0) except -1:
    for what, has, needed in (
        ("positions (nq)", model.m.nq, nq), ("velocities (nv)", model.m.nv, nv), ("sites", model.m.nsite, nsite)
    ):
        if has < needed:
            raise ConfigError(f"{model.source} has {has} {what}, this task needs at least {needed}")
    return 0


cdef int32_t body_of(Model model, object body) except -1:
    cdef int found
    if isinstance(body, str):
        found = model.find(mjOBJ_BODY, body)
        if found < 0:
            raise ConfigError(f"{model.source} has no body called {body!r}, which this task needs")
        return found
    if isinstance(body, (int, np.integer)) and not isinstance(body, bool) and 0 <= body < model.m.nbody:
        return body
    raise ConfigError(f"main_body is {body!r}, allowed are names of bodies and 0 to {model.m.nbody - 1}")


cdef View view_of(Model model, dict camera):
    """``gymnasium.envs.mujoco.mujoco_rendering``."""
    cdef View view
    view.height = view.width = 480
    view.max_geom = 1000
    view.shows_rangefinders = True
    mjv_defaultCamera(&view.camera)
    view.camera.distance = camera.get("distance", model.m.stat_extent)
    view.camera.elevation = camera.get("elevation", view.camera.elevation)
    view.finds_middle = "lookat" not in camera
    if not view.finds_middle:
        view.camera.lookat = camera["lookat"]
    return view


cdef object define_gym_task(str name, const Task* task, Model model, object config, dict observations, dict info,
                            bytes options, dict camera):
    cdef View view = view_of(model, camera)
    return define_task(name, task, model, config, observations, info, action_range_of(model), options, &view)
