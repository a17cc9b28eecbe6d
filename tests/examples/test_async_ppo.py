"""PPO on an async pool learns, and weighs its rows by the definition."""

import numpy as np
import pytest
import torch

from tests.examples.load import load


@pytest.fixture(scope="module")
def async_ppo():
    return load("async_ppo")


def collect(async_ppo, count=3, **options):
    """Return data, values, advantages and minibatches of some rollouts of a pool with 6 environments, 2 at a time."""
    args = async_ppo.Args(num_envs=6, num_steps=16, epochs=1, **options)
    rollouts, rows = [], []
    with async_ppo.make_pool(args, batch_size=2) as pool:
        learner = async_ppo.Learner(args, pool)
        learner.descend = lambda *columns: rows.append(columns)
        for _ in range(count):
            data = learner.collect()
            values, advantages, _ = learner.estimate(data)
            with torch.no_grad():
                last = learner.agent.critic(learner.inputs(data.last_obs, 1)).squeeze(1)
            learner.learn(data)
            minibatches = [torch.cat(x) for x in zip(*rows, strict=True)]
            rollouts.append((data, np.concatenate([values, last[None]]), advantages, minibatches))
            rows.clear()
    return args, learner, rollouts


def test_solves_cartpole(async_ppo, capsys):
    async_ppo.main(["--target", "475"])
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
    _, learner, rollouts = collect(async_ppo, 6)
    for data, _, advantages, rows in rollouts:
        assert {len(x) for x in rows} == {data.valid.sum()}
        assert data.lengths.sum() >= 6 * 16 and data.valid.sum() > 60
        assert sorted(rows[4].tolist()) == sorted(advantages[data.valid].tolist())
    first = 6 - 2  # reset() returns the first rows of two environments; those of the others come as results of steps
    assert sum(data.lengths.sum() for data, *_ in rollouts) == learner.step - first
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


def test_continuous_actions(async_ppo):
    """The loss gets the actions as they were drawn, before the pool clipped and scaled them."""
    _, _, rollouts = collect(async_ppo, task="Pendulum-v1")
    for data, *_, (_, actions, log_probs, *_) in rollouts:
        drawn = data.action[data.valid]
        assert sorted(actions[:, 0].tolist()) == sorted(drawn[:, 0].tolist())
        assert np.abs(drawn).max() > 1
        assert sorted(log_probs.tolist()) == sorted(data.log_prob[data.valid].tolist())


def test_observations_that_are_no_array_are_refused(async_ppo):
    with pytest.raises(SystemExit, match="needs an array of observations, and Box or Discrete actions"):
        async_ppo.main(["--task", "CheetahRun-v1", "--num-envs", "2"])
