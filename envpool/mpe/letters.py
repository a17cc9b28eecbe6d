"""The letters of frames: what agents say is written in upstream's font."""

from __future__ import annotations

import string

import numpy as np

from envpool._support import wheels
from envpool.raster.sheet import pack, pygame_for, rgba

#: The characters that are drawn, in the order of the sheet.
CHARACTERS = string.ascii_letters + string.digits + "_[],."
FONT = "_mpe_utils/secrcode.ttf"
FONT_SIZE = 24


def render(what: str) -> bytes:
    """Return a sheet with an image per character, and its left and top bearing and advance in pixels; see frames.pyx.

    The last three numbers belong to the space, which has no image.

    Parameters
    ----------
    what : str
        Name of the subject of the frames, for the text of an error.

    Raises
    ------
    ImportError
        pygame-ce or the font is missing.
    """
    pygame = pygame_for(what)
    import pygame.freetype as freetype

    installed = wheels.find("mpe2")
    if installed is None or not (installed.folder / FONT).exists():
        raise ImportError(f"frames of {what} need the font of mpe2: pip install mpe2")
    freetype.init()
    font = freetype.Font(installed.folder / FONT, FONT_SIZE)
    images, numbers = [], []
    for character in CHARACTERS:
        ((left, _, _, top, advance, _),) = font.get_metrics(character)
        images.append(rgba(pygame, font.render(character, (0, 0, 0))[0]))
        numbers.append((left, top, advance))
    numbers.append((0, 0, font.get_metrics(" ")[0][4]))
    return pack(images, np.array(numbers, np.int32))
