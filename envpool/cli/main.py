"""Entry point of the command-line interface."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import envpool
from envpool.cli import docs as docs_command
from envpool.cli import evaluate as evaluate_command
from envpool.cli import example as example_command
from envpool.cli import list as list_command
from envpool.cli import new_env as new_env_command
from envpool.cli import record as record_command
from envpool.cli import spec as spec_command
from envpool.cli import verify as verify_command
from envpool.cli.bench import command as bench_command
from envpool.cli.doctor import command as doctor_command
from envpool.cli.guard import guarded
from envpool.cli.imports import add_import_argument, import_modules
from envpool.cli.parsing import Parser
from envpool.cli.watch import command as watch_command


def fetch_commands() -> dict[str, ModuleType]:
    """Return the commands ``fetch-<family>``: modules ``fetch.py`` of families that need files which no wheel has."""
    package = Path(envpool.__file__).parent
    families = sorted(file.relative_to(package).parent.parts for file in package.glob("**/fetch.py"))
    return {f"fetch-{parts[-1]}": import_module(".".join(["envpool", *parts, "fetch"])) for parts in families}


#: Commands by name, in the order in which the help lists them. Each module has HELP, add_arguments(parser) and
#: run(arguments), which returns the exit status, or None for 0.
COMMANDS: dict[str, ModuleType] = {
    "list": list_command,
    "spec": spec_command,
    "bench": bench_command,
    "watch": watch_command,
    "evaluate": evaluate_command,
    "record": record_command,
    "verify": verify_command,
    "doctor": doctor_command,
    "docs": docs_command,
    "example": example_command,
    "new-env": new_env_command,
    **fetch_commands(),
}


#: Commands without ``--import``, since they need no tasks of other modules.
WITHOUT_TASKS = ("doctor", "docs", "example", "new-env")


def make_parser() -> Parser:
    """Return the parser for all commands."""
    parser = Parser(prog="envpool", description="Vectorized reinforcement-learning environments.")
    parser.add_argument("--version", action="version", version=f"envpool {envpool.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, module in COMMANDS.items():
        sub = commands.add_parser(name, help=module.HELP, description=module.__doc__)
        module.add_arguments(sub)
        if name not in WITHOUT_TASKS:
            add_import_argument(sub)
        sub.set_defaults(run=module.run, imports=[])
    return parser


def run(arguments: argparse.Namespace) -> int | None:
    """Import the modules of ``--import``, run the command, and return its exit status."""
    import_modules(arguments.imports)
    status: int | None = arguments.run(arguments)
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Command-line arguments without the program name; by default, the arguments of the process.

    Returns
    -------
    int
        Exit status, see ``envpool.cli.guard``.

    Raises
    ------
    SystemExit
        Raised by argparse: 0 after ``--help`` and ``--version``, 2 for invalid arguments.
    """
    arguments = make_parser().parse_args(argv)
    return guarded(f"envpool {arguments.command}", lambda: run(arguments))
