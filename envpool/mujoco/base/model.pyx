"""MuJoCo models, compiled when a pool is made."""

from importlib import import_module

from libc.string cimport memset

from envpool.mujoco.base cimport mujoco
from envpool.mujoco.base.mujoco cimport (
    ep_mj_call, ep_mj_enter, ep_mj_leave, mj_addBufferVFS, mj_copyModel, mj_defaultVFS, mj_deleteModel, mj_deleteVFS,
    mj_loadXML, mj_name2id, mjfLogHandler, mjfTime, mjModel, mjVFS,
)

from envpool.errors import ConfigError

cdef struct Loading:
    const char* path
    const mjVFS* vfs
    const mjModel* original         # to be copied, instead of loading `path`
    mjModel* loaded
    char text[1000]                 # errors; warnings of the compiler when there is a model
    char failure[1000]              # text of a mju_error


cdef int load(void* argument) noexcept nogil:
    cdef Loading* load = <Loading*>argument
    if load.original != NULL:
        load.loaded = mj_copyModel(NULL, load.original)
    else:
        load.loaded = mj_loadXML(load.path, load.vfs, load.text, sizeof(load.text))
    return 0


cdef Model make(const char* path, const mjVFS* vfs, const mjModel* original, str source):
    """Loads a model, or copies the original if there is one; raises ConfigError with MuJoCo's text."""
    cdef Loading loading
    cdef mjfLogHandler before
    cdef int failed
    cdef Model model
    memset(&loading, 0, sizeof(loading))
    loading.path = path
    loading.vfs = vfs
    loading.original = original
    with nogil:
        before = ep_mj_enter()
        failed = ep_mj_call(load, &loading, loading.failure, sizeof(loading.failure))
        ep_mj_leave(before)
    text = " ".join((loading.failure if failed else loading.text).decode(errors="replace").split())
    if failed or loading.loaded == NULL:
        raise ConfigError(f"{source} is no model that MuJoCo can load: {text}")
    model = Model.__new__(Model)
    model.m = loading.loaded
    model.source = source
    model.remarks = text
    return model


cdef class Model:
    """A compiled model. It is never changed while pools use it.

    Attributes
    ----------
    source : str
        What it was made of, as error texts call it.
    remarks : str
        What MuJoCo's compiler warned of.
    """

    def __dealloc__(self):
        mj_deleteModel(self.m)

    cdef int find(self, int kind, str name) except -2:
        """The id of an object (mjOBJ_...) with this name, -1 if there is none."""
        return mj_name2id(self.m, kind, name.encode())


def load_file(path, str option):
    """Compile an XML file.

    Parameters
    ----------
    path : str or Path
        The file; what it includes is found relative to it.
    option : str
        The option it came from, for error texts.

    Returns
    -------
    Model

    Raises
    ------
    ConfigError
        No such file, or MuJoCo refuses it; the text names the option and the file.
    """
    name = str(path).encode()
    return make(name, NULL, NULL, f"{option} {str(path)!r}")


def load_text(str xml, assets, str source):
    """Compile XML that comes with the files it names.

    Parameters
    ----------
    xml : str
        The model.
    assets : mapping of str to bytes
        Contents of files by the names that the model and its includes have for them.
    source : str
        What the model is, for error texts.

    Returns
    -------
    Model

    Raises
    ------
    ConfigError
        MuJoCo refuses it.
    """
    cdef mjVFS vfs
    cdef const char* content
    mj_defaultVFS(&vfs)
    try:
        for name, data in {**assets, "model.xml": xml.encode()}.items():
            data = bytes(data)
            content = data
            if mj_addBufferVFS(&vfs, name.encode(), content, <int>len(data)):
                raise ConfigError(f"{source}: two of its files are called {name!r}")
        return make(b"model.xml", &vfs, NULL, source)
    finally:
        mj_deleteVFS(&vfs)


def copy_model(original, str source):
    """Copy a model of MuJoCo's own bindings.

    Parameters
    ----------
    original : mujoco.MjModel
        Later changes to it do not show in the copy.
    source : str
        What the model is, for error texts.

    Returns
    -------
    Model
    """
    cdef size_t address = original._address
    return make(NULL, NULL, <const mjModel*>address, source)


def import_with_bindings(str module):
    """Import a module that imports MuJoCo's Python bindings, and leave MuJoCo's clock as it was.

    The bindings set a clock for the whole process when they are imported, and MuJoCo then times each part of each step:
    a tenth of the step of a small model.

    Parameters
    ----------
    module : str
        Its full name.

    Returns
    -------
    module
        From ``sys.modules`` if it is there.
    """
    cdef mjfTime before = mujoco.mjcb_time
    try:
        return import_module(module)
    finally:
        mujoco.mjcb_time = before


def register_plugins():
    """Make MuJoCo's plugins known, which models of users may ask for; importing its bindings does it."""
    import_with_bindings("mujoco")
