"""Advantages and returns: bit for bit those of the reference, right in every auto-reset mode, and refused mistakes."""

import math

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.rollout import advantages, gae, lambda_returns, nstep_returns, vtrace
from tests.rollout import formulas

FUNCTIONS = ["gae", "vtrace", "lambda_returns", "nstep_returns"]
GAMMA = 0.97


@pytest.mark.parametrize("shape", [(0, 3, 2), (2, 0, 2), (2, 3, 0), (0, 0, 0)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_players_without_elements(name, shape):
    floats, bools = np.zeros(shape), np.zeros(shape, np.bool_)
    required = (floats, floats, np.zeros(shape[1:]), bools, bools)
    for result in call(advantages, name, required, lengths=np.zeros(shape[1], int)):
        assert result.shape == shape


def rollout(steps, columns, dtype, seed=0, ended=0.1):
    """Return random arguments of gae(), and the optional ones as a dict."""
    rng = np.random.default_rng(seed)
    rewards, values, final_values = (rng.normal(size=(steps, columns)).astype(dtype) for _ in range(3))
    terminated, truncated = (rng.random((steps, columns)) < ended for _ in range(2))
    required = (rewards, values, rng.normal(size=columns).astype(dtype), terminated, truncated)
    optional = {
        "final_values": final_values,
        "mask": rng.random((steps, columns)) < 0.9,
        "lengths": rng.integers(0, steps + 1, columns),
    }
    return required, optional


def call(module, name, required, **options):
    """Call a function of a module with arguments of its own besides these; return a list of results."""
    function = getattr(module, name)
    if name == "vtrace":
        log_ratios = np.random.default_rng(1).normal(size=required[0].shape).astype(required[0].dtype)
        clips = {"clip_rho": 1.2, "clip_c": 0.9, "clip_pg_rho": math.inf}
        return list(function(log_ratios, *required, gamma=GAMMA, lam=0.9, **clips, **options))
    if name == "nstep_returns":
        return [function(*required, 3, gamma=GAMMA, **options)]
    results = function(*required, gamma=GAMMA, lam=0.9, **options)
    return list(results) if name == "gae" else [results]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options", [(), ("final_values",), ("mask",), ("lengths",), ("final_values", "mask", "lengths")]
)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (20, 70), (3, 1061), (0, 4), (5, 0)])
def test_bits_of_the_reference(name, options, dtype, shape):
    required, optional = rollout(*shape, dtype)
    chosen = {key: optional[key] for key in options}
    results = call(advantages, name, required, **chosen)
    expected = call(formulas, name, required, **chosen)
    for result, other in zip(results, expected, strict=True):
        assert result.dtype == other.dtype == dtype
        assert result.tobytes() == other.tobytes()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_threads_change_no_bit(name, monkeypatch):
    """Also columns that fill no block and no part of a thread."""
    required, optional = rollout(9, 2500, np.float32)
    one = call(advantages, name, required, **optional, num_threads=1)
    monkeypatch.setattr(advantages, "PER_THREAD", 100)
    for threads in (2, 3, 40, 1000):
        many = call(advantages, name, required, **optional, num_threads=threads)
        assert [a.tobytes() for a in one] == [a.tobytes() for a in many]


def test_number_of_threads(monkeypatch):
    monkeypatch.setattr(advantages, "cpus", lambda: 8)
    small, large = (advantages.Inputs(*rollout(t, 2048, np.float32)[0], None, None, None) for t in (64, 512))
    assert (small.threads(0), small.threads(4)) == (1, 1)
    assert (large.threads(0), large.threads(4), large.threads(1)) == (8, 4, 1)


def test_formulas_agree_with_each_other():
    required, optional = rollout(30, 8, np.float64)
    for options in ({}, optional):
        on = (optional["mask"] if options else np.True_) & (
            np.arange(30)[:, None] < (optional["lengths"] if options else 30)
        )
        returns = gae(*required, gamma=GAMMA, lam=0.9, **options).returns
        np.testing.assert_allclose(lambda_returns(*required, gamma=GAMMA, lam=0.9, **options), returns, atol=1e-12)
        same_policy = vtrace(np.zeros((30, 8)), *required, gamma=GAMMA, lam=0.9, **options)
        np.testing.assert_allclose(same_policy.targets, returns, atol=1e-12)
        one_step = nstep_returns(*required, 1, gamma=GAMMA, **options)
        np.testing.assert_allclose(one_step, gae(*required, gamma=GAMMA, lam=0, **options).returns, atol=1e-12)
        all_steps = nstep_returns(*required, 100, gamma=GAMMA, **options)
        np.testing.assert_allclose(all_steps, gae(*required, gamma=GAMMA, lam=1, **options).returns, atol=1e-12)
        assert not all_steps[~np.broadcast_to(on, (30, 8))].any()


def value_of(obs):
    """A value function that tells observations apart."""
    return np.ascontiguousarray(obs @ np.array([1.0, 3.0, -2.0, 0.5], np.float32))


