"""Kinds of environments as capsules: making one from Cython, and reading any of them from Python."""

from collections import namedtuple

import numpy as np

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memcpy

from envpool.env cimport (
    ENVPOOL_ABI_VERSION, ENVPOOL_CAPSULE_NAME, ENVPOOL_MAX_DIMS, ENVPOOL_MAX_FIELDS, envpool_env, envpool_field,
)

cdef extern from "Python.h":
    int PyCapsule_SetContext(object capsule, void* context) except -1
    void* PyCapsule_GetContext(object capsule)

cdef extern from *:
    """
    #include <stddef.h>
    #define EP_REQUIRED_SIZE offsetof(envpool_env, run_many)
    """
    const size_t EP_REQUIRED_SIZE       # of the members that every env has

# Indexed by envpool_dtype.
DTYPES = tuple(np.dtype(t) for t in (np.bool_, np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64))


class Field(namedtuple("Field", ["name", "dtype", "shape", "low", "high"], defaults=[(), None, None])):
    """One array of an observation, an info or an action: an entry of an env's field table.

    Attributes
    ----------
    name : str
        ``"obs"``, ``"obs:position"``, ``"info:lives"``, ``"action"``; dots nest (``"obs:a.b"``).
    dtype : numpy.dtype
        bool, int8, uint8, int32, int64, float32 or float64.
    shape : tuple of int
        Shape of one env's row. A leading -1 is the player dimension.
    low, high : float, numpy.ndarray or None
        Bounds: one for all elements, or one each (float64); None where there is none.
    """

    __slots__ = ()


Description = namedtuple("Description", ["name", "fields", "actions", "frame_size"])


cdef const envpool_env* env_header(object capsule, size_t size) except NULL:
    """The struct behind a capsule; it has this version and at least this size."""
    cdef const envpool_env* env
    if not PyCapsule_IsValid(capsule, ENVPOOL_CAPSULE_NAME):
        raise TypeError(f"env must be a PyCapsule named {ENVPOOL_CAPSULE_NAME.decode()!r}, got {capsule!r}")
    env = <const envpool_env*>PyCapsule_GetPointer(capsule, ENVPOOL_CAPSULE_NAME)
    if env.abi_version != ENVPOOL_ABI_VERSION or env.struct_size < size:
        raise ImportError(
            f"the env was built for version {env.abi_version} of the envpool ABI ({env.struct_size} bytes), this "
            f"envpool has version {ENVPOOL_ABI_VERSION} ({sizeof(envpool_env)} bytes): rebuild it against "
            "envpool.get_include()"
        )
    return env


cdef const envpool_env* env_of(object capsule) except NULL:
    """The struct behind a capsule that `upgrade_capsule` has returned, checked for everything that can be checked."""
    cdef const envpool_env* env = env_header(capsule, sizeof(envpool_env))
    name = env.name.decode() if env.name != NULL else "?"
    if (env.create == NULL or env.destroy == NULL or env.seed_many == NULL or env.step_many == NULL
            or env.write_many == NULL):
        raise ValueError(f"env {name}: create, destroy, seed_many, step_many and write_many are required, one is NULL")
    if env.render_many != NULL and (env.frame_height < 1 or env.frame_width < 1):
        raise ValueError(
            f"env {name}: has render_many, so frame_height and frame_width must be at least 1, got {env.frame_height} "
            f"and {env.frame_width}"
        )
    if not 1 <= env.num_fields <= ENVPOOL_MAX_FIELDS or not 1 <= env.num_actions <= ENVPOOL_MAX_FIELDS:
        raise ValueError(
            f"env {name}: has {env.num_fields} fields and {env.num_actions} actions, allowed are 1 to "
            f"{ENVPOOL_MAX_FIELDS}"
        )
    return env


cdef object bounds(const double* values, int32_t n):
    if values == NULL or n == 0:
        return None
    return values[0] if n == 1 else np.array([values[i] for i in range(n)])


