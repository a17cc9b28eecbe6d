"""Write one of the example programs to a file of yours, to run and to change; without NAME, list them."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

from envpool._support.files import check_output
from envpool._support.shipped import shipped
from envpool._support.text import similar_names
from envpool.cli.text import table, terminal_width
from envpool.errors import ConfigError

HELP = "write an example program"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool example``."""
    add = parser.add_argument
    add("name", metavar="NAME", nargs="?", help="name of a program, e.g. ppo; by default, all are listed")
    add("path", metavar="PATH", nargs="?", type=Path, help="file or folder to write to (default: NAME.py here)")
    add("--force", action="store_true", help="overwrite the file if it exists")


def run(arguments: argparse.Namespace) -> None:
    """Write the program, or list all programs."""
    found = programs()
    if arguments.name is None:
        rows = [(name, first_line(file)) for name, file in found.items()]
        print(table(("name", "content"), rows, "ll", width=terminal_width()))
        return
    name = arguments.name.removeprefix("examples/").removesuffix(".py")
    if name not in found:
        near = similar_names(name, list(found))
        hint = f"did you mean {' or '.join(near)}?" if near else "`envpool example` lists all"
        raise ConfigError(f"there is no example {arguments.name!r}; {hint}")
    print("\n".join(write(found[name], arguments.path, arguments.force)))


def programs() -> dict[str, Path]:
    """Return the files of the example programs by name, e.g. ``"ppo"`` and ``"cleanrl/dqn_atari"``."""
    folder = shipped("examples")
    files = sorted(folder.rglob("*.py"), key=lambda file: (len(file.parts), file))
    return {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for file in files
        if file.name != "setup.py" and '\nif __name__ == "__main__":' in file.read_text(encoding="utf-8")
    }


def first_line(file: Path) -> str:
    """Return the first line of the docstring of a program."""
    about = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return about.partition("\n")[0]


def write(file: Path, path: Path | None, force: bool) -> list[str]:
    """Copy a program, and return what to print.

    Parameters
    ----------
    file : Path
        The program.
    path : Path, optional
        File or existing folder to write to; by default, the working directory.
    force : bool
        If True, a file that exists is overwritten.
    """
    target = path if path is not None else Path(file.name)
    target = target / file.name if target.is_dir() else target
    check_output(target)
    if target.exists() and not force:
        raise ConfigError(f"{target} already exists: name another file, or overwrite it with --force")
    target.write_bytes(file.read_bytes())
    return [f"wrote {target}", f"python {target} --help  # its options, and what it needs"]
