"""Domain randomization gives each episode parameters of its own, within the ranges of the training."""

import numpy as np
import pytest

import envpool
from envpool.rollout import Sampler
from tests.examples.load import load


@pytest.fixture(scope="module")
def example():
    return load("domain_randomization")


def test_every_episode_has_parameters_of_its_own(example):
    rng, lengths, episodes = np.random.default_rng(0), [], 0
    with example.make_pool(1) as pool:
        agent, sampler = example.Agent(pool), Sampler(0)
        rollout = envpool.Rollout(pool, example.NUM_STEPS, {"log_prob": np.float32})
        pool.set_params(example.drawn(rng, example.NUM_ENVS))
        obs, _ = rollout.reset()

        def choose(ids, terminated):
            nonlocal episodes
            params = pool.get_params(in_force=True)
            lengths.extend(params["length"][ids].tolist())
            for name, (low, high) in example.RANGES.items():
                assert ((params[name] >= low) & (params[name] <= high)).all()
            episodes += len(ids)
            return example.drawn(rng, len(ids))

        for _ in range(2):
            data, obs = example.collect(pool, rollout, agent, sampler, obs, choose, [])
            np.testing.assert_array_equal(obs, data.last_obs)
    assert len(set(lengths)) == episodes > 2 * example.NUM_ENVS


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
