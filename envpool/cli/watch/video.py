"""Where pictures go: a video, an animation, a single picture, or a window."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Protocol

from envpool.cli.watch.picture import Pixels
from envpool.errors import ConfigError

SUFFIXES = (".mp4", ".gif", ".png")
INSTALL = "pip install 'envpool[render]'"


class Output(Protocol):
    """Takes pictures of one size, one after the other."""

    def add(self, picture: Pixels) -> None:
        """Take the next picture, uint8 (height, width, 3)."""

    def close(self) -> None:
        """Finish, also after an error: what came so far is kept."""


class Video:
    """A .mp4 or .gif file.

    Parameters
    ----------
    path : Path
        The file.
    fps : int
        Pictures a second.
    """

    def __init__(self, path: Path, fps: int):
        import imageio.v2

        options: dict[str, dict[str, Any]] = {
            ".mp4": {"fps": fps, "macro_block_size": 2},
            ".gif": {"duration": 1000 / fps, "loop": 0},
        }
        self._writer = imageio.v2.get_writer(path, **options[path.suffix])

    def add(self, picture: Pixels) -> None:
        """Encode a picture."""
        self._writer.append_data(picture)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class Still:
    """A .png file of the last picture.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path):
        self._path = path
        self._last: Pixels | None = None

    def add(self, picture: Pixels) -> None:
        """Keep a picture in place of the last one."""
        self._last = picture

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
        Its title.
    fps : int
        Pictures a second, at most.
    """

    def __init__(self, title: str, fps: int):
        from envpool.window import Window

        self._window = Window(title)
        self._pause = 1 / fps
        self._due = time.monotonic()

    def add(self, picture: Pixels) -> None:
        """Show a picture until the next one is due."""
        self._due = max(self._due + self._pause, time.monotonic())
        self._window.show(picture, max(int(1000 * (self._due - time.monotonic())), 1))

    def close(self) -> None:
        """Close the window."""
        self._window.close()


def check_output(path: Path | None) -> None:
    """Raise ConfigError or ImportError for what `open_output` cannot open."""
    try:
        import PIL  # noqa: F401
    except ImportError as error:
        raise ImportError(f"pictures need Pillow: {INSTALL}") from error
    if path is None:
        from envpool.window import check_windows

        check_windows()
        return
    if path.suffix not in SUFFIXES:
        raise ConfigError(f"--out must end in one of {', '.join(SUFFIXES)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise ConfigError(f"--out: there is no folder {str(path.parent)!r}")
    try:
        if path.suffix != ".png":
            import imageio.v2  # noqa: F401
        if path.suffix == ".mp4":
            import imageio_ffmpeg  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{path.suffix} files need imageio and imageio-ffmpeg: {INSTALL}") from error


def open_output(path: Path | None, title: str, fps: int) -> Output:
    """Return where pictures go; without a path a window.

    Parameters
    ----------
    path : Path or None
        A checked path.
    title : str
        Of the window.
    fps : int
        Pictures a second.
    """
    if path is None:
        return Live(title, fps)
    return Still(path) if path.suffix == ".png" else Video(path, fps)
