"""The images of cells, drawn by upstream's rules.

A tile is drawn at three times its size: each pixel whose centre is in a shape gets the colour of the shape. Then tiles
that the agent sees are made lighter, and each 3 x 3 pixels become one, their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]
#: Whether points, by their coordinates from 0 to 1, are in a shape.
Shape = Callable[[Numbers, Numbers], npt.NDArray[np.bool_]]

#: Colours by their numbers: red, green, blue, purple, yellow, grey.
COLOURS = np.array([(255, 0, 0), (0, 255, 0), (0, 0, 255), (112, 39, 195), (255, 255, 0), (100, 100, 100)])
BLACK = (0, 0, 0)
FACTOR = 3
#: Number of looks of a cell, and of the variants of each: the agent is absent or looks in one of four directions, and
#: the cell is seen or not. painter.pxd has the same order.
LOOKS, AGENTS, HIGHLIGHTS = 56, 5, 2


def rect(xmin: float, xmax: float, ymin: float, ymax: float) -> Shape:
    """Return a rectangle, borders included."""
    return lambda x, y: (x >= xmin) & (x <= xmax) & (y >= ymin) & (y <= ymax)


def circle(cx: float, cy: float, r: float) -> Shape:
    """Return a disc, its border included."""
    return lambda x, y: (x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r


def line(x0: float, y0: float, x1: float, y1: float, r: float) -> Shape:
    """Return the points that are at most r away from a line, within its bounding box, which is r wider."""
    start, end = np.array([x0, y0], np.float32), np.array([x1, y1], np.float32)
    length: Any = np.linalg.norm(end - start)
    dx, dy = (end - start) / length
    box = rect(min(x0, x1) - r, max(x0, x1) + r, min(y0, y1) - r, max(y0, y1) + r)

    def contains(x: Numbers, y: Numbers) -> npt.NDArray[np.bool_]:
        along = np.clip((x - start[0]) * dx + (y - start[1]) * dy, 0, length)
        away_x, away_y = x - (start[0] + along * dx), y - (start[1] + along * dy)
        inside: npt.NDArray[np.bool_] = box(x, y) & (np.sqrt(away_x * away_x + away_y * away_y) <= r)
        return inside

    return contains


def triangle(direction: int) -> Shape:
    """Return the agent, which looks to the right, turned by a number of quarters."""
    a, b, c = (np.array(corner, np.float32) for corner in ((0.12, 0.19), (0.87, 0.5), (0.12, 0.81)))
    v0, v1 = c - a, b - a
    dot00, dot01, dot11 = np.dot(v0, v0), np.dot(v0, v1), np.dot(v1, v1)
    scale = 1 / (dot00 * dot11 - dot01 * dot01)
    cosine, sine = (f(-0.5 * math.pi * direction) for f in (math.cos, math.sin))

    def contains(x: Numbers, y: Numbers) -> npt.NDArray[np.bool_]:
        x, y = x - 0.5, y - 0.5
        x, y = 0.5 + x * cosine - y * sine, 0.5 + y * cosine + x * sine
        px, py = x - a[0], y - a[1]
        dot02, dot12 = v0[0] * px + v0[1] * py, v1[0] * px + v1[1] * py
        u = (dot11 * dot02 - dot01 * dot12) * scale
        v = (dot00 * dot12 - dot01 * dot02) * scale
        inside: npt.NDArray[np.bool_] = (u >= 0) & (v >= 0) & (u + v < 1)
        return inside

    return contains


class Drawing:
    """An image at three times the size of a tile."""

    def __init__(self, size: int, pixels: Image | None = None):
        self.pixels = np.zeros((size, size, 3), np.uint8) if pixels is None else pixels
        centres = (np.arange(size) + 0.5) / size
        self.x, self.y = np.broadcast_to(centres, (size, size)), np.broadcast_to(centres[:, None], (size, size))

    def fill(self, shape: Shape, colour: Any) -> None:
        """Fill a shape; colours that are not integers are truncated."""
        self.pixels[shape(self.x, self.y)] = np.array(colour).astype(np.uint8)


def draw_door(d: Drawing, colour: Any, state: int) -> None:
    """Draw an open, closed or locked door."""
    if state == 0:
        d.fill(rect(0.88, 1, 0, 1), colour)
        d.fill(rect(0.92, 0.96, 0.04, 0.96), BLACK)
    elif state == 2:
        d.fill(rect(0, 1, 0, 1), colour)
        d.fill(rect(0.06, 0.94, 0.06, 0.94), 0.45 * colour)
        d.fill(rect(0.52, 0.75, 0.5, 0.56), colour)
    else:
        for border, fill in ((0.0, colour), (0.04, BLACK), (0.08, colour), (0.12, BLACK)):
            d.fill(rect(border, 1 - border, border, 1 - border), fill)
        d.fill(circle(0.75, 0.5, 0.08), colour)


def draw_key(d: Drawing, colour: Any) -> None:
    """Draw a key."""
    for box in ((0.5, 0.63, 0.31, 0.88), (0.38, 0.5, 0.59, 0.66), (0.38, 0.5, 0.81, 0.88)):
        d.fill(rect(*box), colour)
    d.fill(circle(0.56, 0.28, 0.19), colour)
    d.fill(circle(0.56, 0.28, 0.064), BLACK)


def draw_box(d: Drawing, colour: Any) -> None:
    """Draw a box."""
    d.fill(rect(0.12, 0.88, 0.12, 0.88), colour)
    d.fill(rect(0.18, 0.82, 0.18, 0.82), BLACK)
    d.fill(rect(0.16, 0.84, 0.47, 0.53), colour)


def draw_lava(d: Drawing) -> None:
    """Draw lava, with three waves."""
    d.fill(rect(0, 1, 0, 1), (255, 128, 0))
    for i in range(3):
        low, high = 0.3 + 0.2 * i, 0.4 + 0.2 * i
        for x, start, end in ((0.1, low, high), (0.3, high, low), (0.5, low, high), (0.7, high, low)):
            d.fill(line(x, start, {0.1: 0.3, 0.3: 0.5, 0.5: 0.7, 0.7: 0.9}[x], end, 0.03), BLACK)


def looks() -> list[Callable[[Drawing], None]]:
    """Return how each look is drawn: nothing; walls, floors, doors, keys, balls, boxes, goals by colour; and lava."""
    whole, floor = rect(0, 1, 0, 1), rect(0.031, 1, 0.031, 1)
    solid = [lambda d, c=c: d.fill(whole, c) for c in COLOURS]
    return [
        lambda d: None,
        *solid,
        *(lambda d, c=c: d.fill(floor, c / 2) for c in COLOURS),
        *(lambda d, c=c, state=state: draw_door(d, c, state) for c in COLOURS for state in range(3)),
        *(lambda d, c=c: draw_key(d, c) for c in COLOURS),
        *(lambda d, c=c: d.fill(circle(0.5, 0.5, 0.31), c) for c in COLOURS),
        *(lambda d, c=c: draw_box(d, c) for c in COLOURS),
        *solid,
        draw_lava,
    ]


@cache
def atlas(tile_size: int) -> bytes:
    """Return all tiles of a size: uint8 (LOOKS, AGENTS, HIGHLIGHTS, tile_size, tile_size, 3)."""
    size = FACTOR * tile_size
    images = np.zeros((LOOKS, AGENTS, HIGHLIGHTS, size, size, 3), np.uint8)
    for look, draw in enumerate(looks()):
        base = Drawing(size)
        base.fill(rect(0, 0.031, 0, 1), (100, 100, 100))
        base.fill(rect(0, 1, 0, 0.031), (100, 100, 100))
        draw(base)
        for agent in range(AGENTS):
            d = Drawing(size, base.pixels.copy())
            if agent:
                d.fill(triangle(agent - 1), (255, 0, 0))
            images[look, agent, 0] = d.pixels
    values = np.arange(256, dtype=np.uint8)
    lighter = (values + 0.3 * (np.uint8(255) - values)).clip(0, 255).astype(np.uint8)
    images[:, :, 1] = lighter[images[:, :, 0]]
    blocks = images.reshape(LOOKS, AGENTS, HIGHLIGHTS, tile_size, FACTOR, tile_size, FACTOR, 3)
    tiles: Image = blocks.mean(axis=6).mean(axis=4).astype(np.uint8)
    return tiles.tobytes()
