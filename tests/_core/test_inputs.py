"""Invalid input raises an exception that names it, and leaves the pool unchanged."""

import contextlib
import pickle
import threading

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError, PoolStateError, StateError, UnknownTaskError
from tests.support import plugin
from tests.support.checked_pool import CheckedPool

NAN, INF = float("nan"), float("inf")


class Attached:
    """Refuses to become an array, as a tensor that requires gradients does."""

    def __len__(self):
        return 4

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("use detach()")


BAD_IDS = {
    "too large": ([0, 4], r"env_id\[1\] must be between 0 and 3, got 4"),
    "negative": ([-1, 0], r"env_id\[0\] must be between 0 and 3, got -1"),
    "beyond int32": ([0, 2**32], r"env_id\[1\] must be between 0 and 3, got 4294967296"),
    "beyond int64": (
        np.array([2**64 - 1, 0], np.uint64),
        r"env_id\[0\] must be between 0 and 3, got 18446744073709551615",
    ),
    "twice": ([1, 2, 1], r"env_id\[2\] is 1, which appears twice"),
    "more than envs": ([0, 1, 2, 3, 0], r"env_id has 5 entries, but the pool has 4 envs"),
    "floats": ([0.0, 1.0], r"env_id must be a 1-D array of integers.*float64"),
    "two-dimensional": ([[0], [1]], r"env_id must be a 1-D array of integers.*\(2, 1\)"),
    "bools": ([True, False], r"env_id must be a 1-D array of integers.*bool"),
    "text": (["0", "1"], r"env_id must be a 1-D array of integers.*U1"),
    "objects": ([None, 0], r"env_id must be a 1-D array of integers.*object"),
    "attached": (Attached(), r"env_id must be a 1-D array of integers, got .*: use detach\(\)"),
    "ragged": ([[0], [1, 2]], r"env_id must be a 1-D array of integers.*\[\[0\], \[1, 2\]\]"),
    "a set": ({0, 1}, r"env_id must be a 1-D array of integers.*object"),
}


@pytest.fixture(params=["sync", "async"])
def checked(request):
    """Yield a checked pool of four envs, which are reset and idle."""
    c = CheckedPool(4, 0 if request.param == "sync" else 2, num_threads=2).start()
    yield c
    c.close()


@pytest.fixture
def rich():
    """Yield a pool of two envs with several action arrays, after a reset."""
    plugin.load()
    with plugin.make(num_envs=2, layout="rich") as pool:
        pool.reset()
        yield pool


def assert_rich_works(pool):
    """Step once, and return what the envs received."""
    *_, info = pool.step(plugin.rich_action())
    assert info["push"].tolist() == [[0.5, -0.5], [1, -1]]
    assert info["mode"].tolist() == [[0, 1, -5], [1, 2, 5]]
    assert info["count"].tolist() == [-(2**60), 2**60]


# ---- env ids ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["send", "step", "reset", "reset with seed", "dict"])
@pytest.mark.parametrize("what", BAD_IDS)
def test_env_ids(checked, what, call):
    ids, text = BAD_IDS[what]
    actions = np.zeros(len(ids), np.int32)
    with pytest.raises(EnvIdError, match=text) as caught:
        if call == "reset":
            checked.pool.reset(ids)
        elif call == "reset with seed":
            checked.pool.reset(ids, seed=7)
        elif call == "dict":
            checked.pool.send({"action": actions, "env_id": ids})
        else:
            getattr(checked.pool, call)(actions, ids)
    assert isinstance(caught.value, (IndexError, ValueError))
    assert not str(caught.value).endswith("nothing was sent" if call.startswith("reset") else "nothing was reset")
    checked.assert_works()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.uint64, ">i4", ">i8", np.longlong])
def test_any_integer_dtype_of_env_ids_is_taken(dtype):
    c = CheckedPool(300)
    c.reset()
    ids = np.array([100, 3, 17], dtype)
    c.pool.send(np.array([1, 2, 3]), ids)
    c.sent(ids, [1, 2, 3])
    c.recv()
    c.close()


def test_strided_env_ids_are_taken(checked):
    ids = np.array([3, 9, 1, 9])[::2]
    checked.pool.send(np.array([5, 6]), ids)
    checked.sent(ids, [5, 6])
    checked.recv()


