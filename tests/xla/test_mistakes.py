"""A wrong call fails with the error text of the pool, and the pool stays usable."""

import itertools
from functools import partial

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from jax.errors import JaxRuntimeError

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError
from envpool.xla.functions import HANDLE, TARGET
from tests.support import plugin
from tests.support.checked_pool import FAIL
from tests.xla.pools import both_widths, refuses

DTYPES = ["bool", "int4", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16"]
DTYPES += ["float8_e4m3fn", "float32", "float64", "complex64", "complex128"]
SHAPES = [(4,), (0, 4), (), (0,), (1,), (3,), (5,), (4, 1), (1, 4), (2, 2), (4, 0), (1, 1, 1, 1, 1, 4)]


class Half(gymnasium.Env):
    observation_space = spaces.Box(-1, 1, (3,), np.float16)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(3, np.float16), {}

    def step(self, action):
        return np.ones(3, np.float16), 1.0, False, False, {}


@pytest.fixture
def pool():
    """Yield a pool of four envs after a reset."""
    with plugin.make(num_envs=4, episode_length=0) as made:
        made.reset()
        yield made


@pytest.mark.parametrize("handle", [np.zeros(4, np.int32), np.zeros(8, np.int32), 3, np.zeros(7, np.uint8)])
def test_what_is_no_handle(pool, handle):
    _, recv, send, step = pool.xla()
    for call in (recv, partial(send, action=np.zeros(4, np.int32)), partial(step, action=np.zeros(4, np.int32))):
        with pytest.raises(PoolStateError, match=r"handle must be the array that xla\(\) or the call before"):
            call(handle)
    assert_works(pool)


def assert_works(pool):
    """Assert that the pool steps, called from Python and from JAX."""
    handle, _, _, step = pool.xla()
    before = pool.step(np.zeros(4, np.int32))[0][:, 2]
    _, batch = jax.jit(step)(handle, np.zeros(4, np.int32))
    np.testing.assert_array_equal(batch[0][:, 2], before + 1)


def python_error(call):
    """Return type and text of the exception that a call of the pool raises."""
    with pytest.raises(Exception) as caught:
        call()
    return f"{type(caught.value).__name__}: {caught.value}"


BAD_CALLS = {
    "value": (np.array([0, 1, 100, 2]), None),
    "negative": (np.array([0, -1, 1, 2]), None),
    "fraction": (np.array([0, 0.5, 1, 2], np.float32), None),
    "nan": (np.array([0, np.nan, 1, 2], np.float32), None),
    "complex": (np.zeros(4, np.complex64), None),
    "too few": (np.zeros(3, np.int32), None),
    "too many": (np.zeros(5, np.int32), None),
    "too deep": (np.zeros((4, 1), np.int32), None),
    "scalar": (np.int32(1), None),
    "id too large": (np.zeros(2, np.int32), np.array([0, 4], np.int32)),
    "id negative": (np.zeros(2, np.int32), np.array([-1, 0], np.int32)),
    "id twice": (np.zeros(2, np.int32), np.array([2, 2], np.int32)),
    "ids float": (np.zeros(2, np.int32), np.array([0, 1], np.float32)),
    "ids deep": (np.zeros(2, np.int32), np.array([[0, 1]], np.int32)),
    "ids and actions": (np.zeros(3, np.int32), np.array([0, 1], np.int32)),
    "a dict with another key": ({"act": np.zeros(4, np.int32)}, None),
    "a dict without the action": ({"env_id": np.array([0], np.int32)}, None),
    "a dict is not cast": ({"action": np.zeros(4, np.float32)}, None),
    "players of other envs": (
        {"action": np.zeros(1, np.int32), "players.env_id": np.array([1], np.int32)},
        np.zeros(1, np.int32),
    ),
}


@pytest.mark.parametrize("call", ["send", "step"])
@pytest.mark.parametrize("case", BAD_CALLS)
def test_the_words_are_those_of_the_call_from_python(pool, case, call):
    action, env_id = BAD_CALLS[case]
    expected = python_error(lambda: getattr(pool, call)(action, env_id))
    handle, _, send, step = pool.xla()
    with pytest.raises(JaxRuntimeError) as caught:
        jax.block_until_ready(jax.jit(send if call == "send" else step)(handle, action, env_id))
    assert expected in str(caught.value)
    assert pool.num_outstanding == 0
    assert_works(pool)


@pytest.mark.parametrize(
    ("action", "env_id", "error", "text"),
    [
        (
            np.array([0, 2**32, 0, 0]),
            None,
            ActionError,
            "action 'action' contains 4294967296 of dtype int64, which int32",
        ),
        ({"action": np.array([0, 2**32, 0, 0])}, None, ActionError, "action 'action' contains 4294967296 of dtype"),
        (np.array([0, 1e300, 0, 0]), None, ActionError, r"action 'action' contains 1e\+300 of dtype float64"),
        (np.int64(2**32), np.array([0]), ActionError, "action 'action' contains 4294967296"),
        (np.array([0]), np.array([2**32]), EnvIdError, "env_id contains 4294967296 of dtype int64, which int32"),
    ],
)
def test_numpy_arrays_that_jax_would_wrap(pool, action, env_id, error, text):
    handle, _, send, step = pool.xla()
    for call in (send, step):
        with pytest.raises(error, match=text):
            call(handle, action, env_id)
    assert pool.num_outstanding == 0
    assert_works(pool)


def test_observations_that_are_carried_as_objects():
    with envpool.make_python(Half, num_envs=2) as pool:
        text = r"xla\(\) needs observations that are .*, but 'obs' has the space Box\(.*float16\) \(its dtype is not"
        with pytest.raises(ConfigError, match=text):
            pool.xla()


def test_an_error_ends_a_scan(pool):
    """The steps before the error were made, and none after it."""
    handle, _, _, step = pool.xla()
    actions = np.zeros((50, 4), np.int32)
    actions[20, 3] = 1000
    with refuses(r"ActionError: action 'action' of env 3 \(row 3\) must have integers from 0 to 99, got 1000"):
        jax.block_until_ready(jax.jit(partial(jax.lax.scan, step))(handle, actions))
    assert pool.step(np.zeros(4, np.int32))[0][:, 2].tolist() == [21] * 4


def test_an_env_that_fails(pool):
    """The batch still arrives with the next call that receives."""
    handle, recv, _, step = pool.xla()
    for receive in (lambda: jax.jit(recv)(handle)[1], pool.recv):
        with refuses(r"EnvStepError: 1 env\(s\) failed: env 2: .*recv\(\) still returns the batch"):
            jax.block_until_ready(jax.jit(step)(handle, np.array([0, 0, FAIL, 0])))
        assert np.asarray(receive()[3]).tolist() == [False, False, True, False]
        pool.step(np.zeros(4, np.int32))  # resets it
    assert pool.num_outstanding == 0
    handle, batch = jax.jit(step)(handle, np.zeros(4, np.int32))
    assert not batch[3].any()


def test_recv_without_send(pool):
    handle, recv, send, _ = pool.xla()
    with refuses(r"PoolStateError: recv\(\) has nothing to wait for, because nothing is in flight"):
        jax.block_until_ready(jax.jit(recv)(handle))
    handle = send(handle, np.zeros(4, np.int32))
    with refuses("EnvIdError: 4 of 4 envs are still in flight"):
        jax.block_until_ready(send(handle, np.zeros(4, np.int32)))
    jax.block_until_ready(recv(handle))
    assert_works(pool)


def test_async_steps_that_could_not_receive():
    with plugin.make(num_envs=4, batch_size=2, episode_length=0) as pool:
        handle, recv, send, step = pool.xla()
        with refuses(r"step\(\) with 1 envs and 0 in flight cannot return a batch of 2"):
            jax.block_until_ready(step(handle, np.zeros(1, int), np.array([0])))
        with refuses("this call expects a batch of 2 rows, but the next batch has 0"):
            jax.block_until_ready(step(handle, np.zeros(0, int), np.zeros(0, int)))
        handle = send(handle, np.zeros(1, int), np.array([0]))
        with refuses("1 envs are in flight and a batch needs 2"):
            jax.block_until_ready(recv(handle))
        handle, batch = step(handle, np.zeros(1, int), np.array([3]))
        assert sorted(batch[-1]["env_id"].tolist()) == [0, 3]


def test_autoreset_disabled():
    with envpool.make_gymnasium("CartPole-v1", num_envs=1, autoreset_mode="disabled", max_episode_steps=5) as pool:
        handle, _, _, step = pool.xla()
        with refuses("env 0 has no running episode and autoreset_mode is 'disabled'"):
            jax.block_until_ready(step(handle, np.zeros(1, int)))


# ---- handles ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "handle",
    [np.zeros(8, np.uint8), np.full(8, 255, np.uint8), np.arange(8, dtype=np.uint8)],
    ids=["zeros", "ones", "numbers"],
)
def test_a_handle_that_means_nothing(pool, handle):
    with refuses("the handle does not belong to a pool of this process"):
        jax.block_until_ready(jax.jit(pool.xla()[3])(handle, np.zeros(4, int)))


