"""Texts of values in errors."""

from __future__ import annotations

import numpy as np
import pytest

from envpool._support.text import MAX_SHOWN, shown


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


def test_short_values_are_shown_as_they_are() -> None:
    for value in ("it's", 1.5, [1, None], np.arange(3), "x" * (MAX_SHOWN - 2)):
        assert shown(value) == repr(value)


def test_of_long_values_the_beginning_is_shown() -> None:
    assert shown("x" * 1000) == "'" + "x" * (MAX_SHOWN - 1) + "... (1002 characters)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(Mute(), "an object of type Mute that has no text (RuntimeError)"), (10**5000, "type int .* (ValueError)")],
    ids=["class", "int"],
)
def test_values_without_a_text(value: object, text: str) -> None:
    start, _, end = text.partition(" .* ")
    assert start in shown(value) and shown(value).endswith(end)
