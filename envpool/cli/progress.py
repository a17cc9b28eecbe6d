"""A line on the terminal that shows the progress of a command."""

from __future__ import annotations

import sys


class Progress:
    """A progress line on stderr that overwrites itself; silent if stderr is not a terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr is not None and sys.stderr.isatty()  # None if it is closed
        self.prefix = ""

    def __call__(self, text: str) -> None:
        """Replace the text of the line."""
        if self.is_shown:
            print(f"\r\x1b[K{self.prefix}{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the line."""
        self.prefix = ""
        self("")
