"""envpool's generators against numpy's: equal values and equal states after any mixture of calls."""

import hashlib
import random

import numpy as np
import pytest
from gymnasium.utils import seeding
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.numerics.generators import Generator, RandomState

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_pick = random.Random(20260101)
SEEDS = [
    *(0, 1, 2, 42, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**64 + 5),
    *(2**96 - 1, 2**96, 2**100 + 3, 2**128 - 1, 2**128, 2**160 + 7, 2**200 + 1, 2**1000 + 9),
    *(_pick.getrandbits(bits) for bits in (16, 32, 64, 128, 192) for _ in range(50)),
]
LEGACY_SEEDS = [seed for seed in SEEDS if seed < 2**32] + [_pick.getrandbits(32) for _ in range(200)]

# (low, high): one value; spans around those where the algorithm or the number of bits changes; all but one of int64
SPANS = [
    *((0, 1), (-7, -6), (0, 2), (0, 3), (-5, 6), (3, 4 + 2**16), (0, 2**31), (0, 2**31 + 1), (-(2**31), 2**31 - 1)),
    *((0, 2**32 - 1), (0, 2**32), (-5, 2**32 - 5), (0, 2**32 + 1), (-(2**40), 3), (0, 3 * 2**40), (0, 2**62 + 1)),
    *((0, INT64_MAX), (INT64_MIN, 0), (INT64_MIN, 1), (INT64_MIN, INT64_MAX)),
]
WEIGHTS = [
    [1.0],
    [0.5, 0.5],
    [0.0, 1.0],
    [1.0, 0.0],
    [0.1] * 10,
    [1 / 3] * 3,
    [0.0, 0.2, 0.0, 0.3, 0.5, 0.0],
    [0.7, 0.2, 0.1 + 1e-9],  # not quite 1: numpy divides by the sum
    (np.arange(1, 1001) / np.arange(1, 1001).sum()).tolist(),
]
DTYPES = ["u1", "<i2", "<f4", "<f8", "<c16", "S3", "S7", "S64", "S65", "S200", "<i4,<f8,S5"]


def numpy_generator(seed):
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))


def state_of(numpy_one):
    """Return the state of a numpy generator in the form of envpool's."""
    if isinstance(numpy_one, np.random.RandomState):
        return numpy_one.get_state(legacy=False)
    return numpy_one.bit_generator.state


def assert_same_state(ours, theirs):
    np.testing.assert_equal(ours.state, state_of(theirs))


def digest(values, dtype):
    return hashlib.sha256(np.asarray(values, dtype=dtype).tobytes()).hexdigest()


# --- Seeding


@pytest.mark.parametrize("words", [[0], [7], [1, 2], [0, 0, 0], [5, 6, 7, 8], [1, 2, 3, 4, 0], list(range(700))])
def test_seed_sequences(words):
    assert_same_state(Generator(words), numpy_generator(words))
    assert_same_state(RandomState(words), np.random.RandomState(words))
    assert_same_state(RandomState(tuple(words)), np.random.RandomState(words))


def test_seeds():
    assert len(SEEDS) > 250
    for seed in SEEDS:
        assert_same_state(Generator(seed), numpy_generator(seed))
        assert_same_state(Generator(seed), seeding.np_random(seed)[0])
    for seed in LEGACY_SEEDS:
        assert_same_state(RandomState(seed), np.random.RandomState(seed))


def test_numpy_takes_over_the_state():
    ours, theirs = Generator(5), numpy_generator(0)
    ours.integers(0, 10)
    theirs.bit_generator.state = ours.state
    assert [ours.integers(0, 10) for _ in range(9)] == theirs.integers(0, 10, size=9).tolist()

    ours, theirs = RandomState(5), np.random.RandomState(0)
    ours.standard_normal()
    theirs.set_state(ours.state)
    assert [ours.standard_normal() for _ in range(9)] == theirs.standard_normal(9).tolist()


# --- A few of each draw, over all seeds


def assert_same_choices(ours, theirs):
    for n in (1, 2, 7, 2**32, 2**33):
        assert ours.choice(n) == theirs.choice(n)
    for p in WEIGHTS[:-1]:
        assert ours.choice(len(p), p=p) == theirs.choice(len(p), p=p)
    assert ours.choice_without_replacement(9, 4).tolist() == theirs.choice(9, 4, replace=False).tolist()
    assert ours.permutation(9).tolist() == theirs.permutation(9).tolist()


def test_generator_draws():
    for seed in SEEDS:
        ours, theirs = Generator(seed), numpy_generator(seed)
        low_level = theirs.bit_generator.ctypes
        assert ours.next_uint64() == theirs.bit_generator.random_raw()
        assert ours.next_uint32() == low_level.next_uint32(low_level.state)
        assert ours.next_uint64() == low_level.next_uint64(low_level.state)
        assert ours.random() == theirs.random()
        assert ours.uniform() == theirs.uniform()
        assert ours.uniform(-0.05, 0.05) == theirs.uniform(-0.05, 0.05)
        assert ours.standard_normal() == theirs.standard_normal()
        assert ours.normal(0.3, 1e-2) == theirs.normal(0.3, 1e-2)
        for low, high in SPANS:
            assert ours.integers(low, high) == theirs.integers(low, high)
            assert ours.integers(low, high, endpoint=True) == theirs.integers(low, high, endpoint=True)
        assert_same_choices(ours, theirs)
        assert_same_state(ours, theirs)


