"""What a rollout refuses, and what it survives: nothing is lost or recorded twice."""

import copy
import pickle
import re
import signal
import threading

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import envpool
from envpool.errors import ActionError, ConfigError, EnvStepError, PoolStateError
from tests.support import plugin
from tests.support.callbacks import CallsBack

N, T = 4, 3


class Pixels(gymnasium.Env):
    observation_space = spaces.Box(0, 255, (3,), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(3, np.uint8), {}

    def step(self, action):
        return np.ones(3, np.uint8), 1.0, False, False, {}


class Carried(Pixels):
    """Returns one array, and other things as objects."""

    def __init__(self, inner):
        self.observation_space = spaces.Dict({"a": spaces.Box(-1, 1, (2,), np.float32), "b": inner})

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 1.0, False, False, {}


@pytest.fixture
def pool():
    with plugin.make(num_envs=N, num_threads=2) as pool:
        yield pool


@pytest.fixture
def rollout(pool):
    rollout = envpool.Rollout(pool, T, {"value": np.float32, "hidden": (np.float32, (2,))})
    rollout.reset()
    return rollout


EXTRAS = {"value": np.zeros(N, np.float32), "hidden": np.zeros((N, 2), np.float32)}


def step(rollout, move=1, **changes):
    return rollout.step(np.full(N, move), **EXTRAS | changes)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"num_steps": 0}, ConfigError, "num_steps must be at least 1, got 0"),
        ({"num_steps": 2.5}, TypeError, "num_steps must be of type int, got 2.5"),
        ({"num_steps": 3, "max_steps": 4}, ConfigError, "a sync pool has num_steps steps"),
        ({"num_steps": 3, "extras": {"obs": np.float32}}, ConfigError, "names of extras must be .*, got 'obs'"),
        ({"num_steps": 3, "extras": {"a b": np.float32}}, ConfigError, "names of extras must be .*, got 'a b'"),
        ({"num_steps": 3, "extras": {"_x": np.float32}}, ConfigError, "names of extras must be .*, got '_x'"),
        ({"num_steps": 3, "extras": {"a": "nothing"}}, TypeError, r"extras\['a'\] must be a dtype"),
        ({"num_steps": 3, "extras": {"a": object}}, ConfigError, r"extras\['a'\] must have .*, got dtype object"),
        ({"num_steps": 3, "extras": {"a": (np.float32, (0,))}}, ConfigError, "shape of 'a' must be at least 1, got 0"),
        ({"num_steps": 3, "extras": ["v"]}, TypeError, r"extras must be a mapping from names .*, got \['v'\]"),
        ({"num_steps": 2**40}, MemoryError, "a rollout of"),
        ({"num_steps": 2**62}, MemoryError, "a rollout of"),
    ],
)
def test_arguments(pool, arguments, error, text):
    with pytest.raises(error, match=text):
        envpool.Rollout(pool, **arguments)


def test_a_wrapper_is_no_pool():
    with pytest.raises(TypeError, match=r"pool must be a pool of envpool\.make, got list"):
        envpool.Rollout([], 3)


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (spaces.Box(-1, 1, (3,), np.float16), "its dtype is not one of"),
        (spaces.Box(-1, 1, (1,) * 7, np.float32), "it has more than 6 dimensions"),
        (spaces.Box(-1, 1, (0, 2), np.float32), "it has no elements"),
        (spaces.Text(3), "its values are not arrays of a fixed shape"),
        (spaces.Sequence(spaces.Discrete(3)), "its values are not arrays of a fixed shape"),
    ],
)
def test_observations_that_are_carried_as_objects(inner, text):
    for make in (lambda p: envpool.Rollout(p, T), lambda p: envpool.ReplayBuffer(p, 8)):
        with envpool.make_python(Carried, num_envs=2, env_kwargs={"inner": inner}) as pool:
            rest = rf"but 'obs:b' has the space {re.escape(str(inner))} \({text}.*\): wrap the environment, .*Transform"
            with pytest.raises(ConfigError, match=f"a (Rollout|ReplayBuffer) needs observations that are .*, {rest}"):
                make(pool)


