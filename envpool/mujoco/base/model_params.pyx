"""The parameters of MuJoCo tasks: which numbers of an mjModel they are, and their defaults, from the compiled model.

Shapes and defaults depend on the model, so it has to be compiled before the options of a pool can be checked.
resolve_params() builds the env definition once for this purpose, with the parameters left open. The build that follows,
with values, takes over the compiled model.
"""

import threading

import numpy as np

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stddef cimport size_t
from libc.stdint cimport int32_t

from envpool.mujoco.base.mujoco cimport (
    mjModel, mjNGAIN, mjMAXVAL, mjOBJ_ACTUATOR, mjOBJ_BODY, mjOBJ_GEOM, mjOBJ_JOINT,
)
from envpool.mujoco.base.own_models cimport padded
from envpool.mujoco.base.structs cimport ModelParam

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.base.model import load_file
from envpool.mujoco.base.model_files import load_users_model
from envpool.native import Param

AXES = ("x", "y", "z")


def amount(unit, text):
    """Return a parameter that must not be negative. MuJoCo accepts no positions above the upper bound either."""
    return Param(None, 0.0, mjMAXVAL, unit, text)


def signed(unit, text):
    """Return a parameter of either sign."""
    return Param(None, -mjMAXVAL, mjMAXVAL, unit, text)


#: The parameters of every MuJoCo task. `resolve_params` adds defaults and names.
PARAMS = {
    "gravity": signed("m/s^2", "gravitational acceleration"),
    "wind": signed("m/s", "velocity of the medium; needs a density or a viscosity"),
    "density": amount("kg/m^3", "density of the medium"),
    "viscosity": amount("Pa s", "viscosity of the medium"),
    "body_mass": amount("kg", "mass of each body"),
    "body_inertia": amount("kg m^2", "diagonal inertia of each body, in its inertial frame"),
    "geom_friction": amount("", "sliding, torsional (m) and rolling (m) friction of each geom"),
    "dof_damping": amount("N s/m or N m s/rad", "damping of each degree of freedom"),
    "dof_armature": amount("kg or kg m^2", "armature inertia of each degree of freedom"),
    "dof_frictionloss": amount("N or N m", "friction loss of each degree of freedom"),
    "jnt_stiffness": amount("N/m or N m/rad", "stiffness of each joint"),
    "actuator_gain": signed("", "gain of each actuator: the first column of actuator_gainprm"),
}

_resolving = threading.local()      # model, params: what resolve_params() has compiled in this thread


# ---- the numbers in a model ------------------------------------------------------------------------------------------

cdef inline ModelParam in_struct(const mjModel* m, const double* values, int32_t rows) noexcept:
    return ModelParam(<size_t>(<const char*>values - <const char*>m), False, rows, 1, 1, 0, 0, 0)


cdef inline ModelParam in_array(const mjModel* m, double* const* member, int32_t rows, int32_t columns=1,
                                int32_t stride=0) noexcept:
    return ModelParam(<size_t>(<const char*>member - <const char*>m), True, rows, columns, stride or columns, 0, 0, 0)


cdef dict params_of(const mjModel* m):
    """Returns where the parameters are in a model, each as a dict with the members of a ModelParam."""
    cdef int32_t bodies = <int32_t>m.nbody, dofs = <int32_t>m.nv
    return {
        "gravity": in_struct(m, &m.opt.gravity[0], 3),
        "wind": in_struct(m, &m.opt.wind[0], 3),
        "density": in_struct(m, &m.opt.density, 1),
        "viscosity": in_struct(m, &m.opt.viscosity, 1),
        "body_mass": in_array(m, &m.body_mass, bodies),
        "body_inertia": in_array(m, &m.body_inertia, bodies, 3),
        "geom_friction": in_array(m, &m.geom_friction, <int32_t>m.ngeom, 3),
        "dof_damping": in_array(m, &m.dof_damping, dofs),
        "dof_armature": in_array(m, &m.dof_armature, dofs),
        "dof_frictionloss": in_array(m, &m.dof_frictionloss, dofs),
        "jnt_stiffness": in_array(m, &m.jnt_stiffness, <int32_t>m.njnt),
        "actuator_gain": in_array(m, &m.actuator_gainprm, <int32_t>m.nactuator, 1, mjNGAIN),
    }


