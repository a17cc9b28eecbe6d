"""The oracles and comparisons themselves: they find differences wherever they are, and count them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from envpool.sampling.sequences import make_actions
from envpool.verify.bits import bits_apart
from envpool.verify.records import leaves
from tests.support.oracles.gymnasium_oracle import Upstream, assert_exact, reference
from tests.support.oracles.pool_runner import run_pool
from tests.support.oracles.trajectory import Trajectory, compare

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("expected", "actual", "dtype", "bits"),
    [
        ([0.0, 1.0], [-0.0, 1.0], np.float32, [1, 0]),
        ([1.0], [np.nextafter(np.float64(1), 2)], np.float64, [1]),
        ([NAN, -NAN, NAN], [NAN, NAN, -NAN], np.float32, [0, 0, 0]),
        ([INF, INF], [INF, -INF], np.float64, [0, 1]),
        ([3, -1], [2, -1], np.int32, [1, 0]),
        ([True, False], [True, True], np.bool_, [0, 1]),
    ],
)
def test_bits_apart(expected: list[Any], actual: list[Any], dtype: type, bits: list[int]) -> None:
    assert bits_apart(np.array(expected, dtype), np.array(actual, dtype)).tolist() == bits


def test_nan_on_one_side_only_differs() -> None:
    assert bits_apart(np.array([NAN]), np.array([1.0]))[0] > 0


def test_integers_compare_by_value_and_floats_by_type() -> None:
    assert bits_apart(np.array([7], np.int64), np.array([7], np.uint8)).tolist() == [0]
    with pytest.raises(AssertionError, match="types float64 and float32"):
        bits_apart(np.zeros(1), np.zeros(1, np.float32))
    with pytest.raises(AssertionError, match="shapes"):
        bits_apart(np.zeros(1), np.zeros(2))


def test_leaves_are_named_like_the_pools_arrays() -> None:
    assert [n for n, _ in leaves({"a": {"b": 1}, "c": 2}, "obs")] == ["obs:a.b", "obs:c"]
    assert [n for n, _ in leaves(1.0, "obs")] == ["obs"]
    assert list(leaves({}, "info")) == []


def trajectory(**arrays: np.ndarray) -> Trajectory:
    records, num_envs = next(iter(arrays.values())).shape[:2]
    return Trajectory(records, num_envs, dict(arrays))


def test_the_earliest_difference_is_told() -> None:
    expected = trajectory(obs=np.zeros((3, 2, 4)), reward=np.zeros((3, 2)))
    actual = trajectory(obs=np.zeros((3, 2, 4)), reward=np.zeros((3, 2)))
    assert str(compare(expected, actual)) == "no bit differs"
    actual.arrays["obs"][2, 1, 3] = -0.0
    actual.arrays["reward"][1, 0] = -0.0
    differences = compare(expected, actual)
    assert differences.bits == {"obs": 1, "reward": 1}
    assert differences.first.startswith("reward of env 0, record 1")


def test_missing_and_unexpected_arrays_are_refused() -> None:
    both = {"obs:a": np.zeros((1, 1)), "obs:b": np.zeros((1, 1))}
    one = trajectory(**{"obs:a": np.zeros((1, 1))})
    with pytest.raises(AssertionError, match="missing are"):
        compare(trajectory(**both), one)
    with pytest.raises(AssertionError, match="obs:b"):
        compare(one, trajectory(**both))


def test_values_that_upstream_lacks_are_not_compared() -> None:
    expected, actual = Trajectory(2, 1), trajectory(**{"info:x": np.ones((2, 1))})
    expected.put_known("info:x", (1, 0), 1.0)
    assert compare(expected, actual).total == 0
    actual.arrays["info:x"][1, 0] = 2
    assert compare(expected, actual).total > 0


@pytest.mark.parametrize("batch_size", [0, 3])
def test_another_seed_option_or_action_differs(batch_size: int) -> None:
    space = spaces.Discrete(2)
    actions, others = (make_actions(space, "random", 50, 4, seed) for seed in (0, 1))
    seeds = [0, 1, 2, 3]
    expected = reference(Upstream("CartPole-v1"), actions, seeds)

    def bits(actions: Any, seeds: Any, **options: Any) -> dict[str, int]:
        return compare(expected, run_pool("CartPole-v1", actions, seeds, batch_size=batch_size, **options)).bits

    assert not any(bits(actions, seeds).values())
    assert bits(others, seeds)["obs"] > 0
    assert bits(actions, [0, 1, 2, 4])["obs"] > 0
    assert bits(actions, seeds, sutton_barto_reward=True)["reward"] > 0
    assert bits(actions, seeds, max_episode_steps=5)["truncated"] > 0


def test_too_few_episodes_are_refused() -> None:
    with pytest.raises(AssertionError, match="0 episodes ended, 1 are needed"):
        assert_exact("CartPole-v1", num_envs=1, steps=3)


def test_discrete_actions() -> None:
    space = spaces.Discrete(3, start=2)
    assert set(np.unique(make_actions(space, "random", 50, 4))) == {2, 3, 4}
    assert set(np.unique(make_actions(space, "boundary", 50, 4))) == {2, 4}
    sticky = make_actions(space, "sticky", 500, 4)
    assert set(np.unique(sticky)) == {2, 4}
    assert (sticky[1:] == sticky[:-1]).mean() > 0.9
    with pytest.raises(ValueError, match=r"mode must be one of random, boundary, sticky for Discrete\(3, start=2\)"):
        make_actions(space, "out_of_range", 5, 4)
    with pytest.raises(ValueError, match="mode must be one of"):
        make_actions(space, "wild", 5, 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_continuous_actions(dtype: Any) -> None:
    space = spaces.Box(-2, 2, (3,), dtype)
    made = {m: make_actions(space, m, 400, 4) for m in ("random", "boundary", "sticky", "out_of_range", "non_finite")}
    for actions in made.values():
        assert actions.shape == (400, 4, 3)
        assert actions.dtype == dtype
    for mode in ("random", "boundary", "sticky"):
        assert np.abs(made[mode]).max() <= 2
    assert {-2, 2} <= set(np.unique(made["boundary"]))
    assert (made["out_of_range"] > 2).any()
    assert (made["out_of_range"] < -2).any()
    assert np.isfinite(made["out_of_range"]).all()
    assert np.isnan(made["non_finite"]).any()
    assert np.isinf(made["non_finite"]).any()
    assert np.isfinite(made["non_finite"]).mean() > 0.9
    infinite = make_actions(space, "infinite", 400, 4)
    assert np.isinf(infinite).any() and not np.isnan(infinite).any()


def test_actions_depend_on_env_and_record_only() -> None:
    space = spaces.Dict({"a": spaces.Discrete(5), "b": spaces.Box(0, 1, (2,), np.float32)})
    one, two = (make_actions(space, "random", 20, 3, seed=4) for _ in range(2))
    assert list(one) == ["a", "b"]
    assert all(np.array_equal(one[k], two[k]) for k in one)
