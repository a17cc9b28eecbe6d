"""Texts of values in errors: short ones, whatever a user passes."""

from __future__ import annotations

from typing import Any

#: Characters of a value in an error.
MAX_SHOWN = 200


def shown(value: Any) -> str:
    """Return the text of a value for an error: its ``repr``, of which only the beginning is kept if it is long.

    >>> shown([0] * 1000)[-30:]
    ', 0, 0, ... (3000 characters)'
    """
    try:
        text = repr(value)
    except Exception as error:  # of a class of the user, or of an int with too many digits
        return f"an object of type {type(value).__name__} that has no text ({type(error).__name__})"
    return shortened(text)


def shortened(text: str) -> str:
    """Return a text for an error; of a long one, only the beginning and its length."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... ({len(text)} characters)"
