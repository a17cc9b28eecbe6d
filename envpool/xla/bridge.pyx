# distutils: language = c++
"""Serves the calls of XLA: finds the pool of a handle, wraps buffers as arrays, copies results into buffers.

A call of XLA runs the code of the pool's send(), recv() or step() with the GIL held. XLA calls and method calls may
therefore be mixed, and both fail with the same texts. XLA makes a call on one of its own threads, or on the caller's
thread after jax has released the GIL. Invariants:
- A handle is a number that no other pool gets. It is looked up in each call, since compiled code may outlive its pool.
- All properties of a call's results are checked before anything is sent; a check that fails later would lose the batch.
- Arrays over XLA's buffers do not outlive the call: the pool copies actions and ids and keeps no reference to them.
"""

import os
import weakref

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_SetInterrupt
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from posix.unistd cimport usleep

from envpool._core.actions cimport ActionField
from envpool._core.batches cimport check_can_fill
from envpool._core.guard cimport NOTHING_ELSE, RECEIVING, WAITING, enter, fork_generation
from envpool._core.inputs cimport as_ids
from envpool._core.pool cimport Pool
from envpool._core.results cimport ResultTemplate
from envpool.env cimport ENVPOOL_MAX_DIMS

from envpool.errors import ActionError, EnvIdError, PoolStateError

cnp.import_array()

cdef extern from "xla/ffi/api/c_api.h" nogil:
    enum:
        XLA_FFI_DataType_PRED
        XLA_FFI_DataType_S8
        XLA_FFI_DataType_S16
        XLA_FFI_DataType_S32
        XLA_FFI_DataType_S64
        XLA_FFI_DataType_U8
        XLA_FFI_DataType_U16
        XLA_FFI_DataType_U32
        XLA_FFI_DataType_U64
        XLA_FFI_DataType_F16
        XLA_FFI_DataType_F32
        XLA_FFI_DataType_F64
        XLA_FFI_DataType_C64
        XLA_FFI_DataType_C128
        XLA_FFI_Error_Code_OK
        XLA_FFI_Error_Code_CANCELLED
        XLA_FFI_Error_Code_INVALID_ARGUMENT
        XLA_FFI_Error_Code_RESOURCE_EXHAUSTED
        XLA_FFI_Error_Code_FAILED_PRECONDITION
        XLA_FFI_Error_Code_INTERNAL

cdef extern from "handlers.h" nogil:
    ctypedef struct ep_xla_buffer:
        void* data
        const int64_t* dims
        int64_t ndim
        int64_t items
        int32_t type
    ctypedef struct ep_xla_call:
        bint sends
        bint receives
        const char* keys
        int64_t num_key_bytes
        const ep_xla_buffer* args
        int64_t num_args
        const ep_xla_buffer* results
        int64_t num_results
    void ep_xla_set_serve(int (*serve)(const ep_xla_call* call) noexcept)
    void ep_xla_explain(const ep_xla_call* call, const char* text, size_t size)
    void* ep_xla_cpu_handler()
    void* ep_xla_cuda_handler()
    void ep_xla_stop()
    int64_t ep_xla_num_inside()

cdef str SHARED = "another thread used the pool during this call: use it from one thread only"

cdef enum:
    HANDLE_BYTES = 8
    LOCAL_BITS = 32

# The pool of each handle. The upper half of a handle is a random number of this process, so that handles of other
# processes are unknown here.
cdef dict targets = {}
cdef int64_t process = int.from_bytes(os.urandom(3), "little") << LOCAL_BITS
cdef int64_t num_made = 0
cdef int64_t born = fork_generation()


cdef struct Column:             # one array of a batch
    int typenum
    int ndim                    # number of dimensions of one environment's row
    int64_t dims[ENVPOOL_MAX_DIMS]


cdef class Target:
    """A pool that serves calls from XLA."""

    cdef object pool            # weak reference
    cdef ResultTemplate template    # a tuple of the arrays below, in their order
    cdef Column* columns        # (num_columns)
    cdef int64_t num_columns

    def __dealloc__(self):
        free(self.columns)


