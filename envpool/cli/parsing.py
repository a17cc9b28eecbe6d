"""Argument parsing shared by several commands."""

from __future__ import annotations

import argparse
import ast
import inspect
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from envpool._support.text import shown
from envpool.cli.text import refilled
from envpool.errors import ConfigError


class Formatter(argparse.HelpFormatter):
    """A formatter of help texts that keeps the paragraphs of a description, and wraps them to the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return textwrap.indent(refilled(inspect.cleandoc(text), width - len(indent)), indent)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that prints errors in one line and does not accept abbreviated options."""

    def __init__(self, **kwargs: Any):
        super().__init__(allow_abbrev=False, **{"formatter_class": Formatter} | kwargs)

    def error(self, message: str) -> NoReturn:
        """Print the message on stderr and exit with status 2."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


#: More digits than any number that an argument may be; int() refuses texts of thousands.
MOST_DIGITS = 100


def decimal(text: str) -> int:
    """Return the number that decimal digits stand for, or -1 for any other text."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else -1


def positive_int(text: str) -> int:
    """Parse an integer that is at least 1."""
    number = decimal(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1, got {shown(text)}")
    return number


def seed(text: str) -> int:
    """Parse a seed, an integer from 0 to 2^64 - 1; tasks may have a smaller range."""
    number = decimal(text)
    if not 0 <= number < 2**64:
        raise argparse.ArgumentTypeError(f"must be an integer between 0 and 2**64 - 1, got {shown(text)}")
    return number


def positive_seconds(text: str) -> float:
    """Parse a finite number of seconds that is greater than 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds greater than 0, got {text!r}")
    return value


def name_and_value(text: str) -> tuple[str, str]:
    """Parse "name=value" into ("name", "value")."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"must have the form name=value, got {text!r}")
    return name, value


def add_option_argument(parser: argparse.ArgumentParser) -> None:
    """Add the arguments ``--option name=value`` and ``--preset name`` to the parser of a command."""
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        dest="options",
        type=name_and_value,
        action="append",
        default=[],
        help="set an option of the task, e.g. --option max_episode_steps=100; may be repeated "
        "(`envpool spec TASK` lists the options)",
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        dest="options",
        type=lambda name: ("preset", name),
        action="append",
        help="set the options of a preset of the task, e.g. --preset dqn; --option takes precedence",
    )


def read_options(pairs: Sequence[tuple[str, str]], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values given with ``--option`` as Python objects.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Name and text of each option.
    defaults : mapping
        Options of the task with their default values. If the default of an option is a str, its text is kept as is.
        Unknown names are passed on: ``make_spec`` rejects them and names similar ones.

    Returns
    -------
    dict
        Values by name.
    """
    return {name: text if isinstance(defaults.get(name), str) else literal(text) for name, text in pairs}


def refuse_options(pairs: Sequence[tuple[str, str]], arguments: Mapping[str, str | None]) -> None:
    """Raise ConfigError if ``--option`` names what a command sets itself, also by an alias.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Name and text of each option.
    arguments : mapping
        The argument of the command for each such name; None if it has none.
    """
    from envpool.config.options import WORDS

    for word in [word for word, _ in pairs]:
        for name in {word, *WORDS.get(word, ())} & {*arguments}:
            if arguments[name] is None:
                raise ConfigError(f"this command sets {name} itself: leave out --option {word}=...")
            raise ConfigError(f"use {arguments[name]} instead of --option {word}=...")


def literal(text: str) -> Any:
    """Return the value of a Python literal, where true and false may have any case; return any other text as is."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # the last two: deep nesting
        return text
