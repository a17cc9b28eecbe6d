"""Actions of policies: the draws of NumPy's generator, the right probabilities, and refused mistakes."""

import copy
import math
import pickle

import numpy as np
import pytest

from envpool.errors import ConfigError
from envpool.rollout import Sampler
from envpool.sampling.sampler import as_sampler

FLOATS = [np.float32, np.float64]


def softmax(logits):
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def normal_logits(shape, dtype=np.float64, seed=0):
    return (3 * np.random.default_rng(seed).normal(size=shape)).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (50, 1), (300, 7)])
def test_categorical(dtype, shape):
    """One uniform number of NumPy's per row, looked up in the running sums of the probabilities."""
    logits = normal_logits(shape, dtype)
    actions, log_probs, entropies = Sampler(5).categorical(logits)
    assert (actions.dtype, log_probs.dtype, entropies.dtype) == (np.int64, dtype, dtype)
    assert actions.shape == log_probs.shape == entropies.shape == shape[:1]
    p = softmax(logits)
    uniform = np.random.default_rng(5).random(shape[0])
    assert np.array_equal(actions, (np.cumsum(p, axis=1) <= uniform[:, None]).sum(axis=1))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(log_probs, np.log(p[np.arange(len(p)), actions]), atol=tolerance)
    np.testing.assert_allclose(entropies, -(p * np.log(p)).sum(axis=1), atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATS)
def test_multi_categorical(dtype):
    """The same as one distribution after the other, row by row."""
    nvec = [3, 1, 5]
    logits = normal_logits((40, 9), dtype)
    actions, log_probs, entropies = Sampler(1).multi_categorical(logits, nvec)
    sampler = Sampler(1)
    for row, action, log_prob, entropy in zip(logits, actions, log_probs, entropies, strict=True):
        parts = [sampler.categorical(part[None]) for part in np.split(row, np.cumsum(nvec)[:-1])]
        assert [int(part.actions[0]) for part in parts] == action.tolist()
        assert log_prob == pytest.approx(sum(part.log_probs[0] for part in parts), abs=1e-5)
        assert entropy == pytest.approx(sum(part.entropies[0] for part in parts), abs=1e-5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("per_row", [False, True])
def test_gaussian(dtype, per_row):
    """The standard normal numbers of NumPy's generator."""
    rng = np.random.default_rng(0)
    mean, log_std = rng.normal(size=(30, 4)).astype(dtype), rng.normal(size=(30, 4)).astype(dtype)
    if not per_row:
        log_std = log_std[3].copy()
    actions, log_probs, entropies = Sampler(2).gaussian(mean, log_std)
    z = np.random.default_rng(2).standard_normal((30, 4))
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(actions, mean + np.exp(log_std) * z, **tolerance)
    np.testing.assert_allclose(log_probs, (-(z**2) / 2 - log_std - math.log(2 * math.pi) / 2).sum(axis=1), **tolerance)
    expected = np.broadcast_to((0.5 + math.log(2 * math.pi) / 2 + log_std).sum(axis=-1), 30)
    np.testing.assert_allclose(entropies, expected, **tolerance)
    assert actions.dtype == log_probs.dtype == entropies.dtype == dtype


def test_values_of_torch():
    torch = pytest.importorskip("torch")
    logits = normal_logits((50, 6), np.float32)
    sample = Sampler(0).categorical(torch.from_numpy(logits))
    theirs = torch.distributions.Categorical(logits=torch.from_numpy(logits))
    np.testing.assert_allclose(sample.log_probs, theirs.log_prob(torch.from_numpy(sample.actions)), atol=1e-5)
    np.testing.assert_allclose(sample.entropies, theirs.entropy(), atol=1e-5)
    mean, log_std = normal_logits((50, 3), np.float32), np.array([-1, 0, 1], np.float32)
    sample = Sampler(0).gaussian(mean, log_std)
    normal = torch.distributions.Normal(torch.from_numpy(mean), torch.from_numpy(np.exp(log_std)))
    np.testing.assert_allclose(sample.log_probs, normal.log_prob(torch.from_numpy(sample.actions)).sum(1), atol=1e-4)
    np.testing.assert_allclose(sample.entropies, normal.entropy().sum(1), atol=1e-5)


def test_frequencies():
    logits = np.tile(np.log([0.5, 0.3, 0.2]), (20_000, 1))
    counts = np.bincount(Sampler(0).categorical(logits).actions, minlength=3)
    assert np.abs(counts / 20_000 - [0.5, 0.3, 0.2]).max() < 0.01


def test_impossible_actions_are_never_drawn():
    logits = np.tile(np.array([-np.inf, 0, -np.inf, 1, -np.inf]), (5000, 1))
    actions, log_probs, entropies = Sampler(0).categorical(logits)
    assert set(actions.tolist()) == {1, 3}
    assert np.isfinite(log_probs).all()
    p = 1 / (1 + math.e)
    assert entropies[0] == pytest.approx(-p * math.log(p) - (1 - p) * math.log(1 - p))
    only_one = Sampler(0).categorical(np.tile(np.array([-np.inf, -7.0]), (100, 1)))
    assert (only_one.actions == 1).all() and not only_one.log_probs.any() and not only_one.entropies.any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_logits_far_apart(dtype):
    logits = np.array([[1e30, 0, -1e30], [-1e30, -1e30, -1e30]], dtype)
    actions, log_probs, _ = Sampler(0).categorical(logits)
    assert actions[0] == 0 and log_probs.tolist() == pytest.approx([0, -math.log(3)])


def test_results_in_place():
    logits = normal_logits((6, 3), np.float32)
    out = (np.zeros(6, np.int64), np.zeros((2, 6), np.float32)[1], np.zeros(6, np.float32))
    sample = Sampler(3).categorical(logits, out=out)
    assert all(a is b for a, b in zip(sample, out, strict=True))
    assert [a.tobytes() for a in out] == [a.tobytes() for a in Sampler(3).categorical(logits)]


@pytest.mark.parametrize("seed", [0, 7, 2**32, 2**100 + 3, [1], [5, 2**40], (0, 0), np.int64(9)])
def test_permutations_and_seeds_are_those_of_numpy(seed):
    expected = np.random.default_rng(seed)
    sampler = Sampler(seed)
    for n in (10, 1, 0, 1000, 3):
        assert np.array_equal(sampler.permutation(n), expected.permutation(n))


def test_copies_and_pickles_continue_with_the_same_numbers():
    sampler = Sampler()
    sampler.permutation(3)  # leaves half of a 64-bit draw
    others = [copy.copy(sampler), copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))]
    expected = sampler.permutation(100).tolist()
    assert all(other.permutation(100).tolist() == expected for other in others)
    assert Sampler().permutation(100).tolist() != Sampler().permutation(100).tolist()