cdef tuple names_of(Model model, str name, int32_t rows):
    """Returns the names of the rows of a parameter: of the objects, or of the joint of each degree of freedom."""
    if name in ("gravity", "wind"):
        return AXES
    if name.startswith("dof_"):
        return tuple([model.name_of(mjOBJ_JOINT, model.m.dof_jntid[i]) for i in range(rows)])
    kinds = {"body": mjOBJ_BODY, "geom": mjOBJ_GEOM, "jnt": mjOBJ_JOINT, "actuator": mjOBJ_ACTUATOR}
    kind = kinds.get(name.partition("_")[0])
    return () if kind is None else tuple([model.name_of(kind, i) for i in range(rows)])


cdef object values_of(const mjModel* m, const ModelParam* p):
    """Returns a parameter of a model: a float64 array (rows, columns)."""
    cdef const double* values = <const double*>(<const char*>m + p.member)
    if p.is_array:
        values = (<const double* const*>(<const char*>m + p.member))[0]
    return np.array([[values[r * p.stride + k] for k in range(p.columns)] for r in range(p.rows)], np.float64)


cdef object resolved(Model model, str name):
    """Returns a Param with the default of a model, which its bounds include; None if the model has no such objects."""
    cdef const mjModel* m = model.m
    cdef ModelParam p = params_of(m)[name]
    if p.rows == 0:
        return None
    values = values_of(m, &p)
    if not np.isfinite(values).all():
        raise ConfigError(f"{name} of {model.source} must be finite, got {shown(values.squeeze().tolist())}")
    general = PARAMS[name]
    low, high = min(general.low, values.min()), max(general.high, values.max())
    if name in ("density", "viscosity"):
        default = values[0, 0].item()
    else:
        default = tuple(map(tuple, values.tolist())) if p.columns > 1 else tuple(values[:, 0].tolist())
    return Param(default, low, high, general.unit, general.text, names=names_of(model, name, p.rows))


# ---- resolving -------------------------------------------------------------------------------------------------------

def resolve_params(build, config, names):
    """Return the parameters of a task with the defaults of its model.

    Parameters
    ----------
    build : callable
        Builds the env definition from a configuration.
    config : namedtuple
        The options of the task, validated except for the parameters.
    names : collection of str
        The parameters that the task declares.

    Returns
    -------
    dict of str to Param
        The parameters, without parameters of objects that the model lacks.

    Raises
    ------
    ConfigError
        A value is given for such a parameter, or `build` does not accept an option.
    """
    _resolving.__dict__.clear()
    build(config._replace(**dict.fromkeys(names)))
    for name in names:
        if name not in _resolving.params and getattr(config, name) is not None:
            raise ConfigError(f"{name} was given, but {_resolving.model.source} has nothing of this kind")
    return _resolving.params


cdef Model resolved_model(str source):
    model = getattr(_resolving, "model", None)
    return model if model is not None and model.source == source else None


cdef Model load_xml_file(object path, bint is_users):
    cdef Model model = resolved_model(f"xml_file {str(path)!r}")
    if model is not None:
        return model
    return load_users_model(load_file, path, "xml_file") if is_users else load_file(path, "xml_file")


cdef tuple add_params(SimConfig* c, Model model, object config):
    cdef ModelParam* p
    cdef int32_t k
    names = [name for name in PARAMS if hasattr(config, name)]
    if getattr(_resolving, "model", None) is model:
        params = _resolving.params
    else:
        found = {name: resolved(model, name) for name in names}
        params = {name: param for name, param in found.items() if param is not None}
    given = [getattr(config, name) for name in params]
    if None in given:
        _resolving.model, _resolving.params = model, params
        given = [param.default for param in params.values()]
    else:
        _resolving.__dict__.clear()
    c.own_size = padded(sizeof(mjModel))
    for k in range(c.num_private_arrays):
        c.private_arrays[k].offset = c.own_size
        c.own_size += padded(c.private_arrays[k].size)
    for name, param in params.items():
        p = &c.params[c.num_params]
        p[0] = params_of(model.m)[name]
        p.low, p.high = param.low, param.high
        if p.is_array and not is_private(c, p.member):
            p.offset = c.own_size
            c.own_size += padded(<size_t>p.rows * p.stride * sizeof(double))
        c.num_params += 1
        c.num_param_values += p.rows * p.columns
    initial = packed(given)
    if initial != packed([param.default for param in params.values()]):
        c.initial = <const double*>PyBytes_AS_STRING(initial)
    return params, initial


cdef bint is_private(const SimConfig* c, size_t member) noexcept:
    cdef int32_t k
    for k in range(c.num_private_arrays):
        if c.private_arrays[k].member == member:
            return True
    return False


cdef bytes packed(list values):
    return b"".join([np.asarray(value, np.float64).tobytes() for value in values])
