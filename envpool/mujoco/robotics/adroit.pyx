"""What the tasks of the Adroit hand share; adroit.pxd documents the functions.

Upstream sets gains of actuators when an environment is made. These gains are those of its models already.
"""

import numpy as np

from libc.stdint cimport uint64_t

from envpool.mujoco.base.calls cimport mj_step
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.mujoco cimport mjOBJ_SITE
from envpool.mujoco.base.observations cimport put_difference
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.mujoco.robotics.goals cimport is_sparse, load_robotics_model, required
from envpool.numerics.numpy_exact cimport np_norm
from envpool.numerics.rng cimport ep_pcg64_is_valid, ep_pcg64_seed

from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS, MujocoEnvDefinition


cdef double distance(const double* a, const double* b) noexcept nogil:
    cdef double[3] difference
    put_difference(difference, a, b)
    return np_norm(difference, 3)


cdef void simulate(Sim* s, const double* action) noexcept nogil:
    cdef const Adroit* a = <const Adroit*>s.options
    cdef double x
    cdef int32_t i, _k
    for i in range(s.config.num_actions):
        x = -1.0 if action[i] < -1.0 else action[i]         # NaN stays NaN, as in np.clip
        s.data.ctrl[i] = a.middle[i] + (1.0 if x > 1.0 else x) * a.half[i]
    for _k in range(s.config.frame_skip):
        mj_step(s.model, s.data)


cdef bint report(Sim* s, double goal_distance, bint is_solved, Outcome* out) noexcept nogil:
    s.info[SUCCESS], s.info[DISTANCE] = is_solved, goal_distance
    out.terminated = False
    out.reward = 10.0 if is_solved else -0.1
    return not (<const Adroit*>s.options).is_sparse


# ---- the env definition ----------------------------------------------------------------------------------------------

cdef void seed(Sim* s, uint64_t value) noexcept nogil:
    ep_pcg64_seed(rng_of(s), value)


cdef bint is_valid(const void* task_state) noexcept nogil:
    cdef const ep_pcg64* rng = &(<const AdroitState*>task_state).rng
    return ep_pcg64_is_valid(rng)


cdef TaskFunctions adroit_task(int (*reset)(Sim* s) noexcept nogil,
                               int (*step)(Sim* s, const double* action, Outcome* out) noexcept nogil,
                               void (*observe)(const Sim* s, double* out) noexcept nogil) noexcept:
    return TaskFunctions(sizeof(AdroitState), seed, reset, step, observe, is_valid, NULL, NULL)


cdef Model load_adroit(Adroit* a, object config, int32_t nq):
    cdef Model model = load_robotics_model(config)
    cdef const double* limits
    cdef int32_t i
    for what, has in (("positions (nq)", model.m.nq), ("velocities (nv)", model.m.nv)):
        if has < nq:
            raise ConfigError(f"{model.source} has {has} {what}, this task needs at least {nq}")
    if model.m.nu > MAX_ACTIONS:
        raise ConfigError(f"{model.source} has {model.m.nu} actuators, allowed are at most {MAX_ACTIONS}")
    for i in range(model.m.nu):
        limits = model.m.actuator_ctrlrange + 2 * i
        a.middle[i] = (limits[0] + limits[1]) / 2
        a.half[i] = 0.5 * (limits[1] - limits[0])
    a.is_sparse = is_sparse(config)
    a.grasp = required(model, mjOBJ_SITE, "S_grasp")
    return model


cdef object define_adroit(str name, const TaskFunctions* task, Model model, object config, int32_t size,
                          const void* options, size_t options_size, list private_arrays, dict camera):
    cdef CameraView view = gymnasium_view(model, camera)
    actions = np.array([[-1] * model.m.nu, [1] * model.m.nu], np.float32)
    return define_task(name, task, model, config, {"obs": (size,)}, {"success": SUCCESS, "distance": DISTANCE}, actions,
                       (<const char*>options)[:options_size], &view, private_arrays)


class AdroitEnvDefinition(MujocoEnvDefinition):
    """A task of the Adroit hand.

    Options
    -------
    xml_file : str
        The model: a name in the folder of ``gymnasium_robotics``, or a path that starts with ".", "/" or "~".
    reward_type : str
        "dense"; or "sparse": 10 if the task is solved, otherwise -0.1.
    """

    refuses_nan = False     # MuJoCo uses zeros when a control is not finite, and the reward does not charge the action.

    @staticmethod
    def options_of(xml_file):
        """Return the options of a task with a model."""
        return OPTIONS | {"frame_skip": 5, "xml_file": f"adroit_hand/{xml_file}", "reward_type": "dense"}
