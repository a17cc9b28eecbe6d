"""Images that native code draws, packed into bytes, and access to upstream's image files through pygame-ce."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._support.packages import install

Image = npt.NDArray[np.uint8]


def pack(images: Sequence[Image], numbers: npt.ArrayLike = ()) -> bytes:
    """Return a sheet of images and numbers, in the layout of ``sheet.h``.

    Parameters
    ----------
    images : sequence of numpy.ndarray
        Images of uint8 (height, width, channels). An image that is drawn over others has 4 channels, a background image
        has 3.
    numbers : array_like
        Other data that drawing needs, converted to int32.
    """
    values = np.asarray(numbers, np.int32).ravel()
    offset = 4 * (2 + 4 * len(images) + len(values))
    entries = []
    for image in images:
        entries.append((*image.shape, offset))
        offset += image.size
    head = np.concatenate([[len(images), len(values)], np.ravel(entries), values]).astype(np.int32)
    return b"".join([head.tobytes(), *(np.ascontiguousarray(image).tobytes() for image in images)])


def pygame_for(what: str) -> Any:
    """Return pygame without opening a display, or raise an ImportError that says how to install it."""
    try:
        import pygame
    except ImportError as error:
        raise ImportError(f"frames of {what} need pygame-ce: {install('render')}") from error
    return pygame


def load(pygame: Any, module: str, name: str) -> Any:
    """Return an image file of gymnasium as a pygame surface.

    Parameters
    ----------
    pygame : module
        Result of `pygame_for`.
    module : str
        Folder in ``gymnasium.envs``, e.g. ``"toy_text/img"``.
    name : str
        Name of the file.

    Raises
    ------
    ImportError
        The installed gymnasium has no such file.
    """
    import gymnasium

    path = Path(gymnasium.__file__).parent / "envs" / module / name
    if not path.exists():
        raise ImportError(
            f"gymnasium {gymnasium.__version__} has no image {module}/{name}, which rendering needs: "
            "pip install 'gymnasium>=1.4'"
        )
    return pygame.image.load(path)


def rgba(pygame: Any, surface: Any) -> Image:
    """Return the pixels of a surface with their opacity: uint8 (height, width, 4)."""
    width, height = surface.get_size()
    data = pygame.image.tobytes(surface, "RGBA")
    return np.frombuffer(data, np.uint8).reshape(height, width, 4)


def rgb(pygame: Any, surface: Any) -> Image:
    """Return the pixels of a surface: uint8 (height, width, 3)."""
    return np.ascontiguousarray(rgba(pygame, surface)[..., :3])
