"""DQN: its updates follow the definition, in all variants, and it learns CartPole."""

import re

import numpy as np
import pytest
import torch

import envpool
from tests.examples.load import load

SHORT = ["--num-envs", "4", "--total-timesteps", "300", "--learning-starts", "60", "--steps-per-phase", "40"]
SHORT += ["--updates-per-phase", "3", "--batch-size", "8", "--hidden", "8", "--exploration-steps", "100"]
SMALL = '{"img_height": 36, "img_width": 36, "noop_max": 1, "max_episode_steps": 20}'


@pytest.fixture(scope="module")
def dqn():
    return load("dqn")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--n-step", "3", "--prioritized", "--target-every", "2"],
        ["--task", "Pong-v5", "--options", SMALL],
    ],
)
def test_short_runs(dqn, options, tmp_path, capsys):
    curve = tmp_path / "curve.png"
    dqn.main([*SHORT, *options, "--plot", str(curve)])
    assert re.search(r"mean return (-?\d+\.\d|nan) over the last \d+ of", capsys.readouterr().out)
    assert curve.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("vanilla", [False, True])
def test_targets(dqn, vanilla):
    """The target network says what the next action is worth; the other network chooses it, unless `vanilla`."""
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, autoreset_mode="same_step") as pool:
        learner = dqn.Learner(dqn.Args(num_envs=2, hidden=4, gamma=0.9, n_step=1, vanilla=vanilla), pool)
        for _ in range(30):
            learner.collect()
        learner.buffer.sample = lambda n: batch
        batch = learner.buffer.transitions(learner.buffer.indices())
        assert batch.terminated.any()
        np.testing.assert_allclose(batch.discount, np.where(batch.terminated, 0, 0.9), rtol=1e-6)
        obs, following = torch.from_numpy(batch.obs), torch.from_numpy(batch.next_obs)
        for parameter in learner.target.parameters():
            parameter.copy_(torch.randn_like(parameter))
        with torch.no_grad():
            rows = torch.arange(len(obs))
            chooses = learner.target if vanilla else learner.network
            worth = learner.target(following)[rows, chooses(following).argmax(dim=1)]
            targets = batch.reward + 0.9 * ~batch.terminated * worth.numpy()
            expected = np.square(learner.network(obs)[rows, batch.action].numpy() - targets).mean()
        before = dqn.mse_loss
        found = []
        dqn.mse_loss = lambda *args, **more: found.append(before(*args, **more)) or found[-1]
        try:
            learner.update()
        finally:
            dqn.mse_loss = before
        np.testing.assert_allclose(found[0].mean().item(), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--task", "Pendulum-v1"], "needs an array of observations and discrete actions"),
        (["--target", "500"], "the target 500 was not reached in 300 steps"),
    ],
)
def test_errors(dqn, options, text):
    with pytest.raises(SystemExit, match=text):
        dqn.main([*SHORT, *options])


@pytest.mark.slow
def test_learns_cartpole(dqn, capsys):
    """An error ends the run if the target is not reached."""
    dqn.main(["--target", "475"])
    assert "CartPole-v1: mean return " in capsys.readouterr().out
