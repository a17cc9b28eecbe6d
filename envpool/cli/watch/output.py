"""Outputs of ``envpool watch``: a video or GIF file, a PNG file, or a window."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from envpool._support.files import check_output as check_file
from envpool._support.packages import install
from envpool.errors import ConfigError
from envpool.evaluation.encoder import FORMATS, Encoder
from envpool.evaluation.tiling import Frame

SUFFIXES = (*FORMATS, ".png")
INSTALL = install("render")


class Output(Protocol):
    """Destination of a sequence of frames of equal size.

    Attributes
    ----------
    count : int
        Number of frames that were added.
    """

    count: int

    def add(self, frame: Frame) -> None:
        """Append a frame, uint8 (height, width, 3)."""

    def close(self) -> None:
        """Finish the output. After an error, the frames added so far are kept."""


class Still:
    """A .png file of the last frame.

    Parameters
    ----------
    path : Path
        The file to write.
    """

    def __init__(self, path: Path):
        self.count = 0
        self._path = path
        self._last: Frame | None = None

    def add(self, frame: Frame) -> None:
        """Keep this frame instead of the previous one."""
        self._last = frame
        self.count += 1

    def close(self) -> None:
        """Write the file."""
        if self._last is not None:
            from PIL import Image

            Image.fromarray(self._last).save(self._path)


class Live:
    """A window.

    Parameters
    ----------
    title : str
        Title of the window.
    fps : int
        Highest frame rate, in frames per second.
    """

    def __init__(self, title: str, fps: int):
        from envpool._support.window import Window

        self.count = 0
        self._window = Window(title)
        self._pause = 1 / fps
        self._due = time.monotonic()

    def add(self, frame: Frame) -> None:
        """Show a frame until the next one is due."""
        self._due = max(self._due + self._pause, time.monotonic())
        self._window.show(frame, max(int(1000 * (self._due - time.monotonic())), 1))
        self.count += 1

    def close(self) -> None:
        """Close the window."""
        self._window.close()


def check_output(path: Path | None) -> None:
    """Raise ConfigError or ImportError if `open_output` could not open this path."""
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise ImportError(f"envpool watch needs Pillow: {INSTALL}") from error
    if path is None:
        from envpool._support.window import check_windows

        check_windows()
        return
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--out must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}")
    check_file(path)
    try:
        if path.suffix != ".png":
            import imageio_ffmpeg  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{path.suffix} files need imageio-ffmpeg: {INSTALL}") from error


def open_output(path: Path | None, title: str, fps: int) -> Output:
    """Return the output for a path, which `check_output` has accepted.

    Parameters
    ----------
    path : Path or None
        File to write; None opens a window.
    title : str
        Title of the window.
    fps : int
        Frame rate in frames per second.
    """
    if path is None:
        return Live(title, fps)
    return Still(path) if path.suffix == ".png" else Encoder(path, fps)