def test_texts_of_native_tasks_are_recorded_as_ascii():
    for make in (lambda p: envpool.Rollout(p, 1), lambda p: envpool.ReplayBuffer(p, 8)):
        with envpool.make_gymnasium("MiniGrid-Empty-5x5-v0", num_envs=2, mission="text") as pool:
            recorder = make(pool)
            mission = recorder.reset()[0]["mission"][0].encode()
            recorder.step([0, 0])
            data = recorder.finish() if isinstance(recorder, envpool.Rollout) else recorder.transitions([0, 1])
            rows = data.obs["mission"].reshape(2, -1)
            assert [row.tobytes().rstrip(b"\0") for row in rows] == [mission] * 2


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"value": np.zeros(N + 1)}, "value must have 4 rows, one for each action, got 5"),
        ({"value": np.zeros((N, 1))}, re.escape("value must have shape (4,), one row for each action, got (4, 1)")),
        ({"hidden": np.zeros((N, 3))}, re.escape("hidden must have shape (4, 2), ")),
        ({"value": np.zeros(N, complex)}, "value must cast to float32, as declared, got dtype complex128"),
        ({"value": [[1], [1, 2]]}, "value must convert to a NumPy array"),
        ({"other": np.zeros(N)}, re.escape("missing are [], unknown are ['other']")),
    ],
)
def test_extras(rollout, changes, text):
    with pytest.raises(ConfigError, match=text):
        step(rollout, **changes)
    assert rollout.num_in_flight == rollout.recorded == 0
    for _ in range(T):
        step(rollout)
    assert rollout.finish().num_steps == T


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        (np.int32, 2**40 + 5, "v must have values that int32 holds, as declared, got 1099511627781 of dtype int64"),
        (np.int8, 300, "v must have values that int8 holds, as declared, got 300 of dtype int64"),
        (np.int64, np.uint64(2**63), "v must have values that int64 holds, as declared, got 9223372036854775808 of "),
        (np.float32, -1e300, r"v must have values that float32 holds, as declared, got -1e\+300 of dtype float64"),
        (np.float16, np.float32(1e5), "v must have values that float16 holds, as declared, got 100000.0 of dtype"),
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
def test_extras_that_another_dtype_cannot_hold(dtype, value, text, is_async):
    with plugin.make(num_envs=N, batch_size=2 if is_async else N, num_threads=2) as pool:
        rollout = envpool.Rollout(pool, T, {"v": dtype})
        ids = rollout.reset()[-1]["env_id"]
        good, bad = np.ones(len(ids), np.int64), np.full(len(ids), value)
        for call in (rollout.step, rollout.send):
            with pytest.raises(ConfigError, match=text):
                call(np.ones(len(ids)), ids, v=bad)
        assert rollout.recorded == 0 and pool.num_outstanding == N - len(ids)
        if is_async:
            return
        for _ in range(T):
            rollout.step(np.ones(N), v=good)
        with pytest.raises(ConfigError, match=text):
            rollout.finish(v=bad)
        data = rollout.finish(v=good)
        assert (data.v == 1).all() and (data.last("v") == 1).all() and data.v.dtype == dtype


def test_an_extra_has_a_row_for_each_action_of_an_async_pool():
    with plugin.make(num_envs=N, batch_size=2, num_threads=2) as pool:
        rollout = envpool.Rollout(pool, T, {"v": np.float32})
        ids = rollout.reset()[-1]["env_id"]
        text = re.escape("v must have shape (2,), one row for each action, got (2, 1)")
        with pytest.raises(ConfigError, match=text):
            rollout.send(np.ones(2), ids, v=np.zeros((2, 1)))
        with pytest.raises(ConfigError, match=text):
            rollout.send({"action": np.ones(2, np.int32), "env_id": ids}, v=np.zeros((2, 1)))


def test_extras_are_rounded_to_floats(pool):
    rollout = envpool.Rollout(pool, 1, {"v": np.float32})
    rollout.reset()
    values = np.array([0.1, np.inf, -np.inf, np.nan])
    rollout.step(np.ones(N), v=values)
    np.testing.assert_array_equal(rollout.finish().v[0], values.astype(np.float32))


def test_missing_extras(rollout):
    with pytest.raises(ConfigError, match=re.escape("missing are ['hidden']")):
        rollout.step(np.ones(N), value=np.zeros(N))


def test_tensors_with_a_graph(rollout):
    torch = pytest.importorskip("torch")
    with pytest.raises(ConfigError, match="value must convert to a NumPy array, got Tensor"):
        step(rollout, value=torch.zeros(N, requires_grad=True))
    step(rollout, value=torch.arange(N))
    step(rollout)
    step(rollout)
    np.testing.assert_array_equal(rollout.finish().value[0], np.arange(N))