def connect(Pool pool):
    """Make a pool available to calls from XLA.

    Parameters
    ----------
    pool : EnvPool
        The pool; only a weak reference to it is kept.

    Returns
    -------
    handle : bytes
        The first operand of each call.
    nest : tuple or TimeStep
        The result of step(), with the names of arrays in place of the arrays.
    arrays : dict of str to tuple
        The dtype and the shape of one environment's row, by the names in `nest`; in the order in which a call returns
        the arrays.
    """
    global num_made
    cdef Target target = Target.__new__(Target)
    cdef int64_t i, d
    pool.guard.check_open()
    num_made += 1
    handle = process + num_made
    wanted = leaves(pool.step_nest, {})
    store, view = pool.batches.store, pool.batches.view
    arrays = [np.empty((0, *shape), dtype) for dtype, shape in zip(store.dtypes, store.shapes)]
    names = store.names
    if view is not None:
        names, arrays = view.names, view.arrays(arrays)
    columns = {name: (a.dtype, a.shape[1:]) for name, a in zip(names, arrays) if name in wanted}
    target.template = ResultTemplate(tuple(columns), names)
    target.num_columns = len(columns)
    target.columns = <Column*>malloc(len(columns) * sizeof(Column))
    if target.columns == NULL:
        raise MemoryError
    for i, (dtype, shape) in enumerate(columns.values()):
        target.columns[i].typenum = dtype.num
        target.columns[i].ndim = len(shape)
        for d in range(len(shape)):
            target.columns[i].dims[d] = shape[d]
    target.pool = weakref.ref(pool, lambda _: targets.pop(handle, None))
    targets[handle] = target
    return handle.to_bytes(HANDLE_BYTES, "little"), pool.step_nest, columns


cdef dict leaves(nest, dict found):
    """Return a dict whose keys are the array names in a nest."""
    if isinstance(nest, str):
        found[nest] = None
    else:
        for inner in nest.values() if isinstance(nest, dict) else nest:
            leaves(inner, found)
    return found


def handlers():
    """Return the handlers to register with XLA: a dict of capsules by platform."""
    found = {"cpu": PyCapsule_New(ep_xla_cpu_handler(), NULL, NULL)}
    if ep_xla_cuda_handler() != NULL:
        found["CUDA"] = PyCapsule_New(ep_xla_cuda_handler(), NULL, NULL)
    return found


def stop():
    """Make all further calls fail, and wait until running calls have returned; to be called before Python exits."""
    ep_xla_stop()
    while fork_generation() == born and ep_xla_num_inside() > 0:
        with nogil:
            usleep(100)


# ---- buffers ---------------------------------------------------------------------------------------------------------

cdef int typenum_of(int32_t type) noexcept:
    """Return NumPy's number of one of XLA's types; -1 if NumPy does not have the type."""
    if type == XLA_FFI_DataType_F32:
        return cnp.NPY_FLOAT32
    if type == XLA_FFI_DataType_S32:
        return cnp.NPY_INT32
    if type == XLA_FFI_DataType_PRED:
        return cnp.NPY_BOOL
    if type == XLA_FFI_DataType_U8:
        return cnp.NPY_UINT8
    if type == XLA_FFI_DataType_F64:
        return cnp.NPY_FLOAT64
    if type == XLA_FFI_DataType_S64:
        return cnp.NPY_INT64
    if type == XLA_FFI_DataType_S8:
        return cnp.NPY_INT8
    if type == XLA_FFI_DataType_S16:
        return cnp.NPY_INT16
    if type == XLA_FFI_DataType_U16:
        return cnp.NPY_UINT16
    if type == XLA_FFI_DataType_U32:
        return cnp.NPY_UINT32
    if type == XLA_FFI_DataType_U64:
        return cnp.NPY_UINT64
    if type == XLA_FFI_DataType_F16:
        return cnp.NPY_FLOAT16
    if type == XLA_FFI_DataType_C64:
        return cnp.NPY_COMPLEX64
    if type == XLA_FFI_DataType_C128:
        return cnp.NPY_COMPLEX128
    return -1


cdef int narrow(int typenum) noexcept:
    """Return the type that JAX uses in place of a type while JAX is limited to 32 bits."""
    if typenum == cnp.NPY_FLOAT64:
        return cnp.NPY_FLOAT32
    if typenum == cnp.NPY_INT64:
        return cnp.NPY_INT32
    if typenum == cnp.NPY_UINT64:
        return cnp.NPY_UINT32
    return typenum