def test_too_small_an_integer_dtype_cannot_hide_a_bad_id():
    with plugin.make(num_envs=300) as pool:
        pool.reset()
        with pytest.raises(EnvIdError, match=r"env_id\[0\] must be between 0 and 299, got -56"):
            pool.send(np.array([0]), np.array([200]).astype(np.int8))


def test_env_in_flight(checked):
    checked.send([1, 2], [0, 0])
    with pytest.raises(EnvIdError, match=r"env_id\[1\] is 2, which is still in flight: call recv\(\)"):
        checked.pool.send(np.zeros(2, np.int32), [0, 2])
    checked.assert_works()


def test_all_envs_while_some_are_in_flight(checked):
    checked.send([3, 1], [0, 0])
    with pytest.raises(EnvIdError, match=r"2 of 4 envs are still in flight \(e.g. env 1\)"):
        checked.pool.send(np.zeros(4, np.int32))
    checked.assert_works()


def test_sending_without_receiving(checked):
    checked.send([0, 1, 2, 3], [0, 0, 0, 0])
    for _ in range(20):
        with pytest.raises(EnvIdError, match="in flight"):
            checked.pool.send(np.zeros(4, np.int32))
    checked.recv_batches()
    checked.assert_works()


def test_env_ids_twice_over_in_a_dict(checked):
    with pytest.raises(EnvIdError, match=r"players.env_id must equal env_id"):
        checked.pool.send({"action": np.zeros(2, np.int32), "env_id": [0, 1], "players": {"env_id": [1, 0]}})
    checked.assert_works()


def test_stepping_an_ended_episode_without_autoreset():
    c = CheckedPool(3, autoreset_mode="disabled")
    c.reset()
    c.send([0, 1, 2], [0, 96, 0])
    c.recv()
    for ids in (None, [0, 1]):
        with pytest.raises(EnvIdError, match=r"env 1 has no running episode and autoreset_mode is 'disabled'"):
            c.pool.send(np.zeros(3 if ids is None else 2, np.int32), ids)
    c.send([2, 0], [1, 1])
    c.recv()
    c.assert_works()
    c.close()


# ---- actions ---------------------------------------------------------------------------------------------------------

BAD_ACTIONS = {
    "too few": (np.zeros(3, np.int32), r"action 'action' must have the shape \(4,\), one row .*, got \(3,\)"),
    "too many": (np.zeros(5, np.int32), r"action 'action' must have the shape \(4,\), one row .*, got \(5,\)"),
    "scalar": (1, r"action 'action' must have the shape \(4,\), one row .*, got \(\)"),
    "two-dimensional": (np.zeros((4, 1), np.int32), r"must have the shape \(4,\), one row .*, got \(4, 1\)"),
    "none": (None, r"action 'action' must have the shape \(4,\), one row .*, got \(\)"),
    "too large": ([0, 0, 100, 0], r"action 'action' of env 2 \(row 2\) must have integers from 0 to 99, got 100"),
    "negative": ([0, -1, 0, 0], r"action 'action' of env 1 \(row 1\) must have integers from 0 to 99, got -1"),
    "beyond int32": ([2**32, 0, 0, 0], r"of env 0 \(row 0\) must have integers from 0 to 99, got 4294967296"),
    "beyond int64": (np.full(4, 2**64 - 1, np.uint64), r"action 'action' must hold integers from 0 to 99, got 184467"),
    "fraction": ([0, 0.5, 0, 0], r"action 'action' must hold integers from 0 to 99, got 0.5"),
    "nan": ([0, NAN, 0, 0], r"action 'action' must hold integers from 0 to 99, got nan"),
    "infinite": ([0, 0, 0, INF], r"action 'action' must hold integers from 0 to 99, got inf"),
    "text": (["0", "1", "2", "3"], r"action 'action' must have the dtype int32, .*, got <U1"),
    "complex": (np.zeros(4, complex), r"action 'action' must have the dtype int32, .*, got complex128"),
    "objects": ([None] * 4, r"action 'action' must have the dtype int32, .*, got object"),
    "attached": (Attached(), r"action 'action' must be an array, got .*: use detach\(\)"),
    "ragged": ([[0], [1, 2], [0], [0]], r"action 'action'.*\[\[0\], \[1, 2\], \[0\], \[0\]\]"),
    "dict of a wrong dtype": (
        {"action": np.zeros(4)},
        r"action 'action' in a dict must have the dtype int32, got float64",
    ),
    "dict without it": ({}, r"action must have the keys \['action'\]; missing are \['action'\]"),
    "dict with more": ({"action": np.zeros(4, np.int32), "b": 1}, r"missing are \[\], unknown are \['b'\]"),
}


