"""What a replay buffer refuses, and what it survives: nothing is lost, and nothing that is handed out changes."""

import copy
import os
import pickle
import re

import numpy as np
import pytest

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError, EnvStepError, PoolStateError
from tests.rollout.replay_reference import N, Pair
from tests.support import plugin


@pytest.fixture
def pool():
    with plugin.make(num_envs=N, num_threads=2) as pool:
        yield pool


@pytest.fixture
def buffer(pool):
    buffer = envpool.ReplayBuffer(pool, 30, seed=1)
    buffer.reset()
    return buffer


def step(buffer, move=3):
    return buffer.step(np.full(N, move))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"capacity": 0}, ConfigError, "capacity must be at least 1, got 0"),
        ({"capacity": 2.5}, TypeError, "capacity must be of type int, got 2.5"),
        ({"capacity": 9, "n_step": 0}, ConfigError, "n_step must be at least 1, got 0"),
        ({"capacity": 9, "n_step": 4}, ConfigError, "n_step must be at most the 3 steps of each environment"),
        ({"capacity": 9, "prioritized": 2}, TypeError, "prioritized must be of type bool, got 2"),
        ({"capacity": 9, "gamma": 1.5}, ConfigError, "gamma must be between 0 and 1, got 1.5"),
        ({"capacity": 9, "alpha": np.nan}, ConfigError, "alpha must be between 0 and 1, got nan"),
        ({"capacity": 9, "beta": "1"}, TypeError, "beta must be a number, got str"),
        ({"capacity": 9, "alpha": 0.7}, ConfigError, "alpha must be left out unless .* has prioritized=True, got 0.7"),
        ({"capacity": 9, "frames_once": True}, ConfigError, "frames_once=True needs one array of observations"),
        ({"capacity": 9, "seed": -1}, ConfigError, "seed must be between 0 and"),
        (
            {"capacity": 2**32},
            MemoryError,
            r"a replay buffer of 429496729\d transitions \(observations .* needs at least",
        ),
        ({"capacity": 2**62}, MemoryError, "a replay buffer of 461168601842738790. transitions is too large"),
    ],
)
def test_arguments(pool, arguments, error, text):
    with pytest.raises(error, match=text):
        envpool.ReplayBuffer(pool, **arguments)


def test_a_buffer_that_does_not_fit_is_refused_with_its_sizes(monkeypatch, pool):
    monkeypatch.setattr("envpool._support.machine.memory_limit", lambda: (2**30, "the limit of its control group, /x"))
    text = "a replay buffer of 30000000 transitions (observations 1.34 GiB, actions "
    rest = ") needs at least 1.7 GiB, but this process has 1.0 GiB (the limit of its control group, /x): ask for a "
    with pytest.raises(MemoryError, match=f"{re.escape(text)}.*{re.escape(rest)}"):
        envpool.ReplayBuffer(pool, 30_000_000)


def test_pools_that_are_refused():
    with pytest.raises(
        ConfigError, match=r"a ReplayBuffer needs a sync pool, but batch_size=2 is less than num_envs=4"
    ):
        envpool.ReplayBuffer(plugin.make(num_envs=4, batch_size=2), 8)
    with pytest.raises(ConfigError, match="frames_once does not support tasks with players"):
        envpool.ReplayBuffer(plugin.make_task("Crowd-v0", num_envs=2, players="grid"), 8, frames_once=2)
    with pytest.raises(TypeError, match=r"pool must be a pool of envpool\.make, got list"):
        envpool.ReplayBuffer([], 8)


def test_before_the_first_reset(pool):
    buffer = envpool.ReplayBuffer(pool, 9)
    with pytest.raises(PoolStateError, match=r"call its reset\(\) or begin\(\) first"):
        step(buffer)
    with pytest.raises(PoolStateError, match="nothing of the replay buffer is in flight"):
        buffer.recv()
    with pytest.raises(PoolStateError, match="has no transition to sample yet"):
        buffer.sample(1)
    buffer.reset()
    with pytest.raises(PoolStateError, match="has no transition to sample yet"):
        buffer.sample(1)
    assert len(buffer.indices()) == len(buffer) == 0
    assert buffer.transitions(np.empty(0, int)).obs.shape == (0, 6)