cdef object read_field(str env, const envpool_field* f):
    name = f.name.decode()
    if not 0 <= f.dtype < len(DTYPES):
        raise ValueError(f"env {env}: field {name!r} has dtype {f.dtype}, allowed are the values of envpool_dtype")
    if not 0 <= f.ndim <= ENVPOOL_MAX_DIMS:
        raise ValueError(f"env {env}: field {name!r} has {f.ndim} dimensions, allowed are 0 to {ENVPOOL_MAX_DIMS}")
    shape = tuple(f.shape[d] for d in range(f.ndim))
    if any(s < 1 for s in shape[1:]) or (shape and shape[0] < 1 and shape[0] != -1):
        raise ValueError(f"env {env}: field {name!r} has shape {shape}; sizes are at least 1, only the first may be -1")
    size = int(np.prod([s for s in shape if s > 0], dtype=np.int64))
    for n in (f.num_low, f.num_high):
        if n not in (0, 1, size):
            raise ValueError(
                f"env {env}: field {name!r} has {n} bounds, allowed are 0, 1 or its number of elements, {size}"
            )
    return Field(name, DTYPES[f.dtype], shape, bounds(f.low, f.num_low), bounds(f.high, f.num_high))


def describe(capsule):
    """The name and the field tables of a kind of env.

    Parameters
    ----------
    capsule : PyCapsule
        A kind of env, see ``include/envpool/env.h``.

    Returns
    -------
    Description
        Named tuple (name: str, fields: tuple of Field, actions: tuple of Field, frame_size: (height, width) of a
        picture, None where the kind draws none).

    Raises
    ------
    TypeError
        Not such a capsule.
    ImportError
        Built for another version of the ABI.
    ValueError
        A table that the ABI does not allow.
    """
    capsule = upgrade_capsule(capsule)
    cdef const envpool_env* env = env_of(capsule)
    name = env.name.decode()
    fields = tuple(read_field(name, &env.fields[i]) for i in range(env.num_fields))
    actions = tuple(read_field(name, &env.actions[i]) for i in range(env.num_actions))
    for f in fields:
        if not (f.name == "obs" or f.name.startswith(("obs:", "info:"))):
            raise ValueError(f"env {name}: field {f.name!r} must be named 'obs', 'obs:...' or 'info:...'")
    if len({f.name for f in fields}) != len(fields) or len({f.name for f in actions}) != len(actions):
        raise ValueError(f"env {name}: two fields have the same name")
    frame_size = (env.frame_height, env.frame_width) if env.render_many != NULL else None
    return Description(name, fields, actions, frame_size)


# ---- making a capsule ------------------------------------------------------------------------------------------------

cdef void fill_field(envpool_field* out, f, list keep):
    """Fills one entry; names and bounds live in `keep`."""
    dtype = np.dtype(f.dtype)
    if dtype not in DTYPES:
        raise ValueError(f"field {f.name!r}: dtype {dtype} is not one of {', '.join(map(str, DTYPES))}")
    if len(f.shape) > ENVPOOL_MAX_DIMS:
        raise ValueError(f"field {f.name!r}: shape {f.shape} has more than {ENVPOOL_MAX_DIMS} dimensions")
    name = f.name.encode()
    keep.append(name)
    out.name = PyBytes_AS_STRING(name)
    out.dtype = DTYPES.index(dtype)
    out.ndim = len(f.shape)
    for d in range(out.ndim):
        out.shape[d] = f.shape[d]
    out.low = fill_bound(f.low, &out.num_low, keep)
    out.high = fill_bound(f.high, &out.num_high, keep)


