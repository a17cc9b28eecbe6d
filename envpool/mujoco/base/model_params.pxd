"""The parameters of MuJoCo tasks: model_params.pyx explains where they come from."""

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.structs cimport SimConfig

# The model from `source` that resolve_params() has just compiled in this thread; None if there is none.
cdef Model resolved_model(str source)
# Returns the compiled model of option xml_file, a file of a user or of a package. Raises ConfigError.
cdef Model load_xml_file(object path, bint is_users)
# Fills the parameters of a config, whose model and private arrays are set, and SimConfig.own_size. Returns the Params
# by name, and the bytes that SimConfig.initial points to.
cdef tuple add_params(SimConfig* c, Model model, object config)
