"""Pools with opponents: async pools, parts of batches, and Ctrl-C while the opponents move."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvIdError, PoolClosedError, PoolStateError
from envpool.pools import opponents
from envpool.pools.uninterrupted import assign
from tests._core import crowds
from tests.support import plugin
from tests.support.bytecodes import interrupted_at

NUM_ENVS = 5
MODES = ["next_step", "same_step"]


def of_turns(obs, info):
    """Moves that depend on the row of the opponent only."""
    return np.where(info["legal_action_mask"], obs.sum(1)[:, None] % 5 - np.arange(7), -99)[:, :6].argmax(1)


def of_crowd(obs, info):
    return (obs[:, 3] + info["players"]["id"] + info["token"]) % 11


TASKS = {
    "Turns-v0": (of_turns, {"masks": "players", "max_episode_steps": 9}),
    "Crowd-v0": (of_crowd, {"places": 4, "episode_length": 6}),
}


def make(task, mode, **options):
    policy, own = TASKS[task]
    options = {"num_envs": NUM_ENVS, "controlled": [0, 2], "opponents": policy, "players": "grid"} | own | options
    return plugin.make_task(task, autoreset_mode=mode, **options)


def actions_of(task, obs, info):
    """Actions for rows of results, which depend on these rows only."""
    if task == "Crowd-v0":
        return (obs[..., 1] + obs[..., 3]) % 10
    mask, turn = info["legal_action_mask"], info["current_player"]
    legal = mask[np.arange(len(mask)), (turn == 2) * (mask.shape[1] - 1)][:, :6]
    score = np.where(legal, (obs.sum((1, 2))[:, None] + info["elapsed_step"][:, None]) % 5 - np.arange(6), -99)
    return np.where(turn < 0, 0, score.argmax(1))


def rows_of(result):
    """Return the rows of a result by environment: flat tuples of arrays."""
    obs, info = result[0], result[-1]
    names = ("elapsed_step", "player_mask")
    arrays = [obs, *result[1:-1], *(info[name] for name in names if name in info)]
    return {int(i): [np.array(a[k]) for a in arrays] for k, i in enumerate(info["env_id"])}


def trajectories(task, mode, count):
    """Return the results of each environment in a sync pool, which policies decide row by row."""
    found = {i: [] for i in range(NUM_ENVS)}
    with make(task, mode) as pool:
        result = pool.reset()
        for _ in range(count):
            result = pool.step(actions_of(task, result[0], result[-1]))
            for i, row in rows_of(result).items():
                found[i].append(row)
    return found


def check(rows, expected, numbers):
    """Compare rows by environment with the next results of these environments."""
    for i, row in rows.items():
        for got, wanted in zip(row, expected[i][numbers[i]], strict=True):
            np.testing.assert_array_equal(got, wanted)
        numbers[i] += 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", TASKS)
def test_an_async_pool_has_the_results_of_a_sync_one(task, mode):
    expected = trajectories(task, mode, 60)
    numbers = [0] * NUM_ENVS
    with make(task, mode, batch_size=2, num_threads=2) as pool:
        assert pool.is_async
        pool.async_reset()
        assert pool.num_outstanding == NUM_ENVS
        started = set()
        while min(numbers) < 30 and max(numbers) < 59:
            result = pool.recv()
            assert len(result[-1]["env_id"]) == 2
            rows = rows_of(result)
            check({i: row for i, row in rows.items() if i in started}, expected, numbers)
            started |= rows.keys()
            pool.send(actions_of(task, result[0], result[-1]), result[-1]["env_id"])
        assert sum(numbers) > 30


def test_a_step_of_an_async_pool_needs_a_batch():
    with make("Turns-v0", "next_step", batch_size=3) as pool:
        obs, info = pool.reset()
        assert len(obs) == 3
        with pytest.raises(EnvIdError, match="still in flight"):
            pool.step(np.zeros(NUM_ENVS, int))
        ids = info["env_id"]
        pool.recv(min_ready=2)
        with pytest.raises(PoolStateError, match=r"step\(\) with 1 envs and 0 in flight .* batch of 3"):
            pool.step(np.zeros(1, int), ids[:1])
        pool.send(np.zeros(1, int), ids[:1])
        with pytest.raises(PoolStateError, match=r"1 envs are in flight and a batch needs 3: send to 2 more"):
            pool.recv()
        assert pool.recv(timeout=60, min_ready=1)[-1]["env_id"].tolist() == ids[:1].tolist()


@pytest.mark.parametrize("batch_size", [NUM_ENVS, 2])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", TASKS)
def test_parts_of_batches(task, mode, batch_size):
    """Environments are received in any order, by number and by id, and sent again."""
    expected = trajectories(task, mode, 40)
    numbers, rng = [0] * NUM_ENVS, np.random.default_rng(0)
    with make(task, mode, batch_size=batch_size, num_threads=2) as pool:
        pool.async_reset()
        result = pool.recv(reset=True, env_id=np.arange(NUM_ENVS))
        flying = set()
        for t in range(80):
            if max(numbers) > 38:
                break
            if len(result[0]):
                ids = result[-1]["env_id"]
                pool.send(actions_of(task, result[0], result[-1]), ids)
                flying |= {*ids.tolist()}
            assert pool.num_outstanding == len(flying)
            if t % 4 == 0:
                chosen = rng.permutation(sorted(flying))[:2]
                result = pool.recv(env_id=chosen)
                assert result[-1]["env_id"].tolist() == chosen.tolist()
            elif t % 4 == 1:
                result = pool.recv(min_ready=2)
                assert len(result[0]) >= 2
            elif t % 4 == 2:
                result = pool.recv(timeout=0)
            else:
                result = pool.recv(env_id=sorted(flying), min_ready=1)
            rows = rows_of(result)
            check(rows, expected, numbers)
            flying -= rows.keys()
        assert sum(numbers) > 60


@pytest.mark.parametrize("mode", MODES)
def test_a_sync_pool_may_be_sent_to_several_times(mode):
    expected, numbers = trajectories("Turns-v0", mode, 20), [0] * NUM_ENVS
    with make("Turns-v0", mode) as pool:
        obs, info = pool.reset()
        for _ in range(20):
            action = actions_of("Turns-v0", obs, info)
            pool.send(action[3:], np.arange(3, NUM_ENVS))
            pool.send(action[:3], np.arange(3))
            result = pool.recv()
            assert result[-1]["env_id"].tolist() == [3, 4, 0, 1, 2]
            check(rows_of(result), expected, numbers)
            order = np.argsort(result[-1]["env_id"])
            obs = result[0][order]
            info = {k: result[-1][k][order] for k in ("current_player", "legal_action_mask", "elapsed_step")}


def test_what_cannot_be_received_is_refused():
    with make("Turns-v0", "next_step") as pool:
        with pytest.raises(PoolStateError, match="nothing is in flight"):
            pool.recv()
        pool.reset()
        for error, text, options in (
            (PoolStateError, "nothing is in flight", {"min_ready": 1}),
            (PoolStateError, "nothing is in flight", {"timeout": 0}),
            (EnvIdError, r"env_id\[0\] is 1, which is not in flight", {"env_id": [1]}),
            (ConfigError, "min_ready must be between 0 and 5", {"min_ready": 6}),
            (TypeError, "min_ready must be an integer", {"min_ready": True}),
            (ConfigError, "timeout must be at least 0 seconds, got -1", {"timeout": -1}),
            (TypeError, "timeout must be a number of seconds", {"timeout": "1"}),
        ):
            with pytest.raises(error, match=text):
                pool.recv(**options)
        assert pool.recv(min_ready=0)[0].shape[0] == 0
        pool.send(np.zeros(2, int), [0, 1])
        for error, text, options in (
            (PoolStateError, "2 envs are in flight: send to more", {"min_ready": 3}),
            (PoolStateError, "env_id has 1 entries", {"min_ready": 2, "env_id": [0]}),
            (EnvIdError, r"env_id\[1\] is 0, which appears twice", {"env_id": [0, 0]}),
            (EnvIdError, r"env_id\[0\] must be between 0 and 4, got 9", {"env_id": [9]}),
        ):
            with pytest.raises(error, match=text):
                pool.recv(**options)
        for call in (pool.reset, pool.get_state, pool.sample_actions):
            with pytest.raises(EnvIdError, match="still in flight"):
                call(env_id=[1])
        with pytest.raises(EnvIdError, match="appears twice"):
            pool.step(np.zeros(2, int), [3, 3])
        pool.recv()
    with pytest.raises(PoolClosedError):
        pool.recv()


def test_a_reset_of_some_environments_leaves_the_others_in_flight():
    with make("Turns-v0", "next_step") as pool:
        pool.reset()
        pool.send(np.zeros(2, int), [0, 1])
        _, info = pool.reset([4, 2])
        assert info["env_id"].tolist() == [4, 2] and pool.num_outstanding == 2
        assert pool.recv()[-1]["env_id"].tolist() == [0, 1]


def test_a_second_thread_may_send_while_one_receives(monkeypatch):
    """Also while opponents are asked, and if the step of what it sends is over before the send returns."""
    idle, is_sent = [np.array([1])], threading.Event()

    def call_and_assign(function, arguments, changes, done):
        result = function(*arguments)
        if threading.current_thread() is not threading.main_thread():
            is_sent.set()
            time.sleep(0.2)
        assign(changes, done)
        return result

    def policy(obs, info):
        if idle:
            with pytest.raises(PoolStateError, match="asking its opponents"):
                thread.submit(pool.recv).result()
            thread.submit(pool.send, np.array([4]), idle.pop())
            is_sent.wait(60)
        return np.full(len(obs), 6)

    monkeypatch.setattr(opponents.opponents_pool, "call_and_assign", call_and_assign)
    options = {"num_envs": 2, "batch_size": 1, "controlled": [0], "opponents": policy}
    with envpool.make_gymnasium("ConnectFour-v0", **options) as pool, ThreadPoolExecutor(1) as thread:
        pool.async_reset()
        pool.recv(reset=True, env_id=[0, 1])
        pool.send(np.array([3]), np.array([0]))
        obs = {int(info["env_id"][0]): obs[0] for obs, *_, info in (pool.recv(), pool.recv())}
        assert obs[0][5, 3, 0] == obs[1][5, 4, 0] == obs[0][5, 6, 1] == obs[1][5, 6, 1] == 1
        assert pool.num_outstanding == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", TASKS)
def test_ctrl_c_loses_nothing(task, mode):
    """Wherever it interrupts a step or a reset, the next recv() returns what the step would have returned."""
    num_interrupted = 0
    with make(task, mode, num_envs=2) as pool, make(task, mode, num_envs=2) as plain:
        pool.reset(), plain.reset()
        obs, *_, info = plain.step(np.zeros((2, 2), int))
        pool.step(np.zeros((2, 2), int))
        for n in range(250):
            action = actions_of(task, obs, info)
            expected = plain.step(action)
            result = None
            with interrupted_at(opponents, n) as places:
                result = pool.step(action)
            num_interrupted += not places.is_over
            if result is None:
                result = pool.recv() if pool.num_outstanding else pool.step(action)
            got, wanted = rows_of(result), rows_of(expected)
            for i in range(2):
                for one, other in zip(got[i], wanted[i], strict=True):
                    np.testing.assert_array_equal(one, other)
            obs, *_, info = expected
        assert num_interrupted > 5  # the places of a step: over 40 with Python 3.11, 13 with 3.13


def test_ctrl_c_in_a_reset_loses_nothing():
    with envpool.make_gymnasium("ConnectFour-v0", num_envs=2, controlled="alternate", seed=1) as pool:
        for n in range(200):
            with interrupted_at(opponents, n) as places:
                pool.reset(seed=3)
            if places.is_over:
                break
            obs, info = pool.recv(reset=True) if pool.num_outstanding else pool.reset(seed=3)
            assert (obs[..., 1].sum((1, 2)) == info["players"]["id"]).all()
        assert 20 < n < 199


@pytest.mark.parametrize("seed", range(8))
def test_any_use_of_any_pool(seed):
    crowds.any_opponents(random.Random(seed))
