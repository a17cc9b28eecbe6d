"""envpool's generators name a refused argument, and draw nothing."""

import numpy as np
import pytest

from tests.numerics.generators import Generator, RandomState

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


@pytest.mark.parametrize("cls", [Generator, RandomState])
@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("uniform", (0, np.inf), "high must be finite, got inf"),
        ("uniform", (-1e308, 1e308), "high - low must be finite, got low=-1e.308 and high=1e.308"),
        ("uniform", ("a", 1), "low must be a number, got 'a'"),
        ("normal", (np.nan, 1), "loc must be finite, got nan"),
        ("normal", (0, -1), r"scale must not be negative, got -1\.0"),
        ("choice", (0,), r"n must be in \[1, 9223372036854775807\], got 0"),
        ("choice", (2.5,), r"n must be an integer, got 2\.5"),
        ("choice", (2, [1.0]), r"p must have shape \(2,\), .* got shape \(1,\)"),
        ("choice", (2, [1.5, -0.5]), r"p must be finite and not negative, got \[1\.5, -0\.5\]"),
        ("choice", (2, [np.nan, 1]), "p must be finite and not negative, got"),
        ("choice", (2, [0.5, 0.6]), r"p must sum to 1, got 1\.1"),
        ("choice_without_replacement", (3, 4), r"size must be in \[0, 3\], got 4"),
        ("choice_without_replacement", (-1, 0), r"n must be in \[0, .*\], got -1"),
        ("permutation", (-1,), r"n must be in \[0, .*\], got -1"),
        ("shuffle", ([1, 2],), r"items must be a numpy array of one dimension or more, got \[1, 2\]"),
        ("shuffle", (np.array(1),), "items must be a numpy array of one dimension or more"),
        ("shuffle", (np.arange(8)[::2],), r"items must be C-contiguous, .* strides \(16,\)"),
        ("shuffle", (np.frombuffer(b"ab", "u1"),), "items must be C-contiguous, writable .* writeable=False"),
        ("shuffle", (np.array([None, 1]),), "items must be .* without Python objects, .* dtype object"),
    ],
)
def test_refused_arguments(cls, method, arguments, message):
    drawn = cls(0)
    with pytest.raises(ValueError, match=message):
        getattr(drawn, method)(*arguments)
    np.testing.assert_equal(drawn.state, cls(0).state)


@pytest.mark.parametrize("method", [Generator(0).integers, RandomState(0).randint])
@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (5, 5, r"high must be in \[6, 9223372036854775807\], got 5"),
        (0, 2**63, r"high must be in \[1, 9223372036854775807\], got 9223372036854775808"),
        (INT64_MIN - 1, 0, r"low must be in \[-9223372036854775808, .*\], got -9223372036854775809"),
        (INT64_MAX, INT64_MAX, r"low must be in \[.*, 9223372036854775806\], got 9223372036854775807"),
        (0, 1.5, r"high must be an integer, got 1\.5"),
    ],
)
def test_refused_spans(method, low, high, message):
    with pytest.raises(ValueError, match=message):
        method(low, high)


def test_refused_only_by_generator():
    with pytest.raises(ValueError, match=r"high must not be below low=1\.0, got 0\.0"):
        Generator(0).uniform(1, 0)
    with pytest.raises(ValueError, match=r"high must be in \[5, .*\], got 4"):
        Generator(0).integers(5, 4, endpoint=True)


@pytest.mark.parametrize(
    ("cls", "seed", "message"),
    [
        (Generator, -1, r"seed must be in \[0, inf\], got -1"),
        (Generator, 1.0, r"seed must be an integer, got 1\.0"),
        (Generator, [], "seed must be an int or a sequence of at least one int, got an empty sequence"),
        (Generator, [1, 2**32], r"seed\[1\] must be in \[0, 4294967295\], got 4294967296"),
        (RandomState, -1, r"seed must be in \[0, 4294967295\], got -1"),
        (RandomState, 2**32, r"seed must be in \[0, 4294967295\], got 4294967296"),
        (RandomState, None, "seed must be an integer, got None"),
        (RandomState, (), "seed must be an int or a sequence of at least one int, got an empty sequence"),
    ],
)
def test_refused_seeds(cls, seed, message):
    with pytest.raises(ValueError, match=message):
        cls(seed)
