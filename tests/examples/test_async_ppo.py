"""PPO on an async pool learns, and weighs its rows by the definition."""

import numpy as np
import pytest

from tests.examples.load import load


@pytest.fixture(scope="module")
def async_ppo():
    return load("async_ppo")


def collect(async_ppo, count=3):
    """Return the data, rewards and advantages of some rollouts of a pool with 6 environments, 2 at a time."""
    args = async_ppo.Args(num_envs=6, num_steps=16)
    rollouts = []
    env, agent = async_ppo.ppo.begin(args, batch_size=2)
    with env:
        rollout = async_ppo.Rollout(args, env, agent, async_ppo.ppo.Returns())
        for _ in range(count):
            rollout.collect()
            rollout.estimate_advantages(args.gamma, args.gae_lambda)
            values = np.concatenate([rollout.values, rollout.last_values[None]])
            rollouts.append((rollout.data, values, rollout.advantages.numpy(), rollout.transitions()))
    return args, rollout, rollouts


def test_solves_cartpole(async_ppo, capsys):
    async_ppo.ppo.main(["--target", "475"], args_class=async_ppo.Args, train=async_ppo.train)
    assert "CartPole-v1: mean return " in capsys.readouterr().out


def test_advantages_equal_the_definition(async_ppo):
    """The sum of (gamma lambda)^k delta up to the end of the episode, or of the steps of the environment."""
    args, _, rollouts = collect(async_ppo)
    for data, all_values, advantages, _ in rollouts:
        for i, length in enumerate(data.lengths):
            values = np.append(all_values[:length, i], all_values[-1, i])
            for start in np.flatnonzero(data.valid[:, i]):
                expected, weight = 0.0, 1.0
                for t in range(start, length):
                    bootstrap = 0.0 if data.terminated[t, i] else args.gamma * values[t + 1]
                    expected += weight * (data.reward[t, i] + bootstrap - values[t])
                    weight *= args.gamma * args.gae_lambda
                    if data.done[t, i]:
                        break
                assert advantages[start, i] == pytest.approx(expected, abs=1e-4)


def test_every_transition_is_learnt_from_once(async_ppo):
    _, rollout, rollouts = collect(async_ppo, 6)
    for data, _, advantages, rows in rollouts:
        assert {len(x) for x in rows} == {data.valid.sum()}
        assert data.lengths.sum() >= 6 * 16 and data.valid.sum() > 60
        assert rows[3].numpy().tobytes() == advantages[data.valid].tobytes()
    first = 6 - 2  # reset() returns the first rows of two environments; those of the others come as results of steps
    assert sum(data.lengths.sum() for data, *_ in rollouts) == rollout.step - first
    assert any(data.done.any() for data, *_ in rollouts)


def test_rows_after_an_end_only_start_an_episode(async_ppo):
    _, _, rollouts = collect(async_ppo, 6)
    found = 0
    for data, *_ in rollouts:
        for t, i in np.argwhere(data.done):
            if t + 1 < data.lengths[i]:
                assert not data.valid[t + 1, i]
                found += 1
    assert found
