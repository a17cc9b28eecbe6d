"""The env definition of a MuJoCo task; definition.pxd documents the functions."""

import numpy as np

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t
from libc.string cimport memset

from envpool.env cimport ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_FIELDS
from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.model_params cimport add_params
from envpool.mujoco.base.mujoco cimport mjCAMLIGHT_TRACKCOM, mjOBJ_CAMERA
from envpool.mujoco.base.own_models cimport padded
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.simulation cimport ENV_DEF, FieldSlice, PrivateArray, SimConfig, TaskFunctions
from envpool.mujoco.base.structs cimport MAX_FLOAT_ACTIONS

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.native import Field, define, param_fields


cdef int32_t check_count(str name, object value) except -1:
    """Returns the value of an option that counts frames or pixels, or raises ConfigError."""
    if not 1 <= value <= 10000:
        raise ConfigError(f"{name} must be between 1 and 10000, got {shown(value)}")
    return value


cdef list observe_pixels(SimConfig* c, object config):
    """Makes frames the observation; returns its only field."""
    c.pixel_height = check_count("render_height", config.render_height)
    c.pixel_width = check_count("render_width", config.render_width)
    c.pixel_camera = config.render_camera_id
    if not -1 <= c.pixel_camera < c.model.ncam:
        raise ConfigError(f"render_camera_id must be between -1 and {c.model.ncam - 1}, got {c.pixel_camera}")
    c.num_observations = 1
    shape = (3 * c.frame_stack, c.pixel_height, c.pixel_width)
    return [Field("obs:pixels", np.uint8, shape, 0, 255)]


cdef list observe_numbers(SimConfig* c, dict observations):
    """Makes numbers the observation; returns its fields."""
    cdef int32_t size
    if len(observations) > ENVPOOL_MAX_FIELDS:
        raise ConfigError(f"an observation must have at most {ENVPOOL_MAX_FIELDS} arrays, got {len(observations)}")
    fields = []
    stack = () if c.frame_stack == 1 else (c.frame_stack,)
    for name, shape in observations.items():
        size = int(np.prod(shape, dtype=np.int64))
        c.fields[c.num_observations] = FieldSlice(c.observation_size, size)
        c.num_observations += 1
        c.observation_size += size
        fields.append(Field(name, np.float64, (*stack, *shape)))
    if <int64_t>c.observation_size * c.frame_stack > INT32_MAX:
        raise ConfigError(
            f"an observation must have at most {INT32_MAX} numbers, got {c.observation_size} times "
            f"frame_stack={c.frame_stack}: choose a smaller frame_stack"
        )
    return fields


cdef list info_fields(SimConfig* c, str name, dict info, bint has_initial_state):
    """Places the info arrays in Sim.info; returns their fields."""
    cdef int32_t k = c.num_observations
    slices = {key: (offset, 0) if isinstance(offset, int) else offset for key, offset in info.items()}
    c.info_size = max([index + max(size, 1) for index, size in slices.values()], default=0)
    c.initial_state = c.info_size if has_initial_state else -1
    if has_initial_state:
        slices |= {"qpos0": (c.info_size, c.model.nq), "qvel0": (c.info_size + c.model.nq, c.model.nv)}
        c.info_size += c.model.nq + c.model.nv
    c.num_fields = k + <int32_t>len(slices)
    if c.num_fields > ENVPOOL_MAX_FIELDS:
        raise ConfigError(f"{name} must have at most {ENVPOOL_MAX_FIELDS} arrays, got {c.num_fields}")
    fields = []
    for key, (index, width) in slices.items():
        c.fields[k] = FieldSlice(index, max(width, 1))
        k += 1
        fields.append(Field(f"info:{key}", np.float64, (width,) if width else (-1,)))
    return fields


cdef int tracking_camera(Model model) except -2:
    """Returns the number of the camera "track", or of the first one that follows a center of mass; -1 for none."""
    cdef int camera = model.find(mjOBJ_CAMERA, "track")
    if camera >= 0:
        return camera
    for camera in range(<int>model.m.ncam):
        if model.m.cam_mode[camera] == mjCAMLIGHT_TRACKCOM:
            return camera
    return -1


cdef object define_task(str name, const TaskFunctions* task, Model model, object config, dict observations, dict info,
                        object action_range, bytes options, const CameraView* view, private_arrays=(),
                        object keep=None, uint32_t flags=0, PrepareFunction prepare=NULL,
                        bint follows_masses=False):
    cdef SimConfig c
    memset(&c, 0, sizeof(SimConfig))
    c.task = task
    c.prepare = prepare
    c.model = model.m
    c.model_digest = model.digest
    c.view = view[0]
    for member, size, first, last, itemsize in private_arrays:
        c.private_arrays[c.num_private_arrays] = PrivateArray(member, size, first, last, itemsize, 0)
        c.num_private_arrays += 1
        c.has_own_terrain |= member == <size_t>(<char*>&model.m.hfield_data - <char*>model.m)
    c.frame_skip = check_count("frame_skip", config.frame_skip)
    c.frame_stack = check_count("frame_stack", config.frame_stack)
    c.num_actions = np.shape(action_range)[1]
    if c.num_actions == 0:
        raise ConfigError(f"{model.source} has no actuators; a task needs at least one, since they define its action")
    fields = observe_pixels(&c, config) if config.from_pixels else observe_numbers(&c, observations)
    fields += info_fields(&c, name, info, config.debug_info)
    params, initial = add_params(&c, model, config)
    if follows_masses:
        c.subtree_place = c.own_size
        c.own_size += padded(<size_t>model.m.nbody * sizeof(double))
    low, high = np.asarray(action_range)
    c.has_float_actions = low.dtype == np.float32
    assert not c.has_float_actions or c.num_actions <= MAX_FLOAT_ACTIONS
    actions = [Field("action", low.dtype, (-1, c.num_actions), low, high)]
    header = (<const char*>&c)[:sizeof(SimConfig)]
    template = PyCapsule_New(&ENV_DEF, ENVPOOL_CAPSULE_NAME, NULL)
    return define(template, fields, actions, header + options, name=name, keep=(model, keep, initial), flags=flags,
                  params=param_fields(params), step_time=model.m.opt.timestep * c.frame_skip,
                  tracking_camera=tracking_camera(model),
                  frame_size=(c.pixel_height, c.pixel_width) if config.from_pixels else (view.height, view.width))


cdef tuple private_array(Model model, double** member, size_t n, size_t first, size_t count):
    return <size_t>(<char*>member - <char*>model.m), n * 8, first * 8, (first + count) * 8, 8


cdef tuple private_float_array(Model model, float** member, size_t n, size_t first, size_t count):
    return <size_t>(<char*>member - <char*>model.m), n * 4, first * 4, (first + count) * 4, 4
