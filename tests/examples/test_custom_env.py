"""PPO learns a Python environment, and results do not depend on where it runs."""

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from tests.examples.load import load


@pytest.fixture(scope="module")
def custom_env():
    yield load("custom_env")
    gymnasium.registry.pop("Lighthouse-v0")


def test_environment_is_sound(custom_env):
    check_env(gymnasium.make("Lighthouse-v0").unwrapped)


def test_a_few_updates(custom_env, capsys):
    sizes = ["--total-timesteps", "2048", "--num-steps", "32"]
    custom_env.main(sizes)
    first = capsys.readouterr().out
    custom_env.main([*sizes, "--options", '{"workers": "process", "num_threads": 2}'])
    assert first.split(" seed ")[0] == capsys.readouterr().out.split(" seed ")[0]
    with pytest.raises(SystemExit, match="the target 2 was not reached"):
        custom_env.main([*sizes, "--target", "2"])


@pytest.mark.slow
def test_learns(custom_env):
    custom_env.main(["--target", "0.9"])