def test_bad_actions_change_nothing(rollout):
    for bad in (np.zeros(N + 1), np.full(N, 1000), {"action": np.zeros(N, np.int32), "x": 1}):
        with pytest.raises(ActionError):
            rollout.step(bad, **EXTRAS)
    with pytest.raises(PoolStateError, match="steps all 4 envs at once and in order"):
        rollout.step(np.ones(2), env_id=[0, 1], **{k: v[:2] for k, v in EXTRAS.items()})
    with pytest.raises(PoolStateError, match="steps all 4 envs at once and in order"):
        rollout.step(np.ones(N), env_id=[0, 1, 3, 2], **EXTRAS)
    assert rollout.pool.num_outstanding == 0
    for k in range(T):
        assert (step(rollout)[0][:, 2] == k + 1).all()
    assert (rollout.finish().action == 1).all()
    assert rollout.pool.stats().steps == T * N


def test_before_the_first_reset(pool):
    rollout = envpool.Rollout(pool, T)
    for call in (lambda: rollout.step(np.ones(N)), rollout.recv, rollout.finish):
        with pytest.raises(PoolStateError, match=r"call its reset\(\) or begin\(\) first"):
            call()


def test_a_wrong_number_of_steps(rollout):
    step(rollout)
    with pytest.raises(PoolStateError, match="the rollout has 1 of 3 steps: record the others before finish"):
        rollout.finish()
    step(rollout)
    step(rollout)
    with pytest.raises(PoolStateError, match=r"the rollout is full.*call finish\(\)"):
        step(rollout)
    data = rollout.finish()
    with pytest.raises(PoolStateError, match="this rollout was finished already"):
        rollout.finish()
    assert (data.action == 1).all()


@pytest.mark.parametrize("call", ["step", "reset"])
def test_a_pool_that_somebody_else_steps(pool, rollout, call):
    step(rollout)
    obs = pool.step(np.ones(N))[0] if call == "step" else pool.reset()[0]
    with pytest.raises(PoolStateError, match="the pool was stepped or reset without the rollout"):
        step(rollout)
    assert pool.num_outstanding == 0
    rollout.begin(obs)
    for _ in range(T):
        step(rollout)
    np.testing.assert_array_equal(rollout.finish().obs[0], obs)


def test_two_rollouts_of_a_pool(pool, rollout):
    other = envpool.Rollout(pool, 1)
    other.reset()
    other.step(np.ones(N))
    with pytest.raises(PoolStateError, match="without the rollout"):
        step(rollout)
    assert other.finish().num_steps == 1


def test_a_closed_pool(pool, rollout):
    for _ in range(T):
        step(rollout)
    pool.close()
    data = rollout.finish()
    assert (data.action == 1).all()
    for call in (lambda: step(rollout), rollout.recv, rollout.reset, lambda: rollout.begin(np.zeros((N, 6)))):
        with pytest.raises(PoolStateError, match="the pool is closed"):
            call()
    with pytest.raises(PoolStateError, match="the pool is closed"):
        envpool.Rollout(pool, T)


def test_a_step_that_fails_is_received_again(pool, rollout):
    with pytest.raises(EnvStepError):
        rollout.step(np.array([1, 97, 1, 1]), **EXTRAS)
    with pytest.raises(PoolStateError, match="a step of the rollout is in flight"):
        step(rollout)
    with pytest.raises(PoolStateError, match="a step of a rollout is in flight"):
        pool.recv(timeout=1)
    obs = rollout.recv()[0]
    with pytest.raises(PoolStateError, match="nothing of the rollout is in flight"):
        rollout.recv()
    assert (rollout.recorded, pool.num_outstanding) == (N, 0)
    step(rollout)
    step(rollout)
    data = rollout.finish()
    np.testing.assert_array_equal(data.valid, [[True, False, True, True]] * 2 + [[True] * N])
    assert np.shares_memory(data.next_obs[0], obs)


def test_send_and_recv(rollout):
    rollout.send(np.ones(N), **EXTRAS)
    assert rollout.num_in_flight == N
    with pytest.raises(PoolStateError, match="and one in flight"):
        rollout.finish()
    obs = rollout.recv()[0]
    step(rollout)
    step(rollout)
    assert np.shares_memory(rollout.finish().next_obs[0], obs)


def test_a_reset_drops_a_step_in_flight(pool, rollout):
    rollout.send(np.ones(N), **EXTRAS)
    obs = pool.reset()[0]
    copy = obs.copy()
    with pytest.raises(PoolStateError):
        rollout.recv()
    rollout.reset()
    for _ in range(T):
        step(rollout, 2)
    np.testing.assert_array_equal(obs, copy)
    assert (rollout.finish().action == 2).all()