@pytest.mark.parametrize(
    ("call", "arguments", "error", "text"),
    [
        ("sample", [0], ConfigError, "n must be between 1 and 2147483647, got 0"),
        ("sample", [1.5], TypeError, "n must be an int, got float"),
        ("sample", [1, 2], ConfigError, "beta must be between 0 and 1, got 2"),
        ("sample", [1, 0.9], ConfigError, "beta must be left out unless .* has prioritized=True, got 0.9"),
        ("transitions", [[3]], ConfigError, r"index\[0\] must be the index of a transition that .* has, got 3"),
        ("transitions", [[0, -1]], ConfigError, r"index\[1\] must be .*, got -1"),
        ("transitions", [[2**62]], ConfigError, r"index\[0\] must be .*, got 4611686018427387904"),
        ("transitions", [[0.5]], TypeError, "index must be a one-dimensional array of integers"),
        ("transitions", [[[0]]], TypeError, "index must be a one-dimensional array of integers"),
        ("owners", [[-1]], ConfigError, r"index\[0\] must be the index of a transition, 0 to 2, got -1"),
        ("owners", [[2, 3]], ConfigError, r"index\[1\] must be the index of a transition, 0 to 2, got 3"),
        ("owners", [[2**63 - 1]], ConfigError, r"index\[0\] must be .*, got 9223372036854775807"),
        ("update_priorities", [[0], [1]], ConfigError, "needs a ReplayBuffer with prioritized=True"),
    ],
)
def test_arguments_of_calls(buffer, call, arguments, error, text):
    step(buffer)
    with pytest.raises(error, match=text):
        getattr(buffer, call)(*arguments)
    assert len(buffer) == N


@pytest.mark.parametrize(
    ("priority", "error", "text"),
    [
        ([1.0], ConfigError, r"priority must have the shape of index, \(2,\), got \(1,\)"),
        ([1.0, -1.0], ConfigError, r"priority\[1\] must be between 0 and 1e\+200, got -1.0"),
        ([np.nan, 1.0], ConfigError, r"priority\[0\] must be between 0 and 1e\+200, got nan"),
        ([1e201, 1.0], ConfigError, r"priority\[0\] must be between 0 and 1e\+200, got 1e\+201"),
        ([None, object()], ConfigError, "priority must have values that float64 holds, got "),
        (["1", "2"], ConfigError, "priority must have values that float64 holds, got .* which is not a number"),
        ([1, 1j], ConfigError, r"priority must have values that float64 holds, got 1j of dtype complex128"),
        ([[1], [1, 2]], ConfigError, "priority must convert to a NumPy array"),
    ],
)
def test_bad_priorities_change_nothing(pool, priority, error, text):
    buffer = envpool.ReplayBuffer(pool, 9, prioritized=True)
    buffer.reset()
    step(buffer)
    before = buffer.state_dict()["array:priorities"]
    with pytest.raises(error, match=text):
        buffer.update_priorities([0, 1], priority)
    np.testing.assert_array_equal(buffer.state_dict()["array:priorities"], before)


@pytest.mark.parametrize("index", [-1, N, 10**9])
def test_priorities_of_transitions_that_never_were(pool, index):
    buffer = envpool.ReplayBuffer(pool, 9, prioritized=True)
    buffer.reset()
    step(buffer)
    before = buffer.state_dict()["array:priorities"]
    text = rf"index\[1\] must be the index of a transition, 0 to {N - 1}, got {index}; no priority was changed"
    with pytest.raises(ConfigError, match=text):
        buffer.update_priorities([0, index], [5.0, 5.0])
    np.testing.assert_array_equal(buffer.state_dict()["array:priorities"], before)


def test_no_transitions(buffer):
    step(buffer)
    assert buffer.transitions([]).obs.shape == (0, 6)


def test_transitions_that_have_left(pool):
    buffer = envpool.ReplayBuffer(pool, 2 * N)
    buffer.reset()
    for _ in range(3):
        step(buffer)
    with pytest.raises(ConfigError, match=r"index\[0\] must be the index of a transition"):
        buffer.transitions([0])
    assert buffer.indices().tolist() == [*range(N, 3 * N)]


def test_capacity_is_rounded_up(pool):
    assert envpool.ReplayBuffer(pool, 7).capacity == 9
    assert envpool.ReplayBuffer(pool, 1).capacity == 3


def test_bad_actions_change_nothing(buffer):
    for bad in (np.zeros(N + 1), np.full(N, 1000), {"action": np.zeros(N, np.int32), "x": 1}):
        with pytest.raises(ActionError):
            buffer.step(bad)
    with pytest.raises(PoolStateError, match="steps all 3 envs at once and in order"):
        buffer.step({"action": np.zeros(2, np.int32), "env_id": np.array([0, 1], np.int32)})
    assert (buffer.pool.num_outstanding, buffer.num_in_flight, len(buffer)) == (0, 0, 0)
    step(buffer)
    assert buffer.pool.stats().steps == len(buffer) == N


