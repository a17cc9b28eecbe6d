"""Minibatches: each row once, in the order of a seeded permutation; sequences with burn-in."""

import numpy as np
import pytest

from envpool.errors import ConfigError
from envpool.rollout import Sampler, sequences, shuffled, whole_envs

T, N = 13, 5


def random_mask(seed=0):
    return np.random.default_rng(seed).random((T, N)) < 0.8


def test_shuffled_rows_are_parts_of_a_permutation():
    blocks = list(shuffled(20, 6, 3))
    assert [len(block) for block in blocks] == [6, 6, 6, 2]
    assert np.array_equal(np.concatenate(blocks), np.random.default_rng(3).permutation(20))
    assert [len(block) for block in shuffled(20, 6, 3, drop_last=True)] == [6, 6, 6]
    assert [len(block) for block in shuffled(18, 6, 3, drop_last=True)] == [6, 6, 6]
    assert list(shuffled(0, 6, 3)) == []
    assert [len(block) for block in shuffled(3, 6, 3)] == [3]


def test_shuffled_rows_of_a_mask():
    mask = random_mask()
    rows = np.concatenate(list(shuffled(mask, 4, 0)))
    assert np.array_equal(np.sort(rows), np.flatnonzero(mask))
    assert not np.array_equal(rows, np.sort(rows))


def test_one_generator_for_several_epochs():
    """Each epoch draws anew, also if its minibatches are not used up."""
    sampler = Sampler(1)
    epochs = [shuffled(100, 10, sampler) for _ in range(2)]
    expected = np.random.default_rng(1)
    for epoch in epochs:
        assert np.array_equal(np.concatenate(list(epoch)), expected.permutation(100))


def test_whole_envs():
    mask = random_mask()
    batches = list(whole_envs((T, N), 2, 0, mask=mask))
    assert [batch.rows.shape for batch in batches] == [(T, 2), (T, 2), (T, 1)]
    data = np.arange(T * N).reshape(T, N)
    envs = np.concatenate([batch.rows[0] for batch in batches])
    assert envs.tolist() == np.random.default_rng(0).permutation(N).tolist()
    for batch in batches:
        assert np.array_equal(data.ravel()[batch.rows], data[:, batch.rows[0]])
        assert np.array_equal(batch.mask, mask[:, batch.rows[0]])
    assert len(list(whole_envs((T, N), 2, 0, drop_last=True))) == 2
    assert all(batch.mask.all() for batch in whole_envs((T, N), 2, 0))


@pytest.mark.parametrize("burn_in", [0, 1, 3, 40])
@pytest.mark.parametrize("length", [1, 4, 13, 50])
@pytest.mark.parametrize("given", ["", "mask", "lengths", "both"])
def test_each_transition_counts_once(length, burn_in, given):
    options = {}
    valid = np.ones((T, N), np.bool_)
    if given in ("mask", "both"):
        options["mask"] = random_mask()
        options["mask"][:, 2] = False
        valid &= options["mask"]
    if given in ("lengths", "both"):
        options["lengths"] = np.array([13, 0, 7, 1, 12])
        valid &= np.arange(T)[:, None] < options["lengths"]
    counts = np.zeros(T * N, int)
    for batch in sequences((T, N), length, 3, 0, burn_in=burn_in, **options):
        most = min(T, length + burn_in)
        assert batch.rows.shape == batch.mask.shape
        assert len(batch.rows) == most and 1 <= batch.rows.shape[1] <= 3
        assert batch.mask.any(axis=0).all()
        times, envs = np.divmod(batch.rows, N)
        assert (envs == envs[0]).all()
        assert np.isin(np.diff(times, axis=0), (0, 1)).all()
        for k in range(batch.rows.shape[1]):
            first = np.flatnonzero(batch.mask[:, k])[0]
            start = times[first, k] // length * length
            assert times[0, k] == max(start - burn_in, 0)
            own = np.unique(times[:, k])
            assert own[-1] == min(start + length, options.get("lengths", [T] * N)[envs[0, k]]) - 1
            assert np.array_equal(times[: len(own), k], own)  # what is repeated comes last
            assert not batch.mask[len(own) :, k].any()
        np.add.at(counts, batch.rows[batch.mask], 1)
    assert np.array_equal(counts.reshape(T, N), valid.astype(int))