cdef object as_array(str name, const ep_xla_buffer* buffer):
    """Return a read-only array over a buffer; the array must not outlive the call."""
    cdef int typenum = typenum_of(buffer.type)
    cdef cnp.ndarray array
    if typenum < 0 or buffer.ndim > cnp.NPY_MAXDIMS:
        raise ActionError(
            f"{name} has {buffer.ndim} dimensions and XLA's data type {buffer.type}, which NumPy does not support: cast"
            " it first, for example with .astype(jnp.float32)"
        )
    array = cnp.PyArray_SimpleNewFromData(<int>buffer.ndim, <cnp.npy_intp*>buffer.dims, typenum, buffer.data)
    cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef int copy_out(cnp.ndarray source, const ep_xla_buffer* to) except -1:
    """Copy an array into a buffer that has the same number of elements, of the same type or of its 32-bit version."""
    cdef int64_t i, n = to.items
    cdef int typenum = cnp.PyArray_TYPE(source)
    source = cnp.PyArray_GETCONTIGUOUS(source)      # a group of players is a slice
    if typenum_of(to.type) == typenum:
        memcpy(to.data, cnp.PyArray_DATA(source), cnp.PyArray_NBYTES(source))
    elif typenum == cnp.NPY_FLOAT64:
        for i in range(n):
            (<float*>to.data)[i] = <float>(<const double*>cnp.PyArray_DATA(source))[i]
    else:
        for i in range(n):
            (<int32_t*>to.data)[i] = <int32_t>(<const int64_t*>cnp.PyArray_DATA(source))[i]
    return 0


cdef str text_of(const ep_xla_buffer* buffer):
    """Return the type and the shape of a buffer for an error text."""
    shape = tuple([buffer.dims[i] for i in range(buffer.ndim)])
    typenum = typenum_of(buffer.type)
    return f"{cnp.PyArray_DescrFromType(typenum) if typenum >= 0 else 'another dtype'} {shape}"


# ---- calls -----------------------------------------------------------------------------------------------------------

cdef Target find(const ep_xla_call* call):
    """Return the pool that the handle of a call stands for."""
    cdef int64_t handle
    if (call.num_args < 1 or call.num_results < 1 or call.args[0].type != XLA_FFI_DataType_U8
            or call.args[0].items != HANDLE_BYTES or call.results[0].type != XLA_FFI_DataType_U8
            or call.results[0].items != HANDLE_BYTES):
        raise PoolStateError(f"the handle must be the array that xla() returned, uint8 ({HANDLE_BYTES},)")
    memcpy(&handle, call.args[0].data, HANDLE_BYTES)
    target = targets.get(handle)
    if target is None:
        raise PoolStateError(
            "the handle does not belong to a pool of this process: it is not a handle, its pool was deleted, or it was "
            "made in another process; call xla() of an open pool, and pass on the handle that each call returns"
        )
    return target


cdef int check_results(const ep_xla_call* call, Target target, Pool pool, object env_id) except -1:
    """Raise PoolStateError if the results of a call do not fit the batch that it would receive."""
    cdef const ep_xla_buffer* to
    cdef const Column* column
    cdef int64_t rows = pool.engine.outstanding, i
    cdef int d, typenum
    cdef bint fits
    if call.sends:
        rows += pool.engine.num_envs if env_id is None else env_id.shape[0]
    else:
        check_can_fill(pool.engine)
    if not pool.engine.is_sync and rows > 0:
        rows = pool.engine.batch_size
    if call.num_results != 1 + target.num_columns:
        raise PoolStateError(
            f"this call expects {call.num_results - 1} arrays, but the pool returns {target.num_columns}: the handle "
            "belongs to another pool"
        )
    for i in range(1, call.num_results):
        to = &call.results[i]
        column = &target.columns[i - 1]
        typenum = typenum_of(to.type)
        fits = to.ndim == 1 + column.ndim and (typenum == column.typenum or typenum == narrow(column.typenum))
        for d in range(column.ndim):
            fits = fits and to.dims[1 + d] == column.dims[d]
        if not fits:
            raise PoolStateError(
                f"this call expects {text_of(to)} as array {i - 1}, but the pool returns rows of dtype "
                f"{cnp.PyArray_DescrFromType(column.typenum)} and shape "
                f"{tuple([column.dims[d] for d in range(column.ndim)])}: the handle belongs to another pool"
            )
        if to.dims[0] != rows:
            raise PoolStateError(
                f"this call expects a batch of {to.dims[0]} rows, but the next batch has {rows}, since "
                f"{pool.engine.outstanding} envs were in flight: the shapes of compiled code are fixed, so let step() "
                "receive the rows of its env_id, or call recv() of the pool"
            )
    return 0


