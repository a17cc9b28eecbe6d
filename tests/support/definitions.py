"""Env definitions as C sees them: a copy of a static one that a test may change, and pools without a registration."""

import ctypes

from tests.support import plugin

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAME = ctypes.c_char_p(b"envpool.env")  # a capsule keeps the pointer
OTHER_NAME = ctypes.c_char_p(b"another.env")


def new_capsule(address, name=NAME):
    """Return a capsule of the env definition at an address."""
    return api.PyCapsule_New(address, name, None)


class CField(ctypes.Structure):
    """envpool_field of include/envpool/env.h."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 6),
        ("low", ctypes.POINTER(ctypes.c_double)),
        ("high", ctypes.POINTER(ctypes.c_double)),
        ("num_low", ctypes.c_int32),
        ("num_high", ctypes.c_int32),
    ]


class CEnv(ctypes.Structure):
    """envpool_env, with its functions as plain pointers."""

    _fields_ = [
        ("abi_version", ctypes.c_uint32),
        ("struct_size", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("flags", ctypes.c_uint32),
        ("required_flags", ctypes.c_uint32),
        ("field_size", ctypes.c_uint32),
        ("max_num_players", ctypes.c_int32),
        ("num_fields", ctypes.c_int32),
        ("num_actions", ctypes.c_int32),
        ("fields", ctypes.POINTER(CField)),
        ("actions", ctypes.POINTER(CField)),
        ("config", ctypes.c_void_p),
        ("create", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p),
        ("seed_many", ctypes.c_void_p),
        ("step_many", ctypes.c_void_p),
        ("write_many", ctypes.c_void_p),
        ("run_many", ctypes.c_void_p),
        ("error_text", ctypes.c_void_p),
        ("render_many", ctypes.c_void_p),
        ("frame_height", ctypes.c_int32),
        ("frame_width", ctypes.c_int32),
        ("lanes", ctypes.c_int32),
        ("num_params", ctypes.c_int32),
        ("state_size", ctypes.c_void_p),
        ("get_state", ctypes.c_void_p),
        ("set_state", ctypes.c_void_p),
        ("copy_state", ctypes.c_void_p),
        ("state_version", ctypes.c_uint32),
        ("reserved_state", ctypes.c_uint32),
        ("params", ctypes.POINTER(CField)),
        ("get_params", ctypes.c_void_p),
        ("set_params", ctypes.c_void_p),
        ("snapshot_size", ctypes.c_void_p),
    ]


class Definition:
    """A copy of the static env definition that may be changed."""

    def __init__(self):
        self.source = plugin.load().native.static_definition()
        original = CEnv.from_address(api.PyCapsule_GetPointer(self.source, NAME))
        self.size = original.struct_size
        self.memory = ctypes.create_string_buffer(ctypes.string_at(ctypes.addressof(original), self.size), self.size)
        self.env = CEnv.from_buffer(self.memory)
        self.fields = (CField * 64)(*original.fields[:2])
        self.actions = (CField * 64)(*original.actions[:1])
        self.env.fields, self.env.actions = self.fields, self.actions

    def capsule(self, name=NAME):
        """Return a capsule of the copy, which must outlive it."""
        return new_capsule(ctypes.addressof(self.env), name)


def pool_of(capsule, style="gymnasium", parameters=None, **options):
    """Make a pool of an env definition without registering it; `parameters` has a Param for each name."""
    from envpool.pools.classes import pool_class
    from envpool.tasks.spec import spec_class

    class Some:
        options = {}
        params = parameters or {}

        @staticmethod
        def build(config):
            return capsule

    spec = spec_class(Some)
    return pool_class(spec, style)(spec(spec.gen_config(**options)))
