"""Plain-text tables, numbers and wrapped lines."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 80


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], align: str, indent: str = "") -> str:
    """Return rows as aligned columns that are two spaces apart.

    Parameters
    ----------
    headers : sequence of str
        Column titles.
    rows : sequence of sequences of str
        Cells of each row.
    align : str
        One letter per column: "l" for left, "r" for right.
    indent : str
        Prefix of each line.

    Returns
    -------
    str
        The lines, without a final newline.
    """
    lines = [headers, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
    return "\n".join(
        (
            indent
            + "  ".join(f"{cell:{'<' if a == 'l' else '>'}{w}}" for cell, a, w in zip(line, align, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def pairs(rows: Sequence[tuple[str, str]], indent: str = "") -> str:
    """Return names and values as two aligned columns; continuation lines of a value align with its first line."""
    width = max((len(name) for name, _ in rows), default=0)
    gap = "\n" + " " * (len(indent) + width + 2)
    return "\n".join(f"{indent}{name:<{width}}  {value.replace(chr(10), gap)}".rstrip() for name, value in rows)


def count(value: float | None) -> str:
    """Return a count with thousands separators, or "-" for None."""
    return "-" if value is None else f"{value:,.0f}"


def short(value: float | None, unit: str = "") -> str:
    """Return a number with three significant digits and its unit, or "-" for None."""
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}{unit}"


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, e.g. ``"1 task"`` or ``"2 tasks"``."""
    return f"{number} {noun}" + ("s" if number != 1 else "")


def wrapped(text: str, first: str = "", rest: str = "  ") -> str:
    """Return a text in lines of at most 80 characters; words are never broken.

    Parameters
    ----------
    text : str
        The text.
    first : str
        Beginning of the first line.
    rest : str
        Beginning of all other lines.
    """
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
