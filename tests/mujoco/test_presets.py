"""The preset "ppo-continuous" against the wrappers of CleanRL's ppo_continuous_action.py."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import envpool
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from envpool.mujoco.base.env_definition import MujocoEnvDefinition

OPTIONS = MujocoEnvDefinition.presets["ppo-continuous"]


def of_cleanrl(task):
    """Return a single environment with the wrappers of CleanRL, which normalise in each environment."""
    env = gymnasium.wrappers.FlattenObservation(gymnasium.make(task, max_episode_steps=40))
    env = gymnasium.wrappers.ClipAction(gymnasium.wrappers.RecordEpisodeStatistics(env))
    env = gymnasium.wrappers.NormalizeObservation(env)
    env = gymnasium.wrappers.TransformObservation(env, lambda obs: np.clip(obs, -10, 10), env.observation_space)
    env = gymnasium.wrappers.NormalizeReward(env, gamma=0.99)
    return gymnasium.wrappers.TransformReward(env, lambda reward: np.clip(reward, -10, 10))


@pytest.mark.parametrize("task", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5"])
def test_single_environment(task):
    """The observations have the same bits; rewards and their sums are float64 in CleanRL, and float32 in a pool."""
    rng = np.random.default_rng(0)
    single = of_cleanrl(task)
    with envpool.make_gymnasium(task, num_envs=1, seed=4, max_episode_steps=40, **OPTIONS) as pool:
        expected, got = single.reset(seed=4)[0], pool.reset()[0][0]
        done = False
        for _ in range(150):
            assert expected.dtype == got.dtype and expected.tobytes() == got.tobytes()
            action = rng.normal(scale=2, size=pool.action_space.shape)
            obs, reward, *_, info = pool.step(action[None])
            got = obs[0]
            if done:
                expected, done = single.reset()[0], False
                continue
            expected, expected_reward, terminated, truncated, expected_info = single.step(action)
            assert reward[0] == pytest.approx(expected_reward, rel=2e-5, abs=1e-6)
            done = terminated or truncated
            assert ("episode" in info) == ("episode" in expected_info) == done
            if done:
                assert info["episode"]["r"][0] == pytest.approx(expected_info["episode"]["r"], rel=1e-5)
    single.close()


def test_several_environments():
    """With several environments, the statistics are those of gymnasium's vector wrappers in the same order."""
    options = {"seed": 4, "max_episode_steps": 40}
    env = wrappers.ClipAction(wrappers.RecordEpisodeStatistics(EnvPoolVectorEnv("Hopper-v5", 6, **options)))
    env = wrappers.TransformObservation(wrappers.NormalizeObservation(env), lambda obs: np.clip(obs, -10, 10))
    env = wrappers.TransformReward(wrappers.NormalizeReward(env, gamma=0.99), lambda reward: np.clip(reward, -10, 10))
    rng = np.random.default_rng(0)
    with envpool.make_gymnasium("Hopper-v5", num_envs=6, **options, **OPTIONS) as pool:
        assert env.reset()[0].tobytes() == pool.reset()[0].tobytes()
        for _ in range(60):
            action = rng.normal(scale=2, size=(6, 3))
            expected, got = env.step(action), pool.step(action)
            assert expected[0].tobytes() == got[0].tobytes()
            assert expected[1].astype(np.float32).tobytes() == got[1].tobytes()
            assert np.array_equal(expected[4].get("_episode", np.zeros(6, bool)), got[2] | got[3])
    env.close()
