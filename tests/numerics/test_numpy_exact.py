"""The arithmetic that native envs take from NumPy returns the bits of the Python calls."""

import numpy as np
import pytest

from envpool.numerics.numpy_exact import call

SIZES = [*range(1, 40), 62, 79, 127, 128, 129, 130, 200, 255, 256, 257, 300, 1000]


def draws(n, seed=0):
    return np.random.default_rng(seed).normal(size=n) * 10.0 ** np.random.default_rng(seed + 1).integers(-4, 3, n)


def same(ours, theirs):
    assert np.asarray(ours, np.float64).tobytes() == np.asarray(theirs, np.float64).tobytes()


@pytest.mark.parametrize("name", ["exp", "log", "log1p", "arcsinh", "tanh", "arccos"])
def test_functions_of_one_argument(name):
    x = np.abs(draws(4000)) * (-1 if name == "exp" else 1)
    if name == "arccos":
        x = np.sin(x)
    same(call(name, x), getattr(np, name)(x))
    for value in x[:300]:  # one at a time too: vector registers have a tail
        same(call(name, np.array([value])), getattr(np, name)(value))


def test_arctan2():
    same(call("arctan2", draws(4000), draws(4000, 2)), np.arctan2(draws(4000), draws(4000, 2)))


@pytest.mark.parametrize("name", ["cos", "sin"])
def test_functions_of_a_float32(name):
    x = draws(4000).astype(np.float32)
    same(call(f"{name}32", x), getattr(np, name)(x))
    same(call(f"{name}32", x), [getattr(np, name)(value) for value in x])


@pytest.mark.parametrize("n", SIZES)
def test_reductions(n):
    for seed in range(20):
        x, y = draws(n, seed), draws(n, seed + 100)
        same(call("sum", x), np.sum(x))
        same(call("sum", x) / n, np.mean(x))
        same(call("dot", x, y), np.dot(x, y))
        same(call("norm", x), np.linalg.norm(x))


@pytest.mark.parametrize("n", SIZES)
def test_sums_of_negative_zeros(n):
    """NumPy adds them to 0, so the sum is 0 and not -0."""
    zeros = np.full(n, -0.0)
    same(call("sum", zeros), np.sum(zeros))
    same(call("sum", zeros), 0.0)


def test_norms_of_pairs():
    """They are computed without a call of the BLAS."""
    pairs = draws(8000).reshape(-1, 2)
    pairs[:8] = [[0, 0], [np.inf, 1], [3, -np.inf], [np.nan, 1], [1e200, 1], [1e-200, 1e-200], [5e-324, 0], [3, 4]]
    with np.errstate(over="ignore"):
        same([call("norm", pair) for pair in pairs], [np.linalg.norm(pair) for pair in pairs])


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 2), (3, 2), (2, 3), (9, 4)])
def test_vector_times_matrix(rows, columns):
    for seed in range(500):
        x, m = draws(rows, seed), draws(rows * columns, seed + 1000).reshape(rows, columns)
        same(call("dot_matrix", x, m), x.dot(m))


@pytest.mark.parametrize("columns", [1, 2, 15, 21, 24, 36, 100])
def test_matrix_times_vector(columns):
    for seed in range(100):
        m, x = draws(3 * columns, seed).reshape(3, -1), draws(columns, seed + 1000)
        same(call("matrix_vector", m, x), m @ x)


@pytest.mark.parametrize(("rows", "inner", "columns"), [(3, 3, 3), (4, 3, 3), (2, 5, 4)])
def test_product_of_matrices(rows, inner, columns):
    for seed in range(500):
        a, b = draws(rows * inner, seed).reshape(rows, -1), draws(inner * columns, seed + 1000).reshape(inner, -1)
        same(call("matrix_product", a, b), a.dot(b))
