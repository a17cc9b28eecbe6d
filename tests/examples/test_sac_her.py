"""SAC with hindsight: its losses follow the definition, its policy can be saved, and it learns FetchReach."""

import json
import math
import re

import numpy as np
import pytest
import torch
from torch.distributions import Normal, TanhTransform, TransformedDistribution

import envpool
from envpool.training import policies
from tests.examples.load import load

SHORT = ["--num-envs", "4", "--random-steps", "100", "--updates-per-step", "0.1", "--hidden", "8"]

CORRIDOR = {"continuing_task": False, "maze_map": [[1, 1, 1, 1], [1, "r", "g", 1], [1, 1, 1, 1]]}


@pytest.fixture(scope="module")
def sac():
    return load("sac_her")


@pytest.fixture
def learner(sac):
    with envpool.make_gymnasium("FetchReach-v4", num_envs=4, seed=2) as pool:
        torch.manual_seed(0)
        yield sac.Learner(sac.Args(num_envs=4, hidden=8), pool)


def test_log_probs_are_those_of_the_squashed_normal(learner):
    inputs = torch.randn(50, 13)
    actions, found = learner.agent(inputs)
    mean, log_std = learner.agent.actor(inputs).double().chunk(2, dim=1)
    squashed = TransformedDistribution(Normal(mean, log_std.exp()), TanhTransform())
    expected = squashed.log_prob(actions.double()).sum(dim=1)
    torch.testing.assert_close(found, expected.float(), atol=1e-3, rtol=1e-3)


def test_every_transition_is_bootstrapped(learner):
    """The target has the smaller discounted value of the next observation, also after the last step of an episode."""
    learner.collect()
    arrays = learner.replay.arrays
    rows = [*np.unique(arrays["last"][: learner.replay.size]), 0, 60]
    assert rows == [49, 99, 149, 199, 0, 60]
    batch = {name: arrays[name][rows] for name in ("next_observation", "goal")}
    batch["reward"] = np.array([-1, 0, -1, 0, -1, 0], np.float32)
    learner.log_coef.data.fill_(-math.inf)  # the entropy does not count
    for target, value in zip(learner.agent.targets, (-4, -6), strict=True):
        target[-1].weight.zero_()
        target[-1].bias.fill_(value)
    np.testing.assert_allclose(learner.critic_targets(batch), batch["reward"] - 0.95 * 6, rtol=1e-6)


def test_policy_file(sac, tmp_path, capsys, monkeypatch):
    """A short run; the file has the same policy, which the command that is printed shows."""
    monkeypatch.setattr(policies, "EPISODES", 3)
    saved = str(tmp_path / "her.pt")
    sac.main([*SHORT, "--total-timesteps", "400", "--save", saved, "--eval", "--plot", str(tmp_path / "curve.png")])
    out = capsys.readouterr().out
    assert "examples/sac_her.py:load --load" in out
    assert re.search(r"FetchReach-v4: success rate 0\.\d\d over the last 8 of 8 episodes", out)
    sac.main(["--eval", saved])
    assert capsys.readouterr().out in out
    obs = {"observation": np.ones((2, 10)), "desired_goal": np.ones((2, 3))}
    assert sac.load(saved)(obs).shape == (2, 4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--task", "Pendulum-v1"], "needs a task with a desired_goal and Box actions"),
        (["--task", "PointMaze_UMaze-v3", "--options", json.dumps(CORRIDOR)], "episodes of PointMaze.* terminate"),
        (["--target", "0.9", "--total-timesteps", "204"], "the target 0.9 was not reached in 204 steps"),
    ],
)
def test_errors(sac, options, text):
    with pytest.raises(SystemExit, match=text):
        sac.main([*SHORT, *options])


@pytest.mark.parametrize("value", ["0", "-0.1", "nan"])
def test_weight_of_the_entropy_that_has_no_logarithm(sac, value, capsys):
    with pytest.raises(SystemExit):
        sac.main([*SHORT, "--entropy-coef", value])
    assert f"--entropy-coef: {value} is not a positive number" in capsys.readouterr().err


@pytest.mark.slow
def test_learns_fetch_reach(sac, capsys):
    """An error ends the run if the target is not reached."""
    sac.main(["--target", "0.9", "--total-timesteps", "10000"])
    assert "FetchReach-v4: success rate 0.9" in capsys.readouterr().out


def test_running_scale(sac):
    rows = np.random.default_rng(0).normal(3.0, 2.0, (1000, 2))
    scale = sac.RunningScale((2,))
    for part in np.split(rows, [1, 50, 400]):
        scale.update(part)
    np.testing.assert_allclose(scale.mean, rows.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(scale.std, rows.std(axis=0), rtol=1e-5)
