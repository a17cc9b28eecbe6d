"""The argument ``--import MODULE``, which makes tasks of other packages known to a command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from envpool.cli.guard import described


def add_import_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--import MODULE`` to the parser of a command."""
    parser.add_argument(
        "--import",
        metavar="MODULE",
        dest="imports",
        action="append",
        default=[],
        help="import a module that registers tasks, from the working directory or an installed package; may be "
        "repeated",
    )


def import_modules(names: Sequence[str]) -> None:
    """Import modules that register tasks, or raise an ImportError that names the module."""
    if names and "" not in sys.path:
        sys.path.insert(0, "")  # the console script, unlike `python -m`, does not look into the working directory
    for name in names:
        try:
            import_module(name)
        except (Exception, SystemExit) as error:
            raise ImportError(f"--import {name}: {described(error)}") from error
