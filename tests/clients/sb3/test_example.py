"""The example of Stable-Baselines3: PPO learns on a pool."""

from tests.examples.load import assert_learns


def test_learns(tmp_path, capsys):
    assert_learns("sb3_ppo", 200, tmp_path, capsys)
