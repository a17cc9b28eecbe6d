"""`MultiAgentEnv`: the values of RLlib's own wrapper around mpe2's environments, its checks, and PPO with policies."""

import importlib

import numpy as np
import pytest
import ray
import torch
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from envpool.adapters.rllib import MultiAgentEnv
from envpool.errors import ActionError, ConfigError, EnvIdError
from envpool.mpe.registration import TASKS

N = 4


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("name", TASKS)
def test_same_values_as_rllibs_wrapper(name, continuous):
    theirs = importlib.import_module(f"mpe2.{name}_v{TASKS[name]}").parallel_env(continuous_actions=continuous)
    theirs = ParallelPettingZooEnv(theirs)
    ours = MultiAgentEnv(f"MPE/{name}-v{TASKS[name]}", continuous_actions=continuous)
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    assert {*ours.possible_agents} == {*theirs.possible_agents}
    for seed in (3, None):
        obs, expected = ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0]
        is_over = False
        while not is_over:
            assert obs.keys() == expected.keys()
            assert all(np.array_equal(obs[agent], row) for agent, row in expected.items())
            actions = {agent: ours.get_action_space(agent).sample() for agent in obs}
            obs, rewards, terminateds, truncateds, infos = ours.step(actions)
            expected, their_rewards, *flags, _ = theirs.step(actions)
            assert rewards == {agent: np.float32(reward) for agent, reward in their_rewards.items()}
            assert [terminateds, truncateds] == flags
            assert infos == {agent: {} for agent in obs}
            is_over = truncateds["__all__"]
    with pytest.raises(EnvIdError):
        ours.step({})
    ours.close()


def test_rllibs_checks():
    check_multiagent_environments(MultiAgentEnv("MPE/simple_tag-v3"))
    check_multiagent_environments(MultiAgentEnv("MPE/simple_speaker_listener-v4", continuous_actions=True))


def test_what_is_refused():
    with pytest.raises(ConfigError, match="CartPole-v1 has one player"):
        MultiAgentEnv("CartPole-v1")
    env = MultiAgentEnv("MPE/simple_spread-v3")
    env.reset()
    with pytest.raises(ActionError, match="a key for each agent that acts"):
        env.step({"agent_0": 1})


def test_groups_of_agents():
    """RLlib's own wrapper for groups."""
    env = MultiAgentEnv("MPE/simple_tag-v3").with_agent_groups({"all": ["adversary_0", "adversary_1", "adversary_2"]})
    obs, _ = env.reset(seed=1)
    assert obs.keys() == {"all", "agent_0"} and len(obs["all"]) == 3
    _, rewards, *_ = env.step({"all": [1, 2, 3], "agent_0": 0})
    assert rewards.keys() == obs.keys()


@pytest.fixture
def cluster():
    torch.set_num_threads(1)
    ray.init(num_cpus=1, include_dashboard=False)
    yield
    ray.shutdown()


def test_ppo(cluster):
    """A policy for each group of simple_tag, in the new stack and in the old one."""
    tune.register_env("tag", lambda context: MultiAgentEnv("MPE/simple_tag-v3", **context))
    config = (
        PPOConfig()
        .environment("tag", env_config={"max_cycles": 25})
        .multi_agent(
            policies={"adversary", "agent"}, policy_mapping_fn=lambda agent, *args, **kwargs: agent.rpartition("_")[0]
        )
        .debugging(seed=1)
    )
    training = {"minibatch_size": 64, "num_epochs": 2, "lr": 1e-3}
    new = (
        config.copy()
        .rl_module(model_config={"fcnet_hiddens": [32]})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=N)
        .training(train_batch_size_per_learner=200, **training)
    )
    algorithm = new.build_algo()
    results = [algorithm.train() for _ in range(2)]
    returns = results[-1]["env_runners"]["agent_episode_returns_mean"]
    assert returns.keys() == {"adversary_0", "adversary_1", "adversary_2", "agent_0"}
    assert np.isfinite([*returns.values()]).all()
    assert results[-1]["env_runners"]["episode_len_mean"] == 25
    assert results[-1]["learners"].keys() >= {"adversary", "agent"}
    algorithm.stop()
    old = (
        config.copy()
        .api_stack(enable_rl_module_and_learner=False, enable_env_runner_and_connector_v2=False)
        .framework("torch")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=2, rollout_fragment_length=100)
        .training(train_batch_size=200, model={"fcnet_hiddens": [32]}, **training)
    )
    algorithm = old.build_algo()
    result = algorithm.train()["env_runners"]
    assert result["policy_reward_mean"].keys() == {"adversary", "agent"} and result["episode_len_mean"] == 25
    algorithm.stop()
