"""The ABI for a plug-in in plain C: definitions that are accepted or refused, and what every function may rely on."""

import ctypes
import pickle
import sys

import numpy as np
import pytest

import envpool
from envpool.config.spaces import ArraySpec
from envpool.errors import ConfigError, EnvCreateError, EnvStepError
from envpool.native import Field, define, describe
from tests.support import plugin
from tests.support.checked_pool import CheckedPool, same
from tests.support.definitions import OTHER_NAME, CEnv, CField, Definition, pool_of


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
        (set_env(abi_version=1), ImportError, r"built for version 1 of the envpool ABI.* bytes\): rebuild it"),
        (set_env(abi_version=3), ImportError, r"built for version 3 of the envpool ABI.*: upgrade envpool, or rebuild"),
        (set_env(struct_size=CEnv.run_many.offset - 1), ImportError, r"rebuild it against envpool.get_include"),
        (set_env(struct_size=64), ImportError, r"version 2 of the envpool ABI \(64 bytes\)"),
        (
            set_env(flags=0x81, required_flags=0x80),
            ImportError,
            r"env StaticSynthetic requires flags 0x80, which this version of envpool does not know: upgrade envpool",
        ),
        (set_env(max_num_players=2), ValueError, r"max_num_players must be 0 or 1 without the flag .* got 2"),
        (set_env(max_num_players=-1), ValueError, r"max_num_players must be 0 or 1 without the flag .* got -1"),
        (set_env(flags=4, required_flags=4, max_num_players=4097), ValueError, r"1 to 4096 with it, got 4097"),
        (set_env(flags=4, required_flags=4), ValueError, r"max_num_players must be at least 1, got 0"),
        (set_env(flags=4, max_num_players=2), ValueError, r"required_flags must have it, too"),
        (set_env(field_size=0), ValueError, r"field_size must be sizeof\(envpool_field\), at least 88 bytes, got 0"),
        (set_env(field_size=87), ValueError, r"at least 88 bytes, got 87: set it, or call envpool_env_init"),
        (set_env(field_size=90), ValueError, r"at least 88 bytes, got 90"),
        (set_env(name=None), ValueError, r"env \?: name, fields and actions are required, but at least one is NULL"),
        (set_env(fields=None), ValueError, r"name, fields and actions are required"),
        (set_env(actions=None), ValueError, r"name, fields and actions are required"),
        (set_env(create=None), ValueError, r"env StaticSynthetic: create, .* are required, but at least one is NULL"),
        (set_env(destroy=None), ValueError, r"one is NULL"),
        (set_env(seed_many=None), ValueError, r"one is NULL"),
        (set_env(step_many=None), ValueError, r"one is NULL"),
        (set_env(write_many=None), ValueError, r"one is NULL"),
        (set_env(num_fields=0), ValueError, r"must be between 1 and 64, got 0 and 1"),
        (set_env(num_fields=65), ValueError, r"must be between 1 and 64, got 65 and 1"),
        (set_env(num_actions=-1), ValueError, r"must be between 1 and 64, got 2 and -1"),
        (set_field(dtype=11), ValueError, r"dtype of field 'info:draws' must be a value of envpool_dtype, got 11"),
        (set_field(dtype=-1), ValueError, r"dtype of field 'info:draws' must be a value of envpool_dtype, got -1"),
        (set_field(ndim=7), ValueError, r"ndim of field 'info:draws' must be between 0 and 6, got 7"),
        (set_field(ndim=1), ValueError, r"shape of field 'info:draws' must be at least 1, .* got \(0,\)"),
        (
            set_field(num_low=3),
            ValueError,
            r"field 'info:draws' must have 0 or 1 bounds or one per element \(1\), got 3",
        ),
        (
            set_field(num_low=1, low=None),
            ValueError,
            r"field 'info:draws' has num_low=1, but low is NULL: point it to the bounds, or set num_low to 0",
        ),
        (set_field(num_high=1, high=None), ValueError, r"has num_high=1, but high is NULL"),
        (
            set_field(ndim=6, shape=(ctypes.c_int64 * 6)(*[2**31] * 6)),
            ValueError,
            r"a row of field 'info:draws' must have at most 72057594037927936 elements, got the shape \(2147483648, ",
        ),
        (set_field(name=None), ValueError, r"every field must have a name, but the name of one field is NULL"),
        (set_field(name=b"draws"), ValueError, r"field 'draws' must be named 'obs', 'obs:...' or 'info:...'"),
        (set_field(name=b"info:a..b"), ValueError, r"must be named .*, with a name before and after each dot"),
        (set_field(name=b"obs"), ValueError, r"must differ, .* got 'obs' and 'obs': rename one"),
        (
            set_field(name=b"info:players"),
            ValueError,
            r"must have another name, since the pool has 'info:players.env_id'",
        ),
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


