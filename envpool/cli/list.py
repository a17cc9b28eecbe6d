"""List the tasks: id, family, and the time limit of an episode in steps."""

from __future__ import annotations

import argparse
import difflib
from fnmatch import fnmatchcase

from envpool.cli.text import table
from envpool.errors import UnknownTaskError
from envpool.registry import TaskEntry, registry

HELP = "list the tasks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool list``."""
    parser.add_argument(
        "pattern",
        metavar="PATTERN",
        nargs="?",
        default="",
        help="part of the id, in any case; with *, ? or [...] a glob for the whole id (default: all tasks)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the tasks."""
    found = matching(arguments.pattern)
    rows = [(task_id, family(registry.find(task_id)), time_limit(registry.find(task_id))) for task_id in found]
    print(table(("id", "family", "max_episode_steps"), rows, "llr"))


def matching(pattern: str) -> list[str]:
    """Return the ids that match, in registration order, or raise UnknownTaskError naming the nearest ones."""
    ids = list(registry.tasks)
    wanted = pattern.lower()
    if any(c in pattern for c in "*?["):
        found = [i for i in ids if fnmatchcase(i.lower(), wanted)]
    else:
        found = [i for i in ids if wanted in i.lower()]
    if not found:
        near = difflib.get_close_matches(pattern, ids, n=4, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "`envpool list` without a pattern lists all"
        raise UnknownTaskError(f"no task matches {pattern!r}; {hint}")
    return found


def family(task: TaskEntry) -> str:
    """Return the family of a task, e.g. "classic_control"; for a task from elsewhere its module."""
    package, *inner = task.import_path.split(".")
    return ".".join(inner[:-1] or inner) if package == "envpool" and inner else task.import_path


def time_limit(task: TaskEntry) -> str:
    """Return the default time limit; "-" where there is none, or where the family cannot be loaded here."""
    from envpool.spec import COMMON_OPTIONS

    limit = task.config.get("max_episode_steps")
    if limit is None:
        try:
            limit = registry.spec_class(task).gen_config._field_defaults["max_episode_steps"]
        except ImportError:
            return "-"
    return "-" if limit == COMMON_OPTIONS["max_episode_steps"] else str(limit)
