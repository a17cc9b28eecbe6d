"""Observations as text, as upstream's ``render`` shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BRIGHT = 8


def as_text(chars: Any) -> str:
    """Return characters as lines of text, as upstream's render mode ``"ansi"`` does.

    Parameters
    ----------
    chars : numpy.ndarray
        uint8 (rows, columns): ``obs["chars"][i]`` or ``obs["tty_chars"][i]``.
    """
    return "\n".join(line.tobytes().decode("latin-1") for line in chars)


def as_ansi(chars: Any, colors: Any, cursor: Sequence[int] = (-1, -1)) -> str:
    """Return characters with their colours, as escape sequences of a terminal, as upstream's mode ``"human"`` prints.

    Parameters
    ----------
    chars : numpy.ndarray
        uint8 (rows, columns): ``obs["tty_chars"][i]``.
    colors : numpy.ndarray
        Numbers of colours, of the same shape: ``obs["tty_colors"][i]``.
    cursor : sequence of int
        Row and column of the cursor, which is underlined: ``obs["tty_cursor"][i]``; by default there is none.
    """
    lines = []
    for i, row in enumerate(chars.tolist()):
        cells = []
        for j, (char, color) in enumerate(zip(row, colors[i].tolist(), strict=True)):
            cell = f"\033[{int(bool(color & BRIGHT))};3{color & ~BRIGHT}m{chr(char)}"
            cells.append(f"\033[4m{cell}\033[0m" if (i, j) == tuple(cursor) else cell)
        lines.append("\n" + "".join(cells))
    return "".join(lines) + "\033[0m"
