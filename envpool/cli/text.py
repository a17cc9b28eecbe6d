"""Plain-text tables, numbers and wrapped lines."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

WIDTH = 80

#: The last column of a table is wrapped if at least so many characters are left for it.
LEAST_WRAPPED = 40


def terminal_width() -> int | None:
    """Return the width of the terminal in characters, or the variable COLUMNS; None if stdout is not a terminal."""
    if "COLUMNS" not in os.environ and not (sys.stdout is not None and sys.stdout.isatty()):
        return None
    return shutil.get_terminal_size().columns


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], align: str, indent: str = "", width: int | None = None
) -> str:
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
    width : int, optional
        Largest length of a line, in characters. The last column is wrapped; if too little is left for it, each row is a
        paragraph without columns. By default, lines are as long as their cells.

    Returns
    -------
    str
        The lines, without a final newline.
    """
    lines = [headers, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
    left = len(indent) + sum(widths[:-1]) + 2 * (len(headers) - 1)
    if width is None or left + widths[-1] <= width:
        return "\n".join(aligned(line, widths, align, indent) for line in lines)
    if width - left < LEAST_WRAPPED:
        return "\n".join(paragraph(row, indent, width) for row in rows)
    wrapped_lines = []
    for line in lines:
        first, *rest = textwrap.wrap(line[-1], width - left, break_long_words=False) or [""]
        wrapped_lines.append(aligned([*line[:-1], first], widths, align, indent))
        wrapped_lines += [" " * left + part for part in rest]
    return "\n".join(wrapped_lines)


def aligned(line: Sequence[str], widths: Sequence[int], align: str, indent: str) -> str:
    """Return a line of a table."""
    cells = zip(line, align, widths, strict=True)
    return (indent + "  ".join(f"{cell:{'<' if a == 'l' else '>'}{w}}" for cell, a, w in cells)).rstrip()


def paragraph(row: Sequence[str], indent: str, width: int) -> str:
    """Return a row of a table without columns: its last cell, and cells that do not fit, are in indented lines."""
    first = filled("  ".join(cell for cell in row[:-1] if cell != "-"), width, indent, indent + "  ")
    text = "" if row[-1] == "-" else row[-1]
    rest = filled(text, width, indent + "    ", indent + "    ")
    return f"{first}\n{rest}" if rest.strip() else first


def pairs(rows: Sequence[tuple[str, str]], indent: str = "", width: int | None = None) -> str:
    """Return names and values as two aligned columns; continuation lines of a value align with its first line.

    If a word of a value is longer than its column may be, the values are in lines below their names.
    """
    left = len(indent) + max((len(name) for name, _ in rows), default=0) + 2
    if width is not None:
        room = max(width - left, LEAST_WRAPPED // 2)
        if any(len(word) > room for _, value in rows for word in value.split()):
            return "\n".join(paragraph((name, value), indent, width) for name, value in rows)
        rows = [(name, textwrap.fill(value, room, break_long_words=False)) for name, value in rows]
    gap = "\n" + " " * left
    return "\n".join(f"{indent + name:<{left}}{value.replace(chr(10), gap)}".rstrip() for name, value in rows)


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
    return filled(text, WIDTH, first, rest)


def filled(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Return a text in lines of at most `width` characters; see `wrapped` for the other parameters."""
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def refilled(text: str, width: int) -> str:
    """Return a docstring in lines of at most `width` characters.

    Paragraphs, items of lists and indented blocks stay apart; underlines and rows of tables stay as they are.
    """
    lines: list[str] = []
    block: list[str] = []
    at = ""  # indentation of the block
    for line in [*text.splitlines(), ""]:
        own = line[: len(line) - len(line.lstrip())]
        is_fixed = not line.strip() or line.lstrip()[0] == "|" or set(line.strip()) <= {"-", "="}
        starts_item = line.lstrip().startswith(("- ", "* "))
        if block and (is_fixed or starts_item or own != at):
            lines += refilled_block(block, width, at)
            block = []
        if is_fixed:
            lines.append(line)
            continue
        if not block:
            at = own + ("  " if starts_item else "")
        block.append(line)
    return "\n".join(lines[:-1])


def refilled_block(block: Sequence[str], width: int, rest: str) -> list[str]:
    """Return lines of a paragraph or of an item of a list in lines of at most `width` characters."""
    first = block[0][: len(block[0]) - len(block[0].lstrip())]
    return filled(" ".join(line.strip() for line in block), width, first, rest).splitlines()
