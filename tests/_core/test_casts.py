"""Casts that keep every value: rounding to a float is allowed, and every other change is refused."""

from decimal import Decimal

import numpy as np
import pytest

from envpool._core.casts import CastError, as_action, fitted
from envpool.errors import ActionError

KEPT = [
    ([3, 255], np.uint8, [3, 255]),
    (np.array([3.0, -0.0]), np.int32, [3, 0]),
    (np.array([1, 0]), np.bool_, [True, False]),
    (np.array([True, False]), np.uint8, [1, 0]),
    (np.array([0.1, np.nan, np.inf, -np.inf, 1e-300]), np.float32, [np.float32(0.1), np.nan, np.inf, -np.inf, 0]),
    (np.array([2**24 + 1]), np.float32, [2**24]),
    (np.array([2**63 - 1, -(2**63)]), np.int64, [2**63 - 1, -(2**63)]),
    (np.array([2**63], np.uint64), np.uint64, [2**63]),
    (np.array([2**63 - 1], np.uint64), np.int64, [2**63 - 1]),
    (np.array([-(2.0**63)]), np.int64, [-(2**63)]),
    (np.array([2.0**63]), np.uint64, [2**63]),
    (np.array([2 + 0j]), np.int8, [2]),
    (np.array([1e30], np.longdouble), np.float32, [np.float32(1e30)]),
    ([Decimal("0.5"), np.float32(np.nan)], np.float64, [0.5, np.nan]),
    ([2**70, 1], np.float32, [2.0**70, 1]),
    (np.array([1.5], ">f4"), np.float32, [1.5]),
    (np.zeros((0, 2)), np.uint8, np.zeros((0, 2))),
    (np.float64(4), np.uint8, 4),
]
REFUSED = [
    ([0.5, 1], np.uint8, "0.5 of dtype float64"),
    ([1, 300], np.uint8, "300 of dtype int64"),
    ([-1], np.uint8, "-1 of dtype int64"),
    ([2], np.bool_, "2 of dtype int64"),
    ([np.nan], np.int32, "nan of dtype float64"),
    (np.array([np.inf], np.float16), np.int64, "inf of dtype float16"),
    ([np.nan], np.bool_, "nan of dtype float64"),
    ([2.0**63], np.int64, "9.22337203685477"),
    (np.array([2**63], np.uint64), np.int64, "9223372036854775808 of dtype uint64"),
    (np.array([-1]), np.uint64, "-1 of dtype int64"),
    ([1e300], np.float32, "1e\\+300 of dtype float64"),
    ([70_000.0], np.float16, "70000.0 of dtype float64"),
    ([1 + 2j], np.float64, r"\(1\+2j\) of dtype complex128"),
    ([None, 1], np.float32, "None of dtype object"),
    (["1"], np.float32, "which is not a number"),
    (np.array(["1"], object), np.float32, "which is not a number"),
    (np.array(["2020-01-01"], "M8[D]"), np.int64, "which is not a number"),
    ([2**70], np.int64, "1180591620717411303424"),
    ([Decimal("0.5")], np.int64, r"0.5 of dtype object"),
    (np.float64(0.5), np.int64, "0.5 of dtype float64"),
]


@pytest.mark.parametrize(("values", "dtype", "expected"), KEPT)
def test_values_that_are_kept(values, dtype, expected):
    out = fitted(values, np.dtype(dtype))
    assert out.dtype == dtype and out.flags.c_contiguous
    np.testing.assert_array_equal(out, np.array(expected, dtype))


@pytest.mark.parametrize(("values", "dtype", "text"), REFUSED)
def test_values_that_would_change(values, dtype, text):
    with pytest.raises(CastError, match=text):
        fitted(values, np.dtype(dtype))
    with pytest.raises(ActionError, match=f"'action.a' contains .*{text}"):
        as_action("action.a", values, np.dtype(dtype))


def test_arrays_of_the_dtype_are_not_copied():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert fitted(values, np.dtype(np.float32)) is values
    assert fitted(values.T, np.dtype(np.float32)).flags.c_contiguous


@pytest.mark.parametrize("values", [[[1], [1, 2]], object()])
def test_what_is_no_array(values):
    with pytest.raises(ActionError, match="must be an array"):
        as_action("action", values, np.dtype(np.int64))