def test_hints_and_one_player_are_taken():
    definition = Definition()
    definition.env.flags = 0x80  # unknown, but not required
    definition.env.required_flags = 1
    definition.env.max_num_players = 1
    with pool_of(definition.capsule()) as pool:
        pool.reset()


def test_fields_of_a_later_header_have_a_stride_of_their_own():
    class LaterField(ctypes.Structure):
        _fields_ = (*CField._fields_, ("later", ctypes.c_int64))

    def later(table, n):
        entries = (LaterField * n)()
        for entry, field in zip(entries, table, strict=False):
            ctypes.memmove(ctypes.byref(entry), ctypes.byref(field), ctypes.sizeof(CField))
            entry.later = -1
        return entries

    definition = Definition()
    fields, actions = later(definition.fields, 2), later(definition.actions, 1)
    definition.env.field_size = ctypes.sizeof(LaterField)
    definition.env.fields = ctypes.cast(fields, ctypes.POINTER(CField))
    definition.env.actions = ctypes.cast(actions, ctypes.POINTER(CField))
    assert describe(definition.capsule()) == describe(definition.source)
    with pool_of(definition.capsule(), num_envs=3, seed=5) as pool:
        pool.reset()
        obs, *_, info = pool.step(np.array([1, 2, 3]))
        same(obs, [[i, 1, 1, i + 1, 2, 5 + i] for i in range(3)], np.int64)
        assert info["draws"].all()


def test_define_writes_tables_of_its_own_size():
    """The stride of a template, whose tables are not used, must not become that of the new tables."""
    definition = Definition()
    definition.env.field_size = 3 * ctypes.sizeof(CField)
    fields = [Field("obs", np.dtype(np.int64), (6,)), Field("info:draws", np.dtype(np.int64))]
    made = define(definition.capsule(), fields, [Field("action", np.dtype(np.int32))], bytes(64))
    assert describe(made).fields == tuple(fields)


def test_an_env_that_does_not_fit_into_memory():
    with pytest.raises(MemoryError, match=r"no memory for 3 envs of Synthetic: ask for fewer envs"):
        plugin.make(num_envs=3, fail_create=-1)


def test_an_env_that_cannot_be_created():
    with pytest.raises(EnvCreateError) as caught:
        plugin.make(num_envs=3, fail_create=7)
    assert isinstance(caught.value, RuntimeError)
    assert (caught.value.name, caught.value.status) == ("Synthetic", 7)
    assert caught.value.text == "asked for 3 envs by version 2"
    assert str(caught.value) == "Synthetic could not be created: asked for 3 envs by version 2"


@pytest.mark.parametrize(("status", "error"), [(5, EnvCreateError), (0, MemoryError)])
def test_an_env_that_does_not_say_why_it_cannot_be_created(status, error):
    definition = Definition()
    create = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda setup, state: status)
    definition.env.create = ctypes.cast(create, ctypes.c_void_p)
    with pytest.raises(error) as caught:
        pool_of(definition.capsule())
    if status:
        assert str(caught.value) == "StaticSynthetic could not be created: it gave no reason (status 5)"


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