def collect(mode, steps=60, envs=5):
    """Return the arguments of gae() for a rollout of CartPole, made as docs/rollout.md says for the auto-reset mode."""
    options = {"num_envs": envs, "autoreset_mode": mode, "max_episode_steps": 11, "seed": 3}
    rows = {"rewards": [], "values": [], "terminated": [], "truncated": [], "mask": [], "final_values": []}
    with envpool.make_gymnasium("CartPole-v1", **options) as pool:
        obs, _ = pool.reset()
        rng = {i: np.random.default_rng(i) for i in range(envs)}
        actions = np.array([g.integers(2) for g in rng.values()])
        for _ in range(steps):
            value = value_of(obs)
            obs, reward, terminated, truncated, info = pool.step(actions)
            is_step = info["elapsed_step"] > 0 if mode == "next_step" else np.ones(envs, np.bool_)
            final = value_of(info["final_obs"] if mode == "same_step" else obs)
            ended = terminated | truncated
            if mode == "disabled" and ended.any():
                obs = obs.copy()
                obs[ended] = pool.reset(np.flatnonzero(ended))[0]
            # An action is drawn for each transition only, so that all modes play the same episodes.
            goes_on = ~ended if mode == "next_step" else np.ones(envs, np.bool_)
            actions = np.array([g.integers(2) if goes_on[i] else 0 for i, g in rng.items()])
            row = {"rewards": reward, "values": value, "terminated": terminated, "truncated": truncated}
            for key, array in (row | {"mask": is_step, "final_values": final}).items():
                rows[key].append(array)
        stacked = {key: np.stack(arrays) for key, arrays in rows.items()}
        return stacked | {"last_values": value_of(obs)}


def test_auto_reset_modes_agree():
    """The transitions of the same episodes have the same advantages, up to the end of the last whole episode."""
    results = {}
    for mode in ("next_step", "same_step", "disabled"):
        r = collect(mode)
        assert r["truncated"].any() and r["terminated"].any()
        final_values = None if mode == "next_step" else r["final_values"]
        got = gae(
            r["rewards"], r["values"], r["last_values"], r["terminated"], r["truncated"], mask=r["mask"],
            final_values=final_values, gamma=GAMMA, lam=0.9,
        ).advantages  # fmt: skip
        ended = r["terminated"] | r["truncated"]
        results[mode] = []
        for i in range(got.shape[1]):
            upto = np.flatnonzero(ended[:, i])[-1] + 1
            assert not got[~r["mask"][:, i], i].any()
            results[mode].append(got[:upto, i][r["mask"][:upto, i]])
    for i in range(5):
        short = len(results["next_step"][i])
        assert short > 30
        for mode in ("same_step", "disabled"):
            assert results[mode][i][:short].tobytes() == results["next_step"][i].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_no_transitions_may_hold_anything_if_all_have_the_same_length(dtype):
    """Whole vectors of columns, and columns that fill none."""
    (rewards, *others), optional = rollout(12, 71, dtype)
    del optional["lengths"]
    expected = [a.tobytes() for a in gae(rewards, *others, **optional)]
    rewards = np.where(optional["mask"], rewards, np.nan).astype(dtype)
    truncated_only = others[3] & ~others[2]
    optional["final_values"] = np.where(truncated_only, optional["final_values"], np.nan).astype(dtype)
    assert [a.tobytes() for a in gae(rewards, *others, **optional)] == expected


