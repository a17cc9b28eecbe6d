"""Shapes and images equal pygame's, pixel by pixel, and nothing is written outside the frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from pygame import gfxdraw

from tests.support.builds import load_hook

ROUNDS = [
    pytest.param(150, id="short"),
    pytest.param(3000, id="long", marks=pytest.mark.slow),
    pytest.param(10000, id="full", marks=pytest.mark.sweep),
]
GUARD, FILL = 1 << 16, 0xA5
EXTREMES = [-32769, -32768, -32767, -1, 0, 1, 32766, 32767, 32768, 65536, 1e9, -1e18, 9.3e18, -1e300]


@pytest.fixture(scope="module")
def hook() -> Any:
    return load_hook(Path(__file__).parent / "hook", "figures_hook")


class Sheet:
    """A frame in the middle of memory that must stay untouched, and pygame's surface with the same content."""

    def __init__(self, rng: np.random.Generator):
        self.height, self.width = (int(n) for n in rng.integers(1, 120, 2))
        self.is_flipped = bool(rng.integers(2))
        pixels = rng.integers(0, 256, (self.height, self.width, 3), dtype=np.uint8)
        self.memory = np.full(pixels.size + 2 * GUARD, FILL, np.uint8)
        self.memory[GUARD:-GUARD] = pixels.ravel()
        self.surface = pygame.Surface((self.width, self.height), 0, 32)
        pygame.surfarray.blit_array(self.surface, (pixels[::-1] if self.is_flipped else pixels).transpose(1, 0, 2))

    @property
    def place(self) -> tuple[Any, ...]:
        return self.memory, GUARD, self.height, self.width, self.is_flipped

    def check(self, what: Any) -> None:
        assert (self.memory[:GUARD] == FILL).all() and (self.memory[-GUARD:] == FILL).all(), what
        expected = pygame.surfarray.array3d(self.surface).transpose(1, 0, 2)
        mine = self.memory[GUARD:-GUARD].reshape(self.height, self.width, 3)
        np.testing.assert_array_equal(mine[::-1] if self.is_flipped else mine, expected, str(what))


def packed(colour: Any) -> int:
    return int(colour[0]) | int(colour[1]) << 8 | int(colour[2]) << 16


