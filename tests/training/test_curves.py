"""Means of curves, and the exit of a run that missed its target."""

import math
from types import SimpleNamespace

import pytest

from envpool.training import curves


def test_mean_of_the_last_hundred():
    curve = curves.Curve()
    for i in range(150):
        assert math.isnan(curve.mean) == (i < 100)
        curve.add(i, 10)
    assert curve.mean == sum(range(50, 150)) / 100
    assert curve.steps == list(range(10, 1510, 10))


def test_a_missed_target_fails(capsys):
    curve = curves.Curve()
    args = SimpleNamespace(task="CartPole-v1", seed=1, plot=None, target=10.0)
    with pytest.raises(SystemExit, match="the target 10 was not reached"):
        curve.report(args, "PPO")
    for _ in range(100):
        curve.add(10, 5)
    curve.report(args, "PPO")
    assert (
        "PPO on CartPole-v1: mean return 10.0 over the last 100 of 100 episodes, 500 steps" in capsys.readouterr().out
    )
