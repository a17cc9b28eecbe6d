"""Outputs of ``envpool watch``: a video or GIF file, a PNG file, or a window."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Protocol

from envpool.cli.watch.tiling import Frame
from envpool.distribution import install
from envpool.errors import ConfigError

SUFFIXES = (".mp4", ".gif", ".png")
INSTALL = install("render")


class Output(Protocol):
    """Destination of a sequence of frames of equal size."""

    def add(self, frame: Frame) -> None:
        """Append a frame, uint8 (height, width, 3)."""

    def close(self) -> None:
        """Finish the output. After an error, the frames added so far are kept."""


class Video:
    """An .mp4 or .gif file.

    Parameters
    ----------
    path : Path
        The file to write.
    fps : int
        Frame rate in frames per second.
    """

    def __init__(self, path: Path, fps: int):
        import imageio.v2

        options: dict[str, dict[str, Any]] = {
            ".mp4": {"fps": fps, "macro_block_size": 2},
            ".gif": {"duration": 1000 / fps, "loop": 0},
        }
        self._writer = imageio.v2.get_writer(path, **options[path.suffix])

    def add(self, frame: Frame) -> None:
        """Encode a frame."""
        self._writer.append_data(frame)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class Still:
    """A .png file of the last frame.

    Parameters
    ----------
    path : Path
        The file to write.
    """

    def __init__(self, path: Path):
        self._path = path
        self._last: Frame | None = None

    def add(self, frame: Frame) -> None:
        """Keep this frame instead of the previous one."""
        self._last = frame

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
        from envpool.window import Window

        self._window = Window(title)
        self._pause = 1 / fps
        self._due = time.monotonic()

    def add(self, frame: Frame) -> None:
        """Show a frame until the next one is due."""
        self._due = max(self._due + self._pause, time.monotonic())
        self._window.show(frame, max(int(1000 * (self._due - time.monotonic())), 1))

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
        from envpool.window import check_windows

        check_windows()
        return
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--out must end in one of {', '.join(SUFFIXES)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise ConfigError(f"--out: the directory {str(path.parent)!r} does not exist")
    try:
        if path.suffix != ".png":
            import imageio.v2  # noqa: F401
        if path.suffix == ".mp4":
            import imageio_ffmpeg  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{path.suffix} files need imageio and imageio-ffmpeg: {INSTALL}") from error


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
    return Still(path) if path.suffix == ".png" else Video(path, fps)