@pytest.mark.parametrize("call", ["send", "step"])
@pytest.mark.parametrize("when", ["first send", "later send"])
@pytest.mark.parametrize("what", BAD_ACTIONS)
def test_actions(checked, what, when, call):
    if when == "later send":
        checked.assert_works(2)
        while checked.in_flight:  # async: the rest
            checked.send(checked.idle()[:1], [0]) if not checked.can_receive() else checked.recv()
    action, text = BAD_ACTIONS[what]
    with pytest.raises(ActionError, match=text) as caught:
        getattr(checked.pool, call)(action)
    assert isinstance(caught.value, RuntimeError)
    checked.assert_works()


def test_actions_for_fewer_envs_than_ids(checked):
    with pytest.raises(ActionError, match=r"must have the shape \(2,\), one row .*, got \(1,\)"):
        checked.pool.send(np.zeros(1, np.int32), [0, 1])
    checked.assert_works()


def test_action_of_an_env_that_resets_is_ignored():
    c = CheckedPool(2)
    c.reset()
    c.send([0, 1], [96, 0])
    c.recv()
    c.send([0, 1], [-7, 0])
    c.recv()
    with pytest.raises(ActionError, match=r"of env 0 \(row 0\) must have integers from 0 to 99, got -7"):
        c.pool.send(np.array([-7, 0]))
    c.assert_works()
    c.close()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"move": None}, r"missing are \['action.move'\], unknown are \[\]"),
        ({"extra": np.zeros(2)}, r"missing are \[\], unknown are \['action.extra'\]"),
        ({"move": np.array([1, 2])}, r"'action.move' in a dict must have the dtype int32, got int64"),
        ({"push": np.zeros((2, 2))}, r"'action.push' in a dict must have the dtype float32, got float64"),
        ({"push": np.zeros((2, 3), np.float32)}, r"'action.push' must have the shape \(2, 2\), .* got \(2, 3\)"),
        ({"push": np.zeros(2, np.float32)}, r"'action.push' must have the shape \(2, 2\), one row .*, got \(2,\)"),
        ({"mode": np.zeros((3, 3), np.int8)}, r"'action.mode' must have the shape \(2, 3\), one row .*, got \(3, 3\)"),
        (
            {"mode": np.array([[0, 0, 0], [0, 3, 0]], np.int8)},
            r"'action.mode' of env 1 \(row 1\) must have .*, got \[0 3 0\]",
        ),
        (
            {"mode": np.array([[2, 0, 0], [0, 0, 0]], np.int8)},
            r"'action.mode' of env 0 \(row 0\) must have .*, got \[2 0 0\]",
        ),
        ({"move": np.array([0, 100], np.int32)}, r"'action.move' of env 1 \(row 1\) must have .*, got 100"),
        ({"count": np.zeros(2, np.int32)}, r"'action.count' in a dict must have the dtype int64, got int32"),
        ({"count": np.zeros(2, object)}, r"'action.count' in a dict must have the dtype int64, got object"),
    ],
)
def test_dict_actions(rich, changes, text):
    with pytest.raises(ActionError, match=text):
        rich.step(plugin.rich_action(**changes))
    assert_rich_works(rich)


def test_array_where_a_dict_is_needed(rich):
    with pytest.raises(ActionError, match=r"action must be a dict with the keys \['action.move'"):
        rich.step(np.zeros(2, np.int32))
    assert_rich_works(rich)


def test_continuous_actions_pass_as_they_are(rich):
    push = np.array([[NAN, 1e30], [-INF, 7]], np.float32)
    *_, info = rich.step(plugin.rich_action(push=push))
    assert info["push"].tobytes() == push.tobytes()
    assert_rich_works(rich)


