"""Domain randomization gives each episode parameters of its own, within the ranges of the training."""

import numpy as np
import pytest

import envpool
from tests.examples.load import load


@pytest.fixture(scope="module")
def example():
    return load("domain_randomization")


def test_every_episode_has_parameters_of_its_own(example):
    seen = set()
    with envpool.make_gymnasium(example.TASK, num_envs=4, max_episode_steps=5, randomize=example.RANDOMIZE) as pool:
        pool.reset()
        for _ in range(60):
            pool.step(np.zeros(4, np.int32))
            params = pool.get_params(in_force=True)
            seen |= set(params["length"].tolist())
            for name, (low, high) in example.RANGES.items():
                assert ((params[name] >= low) & (params[name] <= high)).all()
    assert 35 <= len(seen) <= 45  # an episode has 5 steps and a reset


def test_evaluation_has_one_episode_per_environment(example):
    class Left:
        @staticmethod
        def best(obs):
            return np.zeros(len(obs), np.int32)

    returns = example.returns_of(Left, 20, 3, length=np.geomspace(0.1, 30, 20))
    assert 1 < returns.min() < 10 < 20 < returns.max() < 100  # a long pole falls slowly


def test_a_few_updates(example, tmp_path, capsys):
    picture = tmp_path / "randomization.png"
    sizes = ["--total-timesteps", "8192", "--episodes", "3"]
    results = example.main([*sizes, "--plot", str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "trained on random carts: mean return " in capsys.readouterr().out
    assert all(means["tau"].shape == (13,) for _, means in results.values())
    with pytest.raises(SystemExit, match="the target 501 was not reached"):
        example.main(["--total-timesteps", "4096", "--episodes", "1", "--target", "501"])
