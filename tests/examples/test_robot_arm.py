"""The example of a model of your own: the arm can reach every ball, and PPO begins to."""

import numpy as np
import pytest

import envpool
from tests.examples.load import load


@pytest.fixture(scope="module")
def example():
    return load("robot_arm")


def test_the_task(example):
    with envpool.make_gymnasium(example.TASK, num_envs=16, seed=3) as env:
        obs, info = env.reset()
        assert obs.shape == (16, 18)
        assert len(np.unique(obs[:, -3:])) == 48  # every ball is somewhere else
        np.testing.assert_allclose(np.linalg.norm(obs[:, -3:], axis=1), info["distance"])
        low, high = (env.spec.config.declaration.reset[-1].low, env.spec.config.declaration.reset[-1].high)
        balls = obs[:, -3:] + obs[:, -6:-3]
        assert ((balls >= low) & (balls <= high)).all()
        obs, reward, terminated, _, info = env.step(np.zeros((16, 4)))
        np.testing.assert_allclose(reward, info["terms"]["reach"] + info["terms"]["speed"], rtol=1e-6)
        assert not terminated.any()
        assert (reward < 1).all()


def test_the_arm_that_hits_the_floor_ends_an_episode(example):
    with envpool.make_gymnasium(example.TASK, num_envs=1) as env:
        env.reset()
        ended = False
        for _ in range(60):
            _, _, terminated, _, info = env.step(np.array([[0.0, 1.0, 0.5, 0.0]]))
            assert terminated[0] == info["terms"]["contact"][0]
            ended |= terminated[0]
        assert ended


def test_a_few_updates(example, capsys):
    load("ppo").main(["--num-envs", "16", "--total-timesteps", "3200"], example.Args)
    assert "RobotArmReach-v0: mean return" in capsys.readouterr().out


@pytest.mark.slow
def test_ppo_learns(example):
    load("ppo").main(["--target", "75"], example.Args)