def test_results_received_by_somebody_else(pool, rollout):
    rollout.send(np.ones(N), **EXTRAS)
    obs = pool.recv()[0]
    copy = obs.copy()
    with pytest.raises(PoolStateError):
        rollout.recv()
    with pytest.raises(PoolStateError):
        step(rollout)
    rollout.reset()
    for _ in range(2 * T):
        if rollout.is_full:
            rollout.finish()
        step(rollout)
    np.testing.assert_array_equal(obs, copy)


def test_partial_batches_before_and_after(pool, rollout):
    pool.send(np.ones(N))
    pool.recv(env_id=[2])
    pool.recv(env_id=[1, 3, 0])
    obs = pool.reset()[0]
    rollout.begin(obs, np.ones(N, bool))
    for k in range(T):
        assert (step(rollout)[0][:, 2] == k + 1).all()
    data = rollout.finish()
    np.testing.assert_array_equal(data.obs[0], obs)
    np.testing.assert_array_equal(data.next_obs[:, :, 2], np.arange(T)[:, None] + np.ones(N) * 1)


def test_a_signal_leaves_the_step_in_flight():
    pool = plugin.make(num_envs=N, num_threads=2, cost_ns=3e8, sleeps=True)
    rollout = envpool.Rollout(pool, 2)
    rollout.reset()
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        rollout.step(np.ones(N))
    timer.join()
    assert rollout.num_in_flight == N
    assert (rollout.recv()[0][:, 2] == 1).all()
    rollout.step(np.ones(N))
    assert rollout.finish().valid.all()


def test_one_call_at_a_time(pool):
    rollout = envpool.Rollout(pool, T)
    rollout.reset()

    class Caller:
        """Calls the rollout while it becomes an array."""

        def __array__(self, *args, **kwargs):
            rollout.step(np.ones(N))

    with pytest.raises(PoolStateError, match="another call is inside this rollout"):
        rollout.step(Caller())
    rollout.step(np.ones(N))
    assert rollout.recorded == N


def test_code_of_the_user_cannot_step_the_pool_meanwhile(pool):
    rollout = envpool.Rollout(pool, T)
    rollout.reset()

    class Caller:
        """Steps the pool while it becomes an array."""

        def __array__(self, *args, **kwargs):
            self.obs = pool.step(np.full(N, 5))[0]
            return np.ones(N, np.int32)

    caller = Caller()
    with pytest.raises(PoolStateError, match="without the rollout"):
        rollout.step(caller)
    copy = caller.obs.copy()
    rollout.reset()
    rollout.step(np.ones(N))
    np.testing.assert_array_equal(caller.obs, copy)
    assert pool.num_outstanding == 0


@pytest.mark.parametrize("obs", [np.zeros((N, 5)), np.zeros((N - 1, 6))])
def test_begin_with_wrong_shapes(rollout, obs):
    with pytest.raises(ConfigError, match=re.escape(f"obs must have shape (4, 6), got {obs.shape}")):
        rollout.begin(obs)


@pytest.mark.parametrize(
    ("obs", "text"),
    [
        (np.full((N, 4), 1e300), r"obs must have values that float32 holds, got 1e\+300 of dtype float64"),
        (np.full((N, 4), 1 + 5j), r"obs must have values that float32 holds, got \(1\+5j\) of dtype complex128"),
        ([["1"] * 4] * N, "(?s)obs must have values that float32 holds, got .* which is not a number"),
        ([[1, 2, 3, 4], [1]], r"obs must convert to a NumPy array, got \[\[1, 2, 3, 4\], \[1\]\]"),
        (None, "obs must have values that float32 holds, got None of dtype object"),
    ],
)
def test_begin_with_values_that_would_change(obs, text):
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=N)
    for recorder in (envpool.Rollout(pool, T), envpool.ReplayBuffer(pool, 20)):
        with pytest.raises(ConfigError, match=text):
            recorder.begin(obs)
        recorder.begin(np.full((N, 4), 0.1))  # rounded
        assert recorder.step(np.ones(N, int))[0].shape == (N, 4)


