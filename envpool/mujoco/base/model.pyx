"""MuJoCo models. A pool compiles its model when it is made."""

from importlib import import_module

from libc.math cimport isfinite
from libc.stdint cimport INT32_MAX, int32_t
from libc.string cimport memset

from envpool.mujoco.base cimport mujoco
from envpool.mujoco.base.mujoco cimport (
    EP_HAS_FLAT_NAMES, ep_mj_call, ep_mj_enter, ep_mj_handlers, ep_mj_leave, mj_addBufferVFS, mj_defaultVFS,
    mj_deleteData, mj_deleteModel, mj_deleteVFS, mj_id2name, mj_loadXML, mj_local2Global, mj_makeData, mj_name2id,
    mjDSBL_ISLAND, mjENBL_SLEEP, mjfTime, mjModel, mjNFLUID, mjOBJ_GEOM, mjSENS_GEOMDIST, mjSENS_GEOMFROMTO,
    mjSENS_GEOMNORMAL, mjSENS_RANGEFINDER, mjVFS, mjWRAP_CYLINDER, mjWRAP_SPHERE,
)

from envpool.errors import ConfigError

#: The name of an XML text among its assets, which is none that a user would choose.
TEXT = "<text>.xml"

# The argument of load_xml(). Its last three members are results.
cdef struct LoadCall:
    const char* path
    const mjVFS* vfs
    mjModel* model
    char text[1000]                 # an error; or the warnings of the compiler, if there is a model
    char failure[1000]              # the text of a mju_error()


# The argument of add_file().
cdef struct FileCall:
    mjVFS* vfs
    const char* name
    const char* content
    int size
    bint is_known                   # out: there is a file of this name


cdef int add_file(void* argument) noexcept nogil:
    cdef FileCall* call = <FileCall*>argument
    call.is_known = mj_addBufferVFS(call.vfs, call.name, call.content, call.size) != 0
    return 0


cdef int add_to(mjVFS* vfs, str name, bytes data, str source) except -1:
    """Adds a file to those of a model; raises ConfigError if that is impossible."""
    cdef FileCall call
    cdef char text[1000]
    cdef ep_mj_handlers before
    cdef int failed
    if len(data) > INT32_MAX:
        raise ConfigError(f"{source} has the file {name!r} of {len(data)} bytes: MuJoCo reads at most {INT32_MAX}")
    # As MuJoCo's Python bindings do, for a model with a folder of meshes whose files are given without it.
    encoded = (name.replace("\\", "/").rpartition("/")[2].lower() if EP_HAS_FLAT_NAMES else name).encode()
    call.vfs, call.name, call.content, call.size = vfs, encoded, data, <int>len(data)
    before = ep_mj_enter()
    failed = ep_mj_call(add_file, &call, text, sizeof(text))
    ep_mj_leave(before)
    if failed:
        raise ConfigError(f"MuJoCo cannot load the file {name!r} of {source}: {text.decode(errors='replace')}")
    if call.is_known:
        raise ConfigError(f"{source} names two different files {name!r}; each file must have a name of its own")
    return 0


cdef int load_xml(void* argument) noexcept nogil:
    cdef LoadCall* call = <LoadCall*>argument
    call.model = mj_loadXML(call.path, call.vfs, call.text, sizeof(call.text))
    return 0


cdef void leave_out_islands(mjModel* m) noexcept nogil:
    """Leaves out the search for groups of bodies that touch each other, if a model can have only one such group.

    MuJoCo solves the constraints of each group (island) by themselves. The bodies of a kinematic tree are always in the
    same group, so with one tree the solver gets the same numbers in the same order without the search, which takes up
    to a tenth of a step. Bodies can sleep only if there are islands.
    """
    if m.ntree == 1 and not m.opt.enableflags & mjENBL_SLEEP:
        m.opt.disableflags |= mjDSBL_ISLAND


cdef inline bint is_visual(const mjModel* m, int32_t geom) noexcept nogil:
    """Returns whether a geom neither touches other geoms nor feels a medium, which parameters can add later."""
    return m.geom_contype[geom] == 0 and m.geom_conaffinity[geom] == 0 and m.geom_fluid[mjNFLUID * geom] == 0


cdef bint has_other_uses_of_geoms(const mjModel* m) noexcept nogil:
    """Returns whether something other than contacts and frames may depend on where geoms are, or on their lists."""
    cdef int32_t i
    for i in range(m.nsensor):
        if m.sensor_type[i] in (mjSENS_RANGEFINDER, mjSENS_GEOMDIST, mjSENS_GEOMNORMAL, mjSENS_GEOMFROMTO):
            return True
        if m.sensor_objtype[i] == mjOBJ_GEOM or m.sensor_reftype[i] == mjOBJ_GEOM:
            return True
    for i in range(m.nwrap):
        if m.wrap_type[i] in (mjWRAP_SPHERE, mjWRAP_CYLINDER):
            return True
    return m.nplugin > 0


cdef void leave_out_visual_geoms(mjModel* m) noexcept nogil:
    cdef int32_t first, end, body
    if has_other_uses_of_geoms(m):
        return
    for body in range(m.nbody):
        first, end = m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]
        while first < end and is_visual(m, first):
            first += 1
        while end > first and is_visual(m, end - 1):
            end -= 1
        if first < end:             # otherwise MuJoCo never asks for the geoms of the body
            m.body_geomadr[body], m.body_geomnum[body] = first, end - first


cdef bint lacks_geoms(const mjModel* m) noexcept nogil:
    cdef int32_t body, n = 0
    for body in range(m.nbody):
        n += m.body_geomnum[body]
    return n < m.ngeom


