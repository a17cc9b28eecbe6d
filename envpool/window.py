"""The window of render_mode "human", which OpenCV shows."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool.errors import RenderError

INSTALL = "pip install opencv-python (with opencv-python-headless installed, pip uninstall that one first)"
#: Code that a child process runs before this process opens its first window: if the display does not answer, OpenCV's
#: toolkit ends the process that asked.
PROBE = "import cv2; cv2.namedWindow('envpool'); cv2.waitKey(1); cv2.destroyAllWindows()"
#: How long the child process may take, in seconds.
PROBE_TIMEOUT = 60


def check_windows() -> None:
    """Raise ImportError if OpenCV is missing or was built without support for windows."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError(f"render_mode='human' needs OpenCV, which cannot be imported ({error}): {INSTALL}") from error
    for line in cv2.getBuildInformation().splitlines():
        if line.split() == ["GUI:", "NONE"]:
            raise ImportError(
                f"render_mode='human' needs an OpenCV with windows, the installed one has none: {INSTALL}"
            )


@functools.cache
def display_error() -> str:
    """Return why windows cannot be opened; the text is empty if they can."""
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
        self.is_open = False

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
        """
        cv2 = self._library()
        try:
            cv2.imshow(self.title, np.ascontiguousarray(frame[:, :, ::-1]))
            cv2.waitKey(wait_ms)
        except cv2.error as error:
            raise RenderError({}, f"OpenCV cannot show a window: {error}") from error
        self.is_open = True

    def close(self) -> None:
        """Close the window; nothing happens if it is closed already."""
        if not self.is_open:
            return
        self.is_open = False
        import cv2

        try:
            cv2.destroyWindow(self.title)
            cv2.waitKey(1)
        except cv2.error:  # the user closed it
            pass

    def _library(self) -> Any:
        check_windows()
        if not self.is_open and (why := display_error()):
            raise RenderError(
                {},
                f"no window can be opened ({' '.join(why.split())}): set DISPLAY to a running display, or use "
                "render_mode='rgb_array'",
            )
        import cv2

        return cv2