def test_a_handle_of_another_kind_of_pool(pool):
    with envpool.make_gymnasium("CartPole-v1", num_envs=4) as other, plugin.make(num_envs=3) as smaller:
        _, _, _, step = pool.xla()
        with refuses("this call expects .* the handle belongs to another pool"):
            jax.block_until_ready(step(other.xla()[0], np.zeros(4, int)))
        with refuses("this call expects a batch of 4 rows, but the next batch has 3"):
            jax.block_until_ready(step(smaller.xla()[0], np.zeros(4, int)))
    assert_works(pool)


# ---- every dtype and shape, in every place ---------------------------------------------------------------------------


def call_raw(args, results, **attributes):
    """Call the handler in a way that no function of xla() does."""
    call = jax.ffi.ffi_call(TARGET, results, has_side_effect=True)
    return jax.block_until_ready(jax.jit(lambda *a: call(*a, **attributes))(*args))


@both_widths
@pytest.mark.parametrize("place", ["action", "env_id"])
def test_no_action_or_id_crashes(pool, place, x64):
    """The call either works or explains why it does not."""
    handle, _, _, step = pool.xla()
    refused = 0
    with jax.enable_x64(x64):
        for dtype, shape in [*itertools.product(DTYPES, SHAPES[:2]), *itertools.product(["int32"], SHAPES)]:
            if dtype.endswith(("64", "128")) and not x64:
                continue
            value = jnp.ones(shape, dtype)
            args = (value,) if place == "action" else (jnp.zeros(max(value.size, 1), int), value)
            try:
                jax.block_until_ready(step(handle, *args))
            except JaxRuntimeError as error:
                assert "Error: " in str(error)
                refused += 1
    assert refused
    assert pool.num_outstanding == 0
    assert_works(pool)


