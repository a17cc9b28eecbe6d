"""Parameters of the synthetic env as callbacks, which keep the values, record their calls, and fail on demand."""

import ctypes
import threading

import numpy as np

from envpool.native import Param
from tests.support.definitions import CEnv, CField, Definition, pool_of

#: envpool_dtype of each type.
DTYPES = [
    np.dtype(t)
    for t in (
        np.bool_,
        np.int8,
        np.uint8,
        np.int32,
        np.int64,
        np.float32,
        np.float64,
        np.int16,
        np.uint16,
        np.uint32,
        np.uint64,
    )
]

#: One parameter of every dtype, scalars and arrays, with and without bounds.
ALL_DTYPES = {
    "flag": Param(True),
    "tiny": Param(np.int8(-3), -100, 100),
    "bytes": Param(np.array([[1, 2, 3], [4, 5, 6]], np.uint8)),
    "count": Param(np.int32(7), low=0),
    "big": Param((2**40, -(2**40))),
    "single": Param(np.float32(0.1), high=1e30),
    "gravity": Param(9.8, -50, 50, "m/s^2", "acceleration"),
    "matrix": Param(((1.0, 2.0), (3.0, 4.0)), 0, 1e6),
    "short": Param(np.array([-300, 300], np.int16), -1000, 1000),
    "word": Param(np.uint16(40_000)),
    "half": Param(np.uint32(3), 1, 2**32 - 2),
    "whole": Param(np.array([2**63, 2**64 - 1], np.uint64), low=7),
}


class CParams(ctypes.Structure):
    """envpool_params of include/envpool/env.h."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("n", ctypes.c_int32),
        ("ids", ctypes.POINTER(ctypes.c_int32)),
        ("values", ctypes.POINTER(ctypes.c_void_p)),
        ("errors", ctypes.POINTER(ctypes.c_int32)),
    ]


CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(CParams))


class Parameters:
    """Functions of an env definition for parameters.

    Parameters
    ----------
    params : mapping of str to Param
        The parameters.
    num_envs : int
        Number of environments of the pool.

    Attributes
    ----------
    calls : list of (str, list of int)
        Name of each call, "get" or "set", and its ids.
    in_force : list of numpy.ndarray
        The values in force, (num_envs, *shape) per parameter.
    fails : dict
        By the name of the call: error code by env id, or a status for the whole call.
    """

    def __init__(self, params, num_envs):
        self.params, self.num_envs = params, num_envs
        self.calls, self.fails, self.threads = [], {}, set()
        self.in_force = [np.array([param.default] * num_envs, param.dtype) for param in params.values()]
        self.callbacks = CALL(self.get), CALL(self.set)

    def install(self, definition):
        """Add the functions and the table to a definition, which must outlive its pools."""
        env = definition.env
        assert env.struct_size == ctypes.sizeof(CEnv)
        self.names = [name.encode() for name in self.params]
        self.bounds = [ctypes.c_double(x) for p in self.params.values() for x in (p.low, p.high)]
        self.table = (CField * len(self.params))()
        for k, (entry, param) in enumerate(zip(self.table, self.params.values(), strict=True)):
            entry.name, entry.dtype, entry.ndim = self.names[k], DTYPES.index(param.dtype), len(param.shape)
            entry.shape[: entry.ndim] = param.shape
            entry.low, entry.high = ctypes.pointer(self.bounds[2 * k]), ctypes.pointer(self.bounds[2 * k + 1])
            entry.num_low = entry.num_high = 1
        env.params, env.num_params = self.table, len(self.params)
        env.get_params, env.set_params = (ctypes.cast(f, ctypes.c_void_p) for f in self.callbacks)

    def rows(self, call):
        """Return the arrays of a call, (num_envs, *shape) per parameter."""
        out = []
        for k, own in enumerate(self.in_force):
            data = (ctypes.c_char * own.nbytes).from_address(call.values[k])
            out.append(np.frombuffer(data, own.dtype).reshape(own.shape))
        return out

    def begin(self, name, call):
        """Record a call, and return its ids and its status."""
        ids = call.ids[: call.n]
        assert call.struct_size == ctypes.sizeof(CParams) and 1 <= call.n <= 512 and len(set(ids)) == call.n
        assert not any(call.errors[: call.n])
        self.calls.append((name, ids))
        self.threads.add(threading.get_native_id())
        fails = self.fails.get(name, {})
        if isinstance(fails, int):
            return [], fails
        for k, i in enumerate(ids):
            call.errors[k] = fails.get(i, 0)
        return [i for i in ids if i not in fails], int(any(i in fails for i in ids))

    def get(self, state, call):
        ids, status = self.begin("get", call[0])
        for own, rows in zip(self.in_force, self.rows(call[0]), strict=True):
            rows[ids] = own[ids]
        return status

    def set(self, state, call):
        ids, status = self.begin("set", call[0])
        for own, rows in zip(self.in_force, self.rows(call[0]), strict=True):
            own[ids] = rows[ids]
        return status


def pool_with_params(params=None, num_envs=2, prepare=None, **options):
    """Return a pool of synthetic envs with parameters; ``pool.parameters`` has the functions."""
    params = ALL_DTYPES if params is None else params
    definition = Definition()
    parameters = Parameters(params, num_envs)
    parameters.install(definition)
    if prepare is not None:
        prepare(definition)
    pool = pool_of(definition.capsule(), parameters=params, num_envs=num_envs, **options)
    pool.parameters, pool.keep = parameters, (definition, prepare)
    return pool
