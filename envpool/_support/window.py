"""The window of render_mode "human", which OpenCV shows, or pygame where OpenCV cannot."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.errors import RenderError

INSTALL = "pip install pygame-ce"
#: Code that a child process runs before this process opens its first window: if the display does not answer, OpenCV's
#: toolkit ends the process that asked.
PROBE = "import cv2; cv2.namedWindow('envpool'); cv2.waitKey(1); cv2.destroyAllWindows()"
#: How long the child process may take, in seconds.
PROBE_TIMEOUT = 60
NO_WINDOW = "set DISPLAY to a running display, or use render_mode='rgb_array'"


def opencv_problem() -> str:
    """Return why OpenCV cannot show windows; the text is empty if it can, as far as its build is concerned."""
    try:
        import cv2
    except ImportError as error:
        return f"OpenCV cannot be imported ({error})"
    if any(line.split() == ["GUI:", "NONE"] for line in cv2.getBuildInformation().splitlines()):
        return "the installed OpenCV cannot open any"
    return ""


def has_pygame() -> bool:
    """Return whether pygame is installed."""
    if "pygame" in sys.modules:
        return sys.modules["pygame"] is not None
    return find_spec("pygame") is not None


def names_sdl_driver() -> bool:
    """Return whether SDL, with which pygame shows windows, was told where to show them: "dummy" needs no display."""
    return bool(os.environ.get("SDL_VIDEODRIVER"))


def has_display() -> bool:
    """Return whether this process has a display, as far as its environment says."""
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def check_windows() -> None:
    """Raise ImportError if no library is installed that shows windows."""
    if not has_pygame() and (problem := opencv_problem()):
        raise ImportError(f"render_mode='human' needs a library that opens windows, and {problem}: {INSTALL}")


def can_show() -> bool:
    """Return whether a window can probably be opened: there are a display and a library, or SDL has a driver."""
    if has_pygame():
        return names_sdl_driver() or has_display()
    return has_display() and not opencv_problem()


@functools.cache
def display_error() -> str:
    """Return why OpenCV cannot open windows; the text is empty if it can."""
    try:
        done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=PROBE_TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"the display did not answer within {PROBE_TIMEOUT} seconds"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return "" if done.returncode == 0 else lines[0] if lines else f"exit status {done.returncode}"


class Window:
    """A window that opens with its first frame.

    Parameters
    ----------
    title : str
        Title of the window. OpenCV identifies windows by their titles: equal titles mean the same window.
    """

    def __init__(self, title: str):
        self.title = title
        self._shown: OpenCVWindow | PygameWindow | None = None

    def show(self, frame: npt.NDArray[np.uint8], wait_ms: int = 1) -> None:
        """Show a frame.

        Parameters
        ----------
        frame : numpy.ndarray
            uint8 (height, width, 3), RGB.
        wait_ms : int
            How long the window handles its events, in milliseconds.

        Raises
        ------
        RenderError
            No window can be opened, for example because there is no display.
        ImportError
            No library is installed that shows windows.
        """
        if self._shown is None:
            self._shown = new_window(self.title, frame.shape[0], frame.shape[1])
        self._shown.show(frame, wait_ms)

    def close(self) -> None:
        """Close the window; nothing happens if it is closed already."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.close()


def new_window(title: str, height: int, width: int) -> OpenCVWindow | PygameWindow:
    """Return a window: pygame's if SDL has a driver or if OpenCV has no windows, else OpenCV's."""
    check_windows()
    if has_pygame() and (names_sdl_driver() or opencv_problem()):
        if not can_show():
            raise RenderError({}, f"no window can be opened, since there is no display: {NO_WINDOW}")
        return PygameWindow(title, height, width)
    if why := display_error():
        raise RenderError({}, f"no window can be opened ({' '.join(why.split())}): {NO_WINDOW}")
    return OpenCVWindow(title)


class OpenCVWindow:
    """A window of OpenCV."""

    def __init__(self, title: str):
        import cv2

        self._cv2: Any = cv2
        self._title = title
        self._is_open = False

    def show(self, frame: npt.NDArray[np.uint8], wait_ms: int) -> None:
        """See `Window.show`."""
        try:
            self._cv2.imshow(self._title, np.ascontiguousarray(frame[:, :, ::-1]))
            self._cv2.waitKey(wait_ms)
        except self._cv2.error as error:
            raise RenderError({}, f"OpenCV cannot show a window: {error}") from error
        self._is_open = True

    def close(self) -> None:
        """See `Window.close`."""
        if not self._is_open:
            return
        try:
            self._cv2.destroyWindow(self._title)
            self._cv2.waitKey(1)
        except self._cv2.error:  # the user closed it
            pass


class PygameWindow:
    """A window of pygame. It is not the one of ``pygame.display``, which other environments may use."""

    def __init__(self, title: str, height: int, width: int):
        import pygame
        from pygame._sdl2 import video

        self._pygame, self._video = pygame, video
        try:
            pygame.display.init()
            self._window = video.Window(title, size=(width, height))
            self._renderer = video.Renderer(self._window)
        except pygame.error as error:
            raise RenderError({}, f"pygame cannot open a window ({error}): {NO_WINDOW}") from error

    def show(self, frame: npt.NDArray[np.uint8], wait_ms: int) -> None:
        """See `Window.show`."""
        height, width, _ = frame.shape
        try:
            image = self._pygame.image.frombuffer(np.ascontiguousarray(frame).data, (width, height), "RGB")
            self._video.Texture.from_surface(self._renderer, image).draw()
            self._renderer.present()
            self._pygame.event.pump()
        except self._pygame.error as error:
            raise RenderError({}, f"pygame cannot show a window: {error}") from error
        self._pygame.time.wait(wait_ms)

    def close(self) -> None:
        """See `Window.close`."""
        self._window.destroy()
