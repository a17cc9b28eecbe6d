"""SAC: actions are scaled to the bounds and back, its targets follow the definition, and it learns Pendulum."""

import math
import re

import numpy as np
import pytest
import torch

import envpool
from tests.examples.load import load

SHORT = ["--total-timesteps", "200", "--random-steps", "60", "--updates-per-step", "0.1", "--hidden", "8"]


@pytest.fixture(scope="module")
def sac():
    return load("sac")


@pytest.mark.parametrize("options", [[], ["--task", "HalfCheetah-v5", "--n-step", "3"]])
def test_short_runs(sac, options, tmp_path, capsys):
    curve = tmp_path / "curve.png"
    sac.main([*SHORT, *options, "--plot", str(curve)])
    assert re.search(r"mean return (-\d+\.\d|nan) over the last \d+ of", capsys.readouterr().out)
    assert curve.read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def learner(sac):
    with envpool.make_gymnasium("Pendulum-v1", num_envs=4, max_episode_steps=5) as pool:
        torch.manual_seed(0)
        learner = sac.Learner(sac.Args(num_envs=4, hidden=8), pool)
        for _ in range(12):
            learner.collect(0)
        yield learner


def test_actions_are_scaled(learner):
    actions = torch.tensor([[-1.0], [0.5], [1.0]])
    np.testing.assert_array_equal(learner.agent.to_pool(actions), [[-2], [1], [2]])
    torch.testing.assert_close(learner.agent.from_pool(torch.tensor([[-2.0], [1.0], [2.0]])), actions)


def test_truncated_episodes_are_bootstrapped(learner, monkeypatch):
    """The critics move towards reward + discount * the smaller value of the targets, also after a truncation."""
    batch = learner.buffer.transitions(learner.buffer.indices())
    assert not batch.terminated.any()
    np.testing.assert_allclose(batch.discount, 0.99)
    monkeypatch.setattr(learner.buffer, "sample", lambda n: batch, raising=False)
    learner.log_coef.data.fill_(-math.inf)  # the entropy does not count
    for critics, values in ((learner.agent.critics, (0, 0)), (learner.agent.targets, (-4, -6))):
        for critic, value in zip(critics, values, strict=True):
            critic[-1].weight.data.zero_()
            critic[-1].bias.data.fill_(value)
    learner.update()
    expected = 2 * (0 - (batch.reward - 0.99 * 6)).mean() / 2  # each critic has half of the mean
    for critic in learner.agent.critics:
        np.testing.assert_allclose(critic[-1].bias.grad.item(), expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--task", "CartPole-v1"], "needs an array of observations and bounded Box actions"),
        (["--target", "0"], "the target 0 was not reached in 200 steps"),
    ],
)
def test_errors(sac, options, text):
    with pytest.raises(SystemExit, match=text):
        sac.main([*SHORT, *options])


@pytest.mark.slow
def test_learns_pendulum(sac, capsys):
    """An error ends the run if the target is not reached."""
    sac.main(["--target", "-400"])
    assert "Pendulum-v1: mean return " in capsys.readouterr().out
