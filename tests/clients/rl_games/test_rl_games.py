"""rl_games: its trainer, through its own wrapper of a pool and its own configuration of HalfCheetah."""

from pathlib import Path

import numpy as np
import pytest
import rl_games
import torch
import yaml
from rl_games.envs.envpool import Envpool
from rl_games.torch_runner import Runner

EPOCHS = 3


def test_three_epochs_of_half_cheetah(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    path = Path(rl_games.__file__).parent / "configs" / "mujoco" / "halfcheetah_envpool.yaml"
    settings = yaml.safe_load(path.read_text())
    settings["params"]["config"] |= {
        "device": "cpu",
        "torch_compile": False,
        "max_epochs": EPOCHS,
        "num_actors": 16,
        "horizon_length": 128,
        "minibatch_size": 512,
        "env_config": settings["params"]["config"]["env_config"] | {"max_episode_steps": 100},
    }
    runner = Runner()
    runner.load(settings)
    runner.reset()
    runner.run({"train": True})
    (checkpoint,) = tmp_path.glob("runs/*/nn/last_*.pth")
    state = torch.load(checkpoint, weights_only=False)
    assert state["epoch"] == EPOCHS
    assert state["frame"] == EPOCHS * 16 * 128
    assert np.isfinite(state["last_mean_rewards"])


def test_time_outs_tell_which_episodes_were_truncated():
    env = Envpool("", 4, env_name="HalfCheetah-v4", max_episode_steps=3)
    env.reset()
    steps = [env.step(np.zeros((4, 6))) for _ in range(4)]
    assert [info["time_outs"].tolist() for *_, info in steps] == [[False] * 4, [False] * 4, [True] * 4, [False] * 4]
    assert [done.tolist() for _, _, done, _ in steps] == [[False] * 4, [False] * 4, [True] * 4, [False] * 4]


def test_scores_of_games_with_lives():
    env = Envpool("", 2, env_name="Breakout-v5", has_lives=True, episodic_life=True, reward_clip=True)
    assert env.reset().shape == (2, 4, 84, 84)
    total = np.zeros(2)
    rng = np.random.default_rng(0)
    for _ in range(300):
        obs, _, _, info = env.step(rng.integers(0, 4, 2))
        total += info["reward"]
        np.testing.assert_array_equal(info["scores"], total)
        total[info["lives"] == 0] = 0
    assert obs.dtype == np.uint8


@pytest.mark.parametrize("is_dict", [False, True])
def test_further_options_of_the_wrapper(is_dict):
    env = Envpool("", 3, env_name="Breakout-v5", use_dict_obs_space=is_dict)
    obs = env.reset()
    assert (set(obs) == {"observation", "reward", "last_action"}) if is_dict else obs.shape == (3, 4, 84, 84)
    obs, *_ = env.step(np.ones(3, np.int64))
    assert (obs["last_action"].tolist() == [1, 1, 1]) if is_dict else obs.shape == (3, 4, 84, 84)


def test_dict_observations_flattened():
    env = Envpool("", 3, env_name="CheetahRun-v1", flatten_obs=True)
    assert env.get_env_info()["observation_space"].shape == (17,)
    assert env.reset().shape == (3, 17)
    assert env.step(np.zeros((3, 6)))[0].shape == (3, 17)
