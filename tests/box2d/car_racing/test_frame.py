"""The parts of CarRacing's frame equal pygame's, pixel by pixel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from pygame import gfxdraw

from envpool.box2d.car_racing import font as car_racing_font
from tests.support.builds import load_hook

ROUNDS = [pytest.param(8, id="short"), pytest.param(400, id="full", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def hook() -> Any:
    return load_hook(Path(__file__).parent / "hook", "car_racing_hook")


def canvas(background: Any) -> pygame.Surface:
    surface = pygame.Surface((1000, 800))
    surface.fill(background)
    return surface


def packed(colours: Any) -> np.ndarray:
    """Return colours (..., 3) as 0xBBGGRR."""
    c = np.asarray(colours, np.uint32)
    return np.ascontiguousarray(c[..., 0] | c[..., 1] << 8 | c[..., 2] << 16)


def pixels(surface: pygame.Surface) -> np.ndarray:
    return packed(pygame.surfarray.array3d(surface).transpose(1, 0, 2))


def any_quad(rng: np.random.Generator) -> np.ndarray:
    """Return vertices (4, 2): irregular, small, and rectangles at all angles, inside and outside the canvas."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.integers(-2000, 3000, (4, 2))
    if kind == 1:
        return rng.integers(0, 800, (4, 2))
    if kind == 2:
        return rng.integers(0, 800, (1, 2)) + rng.integers(-6, 7, (4, 2))
    angle = rng.integers(8) * np.pi / 4 if kind == 3 else rng.uniform(0, 7)
    is_big = kind == 5
    x, y = rng.uniform(2000, 8000, 2) if is_big else rng.uniform(1, 300, 2)
    centre = rng.uniform(-3000, 4000, 2) if is_big else rng.uniform(-200, 1100, 2)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.trunc(np.array([(x, y), (x, -y), (-x, -y), (-x, y)]) @ turn.T + centre).astype(int)


def any_colours(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return colours (n, 3): all different, or few."""
    colours = rng.integers(0, 256, (n, 3))
    return colours if rng.random() < 0.6 else colours[rng.integers(0, min(n, 2), n)]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_quads_and_shrinking(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        n = int(rng.integers(1, 30))
        background, colours = rng.integers(0, 256, 3), any_colours(rng, n)
        quads = np.array([any_quad(rng) for _ in range(n)])
        surface = canvas(background)
        for quad, colour in zip(quads.tolist(), colours.tolist(), strict=True):
            gfxdraw.aapolygon(surface, quad, colour)
            gfxdraw.filled_polygon(surface, quad, colour)
        expected = pixels(surface)
        drawn = hook.quads(quads.astype(np.int16), packed(colours), packed(background).item())
        assert np.array_equal(drawn, expected)
        small = pygame.surfarray.array3d(pygame.transform.smoothscale(surface, (96, 96))).transpose(1, 0, 2)
        for is_mixed in (False, True):
            assert np.array_equal(hook.shrink(expected, is_mixed), small)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_polygons(hook: Any, rounds: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        n = int(rng.integers(1, 30))
        background, colours = rng.integers(0, 256, 3), any_colours(rng, n)
        counts = rng.integers(3, 9, n).astype(np.int32)
        spread = rng.choice([20, 200, 1500], (n, 1, 1))
        vertices = rng.uniform(0, 800, (n, 1, 2)) + rng.uniform(-spread, spread, (n, 8, 2))
        vertices = np.where(rng.random((n, 1, 1)) < 0.3, np.round(vertices / 20) * 20, vertices)  # level edges
        surface = canvas(background)
        for polygon, count, colour in zip(vertices.tolist(), counts, colours.tolist(), strict=True):
            pygame.draw.polygon(surface, points=polygon[:count], color=colour)
        drawn = hook.polygons(vertices, counts, packed(colours), packed(background).item())
        assert np.array_equal(drawn, pixels(surface))


def test_shrinking_noise(hook: Any) -> None:
    noise = np.random.default_rng(2).integers(0, 256, (800, 1000, 3)).astype(np.uint8)
    surface = canvas(0)
    pygame.surfarray.blit_array(surface, noise.transpose(1, 0, 2))
    small = pygame.surfarray.array3d(pygame.transform.smoothscale(surface, (96, 96))).transpose(1, 0, 2)
    assert np.array_equal(hook.shrink(packed(noise), False), small)


def test_shrinking_one_colour(hook: Any) -> None:
    """The result does not depend on which cells have a single colour."""
    for value in range(256):
        plain = np.full((800, 1000), 0x010101 * value, np.uint32)
        assert np.array_equal(hook.shrink(plain, False), hook.shrink(plain, True))


@pytest.mark.parametrize("step", [pytest.param(37, id="short"), pytest.param(3, id="full", marks=pytest.mark.slow)])
def test_text(hook: Any, step: int) -> None:
    pygame.font.init()
    font = pygame.font.Font(pygame.font.get_default_font(), 42)
    advance, kerning = np.array(car_racing_font.ADVANCE, np.int32), np.array(car_racing_font.kerning(), np.int32)
    glyphs = np.frombuffer(car_racing_font.brightness(), np.uint8)
    rewards = [-0.5, -0.4999, 0.5, 1.5, 2.5, 899.9, -9999.0, -12345.0, 54321.0, *np.arange(-1600.0, 1200.0, step)]
    for reward in rewards:
        surface = canvas((30, 60, 90))
        text = font.render(f"{reward:04.0f}", True, (255, 255, 255), (0, 0, 0))
        rect = text.get_rect()
        rect.center = (60, 750)
        surface.blit(text, rect)
        drawn = hook.text(reward, glyphs, advance, kerning, 30 | 60 << 8 | 90 << 16)
        assert np.array_equal(drawn, pixels(surface)), f"{reward:04.0f}"


def test_rotation(hook: Any) -> None:
    rng = np.random.default_rng(3)
    right = np.arange(-12, 13) * np.pi / 2
    near = np.add.outer(right, [0, 1e-7, -1e-7, 9.99e-7, 1.001e-6, -9.99e-7, -1.001e-6, 1e-5]).ravel()
    for angle in [*near, *rng.uniform(-60, 60, 3000)]:
        x, y = rng.uniform(-400, 400, 2)
        turned = pygame.math.Vector2(x, y).rotate_rad(angle)
        assert hook.rotate(x, y, angle) == (turned.x, turned.y)
