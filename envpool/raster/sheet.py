"""Images that native code draws, packed into bytes; and upstream's image files, read through pygame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]


def pack(images: Sequence[Image], numbers: npt.ArrayLike = ()) -> bytes:
    """Return a sheet of images and numbers, laid out as ``sheet.h`` says.

    Parameters
    ----------
    images : sequence of numpy.ndarray
        uint8 (height, width, channels) each: 4 channels for one that is laid over others, 3 for a whole picture.
    numbers : array_like
        int32, whatever else drawing needs.
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
    """Return pygame, or raise an ImportError that names the way out. No display is opened."""
    try:
        import pygame
    except ImportError as error:
        raise ImportError(f"pictures of {what} need pygame: pip install 'envpool[render]'") from error
    return pygame


def load(pygame: Any, module: str, name: str) -> Any:
    """Return an image file of gymnasium's as a surface.

    Parameters
    ----------
    pygame : module
    module : str
        The folder in ``gymnasium.envs``, e.g. ``"toy_text/img"``.
    name : str
        The file in it.
    """
    import gymnasium

    path = Path(gymnasium.__file__).parent / "envs" / module / name
    if not path.exists():
        raise ImportError(
            f"gymnasium {gymnasium.__version__} has no image {module}/{name}, which the picture is made of: "
            "pip install 'gymnasium>=1.4'"
        )
    return pygame.image.load(path)


def rgba(pygame: Any, surface: Any) -> Image:
    """Return the pixels of a surface with transparency: uint8 (height, width, 4)."""
    width, height = surface.get_size()
    data = pygame.image.tobytes(surface, "RGBA")
    return np.frombuffer(data, np.uint8).reshape(height, width, 4)


def rgb(pygame: Any, surface: Any) -> Image:
    """Return the pixels of a surface: uint8 (height, width, 3)."""
    return np.ascontiguousarray(rgba(pygame, surface)[..., :3])
