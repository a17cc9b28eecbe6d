"""Parsing of arguments that several commands share."""

from __future__ import annotations

import argparse
import ast
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that tells errors in one line and wants option names in full."""

    def __init__(self, **kwargs: Any):
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        """Print the message on stderr and exit with status 2."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def positive_int(text: str) -> int:
    """Return an integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1, got {text!r}")
    return int(text)


def positive_seconds(text: str) -> float:
    """Return a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return value


def name_and_value(text: str) -> tuple[str, str]:
    """Return ("name", "value") for "name=value"."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"must have the form name=value, got {text!r}")
    return name, value


def add_option_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--option name=value`` to a command."""
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        dest="options",
        type=name_and_value,
        action="append",
        default=[],
        help="set an option of the task, e.g. --option max_episode_steps=100; may be given several times "
        "(`envpool spec TASK` lists them)",
    )


def read_options(pairs: Sequence[tuple[str, str]], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of ``--option`` as Python values.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Names and texts.
    defaults : mapping
        Options of the task; a text stays a str where the default is one. Names that are not in it are let through, for
        ``make_spec`` to refuse with the nearest ones.

    Returns
    -------
    dict
        Value by name.
    """
    return {name: text if isinstance(defaults.get(name), str) else literal(text) for name, text in pairs}


def literal(text: str) -> Any:
    """Return a Python literal, true and false in any case included, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
