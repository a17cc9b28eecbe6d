"""sample-factory's wrappers of EnvPool, made by its own functions, and their calls on a pool."""

from types import SimpleNamespace

import numpy as np
import pytest
from sf_examples.envpool.atari.envpool_atari_utils import make_atari_env
from sf_examples.envpool.envpool_wrappers import BatchedRecordEpisodeStatistics, EnvPoolResetFixWrapper
from sf_examples.envpool.mujoco.envpool_mujoco_utils import make_mujoco_env

import envpool

SETTINGS = SimpleNamespace(
    batched_sampling=True,
    env_agents=4,
    envpool_num_threads=2,
    envpool_thread_affinity_offset=-1,
    num_envs_per_worker=1,
    env_frameskip=4,
)
CONFIG = SimpleNamespace(env_id=7)


def test_mujoco():
    env = make_mujoco_env("mujoco_halfcheetah", SETTINGS, CONFIG)
    assert env.num_agents == 4
    obs, _ = env.reset(seed=1, options={})
    assert obs.shape == (4, *env.observation_space.shape)
    for _ in range(20):
        obs, reward, terminated, truncated, _ = env.step(np.stack([env.action_space.sample() for _ in range(4)]))
    assert obs.dtype == env.observation_space.dtype
    assert reward.shape == terminated.shape == truncated.shape == (4,)
    env.close()


def test_atari():
    env = make_atari_env("atari_breakout", SETTINGS, CONFIG)
    assert isinstance(env, BatchedRecordEpisodeStatistics)
    env.reset()
    rng = np.random.default_rng(0)
    rewards = np.zeros(4)
    for _ in range(100):
        obs, _, terminated, _, info = env.step(rng.integers(0, 4, 4))
        rewards += info["reward"]
        np.testing.assert_array_equal(info["r"], rewards)
        rewards[terminated] = 0
    assert obs.shape == (4, 4, 84, 84)
    assert info["l"].max() > 0
    env.close()


def test_a_reset_of_no_environment_returns_at_once():
    with envpool.make("CartPole-v1", env_type="gym", num_envs=3) as pool:
        pool.reset()
        obs, info = pool.reset(np.nonzero(np.zeros(3, bool))[0])
        assert obs.shape == (0, 4) and info["env_id"].shape == (0,)


@pytest.mark.parametrize("task", ["CartPole-v1", "HalfCheetah-v4"])
def test_episodes_start_in_the_step_that_ends_one(task):
    """The wrapper resets what has ended and puts the new observations into the old array."""
    pool = envpool.make(task, env_type="gym", num_envs=4, max_episode_steps=9)
    env = EnvPoolResetFixWrapper(pool)
    env.reset()
    rng = np.random.default_rng(0)
    ends = 0
    length = np.zeros(4, int)
    for _ in range(40):
        action = rng.integers(0, 2, 4) if task == "CartPole-v1" else rng.uniform(-1, 1, (4, 6))
        obs, _, terminated, truncated, info = env.step(action)
        length += 1
        assert info["elapsed_step"].tolist() == length.tolist()
        ended = terminated | truncated
        length[ended] = 0
        ends += ended.sum()
        if task == "CartPole-v1":
            assert (np.abs(obs[ended]) <= 0.05).all()
    assert ends >= 16


@pytest.mark.parametrize("name", ["atari_breakout", "atari_mspacman", "atari_montezuma"])
def test_the_preset_has_the_options_of_make_atari_env(name):
    """Montezuma's Revenge is the only game with a limit of its own."""
    env = make_atari_env(name, SETTINGS, CONFIG)
    theirs = env.unwrapped.spec.config
    limit = {"max_episode_steps": 18_000 // 4} if name == "atari_montezuma" else {}
    own = envpool.make_spec(env.unwrapped.spec.task_id, num_envs=4, seed=7, preset="sample-factory", **limit)
    assert own.config == theirs
    env.close()