OBS, ACTION = Field("obs", np.int32), Field("action", np.int32)


def defined(fields=(OBS,), actions=(ACTION,), config=bytes(64), **options):
    """Return a definition with the functions of the synthetic environment."""
    return define(plugin.load().native.static_definition(), fields, actions, config, **options)


@pytest.mark.parametrize(
    ("field", "error", "text"),
    [
        (OBS._replace(dtype=np.float16), ValueError, r"field 'obs': dtype must be one of bool, int8, .* got float16"),
        (OBS._replace(dtype=None), ValueError, r"dtype must be one of .* got None"),
        (OBS._replace(dtype="nope"), ValueError, r"dtype must be one of .* got 'nope'"),
        (OBS._replace(shape=(1,) * 7), ValueError, r"field 'obs': shape must have at most 6 dimensions"),
        (OBS._replace(shape=(2.9,)), TypeError, r"shape must be a tuple of integers, got \(2.9,\)"),
        (OBS._replace(shape=5), TypeError, r"shape must be a tuple of integers, got 5"),
        (OBS._replace(shape=(2**70,)), ValueError, r"sizes in the shape must be at most"),
        (OBS._replace(low=0.5, high=2.5), ValueError, r"low must be None, or integers from .* got 0.5"),
        (OBS._replace(low=-1, high=2**40), ValueError, r"high must be None, or integers from -2147483648"),
        (OBS._replace(dtype=np.uint8, high=300), ValueError, r"integers from 0 to 255, got 300"),
        (OBS._replace(low=10**30), ValueError, r"integers from .* got 10"),
        (OBS._replace(low="a"), ValueError, r"numbers other than NaN, got 'a'"),
        (OBS._replace(dtype=np.float32, high=np.nan), ValueError, r"numbers other than NaN, got nan"),
        (OBS._replace(low=1, high=0), ValueError, r"low must be at most high, got 1 and 0"),
        (OBS._replace(name=5), TypeError, r"the name of a field must be a printable str, got 5"),
        (OBS._replace(name="info:a\0b"), TypeError, r"a printable str"),
        (("obs", np.int32, (), None, None), TypeError, r"fields must be a list of Field, got"),
    ],
)
def test_fields_that_define_refuses(field, error, text):
    with pytest.raises(error, match=text):
        defined([field])


@pytest.mark.parametrize(
    ("argument", "value", "error", "text"),
    [
        ("config", [1], TypeError, r"config must be bytes, got \[1\]"),
        ("config", bytearray(64), TypeError, r"config must be bytes"),
        ("fields", None, TypeError, r"fields must be a list of Field, got None"),
        ("params", ["gravity"], TypeError, r"params must be a list of Field"),
        ("name", 5, TypeError, r"name must be a str or None, got 5"),
        ("flags", -1, ValueError, r"flags must be between 0 and 4294967295, got -1"),
        ("frame_size", 5, TypeError, r"frame_size must be \(height, width\) or None, got 5"),
        ("frame_size", (1, 2, 3), TypeError, r"frame_size must be"),
        ("max_num_players", 1.5, TypeError, r"max_num_players must be an integer, got 1.5"),
        ("tracking_camera", "a", TypeError, r"tracking_camera must be an integer"),
        ("step_time", "a", TypeError, r"step_time must be a number of seconds or None"),
    ],
)
def test_arguments_that_define_refuses(argument, value, error, text):
    with pytest.raises(error, match=text):
        defined(**{argument: value})


