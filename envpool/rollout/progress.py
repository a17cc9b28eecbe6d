"""`Progress`: how far a training run is, on a terminal or in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO, Any

#: Seconds between two updates of the line on a terminal.
ON_TERMINAL = 0.1


class Progress:
    """Shows on stderr how many steps of a run are done, how fast, and how long the rest takes.

    On a terminal, one line is overwritten. If stderr is a file or a pipe, as in jobs of a cluster and in notebooks'
    logs, a line is appended every `every` seconds, and one at the end. Use it in a ``with`` block.

    Parameters
    ----------
    total : int
        Number of steps of the whole run.
    unit : str
        Name of a step in the plural, "steps" by default.
    every : float
        Seconds between two lines if stderr is not a terminal, 10 by default.
    file : file, optional
        The file to write to, by default stderr. Nothing is shown if stderr is closed.
    clock : callable
        Returns the time in seconds.

    Attributes
    ----------
    done : int
        Number of steps so far.
    """

    def __init__(
        self,
        total: int,
        unit: str = "steps",
        every: float = 10.0,
        file: IO[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.total, self.unit, self.done = total, unit, 0
        self._file = sys.stderr if file is None else file
        self._is_terminal = self._file is not None and self._file.isatty()
        self._every = ON_TERMINAL if self._is_terminal else every
        self._clock, self._text, self._before = clock, "", 0
        self._start = self._last = clock()

    def resume(self, done: int) -> None:
        """Count steps that an earlier run has done, without counting them into the speed."""
        self.done += done
        self._before += done

    def update(self, steps: int, text: str = "") -> None:
        """Count steps; `text` is shown with them, for instance the mean return."""
        self.done += steps
        self._text = text or self._text
        if self._clock() - self._last >= self._every:
            self._show()

    def line(self) -> str:
        """Return the line without its end."""
        seconds = self._clock() - self._start
        speed = (self.done - self._before) / seconds if seconds > 0 else 0.0
        parts = [f"{self.done:,} of {self.total:,} {self.unit}"]
        if self.total > 0:
            parts[0] += f" ({100 * min(self.done / self.total, 1):.0f} %)"
        if speed > 0:
            parts.append(f"{speed:,.0f}/s")
            if self.done < self.total:
                parts.append(f"{duration((self.total - self.done) / speed)} left")
        return ", ".join([*parts, self._text] if self._text else parts)

    def _show(self, is_last: bool = False) -> None:
        self._last = self._clock()
        if self._file is None:
            return
        start, end = ("\r\x1b[K", "\n" if is_last else "") if self._is_terminal else ("", "\n")
        print(f"{start}{self.line()}", end=end, file=self._file, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        self._show(is_last=True)


def duration(seconds: float) -> str:
    """Return a time as "42 s", "3 min" or "2 h 5 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
