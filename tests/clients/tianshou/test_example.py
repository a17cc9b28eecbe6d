"""The example of Tianshou: PPO learns on a pool."""

from tests.examples.load import assert_learns


def test_learns(tmp_path, capsys):
    assert_learns("tianshou_ppo", 150, tmp_path, capsys)