# ---- reset -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "error", "text"),
    [
        (-1, ConfigError, r"seed must be between 0 and 2\*\*64 - 1, got -1"),
        (2**64, ConfigError, r"seed must be between .* got 18446744073709551616"),
        (1.5, TypeError, r"seed must be of type int, got 1.5"),
        ("7", TypeError, r"seed must be of type int, got '7'"),
        ([1, 2, 3], ConfigError, r"seed must have one entry for each of the 4 environments, got 3 entries"),
        ({1, 2, 3, 4}, TypeError, r"seed must be of type int, got {1, 2, 3, 4}"),
        ([1, 2, 3, -4], ConfigError, r"seed\[3\] must be between .* got -4"),
        ([1, 2, 3, 0.5], TypeError, r"seed\[3\] must be of type int, got 0.5"),
        ([[1, 2], [3, 4]], ConfigError, r"seed must have one entry for each of the 4 environments, got shape "),
    ],
)
def test_seeds_of_reset(checked, seed, error, text):
    with pytest.raises(error, match=text):
        checked.pool.reset(seed=seed)
    checked.assert_works()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"options": {"reset_mask": np.ones(3, bool)}},
            r"options\['reset_mask'\] must be a bool array of shape \(4,\).*\(3,\)",
        ),
        ({"options": {"reset_mask": np.ones(4)}}, r"options\['reset_mask'\].*got float64"),
        ({"options": {"reset_mask": np.zeros(4, bool)}}, r"options\['reset_mask'\].*with at least one True"),
        ({"options": {"randomize": 1}}, r"Synthetic-v0 has no options for reset, but 'randomize' was given"),
        ({"options": {"reset_mask": np.ones(4, bool)}, "env_id": [0]}, r"env_id or options\['reset_mask'\], not both"),
        ({"options": [1]}, r"reset\(options=...\) must be a dict, or a sequence with a dict .*, got \[1\]"),
    ],
)
def test_options_of_reset(checked, arguments, text):
    with pytest.raises(ConfigError, match=text):
        checked.pool.reset(**arguments)
    checked.assert_works()


# ---- make ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"num_envs": 0}, ConfigError, r"num_envs must be between 1 and 2147483647, got 0"),
        ({"num_envs": -3}, ConfigError, r"num_envs must be between 1 and .* got -3"),
        ({"num_envs": 2**31}, ConfigError, r"num_envs must be between 1 and .* got 2147483648"),
        ({"num_envs": 2**31 - 1, "items": 1000}, MemoryError, r"num_envs=2147483647.* needs .* GiB"),
        ({"num_envs": 2.0}, TypeError, r"num_envs must be of type int, got 2.0"),
        ({"num_envs": "2"}, TypeError, r"num_envs must be of type int, got '2'"),
        ({"num_envs": True}, TypeError, r"num_envs must be of type int, got True"),
        (
            {"num_envs": 2, "batch_size": 3},
            ConfigError,
            r"batch_size must be between 1 and num_envs, which is 2, or 0 for num_envs, got 3",
        ),
        ({"num_envs": 2, "batch_size": -1}, ConfigError, r"batch_size must be between .* got -1"),
        ({"num_threads": -1}, ConfigError, r"num_threads must be between 0 and 4096, got -1"),
        ({"num_threads": 10**6}, ConfigError, r"num_threads must be between 0 and 4096, got 1000000"),
        ({"numa": True, "thread_affinity_offset": 0}, ConfigError, "numa=True binds threads to nodes and thread_affin"),
        ({"thread_affinity_offset": -2}, ConfigError, r"thread_affinity_offset must be between -1 and .* got -2"),
        ({"max_episode_steps": 0}, ConfigError, r"max_episode_steps must be between 1 and .* got 0"),
        ({"max_num_players": 0}, ConfigError, r"max_num_players must be between 1 and .* got 0"),
        ({"seed": -1}, ConfigError, r"seed must be between 0 and .* got -1"),
        ({"seed": 2**64}, ConfigError, r"seed must be between 0 and .* got 18446744073709551616"),
        ({"seed": 1.5}, TypeError, r"seed must be of type int, got 1.5"),
        (
            {"seed": [1, 2, 3], "num_envs": 2},
            ConfigError,
            r"seed must have one entry for each of the 2 environments, got 3",
        ),
        ({"seed": [1, -2], "num_envs": 2}, ConfigError, r"seed\[1\] must be between .* got -2"),
        (
            {"env_seed": [1], "num_envs": 2},
            ConfigError,
            r"env_seed must have one entry for each of the 2 environments, got 1",
        ),
        ({"env_seed": [1], "seed": [1]}, ConfigError, r"seed is a sequence and env_seed is given: pass only one"),
        (
            {"autoreset_mode": "later"},
            ConfigError,
            r"autoreset_mode must be one of 'next_step', 'same_step', 'disabled'.*'later'",
        ),
        ({"autoreset_mode": 1}, ConfigError, r"autoreset_mode must be one of .* got 1"),
        ({"gym_api": "old"}, ConfigError, r"gym_api must be one of 'auto', 'gymnasium', 'legacy', got 'old'"),
        ({"gym_api": "legacy"}, ConfigError, r"env_type must be 'gym' with gym_api='legacy', got 'gymnasium'"),
        ({"gym_reset_return_info": False}, ValueError, r"gym_reset_return_info=False is only available with"),
        ({"render_mode": "ascii"}, ConfigError, r"render_mode must be one of .*'ascii'"),
        ({"from_pixels": True}, ValueError, r"from_pixels=True is only available for MuJoCo tasks"),
        ({"layout": "round"}, ConfigError, r"layout must be one of flat, rich, got 'round'"),
        ({"cost_ns": "much"}, TypeError, r"cost_ns must be of type float, got 'much'"),
        ({"numenvs": 2}, TypeError, r"task 'Synthetic-v0' has no option 'numenvs'; did you mean 'num_envs'"),
        ({"qqqq": 2}, TypeError, r"has no option 'qqqq'; its options are num_envs, batch_size"),
    ],
)
def test_options_of_make(options, error, text):
    with pytest.raises(error, match=text) as caught:
        plugin.make(**options)
    if error is ConfigError:
        assert isinstance(caught.value, AssertionError), "EnvPool raised AssertionError"