@pytest.mark.parametrize(
    ("fields", "actions", "text"),
    [
        (["obs", "obs:a"], ["action"], r"names of fields must differ, and none may contain another, got 'obs'"),
        (["obs", "info:a.b", "info:a"], ["action"], r"got 'info:a.b' and 'info:a'"),
        (["obs", "info:env_id"], ["action"], r"must have another name, since the pool has 'info:env_id'"),
        (["obs", "info:players.id.x"], ["action"], r"since the pool has 'info:players.id'"),
        (["obs:"], ["action"], r"field 'obs:' must be named"),
        (["info:a"], ["action"], r"one field or more must be named 'obs'"),
        (["obs"], ["act"], r"action 'act' must be named 'action'"),
        (["obs"], ["action", "action.a"], r"names of actions must differ"),
        (["obs"], ["players.id"], r"since the pool has 'players.id'"),
    ],
)
def test_names_that_are_refused(fields, actions, text):
    made = defined([OBS._replace(name=name) for name in fields], [ACTION._replace(name=name) for name in actions])
    with pytest.raises(ValueError, match=text):
        describe(made)


def test_names_that_are_allowed():
    names = ["obs:a.b c", "obs:a.c", "info:a", "info:players.health"]
    made = defined([OBS._replace(name=name) for name in names], [ACTION._replace(name="players.action")])
    assert [f.name for f in describe(made).fields] == names


def test_parameters_of_functions_that_read_doubles():
    params = [Field("gravity", np.int64, (), 0, 100)]
    capsule = envpool.make_spec("NChain-v0").capsule
    with pytest.raises(ValueError, match=r"'gravity' must be a float64 .* such as Param\(10.0\)"):
        describe(define(capsule, [OBS], [ACTION], params=params))


def test_a_config_without_its_table():
    """Of an environment of records.h, whose functions are named in front of its config."""
    template = envpool.make_spec("Blackjack-v1").capsule
    with pytest.raises(EnvCreateError, match=r"must be the result of envpool_records_config\(\)"):
        pool_of(define(template, [OBS], [ACTION]))


def test_config_errors_of_the_plugin_reach_the_user():
    with pytest.raises(ConfigError, match=r"items must be at least 6 .*, got 5"):
        plugin.make(items=5)


@pytest.mark.parametrize("layout", ["flat", "rich"])
@pytest.mark.parametrize("fused", [False, True])
def test_nothing_touches_an_env_from_two_threads(layout, fused):
    native = plugin.load().native
    before = native.num_violations()
    with plugin.make(num_envs=64, batch_size=16, num_threads=4, layout=layout, fused=fused, cost_ns=500.0) as pool:
        space = pool.spec.action_space
        space.seed(0)  # some actions fail or wait
        action = space.sample()
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


def test_bounds_of_unsigned_integers():
    """An array of bounds and a single one, exact beyond int64; those of a table in C are clamped to the dtype."""
    fields = [Field("obs", np.uint64, (), 3, 2**64 - 1)]
    actions = [
        Field("action", np.uint64, (2,), np.array([2**63 + 1, 0], np.uint64), np.array([2**64 - 2, 7], np.uint64))
    ]
    capsule = define(plugin.load().native.static_definition(), fields, actions)
    found = describe(capsule)
    assert (found.fields[0].low, found.fields[0].high) == (3, 2**64 - 1)
    assert found.actions[0].low.tolist() == [2**63 + 1, 0] and found.actions[0].high.tolist() == [2**64 - 2, 7]
    spec = ArraySpec(np.uint64, [], -1.0, 2.0**64)
    assert (spec.minimum, spec.maximum) == (0, 2**64 - 1)


def test_bounds_that_float64_cannot_hold():
    """The tables of the ABI have doubles; a capsule of `define` keeps the exact bounds of integers."""
    fields = [Field("obs", np.int64, (), 2**53 + 1, 2**63 - 1)]
    actions = [Field("action", np.int64, (2,), np.array([2**60, 0]), np.array([2**60 + 3, 7]))]
    capsule = define(plugin.load().native.static_definition(), fields, actions)
    for _ in range(2):
        found = describe(capsule)
        assert (found.fields[0].low, found.fields[0].high) == (2**53 + 1, 2**63 - 1)
        assert found.actions[0].low.tolist() == [2**60, 0] and found.actions[0].high.tolist() == [2**60 + 3, 7]
        assert found.actions[0].low.dtype == found.actions[0].high.dtype == np.int64
        capsule = define(capsule, found.fields, found.actions)
