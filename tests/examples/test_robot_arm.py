"""The example of a model of your own: the arm can reach every ball, and PPO begins to."""

import numpy as np
import pytest
import torch

import envpool
from envpool.training import policies
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
    example.main(["--num-envs", "16", "--total-timesteps", "3200"])
    assert "RobotArmReach-v0: mean return" in capsys.readouterr().out


def test_a_loaded_policy_acts_on_the_task_as_it_is(example, tmp_path, monkeypatch):
    agents, path = [], str(tmp_path / "arm.pt")
    use = policies.use
    monkeypatch.setattr(policies, "use", lambda args, agent, *rest: (agents.append(agent), use(args, agent, *rest)))
    example.main(["--num-envs", "4", "--total-timesteps", "800", "--save", path])
    act, options = example.load(path), {"normalize_obs": True, "clip_obs": example.CLIP}
    with envpool.make_gymnasium(example.TASK, num_envs=5) as pool:
        obs, _ = pool.reset()
        for _ in range(3):
            actions = act(obs)
            np.testing.assert_array_equal(actions, agents[0].best(obs))
            obs = pool.step(actions)[0]
    scale = agents[0].scale
    with envpool.make_gymnasium(example.TASK, num_envs=5, seed=1, **options) as pool:
        pool.normalization.set(
            pool.normalization.get() | {"obs.mean": scale.mean, "obs.var": scale.std**2 - 1e-8, "obs.count": 1e6}
        )
        pool.normalization.is_frozen = True
        seen, _ = pool.reset()
        with envpool.make_gymnasium(example.TASK, num_envs=5, seed=1) as plain, torch.no_grad():
            means = agents[0].actor(torch.from_numpy(seen).float()).clamp(-1, 1)
            np.testing.assert_allclose(act(plain.reset()[0]), means, atol=1e-5)


@pytest.mark.slow
def test_ppo_learns(example):
    example.main(["--target", "75"])
