"""The PPO example learns, its estimates are correct, and a seed reproduces a run."""

from copy import copy
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from torch import nn
from torch.distributions import Categorical, Independent, Normal

import envpool
from tests.examples.load import load


@pytest.fixture(scope="module")
def ppo():
    return load("ppo")


def collect(ppo, *options):
    """Return the pool's outcome of some rollouts, one after the other."""
    args = ppo.parse_args(options)
    rollouts = []
    env, agent = ppo.begin(args)
    with env:
        data = ppo.Rollout(args, env, agent)
        obs, _ = data.steps.reset()
        for _ in range(4):
            obs = data.collect(args, ppo.Returns(), obs, 0)
            data.estimate_advantages(args.gamma, args.gae_lambda)
            rollouts.append(copy(data))
    return args, rollouts


def test_solves_cartpole(ppo, tmp_path, capsys):
    curve = tmp_path / "curve.png"
    ppo.main(["--target", "475", "--seed", "1", "--plot", str(curve)])
    assert "CartPole-v1: mean return " in capsys.readouterr().out
    assert curve.read_bytes().startswith(b"\x89PNG")


def test_boards_are_no_images(ppo):
    """Observations of MinAtar, bool (rows, columns, channels), pass through the network without convolutions."""
    _, rollouts = collect(ppo, "--task", "MinAtar/Breakout-v1", "--num-envs", "4", "--num-steps", "8")
    assert rollouts[0].inputs.shape == (8, 4, 400)
    assert rollouts[0].inputs.dtype == torch.float32


def test_fails_when_the_target_is_missed(ppo):
    with pytest.raises(SystemExit, match="the target 475 was not reached in 8192 steps"):
        ppo.main(["--target", "475", "--total-timesteps", "8192"])


def test_a_seed_gives_the_same_run_again(ppo):
    options = ["--total-timesteps", "4096", "--num-envs", "16"]
    first, second, other = (ppo.train(ppo.parse_args([*options, "--seed", s])) for s in ("3", "3", "4"))
    assert first.values == second.values
    assert first.steps == second.steps
    assert first.values != other.values


def test_rows_that_start_an_episode_are_no_transitions(ppo):
    _, rollouts = collect(ppo, "--num-envs", "8")
    done = np.concatenate([rollout.data.done for rollout in rollouts])
    is_transition = torch.cat([rollout.is_transition for rollout in rollouts]).numpy()
    assert is_transition[0].all()
    assert (is_transition[1:] == ~done[:-1]).all()
    assert not is_transition.all()
    rewards = np.concatenate([rollout.data.reward for rollout in rollouts])
    assert (rewards[~is_transition] == 0).all()
    assert (rewards[is_transition] > 0).all()


def test_advantages_equal_the_definition(ppo):
    """The sum over the rest of an episode of (gamma lambda)^k delta, bootstrapped unless the episode terminated."""
    args, rollouts = collect(ppo, "--num-envs", "4", "--num-steps", "32")
    for rollout in rollouts:
        data, rewards = rollout.data, rollout.data.reward
        values = np.concatenate([rollout.values, rollout.last_values[None]])
        for i in range(args.num_envs):
            for t in np.flatnonzero(data.valid[:, i]):
                expected, weight = 0.0, 1.0
                for k in range(t, args.num_steps):
                    bootstrap = 0.0 if data.terminated[k, i] else args.gamma * float(values[k + 1, i])
                    expected += weight * (float(rewards[k, i]) + bootstrap - float(values[k, i]))
                    weight *= args.gamma * args.gae_lambda
                    if data.done[k, i]:
                        break
                assert float(rollout.advantages[t, i]) == pytest.approx(expected, abs=1e-4)


def test_the_last_observation_of_an_episode_is_what_is_bootstrapped(ppo):
    """In a pool, the row after `done` has the last observation as its input, and the next row has the reset."""
    _, rollouts = collect(ppo, "--num-envs", "8", "--num-steps", "256")
    data = rollouts[-1]
    t, i = np.argwhere(data.data.terminated[:-2])[0]
    fallen, fresh = data.inputs[t + 1, i], data.inputs[t + 2, i]
    assert fallen.abs().max() > fresh.abs().max()


def test_continuous_actions(ppo):
    args, rollouts = collect(ppo, "--task", "Pendulum-v1", "--num-envs", "4", "--num-steps", "16")
    assert rollouts[0].actions.shape == (16, 4, 1)
    samples, expected = np.float32([[-3.0], [-1.0], [0.0], [0.5], [3.0]]), np.float32([[-2], [-2], [0], [1], [2]])
    with envpool.make_gymnasium(args.task, num_envs=5) as plain:
        options = ppo.pool_options(plain, args.gamma) | {"normalize_obs": False, "clip_obs": None}
        with envpool.make_gymnasium(args.task, num_envs=5, **options) as pool:
            pool.reset(), plain.reset()
            obs = pool.step(ppo.Agent(plain, 8).to_pool(samples))[0]
            np.testing.assert_array_equal(obs, plain.step(expected)[0])


@pytest.mark.parametrize(
    ("space", "actions"), [(Discrete(3), torch.tensor([0, 2, 1, 2])), (Box(-1, 1, (2,)), torch.randn(4, 2))]
)
def test_the_policy_equals_distributions_of_torch(ppo, space, actions):
    """With their gradients, through NumPy's tanh."""
    agent = ppo.Agent(SimpleNamespace(observation_space=Box(-1, 1, (5,)), action_space=space), hidden=8)
    agent.actor[-1].weight.data.normal_()
    agent.log_std.data.normal_()
    inputs, found, expected = torch.randn(4, 5), [], []
    log_probs, entropies, values = agent(inputs, actions)
    found += [log_probs, entropies, values]
    found += torch.autograd.grad((log_probs + entropies + values).sum(), gradients_of(agent))
    hidden = {
        name: nn.Sequential(*(nn.Tanh() if isinstance(x, ppo.Tanh) else x for x in getattr(agent, name)))
        for name in ("actor", "critic")
    }
    outputs, values = hidden["actor"](inputs), hidden["critic"](inputs)[:, 0]
    policy = Categorical(logits=outputs) if agent.is_discrete else Independent(Normal(outputs, agent.log_std.exp()), 1)
    expected += [policy.log_prob(actions), policy.entropy(), values]
    expected += torch.autograd.grad(sum(expected).sum(), gradients_of(agent))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def gradients_of(agent):
    return [x for x in agent.parameters() if x.requires_grad]


@pytest.mark.parametrize("sizes", [(1, 1), (1, 8), (3, 11)])
def test_minibatches_of_one_transition_or_none(ppo, sizes):
    """Their advantages have no standard deviation; the networks must not become NaN."""
    num_envs, num_steps = map(str, sizes)
    args = ["--num-envs", num_envs, "--num-steps", num_steps, "--total-timesteps", "150"]
    assert len(ppo.train(ppo.parse_args(["--task", "CartPole-v1", *args])).values) > 1


def test_options_reach_the_task(ppo):
    options = ["--task", "FrozenLake-v1", "--options", '{"no_such": 1}']
    with pytest.raises(TypeError, match="no_such"):
        ppo.train(ppo.parse_args(options))