def test_random_state_draws():
    for seed in LEGACY_SEEDS:
        ours, theirs = RandomState(seed), np.random.RandomState(seed)
        low_level = theirs._bit_generator.ctypes
        assert ours.next_uint32() == low_level.next_uint32(low_level.state)
        assert ours.next_uint64() == low_level.next_uint64(low_level.state)
        assert ours.random_sample() == theirs.random_sample()
        assert ours.random_sample() == theirs.rand()
        assert ours.uniform() == theirs.uniform()
        assert ours.uniform(0.05, -0.05) == theirs.uniform(0.05, -0.05)
        assert ours.standard_normal() == theirs.randn()
        assert ours.normal(0.3, 1e-2) == theirs.normal(0.3, 1e-2)
        assert ours.standard_normal() == theirs.standard_normal()
        for low, high in SPANS:
            assert ours.randint(low, high) == theirs.randint(low, high)
        assert_same_choices(ours, theirs)
        assert_same_state(ours, theirs)


# --- Long streams: rare branches of each algorithm


def test_long_normal_streams():
    ours, theirs = Generator(1), numpy_generator(1)
    assert digest([ours.standard_normal() for _ in range(100_000)], "f8") == digest(theirs.normal(size=100_000), "f8")
    assert_same_state(ours, theirs)

    ours, theirs = RandomState(1), np.random.RandomState(1)
    assert digest([ours.standard_normal() for _ in range(100_001)], "f8") == digest(theirs.randn(100_001), "f8")
    assert_same_state(ours, theirs)


def test_long_uniform_streams():
    ours, theirs = Generator(2), numpy_generator(2)
    expected = theirs.uniform(-3, 5, size=100_000)
    assert digest([ours.uniform(-3, 5) for _ in range(100_000)], "f8") == digest(expected, "f8")
    ours, theirs = RandomState(2), np.random.RandomState(2)
    expected = theirs.uniform(-3, 5, size=100_000)
    assert digest([ours.uniform(-3, 5) for _ in range(100_000)], "f8") == digest(expected, "f8")


@pytest.mark.parametrize(("low", "high"), [(0, 6), (0, 3 * 2**30), (0, 2**32), (0, 2**32 + 1), (0, 3 * 2**61)])
def test_long_integer_streams(low, high):
    """Calls in a row equal one numpy call with size, for spans that reject often and at the change of width."""
    ours, theirs = Generator(3), numpy_generator(3)
    expected = theirs.integers(low, high, size=100_000)
    assert digest([ours.integers(low, high) for _ in range(100_000)], "i8") == digest(expected, "i8")
    assert_same_state(ours, theirs)

    ours, theirs = RandomState(3), np.random.RandomState(3)
    expected = theirs.randint(low, high, size=100_000)
    assert digest([ours.randint(low, high) for _ in range(100_000)], "i8") == digest(expected, "i8")
    assert_same_state(ours, theirs)


def test_arrays_of_bounds_and_int32():
    ours, theirs = Generator(4), numpy_generator(4)
    lows, highs = np.array(SPANS, dtype=np.int64).T
    assert [ours.integers(low, high) for low, high in SPANS] == theirs.integers(lows, highs).tolist()
    assert [ours.integers(-3, 17) for _ in range(9)] == theirs.integers(-3, 17, size=9, dtype=np.int32).tolist()
    assert [ours.uniform(-b, b) for b in (1.0, 0.1, 0.3)] == theirs.uniform([-1, -0.1, -0.3], [1, 0.1, 0.3]).tolist()
    assert_same_state(ours, theirs)


def test_full_range():
    ours, theirs = Generator(6), numpy_generator(6)
    full = theirs.integers(INT64_MIN, INT64_MAX, size=1000, endpoint=True)
    assert [ours.integers(INT64_MIN, INT64_MAX, endpoint=True) for _ in range(1000)] == full.tolist()


# --- Choice, shuffle, permutation


