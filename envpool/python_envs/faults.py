"""Texts and exceptions for Python environments that failed, and the seeds of their successors."""

from __future__ import annotations

import traceback
from typing import NoReturn

import numpy as np

from envpool.errors import EnvPoolError

#: Longest text of a failure, in characters: the pool's buffer for texts, with room for characters of several bytes.
LONGEST = 3500

#: Error text of a worker for an environment of its predecessor; the pool knows how that process ended.
LOST_TEXT = "the process of the environment ended, and the state of the episode with it"


def failure_of(error: BaseException) -> str:
    """Return the traceback of an exception without a final newline; the middle of a long one is left out.

    The text can be encoded: surrogates, which Python has for bytes of file names that are not UTF-8, are escaped.
    """
    try:
        text = "".join(traceback.format_exception(error)).rstrip()
    except Exception as problem:  # raised by a method of the exception
        text = f"{type(error).__name__}, whose traceback cannot be formatted: {type(problem).__name__}"
    text = text.encode(errors="backslashreplace").decode()
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 4]}\n[...]\n{text[-3 * LONGEST // 4 :]}"


class RemoteError(EnvPoolError, RuntimeError):
    """The traceback of an exception in another process."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


def raise_remote(text: str, error: BaseException | None) -> NoReturn:
    """Raise the exception of another process from its traceback, or only the latter if the exception is None."""
    if error is None:
        raise RemoteError(text)
    raise error from RemoteError(text)


def ending_of(reason: str, trace: str) -> str:
    """Return why a process was replaced and where it was; of a long trace, whose first call is the last, the start."""
    text = f"{reason}\n{trace}".rstrip()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[...]"


def restart_seed(seed: int, restarts: int) -> int:
    """Return the seed of an environment that was rebuilt: it follows from its last seed, so that runs repeat."""
    return int(np.random.SeedSequence([seed, restarts]).generate_state(1)[0] & 0x7FFFFFFF)