def test_a_state_of_another_size_is_refused():
    with pytest.raises(ValueError, match="state must have 40 bytes, got 3"):
        Sampler(0).draws.set_state(b"abc")


def test_as_sampler():
    sampler = Sampler(0)
    assert as_sampler(sampler) is sampler
    assert as_sampler(4).permutation(50).tolist() == Sampler(4).permutation(50).tolist()
    rngs = [np.random.default_rng(0), np.random.Generator(np.random.MT19937(0))]
    for rng in rngs:
        assert as_sampler(rng).permutation(50).tolist() != as_sampler(rng).permutation(50).tolist()
    for wrong in ("0", 1.5, True, np.random.RandomState(0)):
        with pytest.raises(TypeError, match="rng must be a"):
            as_sampler(wrong)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s: s.categorical(np.zeros((2, 0))), ConfigError, "at least one action"),
        (lambda s: s.categorical(np.zeros(2)), ConfigError, r"logits must have the shape \(B, A\), got \(2,\)"),
        (lambda s: s.categorical(np.zeros((2, 2), np.int64)), ConfigError, "logits must have .*, got int64"),
        (lambda s: s.categorical(np.zeros((2, 4))[:, ::2]), ConfigError, "logits must be C-contiguous"),
        (lambda s: s.categorical([[0.0, 1.0], [0.0, math.nan]]), ConfigError, r"logits\[1\] must .* got \[0.0, nan\]"),
        (lambda s: s.categorical([[0.0, math.inf]]), ConfigError, r"logits\[0\] must be .*, got \[0.0, inf\]"),
        (lambda s: s.categorical([[-math.inf, -math.inf]]), ConfigError, "one of each distribution must be finite"),
        (lambda s: s.categorical([[0.0]], out=(1, 2)), TypeError, r"out must be a tuple of the arrays \(actions"),
        (lambda s: s.multi_categorical([[0.0]], [2]), ConfigError, r"logits .* the shape \(B, 2\), got \(1, 1\)"),
        (lambda s: s.multi_categorical([[0.0]], [1, 0]), ConfigError, r"nvec must be .*, got \[1, 0\]"),
        (lambda s: s.multi_categorical([[0.0]], []), ConfigError, "nvec must have the dtype .*, got float64"),
        (lambda s: s.gaussian([[0.0]], [0.0, 1.0]), ConfigError, r"log_std must have the shape \(1,\), got \(2,\)"),
        (lambda s: s.gaussian(np.zeros((1, 1), np.float32), [0.0]), ConfigError, "log_std must have .*, got float64"),
        (lambda s: s.gaussian([[0.0], [math.nan]], [0.0]), ConfigError, r"mean\[1\], .* got the mean \[nan\]"),
        (lambda s: s.gaussian([[0.0]], [[800.0]]), ConfigError, r"the log_std \[800.0\]"),
        (lambda s: s.gaussian([[0.0]], [-math.inf]), ConfigError, "finite and not 0"),
        (lambda s: s.permutation(-1), ConfigError, "n must be between 0 and .*, got -1"),
        (lambda s: s.permutation("3"), TypeError, "n must be an int"),
        (lambda s: Sampler(-1), ConfigError, "seed must be "),
        (lambda s: Sampler([]), ConfigError, r"seed must have at least one int, got \[\]"),
        (lambda s: Sampler([1, 0.5]), TypeError, r"seed\[1\] must be an int"),
    ],
)  # fmt: skip
def test_mistakes(call, error, text):
    """A call that raises has drawn nothing."""
    sampler = Sampler(0)
    with pytest.raises(error, match=text):
        call(sampler)
    assert sampler.permutation(20).tolist() == Sampler(0).permutation(20).tolist()
