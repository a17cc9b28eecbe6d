"""`MultiAgentVectorEnv`: the values of Tianshou's own `PettingZooEnv`, and algorithms of several agents."""

import importlib

import numpy as np
import pytest
import torch
from gymnasium import spaces
from tianshou.algorithm import DQN, PPO
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm, MultiAgentOnPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams, OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

from envpool.adapters.pettingzoo import aec_env
from envpool.adapters.tianshou import MultiAgentVectorEnv
from envpool.errors import ActionError, ConfigError, EnvIdError
from tests.support import plugin
from tests.support.crowd import CUT, DIE

N = 3
#: Tasks of MPE whose agents have equal spaces.
EQUAL = {"simple_spread": 3, "simple_reference": 3, "simple_formation": 1, "simple_line": 1, "simple": 3}


def assert_same(ours, theirs):
    """Two results are equal; rewards are those of float32."""
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a.dtype == object:
            for own, other in zip(a, b, strict=True):
                assert own.keys() == other.keys()
                assert all(np.array_equal(own[key], other[key]) for key in other)
        else:
            assert a.dtype == (np.float64 if k == 1 else b.dtype) and a.shape == b.shape
            assert np.array_equal(a, b.astype(np.float32) if k == 1 else b)


def play(ours, theirs, rng, steps, sample):
    """Step both, some environments at a time, and reset those that have ended; return how many have."""
    ends = 0
    assert_same(ours.reset(), theirs.reset())
    for _ in range(steps):
        ids = np.sort(rng.permutation(N)[: rng.integers(1, N + 1)])
        actions = np.stack([sample(rng) for _ in ids])
        results = ours.step(actions, ids), [np.array(part) for part in theirs.step(actions, ids)]
        assert_same(*results)
        done = ids[results[0][2] | results[0][3]]
        if len(done):
            ends += len(done)
            assert_same(ours.reset(done), theirs.reset(done))
    return ends


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("name", EQUAL)
def test_same_values_as_tianshous_class(name, continuous):
    module = importlib.import_module(f"mpe2.{name}_v{EQUAL[name]}")
    options = {"continuous_actions": continuous, "max_cycles": 5}
    theirs = DummyVectorEnv([lambda: PettingZooEnv(module.env(**options))] * N)
    ours = MultiAgentVectorEnv(f"MPE/{name}-v{EQUAL[name]}", num_envs=N, **options)
    assert ours.action_space == theirs.action_space and ours.observation_space == theirs.observation_space
    assert [ours.agents, ours.agent_idx] == [theirs.get_env_attr(key)[0] for key in ("agents", "agent_idx")]
    assert ours.seed(7) == [[7], [8], [9]]
    theirs.seed(7)

    def sample(rng):
        space = ours.action_space[0]
        return rng.integers(space.n) if isinstance(space, spaces.Discrete) else rng.random(space.shape, np.float32)

    assert play(ours, theirs, np.random.default_rng(1), 60, sample) > 3
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    ours.close(), theirs.close()


def test_agents_that_come_and_go():
    """The AEC form of the same task; an episode is over when that of one agent is."""
    plugin.load()
    theirs = DummyVectorEnv([lambda i=i: PettingZooEnv(aec_env("Crowd-v0", places=4, seed=5 + i)) for i in range(N)])
    ours = MultiAgentVectorEnv("Crowd-v0", num_envs=N, places=4, seed=5)
    ours.reset()  # as the constructor of PettingZooEnv does

    def same(a, b):
        for obs in (*a[0], *b[0]):
            obs["obs"][0] = 0  # the number of the environment
        for info in (*a[-1], *b[-1]):
            info.pop("env_id", None)
        assert [dict(obs, obs=obs["obs"].tolist()) for obs in a[0]] == [dict(o, obs=o["obs"].tolist()) for o in b[0]]
        assert all(np.array_equal(x, y) for x, y in zip(a[2:4], b[2:4], strict=False) if x.dtype == bool)
        assert a[-1].tolist() == b[-1].tolist()

    same(ours.reset(), theirs.reset())
    rng, ends = np.random.default_rng(2), 0
    for _ in range(80):
        actions = np.where(rng.random(N) < 0.9, rng.integers(0, 11, N), rng.choice([CUT, DIE], N))
        results = ours.step(actions), theirs.step(actions)
        same(*results)
        done = np.flatnonzero(results[0][2] | results[0][3])
        if len(done):
            ends += len(done)
            same(ours.reset(done), theirs.reset(done))
    assert ends > 5
    ours.close(), theirs.close()


def weights_of(algorithm, agent):
    return [parameter.clone() for parameter in algorithm.get_algorithm(agent).policy.parameters()]


def assert_trained(algorithm, venv, train):
    """After training, the weights of every agent are other ones."""
    before = {agent: weights_of(algorithm, agent) for agent in venv.agents}
    train()
    for agent, old in before.items():
        assert any(not torch.equal(a, b) for a, b in zip(old, weights_of(algorithm, agent), strict=True))


