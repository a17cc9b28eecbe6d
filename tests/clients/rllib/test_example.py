"""The example of RLlib: PPO learns on a pool."""

from tests.examples.load import assert_learns


def test_learns(tmp_path, capsys):
    assert_learns("rllib_ppo", 100, tmp_path, capsys)
