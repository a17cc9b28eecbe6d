"""The ABI for a plug-in in plain C: definitions that are accepted or refused, and what every function may rely on."""

import ctypes
import pickle
import sys

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError
from envpool.native import Field, define, describe
from tests.support import plugin
from tests.support.checked_pool import CheckedPool, same

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAME = ctypes.c_char_p(b"envpool.env")  # a capsule keeps the pointer
OTHER_NAME = ctypes.c_char_p(b"another.env")


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
        ("flags", ctypes.c_uint32),
        ("lanes", ctypes.c_int32),
        ("render_many", ctypes.c_void_p),
        ("frame_height", ctypes.c_int32),
        ("frame_width", ctypes.c_int32),
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
        return api.PyCapsule_New(ctypes.addressof(self.env), name, None)


def pool_of(capsule, style="gymnasium", **options):
    """Make a pool of an env definition without registering it."""
    from envpool.registration import pool_class
    from envpool.spec import spec_class

    class Some:
        options = {}

        @staticmethod
        def build(config):
            return capsule

    spec = spec_class(Some)
    return pool_class(spec, style)(spec(spec.gen_config(**options)))


def test_a_const_table_in_plain_c():
    plugin.load()
    with envpool.make("StaticSynthetic-v0", "gymnasium", num_envs=3, seed=5) as pool:
        obs, _ = pool.reset()
        same(obs, [[i, 1, 0, -1, 1, 5 + i] for i in range(3)], np.int64)
        for k in range(1, 5):
            obs, reward, terminated, *_ = pool.step(np.full(3, k))
            same(obs, [[i, 1, k, k, 1 + k, 5 + i] for i in range(3)], np.int64)
            same(reward, [k + i / 1024 for i in range(3)], np.float32)
            assert not terminated.any()
        assert pool.step(np.zeros(3, int))[2].all()


def test_describe_of_a_const_table():
    definition = describe(plugin.load().native.static_definition())
    assert definition.name == "StaticSynthetic"
    assert definition.fields == (Field("obs", np.dtype(np.int64), (6,)), Field("info:draws", np.dtype(np.int64)))
    assert definition.actions == (Field("action", np.dtype(np.int32), (-1,), 0.0, 99.0),)


def test_the_copy_that_the_tests_change_works_unchanged():
    definition = Definition()
    with pool_of(definition.capsule(), num_envs=2) as pool:
        same(pool.reset()[0], [[i, 1, 0, -1, 1, 42 + i] for i in range(2)], np.int64)


def set_field(**changes):
    return lambda k: [setattr(k.fields[1], name, value) for name, value in changes.items()]


def set_env(**changes):
    return lambda k: [setattr(k.env, name, value) for name, value in changes.items()]


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (set_env(abi_version=2), ImportError, r"built for version 2 of the envpool ABI.*rebuild it"),
        (set_env(struct_size=CEnv.run_many.offset - 1), ImportError, r"rebuild it against envpool.get_include"),
        (set_env(struct_size=64), ImportError, r"version 1 of the envpool ABI \(64 bytes\)"),
        (set_env(create=None), ValueError, r"env StaticSynthetic: create, .* are required, but at least one is NULL"),
        (set_env(destroy=None), ValueError, r"one is NULL"),
        (set_env(seed_many=None), ValueError, r"one is NULL"),
        (set_env(step_many=None), ValueError, r"one is NULL"),
        (set_env(write_many=None), ValueError, r"one is NULL"),
        (set_env(num_fields=0), ValueError, r"must be between 1 and 64, got 0 and 1"),
        (set_env(num_fields=65), ValueError, r"must be between 1 and 64, got 65 and 1"),
        (set_env(num_actions=-1), ValueError, r"must be between 1 and 64, got 2 and -1"),
        (set_field(dtype=7), ValueError, r"dtype of field 'info:draws' must be a value of envpool_dtype, got 7"),
        (set_field(dtype=-1), ValueError, r"dtype of field 'info:draws' must be a value of envpool_dtype, got -1"),
        (set_field(ndim=7), ValueError, r"ndim of field 'info:draws' must be between 0 and 6, got 7"),
        (set_field(ndim=1), ValueError, r"shape of field 'info:draws' must be at least 1, .* got \(0,\)"),
        (
            set_field(num_low=3),
            ValueError,
            r"field 'info:draws' must have 0 or 1 bounds or one per element \(1\), got 3",
        ),
        (set_field(name=b"draws"), ValueError, r"field 'draws' must be named 'obs', 'obs:...' or 'info:...'"),
        (set_field(name=b"obs"), ValueError, r"two fields have the same name"),
    ],
)
def test_definitions_that_are_refused(change, error, text):
    definition = Definition()
    change(definition)
    with pytest.raises(error, match=text):
        pool_of(definition.capsule())


def test_a_larger_struct_of_a_later_version_is_taken():
    definition = Definition()
    definition.env.struct_size += 64
    with pool_of(definition.capsule()) as pool:
        pool.reset()


def test_a_smaller_struct_of_an_earlier_header_is_taken():
    definition = Definition()
    definition.env.struct_size = CEnv.run_many.offset
    definition.env.run_many = definition.env.error_text = 1  # lies behind the struct, and must not be called
    with pool_of(definition.capsule()) as pool:
        pool.reset()
        with pytest.raises(EnvStepError, match="env 0: error code 1"):
            pool.step(np.array([97]))


