"""Entry point of the command line: parses, runs one command, turns exceptions into one line and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import envpool
from envpool.cli import list as list_command
from envpool.cli import spec as spec_command
from envpool.cli.bench import command as bench_command
from envpool.cli.parsing import Parser

#: Commands by name, in the order of the help. Each module has HELP, add_arguments(parser) and run(arguments).
COMMANDS = {"list": list_command, "spec": spec_command, "bench": bench_command}

FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
READER_GONE = 141  # 128 + SIGPIPE


def make_parser() -> Parser:
    """Return the parser of the whole command line."""
    parser = Parser(prog="envpool", description="Vectorized reinforcement-learning environments.")
    parser.add_argument("--version", action="version", version=f"envpool {envpool.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, module in COMMANDS.items():
        sub = commands.add_parser(name, help=module.HELP, description=module.__doc__)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        Exit status: 0, 2 for any error (told in one line on stderr), 130 after Ctrl-C.

    Raises
    ------
    SystemExit
        From argparse: 0 after ``--help`` and ``--version``, 2 for arguments it does not know.
    """
    arguments = make_parser().parse_args(argv)
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nenvpool: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads stdout has seen enough (`envpool list | head`); the flush at exit must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"envpool {arguments.command}: error: {text}", file=sys.stderr)
        return FAILED
    return 0
