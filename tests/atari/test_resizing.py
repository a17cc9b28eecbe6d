"""Resizing returns OpenCV's bits."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from envpool.atari.resizing import resize
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
    """Noise; few levels, whose means often lie half-way between two results; large areas of one colour."""
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


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 100))])
def test_random_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for height, width in rng.integers(1, 600, (20, 2)).tolist():
        rows, columns = rng.integers(10, 300, 2).tolist()
        for image in images(rows, columns, seed):
            assert_equals_opencv(image, height, width)


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(s, marks=pytest.mark.slow) for s in range(10, 2000))])
def test_usual_size(seed: int) -> None:
    for image in images(210, 160, seed):
        assert_equals_opencv(image, 84, 84)


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
    for height, width in ((0, 1), (1, -1), (5000, 1)):
        with pytest.raises(ConfigError, match="allowed are 1 to 4096"):
            resize(np.zeros((2, 2), np.uint8), height, width)