def any_points(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return points (n, 2) in and around a frame, with whole or fractional coordinates."""
    reach = rng.choice([60, 200, 3000, 12000])  # pygame cannot sort crossings that are farther apart
    points = rng.uniform(-reach, reach + 100, (n, 2))
    return np.trunc(points) if rng.random() < 0.5 else points


@pytest.mark.parametrize("rounds", ROUNDS)
def test_polygons(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        sheet, colour = Sheet(rng), rng.integers(0, 256, 3)
        points = any_points(rng, int(rng.integers(3, 9)))
        hook.polygon(*sheet.place, packed(colour), points)
        gfxdraw.aapolygon(sheet.surface, points.tolist(), colour)
        gfxdraw.filled_polygon(sheet.surface, points.tolist(), colour)
        sheet.check(points)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_plain_polygons_and_outlines(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(rounds):
        sheet, colours = Sheet(rng), rng.integers(0, 256, (2, 3))
        points = any_points(rng, int(rng.integers(3, 9)))
        points = np.round(points / 20) * 20 if rng.random() < 0.3 else points  # level edges
        hook.plain_polygon(*sheet.place, packed(colours[0]), points)
        hook.outline(*sheet.place, packed(colours[1]), points)
        pygame.draw.polygon(sheet.surface, colours[0].tolist(), points.tolist())
        gfxdraw.aapolygon(sheet.surface, points.tolist(), colours[1].tolist())
        sheet.check(points)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_lines(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(8)
    for _ in range(rounds):
        sheet, colour = Sheet(rng), rng.integers(0, 256, 3)
        points = any_points(rng, int(rng.choice([2, 2, 3, 5])))
        if rng.random() < 0.3:
            same = [[0], [1], [0, 1]][rng.integers(3)]  # upright, level, or a point
            points[1, same] = points[0, same]
        is_double = bool(len(points) == 2 and rng.random() < 0.7)
        hook.lines(*sheet.place, packed(colour), points, is_double)
        pygame.draw.lines(sheet.surface, colour.tolist(), len(points) > 2, points.tolist(), 1 + is_double)
        sheet.check(points)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_discs(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(9)
    for _ in range(rounds):
        sheet, colour = Sheet(rng), rng.integers(0, 256, 3)
        (x, y), radius = rng.uniform(-40, 160, 2), int(rng.choice([0, 1, 2, 3, 5, 8, 20, 90]))
        hook.disc(*sheet.place, packed(colour), x, y, radius)
        pygame.draw.circle(sheet.surface, colour.tolist(), (x, y), radius)
        sheet.check((x, y, radius))
        hook.ring(*sheet.place, packed(255 - colour), x, y, radius)
        pygame.draw.circle(sheet.surface, (255 - colour).tolist(), (x, y), radius, 1)
        sheet.check(("ring", x, y, radius))


@pytest.mark.parametrize("rounds", ROUNDS)
def test_windows(hook: Any, rounds: int) -> None:
    """A window equals that part of the whole frame: shapes are clipped to the whole frame."""
    rng = np.random.default_rng(10)
    for _ in range(rounds):
        height, width = (int(n) for n in rng.integers(1, 120, 2))
        columns = int(rng.integers(1, width + 1))
        colour, points = rng.integers(0, 256, 3), any_points(rng, int(rng.integers(3, 9)))
        memory = np.zeros(3 * height * columns + 2 * GUARD, np.uint8)
        hook.window(memory, GUARD, height, columns, width, packed(colour), points)
        surface = pygame.Surface((width, height), 0, 32)
        pygame.draw.polygon(surface, colour.tolist(), points.tolist())
        gfxdraw.aapolygon(surface, points.tolist(), colour.tolist())
        pygame.draw.aaline(surface, (0, 0, 0), points[0].tolist(), points[2].tolist())
        expected = pygame.surfarray.array3d(surface).transpose(1, 0, 2)[::-1, -columns:]
        np.testing.assert_array_equal(memory[GUARD:-GUARD].reshape(height, columns, 3), expected, str(points))
        assert not memory[:GUARD].any() and not memory[-GUARD:].any(), points


@pytest.mark.parametrize("rounds", ROUNDS)
def test_circles(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        sheet, colour = Sheet(rng), rng.integers(0, 256, 3)
        x, y = (int(v) for v in rng.integers(-40, 160, 2))
        radius = int(rng.choice([0, 1, 2, 5, 8, 20, 90]))
        hook.circle(*sheet.place, packed(colour), x, y, radius)
        gfxdraw.aacircle(sheet.surface, x, y, radius, colour)
        gfxdraw.filled_circle(sheet.surface, x, y, radius, colour)
        sheet.check((x, y, radius))


@pytest.mark.parametrize("rounds", ROUNDS)
def test_smooth_lines(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(2)
    for _ in range(rounds):
        sheet, colour = Sheet(rng), rng.integers(0, 256, 3)
        kind = rng.integers(4)
        points = any_points(rng, 2) if kind else np.repeat(any_points(rng, 1), 2, axis=0)
        points[:, kind % 2] = points[0, kind % 2] if rng.random() < 0.2 else points[:, kind % 2]
        hook.aaline(*sheet.place, packed(colour), *points.ravel())
        pygame.draw.aaline(sheet.surface, colour.tolist(), *points.tolist())
        sheet.check(points)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_smooth_lines_through_points(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(11)
    for _ in range(rounds):
        sheet, colour = Sheet(rng), rng.integers(0, 256, 3)
        points = any_points(rng, int(rng.integers(3, 9)))
        whole = rng.random(points.shape) < rng.choice([0, 0.5, 1])
        points[whole] = np.round(points[whole])
        is_closed = bool(rng.integers(2))
        hook.aalines(*sheet.place, packed(colour), points, is_closed)
        pygame.draw.aalines(sheet.surface, colour.tolist(), is_closed, points.tolist())
        sheet.check(points)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_images(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(3)
    for _ in range(rounds):
        sheet = Sheet(rng)
        height, width = (int(n) for n in rng.integers(1, 150, 2))
        pixels = rng.integers(0, 256, (height, width, 4), dtype=np.uint8)
        pixels[rng.random((height, width)) < 0.3, 3] = rng.choice([0, 255])
        x, y = (int(v) for v in rng.integers(-160, 130, 2))
        # A frame whose rows count from the bottom turns the image upside down too.
        mirrored, upside_down = (bool(v) for v in rng.integers(0, 2, 2))
        hook.image(*sheet.place, pixels, x, y, mirrored | upside_down << 1)
        image = pygame.image.frombuffer(pixels.tobytes(), (width, height), "RGBA")
        sheet.surface.blit(pygame.transform.flip(image, mirrored, upside_down), (x, y))
        sheet.check((x, y, width, height, mirrored, upside_down))


def test_every_blend(hook: Any) -> None:
    over, under = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    for opacity in range(256):
        pixels = np.stack([over, over, over, np.full_like(over, opacity)], axis=2)
        memory = np.repeat(under.ravel(), 3)
        surface = pygame.Surface((256, 256), 0, 32)
        pygame.surfarray.blit_array(surface, np.stack([under] * 3, axis=2).transpose(1, 0, 2))
        hook.image(memory, 0, 256, 256, False, pixels, 0, 0, 0)
        surface.blit(pygame.image.frombuffer(pixels.tobytes(), (256, 256), "RGBA"), (0, 0))
        np.testing.assert_array_equal(
            memory.reshape(256, 256, 3), pygame.surfarray.array3d(surface).transpose(1, 0, 2), f"opacity {opacity}"
        )


@pytest.mark.parametrize("rounds", ROUNDS)
def test_scaling(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(4)
    assert pygame.transform.get_smoothscale_backend() == "SSE2"
    for _ in range(rounds):
        # One pixel is not scaled up: pygame reads beyond it.
        old = rng.integers(2, rng.choice([5, 60, 400]), 2)
        new = rng.integers(1, rng.choice([3, 60, 400]), 2)
        new[rng.random(2) < 0.1] = old[0]
        channels = int(rng.integers(3, 5))
        pixels = rng.integers(0, 256, (*old, channels), dtype=np.uint8)
        pixels[rng.random(old) < 0.3] = 255
        memory = np.full(channels * int(np.prod(new)) + 2 * GUARD, FILL, np.uint8)
        hook.scale(pixels, memory, GUARD, *new)
        assert (memory[:GUARD] == FILL).all() and (memory[-GUARD:] == FILL).all()
        form = "RGBA" if channels == 4 else "RGB"
        image = pygame.image.frombuffer(pixels.tobytes(), old[::-1].tolist(), form)
        scaled = pygame.image.tobytes(pygame.transform.smoothscale(image, new[::-1].tolist()), form)
        np.testing.assert_array_equal(memory[GUARD:-GUARD], np.frombuffer(scaled, np.uint8), f"{old} to {new}")


@pytest.mark.parametrize("rounds", ROUNDS)
def test_numbers_that_pygame_refuses(hook: Any, rounds: int) -> None:
    """Shapes with such coordinates stay within the frame, or are not drawn."""
    rng = np.random.default_rng(5)
    extremes = [*EXTREMES, np.nan, np.inf, -np.inf]
    for _ in range(rounds):
        sheet = Sheet(rng)
        points = np.where(rng.random((4, 2)) < 0.5, rng.choice(extremes, (4, 2)), any_points(rng, 4))
        hook.polygon(*sheet.place, 0, points)
        hook.plain_polygon(*sheet.place, 0, points)
        hook.outline(*sheet.place, 0, points)
        hook.lines(*sheet.place, 0, points, False)
        hook.lines(*sheet.place, 0, points[:2].copy(), True)
        hook.disc(*sheet.place, 0, *points[0], int(rng.integers(0, 1000)))
        hook.ring(*sheet.place, 0, *points[0], int(rng.integers(0, 1000)))
        hook.circle(*sheet.place, 0, *points[0], float(rng.integers(0, 1000)))
        hook.aaline(*sheet.place, 0, *points[:2].ravel())
        hook.aalines(*sheet.place, 0, points, bool(rng.integers(2)))
        hook.plain_polygon(*sheet.place, 0, points[:3].copy())
        hook.image(*sheet.place, np.zeros((3, 3, 4), np.uint8), *rng.choice([-(2**31), 2**31 - 1, 0], 2), 0)
        assert (sheet.memory[:GUARD] == FILL).all() and (sheet.memory[-GUARD:] == FILL).all(), points
    for value in (np.nan, np.inf, -np.inf, 9.3e18):
        sheet = Sheet(rng)
        hook.polygon(*sheet.place, 0, np.array([[0, 0], [50, value], [90, 90]]))
        hook.circle(*sheet.place, 0, 20, value, 10)
        hook.circle(*sheet.place, 0, 20, 20, value)
        sheet.check(value)


def test_clearing_and_spans(hook: Any) -> None:
    rng = np.random.default_rng(6)
    for colour in ((255, 255, 255), (0, 0, 0), (1, 2, 3), (7, 7, 8)):
        sheet = Sheet(rng)
        hook.clear(*sheet.place, packed(colour))
        sheet.surface.fill(colour)
        for y, x1, x2 in rng.integers(-20, 140, (50, 3)).tolist():
            hook.span(*sheet.place, 0, y, x1, x2)
            pygame.draw.line(sheet.surface, (0, 0, 0), (x1, y), (x2, y))
        hook.span(*sheet.place, 0, 0, -(2**31), 2**31 - 1)
        pygame.draw.line(sheet.surface, (0, 0, 0), (0, 0), (sheet.width, 0))
        sheet.check(colour)
