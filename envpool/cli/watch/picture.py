"""Pictures of several envs in one, with what each has done so far written on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

#: Width and height that the whole does not exceed; single pictures are made smaller for it.
MAX_SIZE = (1920, 1080)
#: Width to height that the whole comes close to.
ASPECT = 4 / 3
GAP = 2  # between pictures, pixels


class Tiling:
    """Where pictures of one size go.

    Parameters
    ----------
    count : int
        How many there are.
    height, width : int
        Of each.

    Attributes
    ----------
    rows, columns : int
        Of the grid.
    tile : (int, int)
        Height and width of a picture in it, at most those given.
    size : (int, int)
        Height and width of the whole, even numbers, as encoders of videos want them.
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
        """Return row and column of the first pixel of picture k."""
        return k // self.columns * (self.tile[0] + GAP), k % self.columns * (self.tile[1] + GAP)


def extent(count: int, length: int) -> int:
    """Return the even number of pixels in which so many tiles of a length have room."""
    return -(-(count * (length + GAP) - GAP) // 2) * 2


def tiled(frames: Pixels, texts: Sequence[str], tiling: Tiling) -> Pixels:
    """Return one picture of all.

    Parameters
    ----------
    frames : numpy.ndarray
        uint8 (n, height, width, 3).
    texts : sequence of str
        What is written on each.
    tiling : Tiling
        ArrayLayout for them.

    Returns
    -------
    numpy.ndarray
        uint8 (*tiling.size, 3).
    """
    from PIL import Image, ImageDraw

    whole = Image.new("RGB", tiling.size[::-1])
    pen = ImageDraw.Draw(whole)
    font = font_for(tiling.tile, texts)
    for k, (frame, text) in enumerate(zip(frames, texts, strict=True)):
        y, x = tiling.place(k)
        picture = Image.fromarray(frame)
        if frame.shape[:2] != tiling.tile:
            picture = picture.resize(tiling.tile[::-1], Image.Resampling.BOX)
        whole.paste(picture, (x, y))
        pen.text((x + 3, y + 2), text, fill="white", font=font, stroke_width=1, stroke_fill="black")
    return np.asarray(whole)


def font_for(tile: tuple[int, int], texts: Sequence[str]) -> Any:
    """Return a font in which the longest text fits on a picture."""
    from PIL import ImageFont

    size = max(min(tile[0] // 12, 20, 2 * tile[1] // max(1, *map(len, texts))), 8)
    return ImageFont.load_default(size)