def test_other_objects_are_refused():
    for thing in (None, 1, Definition().capsule(OTHER_NAME)):
        with pytest.raises(TypeError, match=r"env must be a PyCapsule named 'envpool.env'"):
            pool_of(thing)


def test_an_env_that_cannot_be_created():
    definition = Definition()
    no_memory = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)(lambda config, n: None)
    definition.env.create = ctypes.cast(no_memory, ctypes.c_void_p)
    with pytest.raises(MemoryError, match=r"no memory for 3 envs of StaticSynthetic"):
        pool_of(definition.capsule(), num_envs=3)


@pytest.mark.parametrize(("flags", "when_truncated"), [(0, 0), (1, 1)])
def test_the_discount_of_truncated_steps(flags, when_truncated):
    definition = Definition()
    definition.env.flags = flags
    with pool_of(definition.capsule(), "dm", num_envs=4, max_episode_steps=3) as pool:
        assert pool.reset().discount.tolist() == [1] * 4
        assert pool.step(np.array([1, 95, 96, 1])).discount.tolist() == [1, when_truncated, 0, 1]
        pool.step(np.full(4, 1))
        assert pool.step(np.full(4, 1)).discount.tolist() == [when_truncated, 1, 1, when_truncated]


def test_an_env_without_error_texts():
    definition = Definition()
    definition.env.error_text = None
    with pool_of(definition.capsule(), num_envs=2) as pool:
        pool.reset()
        with pytest.raises(RuntimeError, match=r"1 env\(s\) failed: env 1: error code 1\. "):
            pool.step(np.array([0, 97]))


def test_the_capsule_lives_as_long_as_the_pool():
    """define() copies its arguments: neither they nor the capsule need to be kept."""
    c = CheckedPool(4, num_threads=2)
    capsule = c.pool.spec.capsule
    assert sys.getrefcount(capsule) >= 3  # the spec, the pool, and this name
    del c.pool.spec, capsule
    c.sent_reset()
    c.received(c.pool.reset())
    for k in range(20):
        c.sent(range(4), [k] * 4)
        c.received(c.pool.step(np.full(4, k)))
    c.close()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ([Field("obs", np.float16)], r"field 'obs': dtype must be one of bool, int8, .* got float16"),
        ([Field("obs", np.int32, (1,) * 7)], r"field 'obs': shape must have at most 6 dimensions"),
    ],
)
def test_fields_that_define_refuses(fields, text):
    plugin.load()
    with pytest.raises(ValueError, match=text):
        define(plugin.load().native.definition(False), fields, [Field("action", np.int32)])


def test_config_errors_of_the_plugin_reach_the_user():
    with pytest.raises(ConfigError, match="items is 5, allowed are 6"):
        plugin.make(items=5)


@pytest.mark.parametrize("layout", ["flat", "rich"])
@pytest.mark.parametrize("fused", [False, True])
def test_nothing_touches_an_env_from_two_threads(layout, fused):
    native = plugin.load().native
    before = native.num_violations()
    with plugin.make(num_envs=64, batch_size=16, num_threads=4, layout=layout, fused=fused, cost_ns=500.0) as pool:
        action = pool.spec.action_space.sample()
        pool.async_reset()
        for k in range(500):
            ids = pool.recv()[-1]["env_id"]
            if layout == "flat":
                pool.send(np.full(16, k % 90), ids)
            else:
                parts = {n: np.repeat(np.asarray(a)[None], 16, 0) for n, a in action["action"].items()}
                parts["move"] = np.full(16, k % 90, np.int32)
                pool.send({"action": parts, "env_id": ids})
    assert native.num_violations() == before


def test_all_dtypes_and_shapes_arrive():
    with plugin.make(num_envs=3, layout="rich", items=7, seed=9) as pool:
        pool.reset()
        move = np.array([4, 5, 6], np.int32)
        push = np.array([[0.25, -1], [np.nan, 0], [1, 0.5]], np.float32)
        mode = np.array([[0, 1, -5], [1, 2, 5], [0, 0, 0]], np.int8)
        count = np.array([-(2**63), 2**63 - 1, 0])
        obs, *_, info = pool.step({"action": {"move": move, "push": push, "mode": mode, "count": count}})
    code = [[i, 1, 1, move[i], 2, 9 + i] for i in range(3)]
    same(obs["a"], code, np.int64)
    same(obs["b"]["c"], np.reshape(code, (3, 2, 3)), np.float32)
    same(obs["b"]["d"], [[2 + i + k for k in range(7)] for i in range(3)], np.uint8)
    same(obs["b"]["e"], [True] * 3, np.bool_)
    same(info["calls"], [2] * 3, np.int32)
    assert info["draws"].shape == (3, 2)
    assert info["draws"].dtype == np.float64
    assert info["push"].tobytes() == push.tobytes()
    same(info["mode"], mode, np.int8)
    same(info["count"], count, np.int64)


def test_specs_of_the_plugin_are_pickled_by_reference():
    plugin.load()
    spec = envpool.make_spec("Synthetic-v0", num_envs=2, items=9)
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    assert again.observation_space.shape == (9,)