@pytest.mark.parametrize("value", [300, -1.7, np.nan, -1])
def test_begin_with_integers_that_do_not_fit(value):
    pool = envpool.make_python(Pixels, num_envs=N)
    bad = np.full((N, 3), value)
    for recorder in (envpool.Rollout(pool, T), envpool.ReplayBuffer(pool, 20)):
        with pytest.raises(ConfigError, match=f"obs must have values that uint8 holds, got {value}"):
            recorder.begin(bad)
        recorder.begin(np.full((N, 3), 255.0))


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (["False"] * N, r"first must have the dtype bool and the shape \(4,\), got <U5 and \(4,\)"),
        ([np.nan] * N, "got float64 and"),
        ([0, 1, 0, 1], "got int64 and"),
        (True, r"got bool and \(\)"),
        ([[True], [True, False]], "first must convert to a NumPy array"),
    ],
)
def test_begin_with_a_first_that_is_not_bool(rollout, first, text):
    with pytest.raises(ConfigError, match=text):
        rollout.begin(np.zeros((N, 6)), first)


def test_begin_with_players_in_another_form():
    pool = plugin.make_task("Crowd-v0", num_envs=2, players="dict")
    for recorder in (envpool.Rollout(pool, T), envpool.ReplayBuffer(pool, 20)):
        for obs in (None, [1]):
            with pytest.raises(ConfigError, match="obs must be a dict with the keys"):
                recorder.begin(obs)


def test_begin_with_other_arrays():
    pool = plugin.make(num_envs=N, layout="rich")
    rollout = envpool.Rollout(pool, T)
    with pytest.raises(ConfigError, match="obs must have the arrays"):
        rollout.begin({"a": np.zeros((N, 6))})


def test_begin_with_envs_in_flight(pool, rollout):
    pool.send(np.ones(N))
    with pytest.raises(PoolStateError, match=r"begin\(\) needs an idle pool, but 4 envs are in flight"):
        rollout.begin(np.zeros((N, 6)))


def test_a_reset_of_some_envs_needs_disabled(rollout):
    with pytest.raises(ConfigError, match="needs autoreset_mode='disabled'"):
        rollout.reset([1])


def test_unknown_arrays(rollout):
    for _ in range(T):
        step(rollout)
    data = rollout.finish()
    with pytest.raises(AttributeError, match="the rollout has no array 'logprob'"):
        data.logprob  # noqa: B018
    with pytest.raises(ConfigError, match="the rollout has no array 'nothing'"):
        data.array("nothing")
    with pytest.raises(ConfigError, match="slots of array 'reward' must be between 0 and 2"):
        data.array("reward", 1)


def test_an_extra_that_changes_its_shape_during_a_call(pool):
    """Code of the user's, which runs while another argument is converted, may reshape an array that was checked."""

    def reshaping(array, values):
        return CallsBack(values, lambda: array.resize((N, 1), refcheck=False))

    text = "hidden changed while arguments were being converted; nothing was recorded"
    rollout = envpool.Rollout(pool, 1, {"hidden": (np.float32, (2,)), "value": np.float32})
    rollout.reset()
    hidden = np.zeros((N, 2), np.float32)
    with pytest.raises(ConfigError, match=text):
        rollout.step(reshaping(hidden, [1] * N), value=np.zeros(N), hidden=hidden)
    assert rollout.recorded == 0
    rollout.step(np.ones(N), **EXTRAS)
    hidden = np.zeros((N, 2), np.float32)
    with pytest.raises(ConfigError, match=text):
        rollout.finish(hidden=hidden, value=reshaping(hidden, [0.0] * N))
    assert rollout.finish(**EXTRAS).num_steps == 1


def test_neither_is_pickled_or_copied(rollout):
    """The texts name what can be: the pool, and the arrays."""
    for _ in range(T):
        step(rollout)
    data = rollout.finish(**EXTRAS)
    for copy_of in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle the pool between two rollouts"):
            copy_of(rollout)
        with pytest.raises(TypeError, match=r"data\.array\(name\) for name in data\.names"):
            copy_of(data)
    arrays = {name: data.array(name) for name in data.names}
    assert all(np.array_equal(a, arrays[name]) for name, a in pickle.loads(pickle.dumps(arrays)).items())


def test_options_of_resets_reach_the_environments():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, autoreset_mode="disabled", max_episode_steps=1) as pool:
        rollout = envpool.Rollout(pool, 4)
        small = {"low": -0.001, "high": 0.001}
        assert abs(rollout.reset(seed=3)[0]).max() > 0.001
        assert abs(rollout.reset(options=small)[0]).max() <= 0.001
        rollout.step(np.zeros(2, np.int32))
        assert abs(rollout.reset([1], options=small)[0]).max() <= 0.001
        with pytest.raises(ConfigError, match="lowest"):
            rollout.reset(options={"lowest": 0.0})
