"""The option `finished_episodes`: the ended episodes of a batch alone, in every API style and auto-reset mode."""

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from tests.support import plugin
from tests.support.checked_pool import FAIL

MODES = ["next_step", "same_step", "disabled"]
OPTIONS = {"episode_statistics": True, "finished_episodes": True, "max_episode_steps": 15}
KEYS = {"env_id", "row", "terminated", "r", "l", "t", "final_obs"}


def rows(nest, chosen):
    return {k: rows(v, chosen) for k, v in nest.items()} if isinstance(nest, dict) else nest[chosen]


def assert_same(a, b):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for k in a:
            assert_same(a[k], b[k])
    else:
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check(obs, terminated, info, mode):
    """Check the entry of a batch against the other arrays, and return the number of episodes."""
    assert ("finished" in info) == ("episode" in info)
    if "finished" not in info:
        return 0
    finished, ended = info["finished"], np.flatnonzero(info["_episode"])
    assert finished.keys() == KEYS
    assert_same(finished["row"], ended)
    assert_same(finished["env_id"], info["env_id"][ended])
    assert_same(finished["terminated"], terminated[ended])
    for part in "rlt":
        assert_same(finished[part], info["episode"][part][ended])
    assert_same(finished["final_obs"], rows(info["final_obs"] if mode == "same_step" else obs, ended))
    return len(ended)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", ["CartPole-v1", "CheetahRun-v1", "Pong-v5"])
def test_rows_of_the_other_arrays(task, mode):
    options = OPTIONS | {"num_envs": 4, "autoreset_mode": mode}
    with envpool.make_gymnasium(task, **options) as pool:
        assert "finished" not in pool.reset()[1]
        seen = 0
        for _ in range(40):
            obs, _, terminated, truncated, info = pool.step(pool.sample_actions())
            seen += check(obs, terminated, info, mode)
            ended = np.flatnonzero(terminated | truncated)
            if mode == "disabled" and ended.size:
                assert "finished" not in pool.reset(ended)[1]
        assert seen >= 4


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("how", ["async", "partial", "some"])
def test_batches_of_some_envs(how, mode):
    options = OPTIONS | {"num_envs": 6, "autoreset_mode": mode}
    with envpool.make_gymnasium("CartPole-v1", **options, batch_size=3 if how == "async" else 0) as pool:
        pool.async_reset()
        info = pool.recv()[-1]
        seen = 0
        for k in range(200):
            ids = info["env_id"] if how != "some" else np.roll(np.arange(6), k)[:4]
            pool.send(pool.sample_actions(env_id=ids), ids)
            obs, _, terminated, _, info = pool.recv(min_ready=2) if how == "partial" else pool.recv()
            seen += check(obs, terminated, info, mode)
        assert seen > 10


def test_gym():
    with envpool.make_gym("CartPole-v1", **OPTIONS, num_envs=3, gym_api="legacy") as pool:
        pool.reset()
        seen = 0
        for _ in range(60):
            obs, _, done, info = pool.step(np.ones(3, int))
            seen += check(obs, done & ~info["TimeLimit.truncated"], info, "next_step")
        assert seen > 5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", ["CartPole-v1", "CheetahRun-v1"])
def test_dm(task, mode):
    """The entry is in every TimeStep, with no rows if no episode has ended."""
    with envpool.make_dm(task, **OPTIONS, num_envs=3, autoreset_mode=mode) as pool:
        state = pool.reset().observation
        assert set(state.finished._fields) == KEYS
        assert len(state.finished.env_id) == 0
        seen = 0
        for _ in range(40):
            step = pool.step(pool.sample_actions())
            state, finished = step.observation, step.observation.finished
            ended = np.flatnonzero(state.episode.mask)
            assert_same(finished.row, ended)
            assert_same(finished.r, state.episode.r[ended])
            assert_same(finished.l, state.episode.l[ended])
            last = state.final if mode == "same_step" else state
            if task == "CartPole-v1":
                assert_same(finished.final_obs, last.obs[ended])
            else:
                assert_same(finished.final_obs.velocity, last.velocity[ended])
            seen += len(ended)
            if mode == "disabled" and len(ended):
                pool.reset(ended)
        assert seen >= 3


def test_the_arrays_belong_to_the_user():
    with envpool.make_gymnasium("CartPole-v1", **OPTIONS, num_envs=8) as pool:
        pool.reset()
        kept = []
        for _ in range(100):
            obs, *_, info = pool.step(np.ones(8, int))
            if "finished" in info:
                finished = info["finished"]["final_obs"]
                assert not np.shares_memory(finished, obs)
                kept.append((finished, finished.copy()))
        assert all(np.array_equal(a, b) for a, b in kept)


def test_failed_environments():
    plugin.load()
    options = {"num_envs": 3, "episode_length": 0, "on_error": "restart"} | OPTIONS
    with envpool.make_gymnasium("Synthetic-v0", **options) as pool:
        pool.reset()
        *_, info = pool.step(np.array([0, FAIL, 0]))
        assert info["finished"]["env_id"].tolist() == [1]
        assert info["finished"]["terminated"].tolist() == [False]
        assert "error" in info


def test_mistakes():
    with pytest.raises(ConfigError, match=r"finished_episodes=True needs .* set episode_statistics=True"):
        envpool.make_gymnasium("CartPole-v1", finished_episodes=True)
    with pytest.raises(ConfigError, match=r"one row per env: leave it out, or use envpool\.make_gymnasium"):
        EnvPoolVectorEnv("CartPole-v1", **OPTIONS)
    pytest.importorskip("jax")
    with envpool.make_gymnasium("CartPole-v1", **OPTIONS) as pool, pytest.raises(ConfigError, match="shapes of XLA"):
        pool.xla()


def test_without_the_option_nothing_is_added():
    with envpool.make_gymnasium("CartPole-v1", episode_statistics=True, num_envs=4) as pool:
        pool.reset()
        assert all("finished" not in pool.step(np.ones(4, int))[-1] for _ in range(30))