def test_batch_size_without_num_envs():
    with pytest.raises(
        ConfigError, match=r"batch_size must be between 1 and num_envs, which is 1, or 0 for num_envs, got 2"
    ):
        plugin.make(batch_size=2)


def test_bad_env_type():
    plugin.load()
    with pytest.raises(AssertionError, match=r"env_type must be one of 'dm', 'gym', 'gymnasium', got 'jax'"):
        envpool.make("Synthetic-v0", "jax")


@pytest.mark.parametrize("make", [lambda i: envpool.make(i, "gymnasium"), envpool.make_spec, envpool.make_dm])
def test_unknown_task(make):
    plugin.load()
    with pytest.raises(UnknownTaskError, match=r"Synthetic-v1 is not supported, did you mean .*Synthetic-v0") as caught:
        make("Synthetic-v1")
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, KeyError)


# ---- objects where they do not belong --------------------------------------------------------------------------------


def test_pickling_a_pool_without_states(checked):
    with pytest.raises(StateError, match=r"the states of 'Synthetic-v0' cannot be saved, restored or copied"):
        pickle.dumps(checked.pool)
    checked.assert_works()


def test_pickling_a_spec(checked):
    spec = pickle.loads(pickle.dumps(checked.pool.spec))
    assert spec == checked.pool.spec
    with type(checked.pool)(spec) as again:
        again.async_reset()
        assert len(again.recv()[0]) == spec.config.batch_size


def test_initialising_a_pool_twice(checked):
    with pytest.raises(PoolStateError, match="already initialized"):
        checked.pool.__init__(checked.pool.spec)
    checked.assert_works()


def test_floats_are_checked_where_the_envs_read_them():
    """Another thread writes to the array while it is being sent: NaN is refused, or it never gets to an environment."""
    size = 50_000
    nans, zeros = np.full(size, np.nan, np.float32), np.zeros(size, np.float32)

    class Env(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Box(-1, 1, (size,), np.float32)

        def reset(self, *, seed=None, options=None):
            return zeros, {}

        def step(self, action):
            assert not np.isnan(action).any()
            return zeros, 0.0, False, False, {}

    action, stop = np.zeros((1, size), np.float32), threading.Event()

    def write():
        while not stop.is_set():
            action[0] = nans
            action[0] = zeros

    with envpool.make_python(Env, 1, require_finite_actions=True) as pool:
        pool.reset()
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(300):
                with contextlib.suppress(ActionError):
                    pool.step(action)
        finally:
            stop.set()
            writer.join()
        pool.step(np.zeros((1, size), np.float32))
