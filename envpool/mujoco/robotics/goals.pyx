"""Shared code of the goal environments of Gymnasium-Robotics; goals.pxd documents the functions."""

import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport isfinite, sqrt

from envpool.env cimport ENVPOOL_CAPSULE_NAME, envpool_env
from envpool.mujoco.base.calls cimport mj_jacSite
from envpool.mujoco.base.definition cimport define_task
from envpool.mujoco.base.model_params cimport load_xml_file
from envpool.mujoco.base.mujoco cimport mjJNT_FREE, mjJNT_HINGE, mjJNT_SLIDE
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.views cimport gymnasium_view
from envpool.numerics.numpy_exact cimport np_matrix_vector, np_sum
from envpool.numerics.rng cimport ep_pcg64_is_valid

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.robotics.model_folder import assets, model_path
from envpool.native import define, describe, param_fields

KINDS = {mjOBJ_BODY: "body", mjOBJ_GEOM: "geom", mjOBJ_JOINT: "joint", mjOBJ_SENSOR: "sensor", mjOBJ_SITE: "site"}


# ---- arithmetic ------------------------------------------------------------------------------------------------------

cdef double goal_distance(const double* a, const double* b, int32_t n) noexcept nogil:
    cdef double squares[MAX_GOAL]
    cdef double difference
    cdef int32_t i
    for i in range(n):
        difference = a[i] - b[i]
        squares[i] = difference * difference
    return sqrt(np_sum(squares, n))


cdef void site_velocity(const Sim* s, int32_t site, double* linear, double* angular) noexcept nogil:
    cdef double jacobian[2 * 3 * MAX_DOFS]
    cdef long nv = s.model.nv
    cdef double* turning = &jacobian[3 * MAX_DOFS]
    mj_jacSite(s.model, s.data, jacobian if linear != NULL else NULL, turning if angular != NULL else NULL, site)
    if linear != NULL:
        np_matrix_vector(jacobian, s.data.qvel, 3, nv, linear)
    if angular != NULL:
        np_matrix_vector(turning, s.data.qvel, 3, nv, angular)


# ---- the env definition ----------------------------------------------------------------------------------------------

cdef bint is_valid(const void* task_state) noexcept nogil:
    cdef const GoalState* state = <const GoalState*>task_state
    cdef int32_t i
    for i in range(MAX_GOAL):
        if not isfinite(state.goal[i]):
            return False
    return ep_pcg64_is_valid(&state.rng)


cdef Model load_robotics_model(object config):
    path = model_path(config.xml_file)
    cdef Model model = load_xml_file(path, assets() not in path.parents)
    if model.m.nv > MAX_DOFS:
        raise ConfigError(f"{model.source} must have at most {MAX_DOFS} degrees of freedom, got {model.m.nv}")
    return model


cdef int32_t required(Model model, int kind, str name) except -1:
    cdef int found = model.find(kind, name)
    if found < 0:
        raise ConfigError(f"{model.source} has no {KINDS[kind]} called {shown(name)}, which this task needs")
    return found


cdef int32_t sensor_index(Model model, int32_t sensor) except -1:
    if sensor >= model.m.nsensordata:
        raise ConfigError(f"{model.source} has sensors without numbers before {model.name_of(mjOBJ_SENSOR, sensor)!r}, "
                          "but this task needs at least one number of each")
    return sensor


cdef int32_t single_joint(Model model, int32_t joint) except -1:
    if model.m.jnt_type[joint] not in (mjJNT_HINGE, mjJNT_SLIDE):
        raise ConfigError(f"{model.source} has a joint {model.name_of(mjOBJ_JOINT, joint)!r} of several degrees of "
                          "freedom, but this task needs a hinge or a slide")
    return joint


cdef int32_t free_joint(Model model, str name) except -1:
    cdef int32_t joint = required(model, mjOBJ_JOINT, name)
    if model.m.jnt_type[joint] != mjJNT_FREE:
        raise ConfigError(f"{model.source} has a joint {shown(name)} that is not free, but this task needs a free one")
    return joint


cdef list robot_joints(Model model):
    return [single_joint(model, i) for i in range(model.m.njnt) if model.name_of(mjOBJ_JOINT, i).startswith("robot")]


cdef bint is_sparse(object config) except? -1:
    if config.reward_type not in ("sparse", "dense"):
        raise ConfigError(f"reward_type must be 'sparse' or 'dense', got {shown(config.reward_type)}")
    return config.reward_type == "sparse"


cdef object define_goal_task(str name, const TaskFunctions* task, Model model, object config, tuple sizes,
                             bytes options, dict camera, dict info=None, private_arrays=(),
                             PrepareFunction prepare=NULL):
    cdef CameraView view = gymnasium_view(model, camera)
    observation, goal, actions = sizes
    observations = {"obs:observation": (observation,), "obs:achieved_goal": (goal,), "obs:desired_goal": (goal,)}
    info = {"is_success": IS_SUCCESS, "distance": DISTANCE} | (info or {})
    action_range = np.array([[-1] * actions, [1] * actions], np.float32)
    return define_task(name, task, model, config, observations, info, action_range, options, &view, private_arrays,
                       None, 0, prepare)


cdef object with_reset_options(object capsule, dict options, ParamsFunction get_params,
                               ParamsFunction set_params):
    cdef const envpool_env* inner = <const envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
    cdef envpool_env* made
    about = describe(capsule)
    table = [*about.params, *param_fields({}, options)]
    capsule = define(capsule, about.fields, about.actions, params=table, keep=capsule)
    made = <envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
    made.config = inner.config
    made.state_version = inner.state_version + 1        # the options are in snapshots
    made.get_params, made.set_params = get_params, set_params
    return capsule