cdef tuple read_actions(const ep_xla_call* call, Pool pool):
    """Return the actions and the env ids of a call, in the form that send() takes."""
    cdef int64_t i
    if call.num_key_bytes == 0:
        if not 2 <= call.num_args <= 3:
            raise ActionError(
                f"the call must get the handle, an action and optionally env_id, got {call.num_args} arrays"
            )
        return as_array("action", &call.args[1]), as_array("env_id", &call.args[2]) if call.num_args == 3 else None
    keys = call.keys[:call.num_key_bytes].decode().split(",")
    if call.num_args != 1 + len(keys):
        raise ActionError(
            f"the call must get the handle and an array for each of the keys {keys}, got {call.num_args} arrays"
        )
    actions = {k: as_array(f"action {k!r}", &call.args[1 + i]) for i, k in enumerate(keys)}
    for field in pool.actions.fields:
        values = actions.get((<ActionField>field).name)
        if values is not None and values.dtype.num == narrow((<ActionField>field).typenum):
            actions[(<ActionField>field).name] = values.astype((<ActionField>field).dtype)
    env_id = actions.pop("env_id", None)
    return nested(actions) if pool.actions.num_players else actions, env_id


cdef dict nested(dict flat):
    """Return a dict whose keys are joined by dots as nested dicts: groups of players may have several arrays."""
    nest = {}
    for key, value in flat.items():
        *path, last = key.split(".")
        inner = nest
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nest


cdef object receive(Pool pool, ResultTemplate template, int64_t rows):
    """Return the next batch. If it has another number of rows than check_results() found, it stays in the pool."""
    batch = pool.receive(template, rows == 0, rows if pool.engine.is_sync or rows == 0 else -1)
    if batch is None:
        raise PoolStateError(SHARED)
    return batch


cdef int serve(const ep_xla_call* call) except -1:
    """Serve a call."""
    cdef Target target = find(call)
    cdef Pool pool = target.pool()
    cdef object action = None, env_id = None
    cdef int visit
    cdef int64_t i
    cdef tuple batch
    if pool is None:
        raise PoolStateError("the pool of this handle was deleted")
    if call.sends:
        visit = enter(pool.guard, WAITING if call.receives else NOTHING_ELSE, b"step" if call.receives else b"send")
    else:
        visit = enter(pool.guard, RECEIVING, b"recv")
    try:
        if call.sends:
            action, env_id = read_actions(call, pool)
            env_id = as_ids(env_id)
        if call.receives:
            check_results(call, target, pool, env_id)
        if call.sends:
            pool.send_actions(action, env_id, None, visit, RECEIVING if call.receives else NOTHING_ELSE)
        if call.receives:
            batch = receive(pool, target.template, call.results[1].dims[0])
            for i in range(1, call.num_results):
                copy_out(<cnp.ndarray>batch[i - 1], &call.results[i])
    finally:
        pool.end_visit(visit)
    memcpy(call.results[0].data, call.args[0].data, HANDLE_BYTES)
    return 0


cdef int code_of(object error) noexcept:
    """Return XLA's error code for an exception."""
    if isinstance(error, (ActionError, EnvIdError)):
        return XLA_FFI_Error_Code_INVALID_ARGUMENT
    if isinstance(error, PoolStateError):
        return XLA_FFI_Error_Code_FAILED_PRECONDITION
    if isinstance(error, MemoryError):
        return XLA_FFI_Error_Code_RESOURCE_EXHAUSTED
    return XLA_FFI_Error_Code_INTERNAL


cdef int serve_xla(const ep_xla_call* call) noexcept with gil:
    """Serve a call of a handler; an exception becomes an error of XLA with the same text."""
    try:
        serve(call)
        return XLA_FFI_Error_Code_OK
    except KeyboardInterrupt:
        PyErr_SetInterrupt()        # raises KeyboardInterrupt again when the caller is back in Python
        ep_xla_explain(call, b"interrupted", 11)
        return XLA_FFI_Error_Code_CANCELLED
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".encode()
        ep_xla_explain(call, text, len(text))
        return code_of(error)


ep_xla_set_serve(serve_xla)