@pytest.mark.parametrize("p", WEIGHTS, ids=len)
def test_choice_with_probabilities(p):
    ours, theirs = Generator(7), numpy_generator(7)
    assert [ours.choice(len(p), p=p) for _ in range(500)] == theirs.choice(len(p), size=500, p=p).tolist()
    ours, theirs = RandomState(7), np.random.RandomState(7)
    assert [ours.choice(len(p), p=p) for _ in range(500)] == theirs.choice(len(p), size=500, p=p).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_choice_when_the_draw_is_a_cumulative_probability(seed):
    u = numpy_generator(seed).random()
    assert Generator(seed).choice(2, p=[u, 1 - u]) == numpy_generator(seed).choice(2, p=[u, 1 - u]) == 1
    u = np.random.RandomState(seed).random_sample()
    assert RandomState(seed).choice(2, p=[u, 1 - u]) == np.random.RandomState(seed).choice(2, p=[u, 1 - u]) == 1


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(
    ("n", "size"),
    [
        *((0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (7, 3), (100, 99), (100, 100), (1000, 600), (10**12, 50)),
        *((10_000, 10_000), (10_001, 200), (10_001, 201), (10_001, 500), (10_001, 501), (10_001, 10_001), (20_000, 0)),
    ],
)
def test_choice_without_replacement(n, size, shuffle):
    """On both sides of the limits where numpy changes algorithm: 10,000 items; a 50th (unshuffled: a 20th) of them."""
    for seed in range(5):
        ours, theirs = Generator(seed), numpy_generator(seed)
        got = ours.choice_without_replacement(n, size, shuffle=shuffle)
        np.testing.assert_array_equal(got, theirs.choice(n, size, replace=False, shuffle=shuffle))
        assert_same_state(ours, theirs)
        if n <= 20_000:
            ours, theirs = RandomState(seed), np.random.RandomState(seed)
            got = ours.choice_without_replacement(n, size)
            np.testing.assert_array_equal(got, theirs.choice(n, size, replace=False) if n else got)
            assert_same_state(ours, theirs)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 64, 65, 1000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_shuffle(dtype, n):
    dtype = np.dtype(dtype)
    items = np.frombuffer(random.Random(n).randbytes(n * dtype.itemsize), dtype=dtype)
    for ours, theirs in ((Generator(n), numpy_generator(n)), (RandomState(n), np.random.RandomState(n))):
        got, expected = items.copy(), items.copy()
        ours.shuffle(got)
        theirs.shuffle(expected)
        assert got.tobytes() == expected.tobytes()
        assert_same_state(ours, theirs)


def test_shuffle_rows_and_lists():
    table = np.arange(60, dtype=np.int16).reshape(12, 5)
    for ours, theirs in ((Generator(8), numpy_generator(8)), (RandomState(8), np.random.RandomState(8))):
        got, expected = table.copy(), table.copy()
        ours.shuffle(got)
        theirs.shuffle(expected)
        np.testing.assert_array_equal(got, expected)

        order, names = np.arange(20), list(range(20))
        ours.shuffle(order)
        theirs.shuffle(names)
        assert order.tolist() == names
        assert_same_state(ours, theirs)


@pytest.mark.parametrize("n", [0, 1, 2, 100, 70_000])
def test_permutation(n):
    for ours, theirs in ((Generator(n), numpy_generator(n)), (RandomState(n), np.random.RandomState(n))):
        np.testing.assert_array_equal(ours.permutation(n), theirs.permutation(n))
        assert_same_state(ours, theirs)


# --- Mixtures: what one type of draw leaves behind (a 32-bit half, a second normal) must not affect another type

spans = st.one_of(
    st.sampled_from(SPANS),
    st.lists(st.integers(INT64_MIN, INT64_MAX), min_size=2, max_size=2, unique=True).map(lambda s: tuple(sorted(s))),
    st.tuples(st.integers(-9, 9), st.integers(10, 300)),
)
small = st.integers(1, 40)


def call(name, *arguments):
    return st.tuples(st.just(name), st.tuples(*arguments))


def integers(generator, span):
    return (generator.randint if hasattr(generator, "randint") else generator.integers)(*span)


def sample(generator, n, k):
    k = min(k, n)
    if hasattr(generator, "choice_without_replacement"):  # NumPy's generators have no such method.
        return generator.choice_without_replacement(n, k).tolist()
    return generator.choice(n, k, replace=False).tolist()


CALLS = {
    "random": lambda g: g.random_sample() if hasattr(g, "random_sample") else g.random(),
    "uniform": lambda g, low, high: g.uniform(low, high),
    "integers": integers,
    "normal": lambda g, loc, scale: g.normal(loc, scale),
    "standard_normal": lambda g: g.standard_normal(),
    "choice": lambda g, n: g.choice(n),
    "choice p": lambda g, p: g.choice(len(p), p=p),
    "permutation": lambda g, n: g.permutation(n).tolist(),
    "sample": sample,
}
calls = st.lists(
    st.one_of(
        call("random"),
        call("uniform", st.floats(-1e3, 0), st.floats(0, 1e3)),
        call("integers", spans),
        call("normal", st.floats(-10, 10), st.floats(0, 10)),
        call("standard_normal"),
        call("choice", st.integers(1, 2**34)),
        call("choice p", st.sampled_from(WEIGHTS)),
        call("permutation", small),
        call("sample", small, small),
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**200), drawn=calls)
def test_mixtures(seed, drawn):
    short = seed % 2**32
    for ours, theirs in ((Generator(seed), numpy_generator(seed)), (RandomState(short), np.random.RandomState(short))):
        for name, arguments in drawn:
            assert CALLS[name](ours, *arguments) == CALLS[name](theirs, *arguments), name
        assert_same_state(ours, theirs)