@pytest.mark.parametrize("call", ["step", "reset"])
def test_a_pool_that_somebody_else_steps(pool, buffer, call):
    step(buffer)
    obs = pool.step(np.ones(N))[0] if call == "step" else pool.reset()[0]
    with pytest.raises(PoolStateError, match="the pool was stepped or reset without the replay buffer"):
        step(buffer)
    assert pool.num_outstanding == 0
    buffer.begin(obs)
    step(buffer)
    got = buffer.transitions(buffer.indices())
    assert got.index.tolist() == [0, 1, 2, 6, 7, 8]  # the other step has led from one trajectory to another
    np.testing.assert_array_equal(got.obs[N:], obs)


def test_results_received_by_somebody_else(pool, buffer):
    buffer.send(np.ones(N))
    obs = pool.recv()[0].copy()
    for call in (buffer.recv, lambda: step(buffer)):
        with pytest.raises(PoolStateError):
            call()
    buffer.begin(obs)
    step(buffer)
    np.testing.assert_array_equal(buffer.transitions(buffer.indices()).obs, obs)


def test_a_reset_drops_a_step_in_flight(pool, buffer):
    step(buffer)
    buffer.send(np.ones(N))
    buffer.reset()
    step(buffer, 5)
    got = buffer.transitions(buffer.indices())
    assert got.action.tolist() == [3] * N + [5] * N
    np.testing.assert_array_equal(got.obs[N:, 2], 0)


def test_files_that_cannot_be_written(buffer, tmp_path):
    with pytest.raises(ConfigError, match=f"cannot write {tmp_path}/no/x.npz: the directory {tmp_path}/no does not"):
        buffer.save(tmp_path / "no" / "x.npz")
    with pytest.raises(ConfigError, match=f"cannot write {tmp_path}: it is a directory"):
        buffer.save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_calls_while_a_step_is_in_flight(buffer, tmp_path):
    step(buffer)
    buffer.send(np.ones(N))
    assert buffer.num_in_flight == N
    assert buffer.sample(4).obs.shape == (4, 6)
    for call in (buffer.state_dict, lambda: buffer.save(tmp_path / "x"), lambda: buffer.load_state_dict({})):
        with pytest.raises(PoolStateError, match="needs an idle replay buffer, but a step is in flight"):
            call()
    with pytest.raises(PoolStateError, match="a step of the replay buffer is in flight"):
        step(buffer)
    buffer.recv()
    assert (buffer.num_in_flight, len(buffer)) == (0, 2 * N)


def test_a_step_that_fails_is_received_again(pool, buffer):
    with pytest.raises(EnvStepError):
        buffer.step(np.array([1, 97, 1]))
    assert len(buffer) == 0
    buffer.recv()
    assert buffer.indices().tolist() == [0, 2]
    step(buffer)  # resets the environment
    step(buffer)
    assert buffer.indices().tolist() == [0, 2, 3, 5, 6, 7, 8]


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_resets_that_fail(mode):
    """The zeros that a failed reset returns are the observation of no transition."""
    pair = Pair(mode, pool_options={"fail_reset": 1, "episode_length": 3})
    pair.reset()
    for _ in range(9):
        pair.step(np.full(N, 3, np.int32))
        pair.check()


def test_resets_of_some_environments():
    pool = plugin.make(num_envs=N, autoreset_mode="disabled")
    buffer = envpool.ReplayBuffer(pool, 30)
    with pytest.raises(PoolStateError, match=r"call its reset\(\) or begin\(\) first"):
        buffer.reset([1])
    buffer.reset()
    last = buffer.step(np.array([1, 96, 1]))[0].copy()
    with pytest.raises(EnvIdError, match="the episode of env 0 has not ended"):
        buffer.reset([0])
    new = buffer.reset([1])[0].copy()
    np.testing.assert_array_equal(buffer.transitions([1]).next_obs, last[1:2])
    buffer.step(np.ones(N))
    np.testing.assert_array_equal(buffer.transitions([1]).next_obs, last[1:2])
    np.testing.assert_array_equal(buffer.transitions([N + 1]).obs, new)
    with pytest.raises(ConfigError, match="needs autoreset_mode='disabled'"):
        envpool.ReplayBuffer(plugin.make(num_envs=N), 30).reset([1])


def test_options_of_resets():
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=2)
    buffer = envpool.ReplayBuffer(pool, 10)
    obs, _ = buffer.reset(seed=3, options={"low": -0.01, "high": 0.01})
    assert abs(obs).max() <= 0.01
    with pytest.raises(ConfigError):
        buffer.reset(options={"nothing": 1})
    with pytest.raises(ConfigError, match="needs autoreset_mode='disabled'"):
        buffer.reset(options={"reset_mask": np.array([True, False])})