cdef const double* fill_bound(value, int32_t* n, list keep):
    n[0] = 0
    if value is None:
        return NULL
    data = np.ascontiguousarray(value, np.float64).ravel().tobytes()
    keep.append(data)
    n[0] = <int32_t>(len(data) // sizeof(double))
    return <const double*>PyBytes_AS_STRING(data)


cdef void free_capsule(object capsule) noexcept:
    cdef PyObject* keep = <PyObject*>PyCapsule_GetContext(capsule)
    if keep != NULL:
        Py_DECREF(<object>keep)


def define(template, fields, actions, config=b"", *, name=None, keep=None, uint32_t flags=0, frame_size=None):
    """Makes a kind of env whose field table or config depends on options.

    Parameters
    ----------
    template : PyCapsule
        A kind of env whose functions and name are taken over; its tables and config are ignored.
    fields, actions : sequence of Field
        The field tables.
    config : bytes
        Copied; ``create`` gets a pointer to the copy, aligned to 16 bytes.
    name : str, optional
        Name of this kind, if not the template's.
    keep : object, optional
        What `config` points into; it lives as long as the capsule.
    flags : int
        Bits of ``envpool_env.flags`` besides the template's.
    frame_size : (int, int), optional
        Height and width of a picture, if not the template's.

    Returns
    -------
    PyCapsule
        Owns the tables and the config.
    """
    cdef const envpool_env* source = env_header(template, EP_REQUIRED_SIZE)
    cdef Memory memory = Memory(sizeof(envpool_env) + (len(fields) + len(actions)) * sizeof(envpool_field), len(config))
    cdef envpool_env* env = <envpool_env*>memory.tables
    cdef envpool_field* entries = <envpool_field*>(env + 1)
    cdef Py_ssize_t i
    owned = [memory, template, keep]
    copy_known(env, source)
    memcpy(memory.config, PyBytes_AS_STRING(config), len(config))
    for i, f in enumerate((*fields, *actions)):
        fill_field(&entries[i], f, owned)
    if name is not None:
        encoded = name.encode()
        owned.append(encoded)
        env.name = PyBytes_AS_STRING(encoded)
    env.fields = entries
    env.num_fields = <int32_t>len(fields)
    env.actions = entries + len(fields)
    env.num_actions = <int32_t>len(actions)
    env.config = memory.config
    env.flags |= flags
    if frame_size is not None:
        env.frame_height, env.frame_width = frame_size
    return new_capsule(env, owned)


def upgrade_capsule(capsule):
    """The capsule of a kind of env with every member that this version knows.

    Parameters
    ----------
    capsule : PyCapsule
        A kind of env, maybe built against an earlier header of the same ABI version.

    Returns
    -------
    PyCapsule
        The same, or one whose missing members are empty.

    Raises
    ------
    TypeError, ImportError
        Not such a capsule, or built for another version of the ABI.
    """
    cdef const envpool_env* source = env_header(capsule, EP_REQUIRED_SIZE)
    cdef Memory memory
    if source.struct_size >= sizeof(envpool_env):
        return capsule
    memory = Memory(sizeof(envpool_env), 0)
    copy_known(<envpool_env*>memory.tables, source)
    return new_capsule(<envpool_env*>memory.tables, [memory, capsule])


cdef void copy_known(envpool_env* env, const envpool_env* source) noexcept:
    """Copies what both sides have; the rest stays empty."""
    memcpy(env, source, min(<size_t>source.struct_size, sizeof(envpool_env)))
    env.struct_size = sizeof(envpool_env)


cdef object new_capsule(envpool_env* env, list owned):
    capsule = PyCapsule_New(env, ENVPOOL_CAPSULE_NAME, free_capsule)
    Py_INCREF(owned)
    PyCapsule_SetContext(capsule, <PyObject*>owned)
    return capsule


cdef class Memory:
    """Zeroed memory that lives as long as the object."""

    cdef void* tables
    cdef void* config

    def __cinit__(self, size_t tables, size_t config):
        self.tables = PyMem_Calloc(1, tables)
        self.config = PyMem_Calloc(1, config + 1)
        if self.tables == NULL or self.config == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.tables)
        PyMem_Free(self.config)
