"""Means of curves, and the exit of a run that missed its target."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from envpool.training import curves


def test_mean_of_the_last_hundred():
    curve = curves.Curve()
    assert math.isnan(curve.mean)
    for i in range(150):
        assert curve.has_reached(0) == (i >= 100)
        curve.add(i, 10)
        assert curve.mean == np.mean(range(max(i - 99, 0), i + 1))
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


def test_returns_of_a_pool():
    """Only steps in which episodes end count; each episode has the number of steps at its end."""
    returns = curves.Returns()
    for step in range(64):
        returns.add({"finished": {"r": np.array([1.0, 3.0])}} if step % 2 else {}, step)
        assert not returns.has_reached(0)
        assert math.isnan(returns.mean) if step == 0 else returns.mean == 2
    assert returns.values == [1.0, 3.0] * 32
    assert returns.steps == [step for step in range(1, 64, 2) for _ in range(2)]
    returns.add({"finished": {"r": np.full(36, 5.0)}}, 64)
    returns.add({"finished": {"r": np.full(32, 5.0)}}, 65)
    assert returns.mean == pytest.approx((16 * 4 + 68 * 5) / 100)
    assert returns.has_reached(4) and not returns.has_reached(4.5)