def test_a_closed_pool(pool, buffer):
    step(buffer)
    pool.close()
    assert buffer.sample(2).obs.shape == (2, 6)
    for call in (lambda: step(buffer), buffer.recv, buffer.reset, lambda: buffer.begin(np.zeros((N, 6)))):
        with pytest.raises(PoolStateError, match="the pool is closed"):
            call()
    with pytest.raises(PoolStateError, match="the pool is closed"):
        envpool.ReplayBuffer(pool, 9)


def test_one_call_at_a_time(buffer):
    step(buffer)

    class Caller:
        """Calls the buffer while it becomes an array."""

        def __array__(self, *args, **kwargs):
            buffer.sample(1)

    with pytest.raises(PoolStateError, match="another call is inside this replay buffer"):
        buffer.step(Caller())
    step(buffer)
    assert len(buffer) == 2 * N


@pytest.mark.parametrize("obs", [np.zeros((N, 5)), np.zeros((N - 1, 6))])
def test_begin_with_wrong_shapes(buffer, obs):
    with pytest.raises(ConfigError, match=re.escape(f"obs must have shape (3, 6), got {obs.shape}")):
        buffer.begin(obs)


def test_begin_with_other_arrays():
    buffer = envpool.ReplayBuffer(plugin.make(num_envs=N, layout="rich"), 9)
    with pytest.raises(ConfigError, match="obs must have the arrays"):
        buffer.begin({"a": np.zeros((N, 6))})


def test_begin_with_envs_in_flight(pool, buffer):
    pool.send(np.ones(N))
    with pytest.raises(PoolStateError, match=r"begin\(\) needs an idle pool, but 3 envs are in flight"):
        buffer.begin(np.zeros((N, 6)))


def test_minibatches_are_the_users():
    """What a minibatch shows never changes; the memory of released ones is used again."""
    pool = plugin.make(num_envs=N, layout="rich", on_error="restart")
    buffer = envpool.ReplayBuffer(pool, 9, prioritized=True)
    buffer.reset()
    held, addresses = [], set()
    for k in range(40):
        buffer.step(pool.sample_actions(k))
        got = buffer.sample(5)
        addresses.add(got.reward.ctypes.data)
        if k % 4 == 0:
            array = got.next_obs["b"]["c"][1:]
            held.append((array, array.copy()))
    for array, expected in held:
        np.testing.assert_array_equal(array, expected)
    assert len(addresses) < 25
    fields = [got.obs["a"], got.next_obs["b"]["c"], got.action["push"], got.reward, got.terminated, got.discount]
    for array in [*fields, got.weight]:
        assert array.flags.c_contiguous and array.flags.writeable
        assert array.ctypes.data % 64 == 0


def test_results_of_steps_are_the_users(buffer):
    """The ring has copies: writing to what step() returned changes no transition."""
    obs = buffer.reset()[0]
    first = obs.copy()
    obs[:] = -1
    following = step(buffer)[0]
    second = following.copy()
    following[:] = -1
    got = buffer.transitions(buffer.indices())
    np.testing.assert_array_equal(got.obs, first)
    np.testing.assert_array_equal(got.next_obs, second)


def test_torch(buffer):
    torch = pytest.importorskip("torch")
    step(buffer)
    got = buffer.sample(4)
    for array in (got.obs, got.action, got.reward, got.next_obs, got.terminated, got.discount, got.index):
        tensor = torch.from_dlpack(array)
        assert tensor.data_ptr() == array.ctypes.data
        np.testing.assert_array_equal(tensor.numpy(), array)


def test_no_copies(buffer):
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="a ReplayBuffer records the steps of one pool and cannot be pickled"):
            make(buffer)


def test_repr(pool):
    assert repr(envpool.ReplayBuffer(pool, 30, 3, True)) == (
        "ReplayBuffer(0 transitions, capacity=30, n_step=3, prioritized)"
    )


def test_a_fork_while_a_minibatch_is_prefetched(buffer):
    """The child has no helper: it draws minibatches itself, and ends."""
    pool = buffer.pool
    prefetching = envpool.ReplayBuffer(pool, 30, prefetch=True)
    prefetching.reset()
    step(prefetching)
    prefetching.sample(4)
    pid = os.fork()
    if pid == 0:
        is_right = len(prefetching.sample(4).index) == len(prefetching.sample(4).index) == 4
        del prefetching
        os._exit(0 if is_right else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(prefetching.sample(4).index) == 4