def test_a_recurrent_network_sees_what_it_saw_when_it_acted():
    """A running sum that starts from the state before a sequence, and from zero with each episode."""
    rng = np.random.default_rng(0)
    inputs, first = rng.integers(0, 9, (T, N)), rng.random((T, N)) < 0.2
    before, after = np.zeros((T, N), int), np.zeros((T, N), int)
    state = np.zeros(N, int)
    for t in range(T):
        before[t] = state
        state = np.where(first[t], 0, state) + inputs[t]
        after[t] = state
    for batch in sequences((T, N), 4, 2, 0, burn_in=2):
        state = before.ravel()[batch.rows[0]]
        for index, mask in zip(batch.rows, batch.mask, strict=True):
            state = np.where(first.ravel()[index], 0, state) + inputs.ravel()[index]
            assert np.array_equal(state[mask], after.ravel()[index][mask])


def test_more_rows_than_an_array_can_have():
    with pytest.raises(ConfigError, match=f"size must be between 0 and {2**60 - 1}, got {2**62}"):
        shuffled(2**62, 2, 0)
    with pytest.raises(ConfigError, match="size must convert to a NumPy array"):
        shuffled([[True], [True, False]], 2, 0)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_nothing(shape):
    assert list(sequences(shape, 2, 2, 0)) == []
    assert sum(batch.rows.size for batch in whole_envs(shape, 2, 0)) == 0
    assert list(shuffled(np.zeros(shape, np.bool_), 2, 0)) == []


def test_sequences_are_shuffled_and_repeatable():
    a, b = (list(sequences((60, 9), 5, 4, seed)) for seed in (0, 1))
    again = list(sequences((60, 9), 5, 4, Sampler(0)))
    assert all(np.array_equal(x.rows, y.rows) for x, y in zip(a, again, strict=True))
    assert not all(np.array_equal(x.rows, y.rows) for x, y in zip(a, b, strict=True))
    assert len(list(sequences((60, 9), 5, 25, 0, drop_last=True))) == 4


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: shuffled(10, 0, 0), ConfigError, "batch_size must be between 1 and .*, got 0"),
        (lambda: shuffled(-1, 2, 0), ConfigError, "size must be between 0 and .*, got -1"),
        (lambda: shuffled(np.ones(3), 2, 0), ConfigError, "size must be an int or a bool array, got the dtype float64"),
        (lambda: shuffled(10, 2, None), TypeError, "rng must be an"),
        (lambda: whole_envs((3,), 1, 0), TypeError, r"shape must be a tuple \(T, N\), got \(3,\)"),
        (lambda: whole_envs((3, -1), 1, 0), ConfigError, r"shape\[1\] must be between . and .*, got -1"),
        (lambda: whole_envs((3, 2), 0, 0), ConfigError, "envs_per_batch must be between 1 and .*, got 0"),
        (lambda: sequences((3, 2), 0, 1, 0), ConfigError, "length must be between 1 and .*, got 0"),
        (lambda: sequences((3, 2), 1, 1.5, 0), TypeError, "batch_size must be an int"),
        (lambda: sequences((3, 2), 1, 1, 0, burn_in=-1), ConfigError, "burn_in must be between 0 and .*, got -1"),
        (
            lambda: sequences((3, 2), 1, 1, 0, lengths=[4, 1]),
            ConfigError,
            r"lengths\[0\] must be between 0 and 3, got 4",
        ),
        (
            lambda: sequences((3, 2), 1, 1, 0, mask=np.ones((2, 3), np.bool_)),
            ConfigError,
            r"mask must have the shape .*, got \(2, 3\)",
        ),
    ],
)
def test_mistakes(call, error, text):
    """They are raised by the call, not by the first minibatch."""
    with pytest.raises(error, match=text):
        call()
