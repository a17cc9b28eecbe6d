"""Tiling: the frames of several envs side by side in one frame, each below its caption."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]

#: Largest width and height of the tiled frame, in pixels; tiles are scaled down to fit.
MAX_SIZE = (1920, 1080)
#: Ratio of width to height that the tiled frame comes close to, unless the number of tiles is a square.
ASPECT = 4 / 3
#: Frames whose shorter side has fewer pixels are enlarged, by a whole number.
SMALL = 192
GAP = 2  # pixels between two tiles
BACKGROUND = "#303030"  # white captions are readable on it, and black frames stand out from it
CAPTION = 20  # height of a caption, in pixels
SMALLEST_CAPTION = 12  # captions that would have to be smaller are left out
LONGEST = 24  # characters of a caption that a tile is expected to hold


class Tiling:
    """The grid in which frames of equal size are placed, each below a dark strip with its caption.

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
    caption : int
        Height of the captions in pixels; 0 if the tiles are so many that captions would not be readable.
    tile : (int, int)
        Height and width of a frame in the grid, in pixels. Frames are enlarged by whole numbers only.
    size : (int, int)
        Height and width of the tiled frame in pixels. Both are even, as video encoders require.
    """

    def __init__(self, count: int, height: int, width: int):
        self.columns = math.isqrt(count)
        if self.columns**2 != count:
            self.columns = min(
                range(1, count + 1), key=lambda c: abs(math.log(c * width / (-(-count // c) * height) / ASPECT))
            )
        self.rows = -(-count // self.columns)
        self.caption = min(CAPTION, MAX_SIZE[1] // (4 * self.rows))
        if self.caption < SMALLEST_CAPTION:
            self.caption = 0
        room_y = (MAX_SIZE[1] - (GAP + self.caption) * self.rows) / (self.rows * height)
        room_x = (MAX_SIZE[0] - GAP * self.columns) / (self.columns * width)
        scale = min(room_y, room_x)
        if scale >= 1:
            scale = min(int(scale), -(-SMALL // min(height, width)))
        self.tile = max(int(height * scale), 1), max(int(width * scale), 1)
        self.size = extent(self.rows, self.tile[0] + self.caption), extent(self.columns, self.tile[1])

    def corner_of(self, k: int) -> tuple[int, int]:
        """Return the row and column, in pixels, of the top left corner of frame k."""
        y = k // self.columns * (self.tile[0] + self.caption + GAP) + self.caption
        return y, k % self.columns * (self.tile[1] + GAP)


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
        Text to write above each frame, n strings.
    tiling : Tiling
        The grid, made for n frames of this size.

    Returns
    -------
    numpy.ndarray
        uint8 (*tiling.size, 3).
    """
    from PIL import Image, ImageDraw

    grid = Image.new("RGB", tiling.size[::-1], BACKGROUND)
    pen = ImageDraw.Draw(grid)
    font = font_for(tiling, captions)
    is_small = frames.shape[1] < tiling.tile[0]
    for k, (frame, caption) in enumerate(zip(frames, captions, strict=True)):
        y, x = tiling.corner_of(k)
        tile = Image.fromarray(frame)
        if frame.shape[:2] != tiling.tile:
            tile = tile.resize(tiling.tile[::-1], Image.Resampling.NEAREST if is_small else Image.Resampling.BOX)
        if tiling.caption:
            pen.text((x + 3, y - tiling.caption // 2), caption, fill="white", font=font, anchor="lm")
        grid.paste(tile, (x, y))
    return np.asarray(grid)


def font_for(tiling: Tiling, captions: Sequence[str]) -> Any:
    """Return a font in which the longest caption fits into its strip."""
    from PIL import ImageFont

    length = max(LONGEST, *map(len, captions))
    return ImageFont.load_default(max(min(3 * tiling.caption // 4, 2 * tiling.tile[1] // length), 8))
