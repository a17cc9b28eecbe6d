"""Shared code of the Adroit hand tasks; adroit.pxd documents the functions.

Upstream sets gains of actuators when an environment is made. These gains are those of its models already.
"""

import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from envpool.env cimport envpool_params
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.own_models cimport get_params, set_params
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.structs cimport SimPool
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.mujoco.robotics.goals cimport fail, is_sparse, load_robotics_model, with_reset_options
from envpool.numerics.numpy_exact cimport np_norm
from envpool.numerics.rng cimport ep_pcg64_is_valid

from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS, MujocoEnvDefinition
from envpool.mujoco.robotics.adroit_states import state_option


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


cdef int begin(Sim* s, double* placed, int32_t num_placed, double* more, int32_t num_more) noexcept nogil:
    cdef const Adroit* a = <const Adroit*>s.options
    cdef double* given = adroit_state(s).given
    cdef int32_t nq = a.nq
    if given[0] == 0:
        return 0
    given[0] = 0
    if s.model.nq != nq or s.model.nv != nq:
        return fail(s, b"initial_state_dict is a state of the usual model, but xml_file has other joints: leave it out")
    memcpy(s.data.qpos, given + 1, nq * sizeof(double))
    memcpy(s.data.qvel, given + 1 + nq, nq * sizeof(double))
    memcpy(placed, given + 1 + 2 * nq, num_placed * sizeof(double))
    if more != NULL:
        memcpy(more, given + 1 + 2 * nq + num_placed, num_more * sizeof(double))
    mj_forward(s.model, s.data)
    return 0


cdef bint report(Sim* s, double goal_distance, bint is_solved, Outcome* out) noexcept nogil:
    s.info[SUCCESS], s.info[DISTANCE] = is_solved, goal_distance
    out.terminated = False
    out.reward = 10.0 if is_solved else -0.1
    return not (<const Adroit*>s.options).is_sparse


# ---- the env definition ----------------------------------------------------------------------------------------------

cdef bint is_valid(const void* task_state) noexcept nogil:
    cdef const AdroitState* state = <const AdroitState*>task_state
    return ep_pcg64_is_valid(&state.rng) and state.given[0] == 0


cdef Model load_adroit(Adroit* a, object config, int32_t nq):
    cdef Model model = load_robotics_model(config)
    cdef const double* limits
    cdef int32_t i
    for what, has in (("positions (nq)", model.m.nq), ("velocities (nv)", model.m.nv)):
        if has < nq:
            raise ConfigError(f"{model.source} has {has} {what}, this task needs at least {nq}")
    if model.m.nu > MAX_ACTIONS:
        raise ConfigError(f"{model.source} must have at most {MAX_ACTIONS} actuators, got {model.m.nu}")
    for i in range(model.m.nu):
        limits = model.m.actuator_ctrlrange + 2 * i
        a.middle[i] = (limits[0] + limits[1]) / 2
        a.half[i] = 0.5 * (limits[1] - limits[0])
    a.is_sparse = is_sparse(config)
    a.grasp = required(model, mjOBJ_SITE, "S_grasp")
    return model


# ---- options of resets -----------------------------------------------------------------------------------------------

cdef int get_params_and_state(void* state, const envpool_params* call) noexcept nogil:
    cdef const SimPool* all = <const SimPool*>state
    cdef double* values = <double*>call.values[all.config.num_params]
    cdef int32_t i, size
    for i in range(call.n):
        size = (<const Adroit*>all.sims[call.ids[i]].options).state_size
        memset(values + <int64_t>call.ids[i] * size, 0, size * sizeof(double))
    return get_params(state, call)


cdef int set_params_and_state(void* state, const envpool_params* call) noexcept nogil:
    cdef const SimPool* all = <const SimPool*>state
    cdef const double* values = <const double*>call.values[all.config.num_params]
    cdef Sim* s
    cdef int32_t i, size
    for i in range(call.n):
        s = &all.sims[call.ids[i]]
        size = (<const Adroit*>s.options).state_size
        memcpy(adroit_state(s).given, values + <int64_t>call.ids[i] * size, size * sizeof(double))
    return set_params(state, call)


cdef object define_adroit(str name, const TaskFunctions* task, Model model, object config, int32_t size, dict sizes,
                          Adroit* options, size_t options_size, list private_arrays, dict camera):
    cdef CameraView view = gymnasium_view(model, camera)
    options.nq, options.state_size = sizes["qpos"], 1 + sum(sizes.values())
    assert options.state_size <= 1 + MAX_STATE
    actions = np.array([[-1] * model.m.nu, [1] * model.m.nu], np.float32)
    capsule = define_task(name, task, model, config, {"obs": (size,)}, {"success": SUCCESS, "distance": DISTANCE},
                          actions, (<const char*>options)[:options_size], &view, private_arrays)
    return with_reset_options(capsule, state_option(sizes), get_params_and_state, set_params_and_state)


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