@pytest.mark.parametrize("column", [0, 7, 63, 64, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_first_number_that_is_not_finite_is_named(column, dtype):
    (rewards, *others), _ = rollout(5, 71, dtype)
    for bad in (np.nan, np.inf, -np.inf):
        rewards[3, column] = bad
        with pytest.raises(ConfigError, match=rf"rewards\[3, {column}\] must be finite, got {bad}"):
            gae(rewards, *others)


def test_rows_that_are_no_transitions_may_hold_anything():
    required, optional = rollout(12, 6, np.float32)
    expected = [a.tobytes() for a in gae(*required, **optional)]
    rewards, values, last_values, terminated, truncated = (a.copy() for a in required)
    beyond = np.arange(12)[:, None] >= optional["lengths"]
    rewards[beyond | ~optional["mask"]] = np.nan
    values[beyond] = np.inf
    final_values = np.where(truncated & ~terminated, optional["final_values"], np.float32(np.nan))
    optional |= {"final_values": final_values}
    assert [a.tobytes() for a in gae(rewards, values, last_values, terminated, truncated, **optional)] == expected


def test_results_in_place():
    required, optional = rollout(6, 4, np.float64)
    out = (np.full((6, 4), 7.0), np.full((6, 4), 7.0))
    result = gae(*required, **optional, out=out)
    assert result.advantages is out[0] and result.returns is out[1]
    assert out[0].tobytes() == gae(*required, **optional).advantages.tobytes()
    returns = np.empty((6, 4))
    assert nstep_returns(*required, 2, out=returns) is returns
    assert lambda_returns(*required, out=returns) is returns


def test_lists_and_tensors():
    torch = pytest.importorskip("torch")
    required, _ = rollout(6, 4, np.float64)
    expected = gae(*required).advantages.tobytes()
    assert gae(*(a.tolist() for a in required)).advantages.tobytes() == expected
    assert gae(*(torch.from_numpy(a) for a in required)).advantages.tobytes() == expected
    tensor = torch.from_numpy(required[1]).requires_grad_()
    with pytest.raises(TypeError, match=r"values must convert to a NumPy array, got Tensor .*grad"):
        gae(required[0], tensor, *required[2:])


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"rewards": np.zeros((3, 2), np.float16)}, ConfigError, "rewards must have the dtype float32 or"),
        ({"rewards": np.zeros(3, np.float32)}, ConfigError, r"rewards must have the shape \(T, N\), got \(3,\)"),
        ({"values": np.zeros((2, 3), np.float32)}, ConfigError, r"values must have the shape \(3, 2\), got \(2, 3\)"),
        ({"values": np.zeros((3, 2))}, ConfigError, "values must have the dtype float32, got float64: use"),
        ({"values": np.zeros((3, 4), np.float32)[:, ::2]}, ConfigError, "values must be C-contiguous.*ascontiguous"),
        ({"last_values": np.zeros(3, np.float32)}, ConfigError, r"last_values must have the shape \(2,\), got \(3,\)"),
        ({"terminated": np.zeros((3, 2))}, ConfigError, r"terminated must have the dtype bool, got float64: use"),
        ({"mask": np.ones((3, 1), np.bool_)}, ConfigError, "mask must have the shape"),
        ({"lengths": [3, 4]}, ConfigError, r"lengths\[1\] must be between 0 and 3, got 4"),
        ({"lengths": [3.0, 2.0]}, ConfigError, "lengths must have the dtype int64 or int32, got float64"),
        ({"gamma": 1.5}, ConfigError, "gamma must be between 0 and 1, got 1.5"),
        ({"lam": math.nan}, ConfigError, "lam must be between 0 and 1, got nan"),
        ({"gamma": "0.9"}, TypeError, "gamma must be a number, got str"),
        ({"num_threads": -1}, ConfigError, "num_threads must be between 0 and .*, got -1"),
        ({"num_threads": 1.0}, TypeError, "num_threads must be an int"),
        ({"out": np.zeros((3, 2), np.float32)}, TypeError, "out must be a tuple of the arrays .advantages, returns"),
        ({"out": (np.zeros((3, 2), np.float32), np.zeros((3, 2)))}, ConfigError, r"out\[1\] \(returns\) must have"),
        ({"out": ([[0.0]], [[0.0]])}, TypeError, r"out\[0\] \(advantages\) must be a numpy.ndarray"),
        ({"rewards": np.array([[1, 2], [3, np.nan], [5, 6]], np.float32)}, ConfigError, r"rewards\[1, 1\] .*, got nan"),
        ({"last_values": np.array([0, np.inf], np.float32)}, ConfigError, r"last_values\[1\] must be finite, got inf"),
        ({"rewards": np.full((3, 2), 3e38, np.float32)}, ConfigError, r"\] would be inf: pass smaller numbers"),
        ({"rewards": {}}, ConfigError, "rewards must have the dtype .*, got object"),
    ],
)  # fmt: skip
def test_mistakes(change, error, text):
    zeros = np.zeros((3, 2), np.float32)
    good = {"rewards": zeros, "values": zeros, "last_values": zeros[0]}
    good |= {"terminated": np.zeros((3, 2), np.bool_), "truncated": np.zeros((3, 2), np.bool_)}
    with pytest.raises(error, match=text):
        gae(**(good | change))


def test_more_mistakes():
    required, _ = rollout(3, 2, np.float32)
    with pytest.raises(ConfigError, match="must not overlap"):
        gae(*required, out=(required[0], np.empty((3, 2), np.float32)))
    one = np.empty((3, 2), np.float32)
    with pytest.raises(ConfigError, match=r"out\[1\] \(returns\) must not overlap"):
        gae(*required, out=(one, one))
    one.flags.writeable = False
    with pytest.raises(ConfigError, match="read-only"):
        lambda_returns(*required, out=one)
    with pytest.raises(ConfigError, match=r"n must be between 1 and .*, got 0"):
        nstep_returns(*required, 0)
    with pytest.raises(ConfigError, match="clip_c must be between 0 and inf, got -1"):
        vtrace(np.zeros((3, 2), np.float32), *required, clip_c=-1)
    with pytest.raises(ConfigError, match=r"log_ratios\[0, 1\] must be finite, got nan"):
        vtrace(np.array([[0, np.nan]] * 3, np.float32), *required)


def test_ratios_without_bound():
    """A ratio that overflows is clipped."""
    required, _ = rollout(3, 2, np.float32)
    log_ratios = np.full((3, 2), 1000, np.float32)
    assert np.isfinite(vtrace(log_ratios, *required).targets).all()
    with pytest.raises(ConfigError, match="would be"):
        vtrace(log_ratios, *required, clip_rho=math.inf)
