"""Tiling: the frames of several envs side by side in one frame, each with a caption."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]

#: Largest width and height of the tiled frame, in pixels; tiles are scaled down to fit.
MAX_SIZE = (1920, 1080)
#: Ratio of width to height that the tiled frame comes close to.
ASPECT = 4 / 3
GAP = 2  # pixels between two tiles


class Tiling:
    """The grid in which frames of equal size are placed.

    Parameters
    ----------
    count : int
        Number of frames.
    height, width : int
        Size of each frame in pixels.

    Attributes
    ----------
    rows, columns : int
        Size of the grid in tiles.
    tile : (int, int)
        Height and width of a tile in pixels. A tile is never larger than the frame that it shows.
    size : (int, int)
        Height and width of the tiled frame in pixels. Both are even, as video encoders require.
    """

    def __init__(self, count: int, height: int, width: int):
        self.columns = min(
            range(1, count + 1), key=lambda c: abs(math.log(c * width / (-(-count // c) * height) / ASPECT))
        )
        self.rows = -(-count // self.columns)
        room_y = (MAX_SIZE[1] - GAP * self.rows) / (self.rows * height)
        room_x = (MAX_SIZE[0] - GAP * self.columns) / (self.columns * width)
        scale = min(1.0, room_y, room_x)
        self.tile = max(int(height * scale), 1), max(int(width * scale), 1)
        self.size = extent(self.rows, self.tile[0]), extent(self.columns, self.tile[1])

    def place(self, k: int) -> tuple[int, int]:
        """Return the row and column, in pixels, of the top left corner of tile k."""
        return k // self.columns * (self.tile[0] + GAP), k % self.columns * (self.tile[1] + GAP)


def extent(count: int, length: int) -> int:
    """Return the smallest even number of pixels that holds `count` tiles of `length` pixels and the gaps between."""
    return -(-(count * (length + GAP) - GAP) // 2) * 2


def tiled(frames: Frame, captions: Sequence[str], tiling: Tiling) -> Frame:
    """Return one frame that shows all `frames` in a grid.

    Parameters
    ----------
    frames : numpy.ndarray
        uint8 (n, height, width, 3).
    captions : sequence of str
        Text to write on each tile, n strings.
    tiling : Tiling
        The grid, made for n frames of this size.

    Returns
    -------
    numpy.ndarray
        uint8 (*tiling.size, 3).
    """
    from PIL import Image, ImageDraw

    grid = Image.new("RGB", tiling.size[::-1])
    pen = ImageDraw.Draw(grid)
    font = font_for(tiling.tile, captions)
    for k, (frame, caption) in enumerate(zip(frames, captions, strict=True)):
        y, x = tiling.place(k)
        tile = Image.fromarray(frame)
        if frame.shape[:2] != tiling.tile:
            tile = tile.resize(tiling.tile[::-1], Image.Resampling.BOX)
        grid.paste(tile, (x, y))
        pen.text((x + 3, y + 2), caption, fill="white", font=font, stroke_width=1, stroke_fill="black")
    return np.asarray(grid)


def font_for(tile: tuple[int, int], captions: Sequence[str]) -> Any:
    """Return a font in which the longest caption fits into the width of a tile."""
    from PIL import ImageFont

    size = max(min(tile[0] // 12, 20, 2 * tile[1] // max(1, *map(len, captions))), 8)
    return ImageFont.load_default(size)