def right_results(pool):
    """Return the shapes and dtypes of a step's results."""
    handle, _, _, step = pool.xla()
    _, batch = jax.eval_shape(step, handle, np.zeros(4, np.int32))
    return [HANDLE, *jax.tree.leaves(batch)]


def test_no_result_crashes(pool):
    """Results of a wrong number, dtype or shape are refused before anything is sent."""
    handle = pool.xla()[0]
    action = jnp.zeros(4, jnp.int32)
    send = {"sends": True, "keys": ""}
    right = right_results(pool)
    wrong = [right[:-1], [*right, right[-1]]]
    with jax.enable_x64(True):
        for i in range(1, len(right)):
            shape, dtype = right[i].shape, right[i].dtype
            for change in (shape[:-1], (*shape, 1), (4, 7), (0, *shape[1:])):
                wrong.append([*right[:i], jax.ShapeDtypeStruct(change, dtype), *right[i + 1 :]])
            other = {"bool": "uint8", "int32": "float32"}.get(dtype.name, "complex128")
            wrong.append([*right[:i], jax.ShapeDtypeStruct(shape, other), *right[i + 1 :]])
        for results in wrong:
            with refuses("this call expects"):
                call_raw([handle, action], results, receives=True, **send)
    assert pool.num_outstanding == 0
    assert_works(pool)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("keys", ["", "action", "env_id", "action,env_id", ",", "action,action", "a,b,c,d"])
def test_no_number_of_arguments_crashes(pool, count, keys):
    handle = pool.xla()[0]
    args = [handle, *[jnp.full(4, 500, jnp.int32)] * count]
    with refuses("Error: "):
        call_raw(args, [HANDLE], sends=True, receives=False, keys=keys)
    assert pool.num_outstanding == 0
    assert_works(pool)


@pytest.mark.parametrize(
    "handle", [jnp.zeros(8, jnp.int8), jnp.zeros(7, jnp.uint8), jnp.zeros((), jnp.uint8), jnp.zeros(2, jnp.int32)]
)
def test_a_handle_of_another_shape(pool, handle):
    same = jax.ShapeDtypeStruct(handle.shape, handle.dtype)
    for args, results in (([handle], [HANDLE]), ([pool.xla()[0]], [same]), ([], [HANDLE]), ([handle], [])):
        with refuses("the handle must be the array that"):
            call_raw(args, results, sends=False, receives=False, keys="")


def test_wrong_attributes(pool):
    handle = pool.xla()[0]
    for attributes in ({}, {"sends": 1, "receives": True, "keys": ""}, {"sends": True, "receives": True}):
        with pytest.raises(JaxRuntimeError):
            call_raw([handle], [HANDLE], **attributes)
    assert_works(pool)


def test_what_is_no_array(pool):
    handle, _, send, _ = pool.xla()
    for action in ("left", object(), [[0], [1, 2]], {"action": "left"}):
        with pytest.raises((TypeError, ValueError, ActionError)):
            send(handle, action)
    assert_works(pool)
