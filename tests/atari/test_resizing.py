"""Resizing returns OpenCV's bits."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from envpool.atari.resizing import brightest, resize
from envpool.errors import ConfigError

#: Same, whole ratios in both directions or one, shrinking, growing, one of each, single rows and columns.
SIZES = [(84, 84), (210, 160), (105, 80), (210, 80), (105, 160), (70, 40), (30, 20), (1, 1), (1, 160), (210, 1)]
SIZES += [
    (64, 64),
    (96, 96),
    (128, 128),
    (209, 159),
    (211, 161),
    (210, 300),
    (300, 160),
    (420, 320),
    (7, 700),
    (600, 5),
]


def images(height: int, width: int, seed: int) -> list[np.ndarray]:
    """Yield noise; few levels, whose means often lie half-way between two results; large areas of one colour."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 256, (height // 10, width // 10))
    made = [
        rng.integers(0, 256, (height, width)),
        rng.integers(0, 3, (height, width)) * 100,
        np.kron(blocks, np.ones((10, 10))),
    ]
    return [image.astype(np.uint8) for image in made]


def assert_equals_opencv(image: np.ndarray, height: int, width: int) -> None:
    for area, method in ((True, cv2.INTER_AREA), (False, cv2.INTER_LINEAR)):
        expected = cv2.resize(image, (width, height), interpolation=method)
        differing = np.count_nonzero(resize(image, height, width, area) != expected)
        assert differing == 0, f"{image.shape} to {height} x {width}, {area=}: {differing} pixels differ"


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_size(size: tuple[int, int]) -> None:
    for rows in (210, 250):
        for image in images(rows, 160, 0):
            assert_equals_opencv(image, *size)


def random_sizes(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for height, width in rng.integers(1, 600, (20, 2)).tolist():
            rows, columns = rng.integers(10, 300, 2).tolist()
            for image in images(rows, columns, seed):
                assert_equals_opencv(image, height, width)


def test_random_sizes() -> None:
    random_sizes(range(4))


@pytest.mark.slow
def test_many_random_sizes() -> None:
    random_sizes(range(4, 40))


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 1000), marks=pytest.mark.slow)], ids=len)
def test_usual_size(seeds: range) -> None:
    for seed in seeds:
        for image in images(210, 160, seed):
            assert_equals_opencv(image, 84, 84)
            assert np.array_equal(resize(image, 84, 84), resize(image, 84, 84, simd=False))


@pytest.mark.parametrize("simd", [True, False])
@pytest.mark.parametrize("shape", [(210, 160), (1, 1), (3, 21), (1, 64), (9, 7)], ids=str)
def test_brightest(shape: tuple[int, int], simd: bool) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (2, *shape)).astype(np.uint8)
    table = rng.permutation(256).astype(np.uint8)
    b[rng.random(shape) < 0.5] = 0
    a[rng.random(shape) < 0.5] = 0
    assert np.array_equal(brightest(a, b, table, simd), np.maximum(table[a], table[b]))
    assert np.array_equal(brightest(a, a, table, simd), table[a])


def test_colours_are_resized_one_by_one() -> None:
    image = np.stack(images(210, 160, 1), axis=-1)
    for size in SIZES:
        expected = cv2.resize(image, size[::-1], interpolation=cv2.INTER_AREA)
        got = [resize(image[..., c], *size) for c in range(3)]
        assert np.array_equal(np.stack(got, axis=-1), expected), size


def test_bad_input() -> None:
    for image in (np.zeros((2, 2)), np.zeros((2, 2, 3), np.uint8), np.zeros((0, 4), np.uint8), [[1.5]]):
        with pytest.raises(ConfigError, match=r"image must be uint8 \(rows, columns\)"):
            resize(image, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="a and b must have the same shape"):
        brightest(*np.zeros((3, 4), np.uint8))
    with pytest.raises(ConfigError, match="must be uint8 arrays"):
        brightest(*np.zeros((3, 256)))
    for height, width in ((0, 1), (1, -1), (5000, 1)):
        with pytest.raises(ConfigError, match="height and width must be between 1 and 4096"):
            resize(np.zeros((2, 2), np.uint8), height, width)
