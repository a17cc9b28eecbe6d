"""Translation of exceptions into error messages and exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
READER_GONE = 141  # 128 + SIGPIPE


def guarded(name: str, call: Callable[[], int | None]) -> int:
    """Run a command and return its exit status.

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
        status = call() or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"\n{name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout has closed the pipe (`envpool list | head`). The flush at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"{name}: error: {text}", file=sys.stderr)
        return FAILED
    return status