def test_off_policy_algorithms():
    """Each agent has a DQN of its own; Tianshou's Collector, buffer and trainer are unchanged."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    venv = MultiAgentVectorEnv("MPE/simple_reference-v3", num_envs=4, max_cycles=10)
    space, actions = venv.observation_space[0], venv.action_space[0]
    algorithms = [
        DQN(
            policy=DiscreteQLearningPolicy(
                model=Net(state_shape=space.shape, action_shape=actions.n, hidden_sizes=[32]),
                action_space=actions,
                observation_space=space,
                eps_training=0.5,
            ),
            optim=AdamOptimizerFactory(lr=1e-3),
        )
        for _ in venv.agents
    ]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=algorithms, env=venv)
    buffer = VectorReplayBuffer(2000, 4)
    params = OffPolicyTrainerParams(
        training_collector=Collector[CollectStats](algorithm, venv, buffer),
        max_epochs=1,
        epoch_num_steps=400,
        collection_step_num_env_steps=80,
        update_step_num_gradient_steps_per_sample=0.05,
        multi_agent_return_reduction=lambda returns: returns[:, 0],
        show_progress=False,
    )
    assert_trained(algorithm, venv, lambda: algorithm.run_training(params))
    assert len(buffer) == 400 and buffer.rew.shape[1:] == (2,)
    assert set(buffer.obs.agent_id[:80]) == {"agent_0", "agent_1"}
    assert buffer.truncated.sum() == 20 and not buffer.terminated.any()
    venv.close()


class Unmasked(Net):
    def forward(self, obs, state=None, info=None):
        return super().forward(obs.obs, state, info)


def test_on_policy_algorithms():
    """Each agent has a PPO of its own, whose networks look at what is beside the mask."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    venv = MultiAgentVectorEnv("MPE/simple_spread-v3", num_envs=4, max_cycles=10)
    space, actions = venv.observation_space[0], venv.action_space[0]

    def ppo():
        actor, critic = (Unmasked(state_shape=space.shape, hidden_sizes=[32]) for _ in range(2))
        return PPO(
            policy=ProbabilisticActorPolicy(
                actor=DiscreteActor(preprocess_net=actor, action_shape=actions.n),
                dist_fn=torch.distributions.Categorical,
                action_space=actions,
                observation_space=space,
                action_scaling=False,
            ),
            critic=DiscreteCritic(preprocess_net=critic),
            optim=AdamOptimizerFactory(lr=1e-3),
        )

    algorithm = MultiAgentOnPolicyAlgorithm(algorithms=[ppo() for _ in venv.agents], env=venv)
    params = OnPolicyTrainerParams(
        training_collector=Collector[CollectStats](algorithm, venv, VectorReplayBuffer(1000, 4)),
        max_epochs=1,
        epoch_num_steps=240,
        collection_step_num_env_steps=120,
        update_step_num_repetitions=1,
        batch_size=30,
        multi_agent_return_reduction=lambda returns: returns.mean(1),
        show_progress=False,
    )
    assert_trained(algorithm, venv, lambda: algorithm.run_training(params))
    venv.close()


def test_what_is_refused():
    for name in ("players", "autoreset_mode", "batch_size"):
        with pytest.raises(ConfigError, match=f"does not have the option {name}"):
            MultiAgentVectorEnv("MPE/simple_spread-v3", **{name: 1})
    with pytest.raises(ConfigError, match=r"the agents of MPE/simple_tag-v3 must have equal spaces.*SuperSuit"):
        MultiAgentVectorEnv("MPE/simple_tag-v3")
    with pytest.raises(ConfigError, match="CartPole-v1 has one player"):
        MultiAgentVectorEnv("CartPole-v1")
    venv = MultiAgentVectorEnv("MPE/simple_spread-v3", num_envs=2, max_cycles=1)
    with pytest.raises(EnvIdError, match=r"never reset: call reset\(0\)"):
        venv.step([0, 0])
    venv.reset()
    with pytest.raises(ActionError):
        venv.step([0, [1, 2]])
    assert [obs["agent_id"] for obs in venv.step([0, 0])[0]] == ["agent_1"] * 2
    venv.step([0, 0])
    with pytest.raises(ActionError):
        venv.step([0, 5])
    assert Batch(venv.step([0, 1])[0]).agent_id.tolist() == ["agent_0"] * 2
    with pytest.raises(EnvIdError, match=r"environment 1 has ended.*reset\(1\)"):
        venv.step([0], [1])
    for ids in ([0, 0], [-1], [2]):
        with pytest.raises(EnvIdError, match="env ids must be different numbers from 0 to 1"):
            venv.step([0] * len(ids), ids)
    venv.close()


def test_a_refused_step_leaves_all_environments_as_they_are():
    venv = MultiAgentVectorEnv("MPE/simple_spread-v3", num_envs=2)
    venv.reset()
    with pytest.raises(ActionError, match="the action of 'agent_0' must be an action of"):
        venv.step([1, 9])
    venv.step([1], [0]), venv.step([1], [0])
    with pytest.raises(ActionError, match="the action of 'agent_2' must be an action of"):
        venv.step([9, 1])
    assert [obs["agent_id"] for obs in venv.step([2, 1])[0]] == ["agent_0", "agent_1"]
    venv.close()