cdef void place_visual_geoms(const mjModel* m, mjData* d) noexcept nogil:
    cdef int32_t geom, body
    for geom in range(m.ngeom):
        body = m.geom_bodyid[geom]
        if not 0 <= geom - m.body_geomadr[body] < m.body_geomnum[body]:
            mj_local2Global(
                d, d.geom_xpos + 3 * geom, d.geom_xmat + 9 * geom, m.geom_pos + 3 * geom, m.geom_quat + 4 * geom, body,
                m.geom_sameframe[geom],
            )


cdef Model new_model(const char* path, const mjVFS* vfs, str source):
    """Compiles the file at a path of `vfs`, or on disk if `vfs` is NULL; raises ConfigError with MuJoCo's text."""
    cdef LoadCall call
    cdef ep_mj_handlers before
    cdef int failed
    cdef Model model
    memset(&call, 0, sizeof(call))
    call.path, call.vfs = path, vfs
    with nogil:
        before = ep_mj_enter()
        failed = ep_mj_call(load_xml, &call, call.failure, sizeof(call.failure))
        ep_mj_leave(before)
    text = " ".join((call.failure if failed else call.text).decode(errors="replace").split())
    if failed or call.model == NULL:
        raise ConfigError(f"MuJoCo cannot load {source}: {text}")
    model = Model.__new__(Model)
    model.m = call.model
    if not (isfinite(model.m.opt.timestep) and model.m.opt.timestep > 0):
        raise ConfigError(
            f"the timestep of {source} must be finite and greater than 0, got {model.m.opt.timestep}: correct it in "
            "<option>"
        )
    leave_out_islands(model.m)
    model.source = source
    model.remarks = text
    return model


cdef class Model:
    """A compiled model. It is never changed while pools use it.

    Attributes
    ----------
    source : str
        Where the model comes from, in the words of error texts, e.g. ``"xml_file '/tmp/ant.xml'"``.
    remarks : str
        The warnings of MuJoCo's compiler; empty if it gave none.
    digest : int
        Digest of the files of a user's model, below 2**64, by which states of another model are recognised; 0 if the
        options of a pool determine the model.
    """

    def __dealloc__(self):
        mj_deleteModel(self.m)

    cdef int find(self, int kind, str name) except -2:
        """Returns the id of the object of a kind (mjOBJ_...) with this name, -1 if the model has none."""
        if "\0" in name:
            return -1
        return mj_name2id(self.m, kind, name.encode(errors="surrogatepass"))

    cdef str name_of(self, int kind, int id):
        """Returns the name of the object of a kind (mjOBJ_...) with this id, "" if it has none."""
        cdef const char* name = mj_id2name(self.m, kind, id)
        return "" if name == NULL else name.decode()


def load_file(path, str option):
    """Compile an XML file.

    Parameters
    ----------
    path : str or Path
        The file. MuJoCo looks for the files that it includes relative to it.
    option : str
        The option that named the file, for error texts.

    Returns
    -------
    Model
        The compiled model.

    Raises
    ------
    ConfigError
        The file does not exist, or MuJoCo cannot load it. The text names the option and the file.
    """
    name = str(path).encode()
    return new_model(name, NULL, f"{option} {str(path)!r}")


def load_text(str xml, assets, str source):
    """Compile XML text whose assets are in memory.

    The result is a `Model`. A ConfigError says why MuJoCo cannot load the text.

    Parameters
    ----------
    xml : str
        The XML text.
    assets : mapping of str to bytes
        Contents of the files that the text and its includes name, by these names.
    source : str
        Where the model comes from, for error texts.
    """
    cdef mjVFS vfs
    cdef ep_mj_handlers before
    mj_defaultVFS(&vfs)
    try:
        for name, data in (*assets.items(), (TEXT, xml.encode())):
            add_to(&vfs, name, bytes(data), source)
        return new_model(TEXT.encode(), &vfs, source)
    finally:
        before = ep_mj_enter()      # it warns of what an exception has left open
        mj_deleteVFS(&vfs)
        ep_mj_leave(before)


def import_with_bindings(str module):
    """Import a module that imports MuJoCo's Python bindings, without changing MuJoCo's clock.

    When the bindings are imported, they set a clock for the whole process. With a clock, MuJoCo measures the time of
    each part of each step, which takes a tenth of the time of a step of a small model.

    Parameters
    ----------
    module : str
        Full name of the module.

    Returns
    -------
    module
        The imported module, from ``sys.modules`` if it is there already.
    """
    cdef mjfTime before = mujoco.mjcb_time
    try:
        return import_module(module)
    finally:
        mujoco.mjcb_time = before


def register_plugins():
    """Register MuJoCo's plugins, which the models of users may need, by importing its Python bindings."""
    import_with_bindings("mujoco")


# ---- simulations that run once, when a pool is made ------------------------------------------------------------------

cdef struct ScratchCall:
    mjModel* model
    mjData* data
    ScratchFunction function
    void* argument


cdef int run(void* argument) noexcept nogil:
    cdef ScratchCall* call = <ScratchCall*>argument
    call.data = mj_makeData(call.model)
    return -1 if call.data == NULL else call.function(call.model, call.data, call.argument)


cdef int run_scratch(Model model, ScratchFunction function, void* argument) except -1:
    cdef ScratchCall call = ScratchCall(model.m, NULL, function, argument)
    cdef char text[1000]
    cdef ep_mj_handlers before
    cdef int failed
    text[0] = 0
    with nogil:
        before = ep_mj_enter()
        failed = ep_mj_call(run, &call, text, sizeof(text))
        mj_deleteData(call.data)
        ep_mj_leave(before)
    if failed:
        reason = text.decode(errors="replace") or "not enough memory for a simulation"
        raise ConfigError(f"MuJoCo cannot prepare the first state of {model.source}: {reason}")
    return 0
