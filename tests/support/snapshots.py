"""Snapshots of the synthetic env as callbacks, which record how they are called and fail on demand."""

import ctypes
from dataclasses import dataclass, field

from tests.support.definitions import CEnv, Definition, pool_of

BAD_SNAPSHOT = -2
SLOW_SNAPSHOTS = 2


class CSnapshots(ctypes.Structure):
    """envpool_snapshots of include/envpool/env.h."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("n", ctypes.c_int32),
        ("ids", ctypes.POINTER(ctypes.c_int32)),
        ("bytes", ctypes.POINTER(ctypes.c_void_p)),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("errors", ctypes.POINTER(ctypes.c_int32)),
        ("resets", ctypes.POINTER(ctypes.c_uint8)),
        ("only_checks", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


class CCopies(ctypes.Structure):
    """envpool_copies."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("n", ctypes.c_int32),
        ("sources", ctypes.POINTER(ctypes.c_int32)),
        ("targets", ctypes.POINTER(ctypes.c_int32)),
        ("errors", ctypes.POINTER(ctypes.c_int32)),
    ]


class CSeeds(ctypes.Structure):
    """envpool_seeds."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("n", ctypes.c_int32),
        ("ids", ctypes.POINTER(ctypes.c_int32)),
        ("seeds", ctypes.POINTER(ctypes.c_uint64)),
        ("errors", ctypes.POINTER(ctypes.c_int32)),
    ]


SIZE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
SIZE_OF_ONE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32)
CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(CSnapshots))
COPY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(CCopies))
SEED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(CSeeds))
DRAW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


@dataclass
class Call:
    """One call of get_state, set_state or copy_state."""

    name: str
    ids: list
    seeded: list
    n: int = 0
    only_checks: int = 0
    sizes: list = field(default_factory=list)


class Snapshots:
    """Functions of an env definition for snapshots, of `size` bytes that mean nothing.

    Parameters
    ----------
    version : int
        state_version of the definition.
    fails_to_seed : bool
        If True, no env can be seeded.
    is_slow : bool
        If True, the definition has ENVPOOL_SLOW_SNAPSHOTS and snapshot_size, and its state_size is too large to use.

    Attributes
    ----------
    calls : list of Call
        The calls so far.
    fails : dict
        Error code by env id, by the name of the call: "get", "check" (set_state with only_checks), "set" or "copy".
    on_draw : callable or None
        Draws in place of the env.
    on_change : callable or None
        Called without arguments whenever envs are restored or copied; what it raises is added to `raised`.
    raised : list of Exception
        See `on_change`: an exception cannot pass through native code.
    """

    def __init__(self, version=0, fails_to_seed=False, is_slow=False):
        self.version = version
        self.fails_to_seed = fails_to_seed
        self.size = 24
        self.calls = []
        self.fails = {}
        self.seeded = set()
        self.on_draw = self.on_change = None
        self.raised = []
        self.is_slow = is_slow

    def install(self, definition):
        """Add the functions to a definition, which must outlive its pools."""
        env = definition.env
        assert env.struct_size == ctypes.sizeof(CEnv)
        original = {name: getattr(env, name) for name in ("seed_many", "render_many")}
        self.seed_env, self.draw_env = SEED(original["seed_many"]), DRAW(original["render_many"])
        self.callbacks = {
            "state_size": SIZE(lambda state: 2**62 if self.is_slow else 24),
            "get_state": CALL(self.get),
            "set_state": CALL(self.set),
            "copy_state": COPY(self.copy),
            "seed_many": SEED(self.seed),
            "render_many": DRAW(self.draw),
        }
        for name, function in self.callbacks.items():
            setattr(env, name, ctypes.cast(function, ctypes.c_void_p))
        env.state_version = self.version
        if self.is_slow:
            self.snapshot_size = SIZE_OF_ONE(lambda state, i: self.size)
            env.snapshot_size = ctypes.cast(self.snapshot_size, ctypes.c_void_p)
            env.flags |= SLOW_SNAPSHOTS

    def note(self, name, ids, **about):
        self.calls.append(Call(name, ids, [i in self.seeded for i in ids], len(ids), **about))

    def fail(self, name, ids, errors):
        """Set the error codes that were asked for, and return a status."""
        codes = [self.fails.get(name, {}).get(i, 0) for i in ids]
        for k, code in enumerate(codes):
            errors[k] = code
        return int(any(codes))

    def seed(self, state, seeds):
        ids = seeds[0].ids[: seeds[0].n]
        if self.fails_to_seed:
            return 6
        self.seeded.update(ids)
        return self.seed_env(state, seeds)

    def draw(self, state, frames):
        return self.draw_env(state, frames) if self.on_draw is None else self.on_draw(frames)

    def change(self):
        try:
            if self.on_change is not None:
                self.on_change()
        except Exception as error:
            self.raised.append(error)

    def get(self, state, call):
        ids = call[0].ids[: call[0].n]
        for k in range(call[0].n):
            ctypes.memset(call[0].bytes[k], 7, self.size)
            call[0].sizes[k] = self.size
        self.note("get", ids)
        return self.fail("get", ids, call[0].errors)

    def set(self, state, call):
        ids, only_checks = call[0].ids[: call[0].n], call[0].only_checks
        sizes = call[0].sizes[: call[0].n]
        for k, size in enumerate(sizes):
            assert ctypes.string_at(call[0].bytes[k], size) == b"\7" * size
        self.note("set", ids, only_checks=only_checks, sizes=sizes)
        if not only_checks:
            self.change()
        return self.fail("check" if only_checks else "set", ids, call[0].errors)

    def copy(self, state, call):
        ids = call[0].targets[: call[0].n]
        assert not set(ids) & set(call[0].sources[: call[0].n])
        self.note("copy", ids)
        self.change()
        return self.fail("copy", ids, call[0].errors)


def pool_with(snapshots, **options):
    """Return a pool of synthetic envs with these snapshots."""
    definition = Definition()
    snapshots.install(definition)
    pool = pool_of(definition.capsule(), **options)
    pool.snapshots = snapshots
    pool.keep = definition
    return pool
