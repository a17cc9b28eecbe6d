"""Translation of exceptions into error messages and exit statuses."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable

from envpool._support.text import shortened
from envpool.errors import EnvStepError, EnvTimeoutError, RenderError

FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
READER_GONE = 141  # 128 + SIGPIPE

#: The text before the exception in a traceback, or in the part of a long one that follows its gap.
CALLS = re.compile(r"^(?:Traceback \(most recent call last\):|\[\.\.\.\]\n.*)\n(?: .*\n)*", re.MULTILINE)


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
        The status of the command, 0 by default; 2 after an exception (printed on stderr in one line, below the
        traceback of an environment), 130 after Ctrl-C, 141 if the reader of stdout closed the pipe.
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
    except SystemExit as error:
        complain(f"{name}: error: the code of an environment ended the command: {described(error)}")
        return FAILED
    except (EnvStepError, RenderError) as error:
        complain(f"{name}: error: {of_environments(error)}")
        return FAILED
    except Exception as error:
        text = error._problem if isinstance(error, EnvTimeoutError) else str(error)
        complain(f"{name}: error: {' '.join(text.split()) or type(error).__name__}")
        return FAILED
    return status


def escape_unknown_characters() -> None:
    """Let stdout write characters that its encoding lacks as backslash escapes, unless it has its own way."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def described(error: BaseException) -> str:
    """Return the type and the text of an exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")


def of_environments(error: EnvStepError | RenderError) -> str:
    """Print the first traceback of environments that failed, and return what happened to all of them in one line."""
    brief = {i: shortened(" ".join(CALLS.split(text)[-1].split())) for i, text in error.failures.items()}
    long = [text for text in error.failures.values() if "\n" in text]
    if not long:
        return error._problem
    complain(long[0])
    return f"{type(error)(brief)._problem}, see above"


def complain(text: str) -> None:
    """Print a line on stderr, unless it is closed; print() would then write to stdout."""
    if sys.stderr is not None:
        print(text, file=sys.stderr)
