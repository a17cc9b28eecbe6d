"""Translation of exceptions into error messages and exit statuses."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
READER_GONE = 141  # 128 + SIGPIPE


def guarded(name: str, call: Callable[[], int | None]) -> int:
    """Run a command and return its exit status.

    Characters that the encoding of stdout lacks are printed as backslash escapes.

    Parameters
    ----------
    name : str
        Name of the command, which starts every message on stderr.
    call : callable
        Runs the command, and returns its exit status if it is not 0.

    Returns
    -------
    int
        That of the command, 0 by default; 2 after an exception (printed on stderr in one line), 130 after Ctrl-C,
        141 if the reader of stdout closed the pipe.
    """
    try:
        if sys.stdout is None:  # closed before the program started
            raise OSError("stdout is closed, but the command prints its results: redirect it, e.g. to /dev/null")
        escape_unknown_characters()
        status = call() or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        complain(f"\n{name}: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout has closed the pipe (`envpool list | head`). The flush at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        complain(f"{name}: error: {text}")
        return FAILED
    return status


def escape_unknown_characters() -> None:
    """Let stdout write characters that its encoding lacks as backslash escapes, unless it has a way of its own."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def complain(text: str) -> None:
    """Print a line on stderr, unless it is closed; print() would then write to stdout."""
    if sys.stderr is not None:
        print(text, file=sys.stderr)
