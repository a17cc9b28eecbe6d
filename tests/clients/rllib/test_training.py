"""PPO of both stacks on CartPole: after a few iterations, episodes are longer."""

import gymnasium
import numpy as np
import pytest
import ray
import torch
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig

import envpool  # noqa: F401 - registers its tasks with gymnasium
from envpool.adapters.rllib import VectorEnv
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv

N = 8


@pytest.fixture(scope="module", autouse=True)
def cluster():
    torch.set_num_threads(1)
    ray.init(num_cpus=1, include_dashboard=False)
    yield
    ray.shutdown()


def train(config, iterations):
    """Return the mean return in each iteration."""
    algorithm = config.env_runners(num_env_runners=0).debugging(seed=1).build_algo()
    results = [algorithm.train()["env_runners"] for _ in range(iterations)]
    algorithm.stop()
    return results


def assert_learns(returns):
    assert np.isfinite(returns).all()
    assert returns[-1] > 1.5 * returns[0]


@pytest.mark.parametrize("name", ["envpool/CartPole-v1", "envpool:envpool/CartPole-v1", "registered"])
def test_new_stack(name):
    """By id, by an id that imports envpool, and by a function that is registered with Ray."""
    if name == "registered":
        tune.register_env(name, lambda context: EnvPoolVectorEnv("CartPole-v1", num_envs=context["num_envs"]))
    config = (
        PPOConfig()
        .environment(name)
        .env_runners(gym_env_vectorize_mode="vector_entry_point", num_envs_per_env_runner=N)
        .training(train_batch_size_per_learner=1024, minibatch_size=128, num_epochs=6, lr=1e-3, vf_loss_coeff=0.01)
    )
    results = train(config, 5 if name == "registered" else 2)
    if name == "registered":
        assert_learns([r["episode_return_mean"] for r in results])


def test_old_stack():
    tune.register_env("pool", lambda context: VectorEnv("CartPole-v1", num_envs=N))
    config = (
        PPOConfig()
        .api_stack(enable_rl_module_and_learner=False, enable_env_runner_and_connector_v2=False)
        .framework("torch")
        .environment("pool")
        .env_runners(rollout_fragment_length=128)
        .training(train_batch_size=1024, minibatch_size=128, num_epochs=6, lr=1e-3)
    )
    assert_learns([r["episode_reward_mean"] for r in train(config, 5)])


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_make_vec_of_rays_gymnasium(mode):
    """Ray pins an older gymnasium than the one that this was built with."""
    assert gymnasium.__version__ == "1.2.2"
    env = gymnasium.make_vec("envpool/CartPole-v1", num_envs=N, autoreset_mode=mode, max_episode_steps=3)
    env = gymnasium.wrappers.vector.DictInfoToList(gymnasium.wrappers.vector.RecordEpisodeStatistics(env))
    obs, infos = env.reset(seed=1)
    for i in range(N):
        assert np.array_equal(obs[i], gymnasium.make("CartPole-v1").reset(seed=1 + i)[0])
    for t in range(1, 4):
        obs, reward, _, truncated, infos = env.step(env.action_space.sample())
        assert obs in env.observation_space
        assert (reward == 1).all()
        assert (truncated == (t == 3)).all()
    assert [info["episode"]["l"] for info in infos] == [3] * N
    env.close()
