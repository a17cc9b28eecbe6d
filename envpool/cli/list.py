"""List the tasks with their ids, families and time limits in steps."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase

from envpool._support.text import similar_tasks
from envpool.cli.text import filled, table, terminal_width
from envpool.errors import ConfigError, UnknownTaskError
from envpool.tasks.entries import TaskEntry, family_of
from envpool.tasks.registry import registry
from envpool.tasks.spec import spec_class_of

HELP = "list the tasks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``envpool list``."""
    parser.add_argument(
        "pattern",
        metavar="PATTERN",
        nargs="?",
        default="",
        help="part of an id or of a family, in upper or lower case, or a glob with *, ? or [...] that matches all of "
        "it; by default, all tasks are listed",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the matching tasks as a table."""
    found = matching(arguments.pattern, with_families=True)
    rows = [(task_id, family_of(registry.find(task_id)), time_limit(registry.find(task_id))) for task_id in found]
    text, width = table(("id", "family", "max_episode_steps"), rows, "llr"), terminal_width()
    if width is not None and max(map(len, text.splitlines())) > width:
        text = "\n".join(filled("  ".join(row), width, rest="  ") for row in rows)
    print(text)


def matching(pattern: str, *, with_families: bool = False) -> list[str]:
    """Return the matching ids in registration order; if there are none, raise UnknownTaskError naming similar ids.

    Parameters
    ----------
    pattern : str
        Part of an id, or a glob that matches the whole id.
    with_families : bool
        If True, tasks whose family matches the pattern are returned as well.
    """
    ids = registry.list_all_envs()
    wanted = pattern.lower()

    def fits(text: str) -> bool:
        return fnmatchcase(text.lower(), wanted) if is_glob(pattern) else wanted in text.lower()

    found = [i for i in ids if fits(i) or (with_families and fits(family_of(registry.find(i))))]
    if not found:
        near = similar_tasks(pattern, ids)
        hint = f"did you mean {' or '.join(near)}?" if near else "`envpool list` without a pattern lists all tasks"
        raise UnknownTaskError(f"no task matches {pattern!r}; {hint}")
    return found


def is_glob(pattern: str) -> bool:
    """Return whether a pattern matches whole ids; if not, it matches a part of them."""
    return any(c in pattern for c in "*?[")


def time_limit(task: TaskEntry) -> str:
    """Return the default time limit; "-" if the task has none, or if its class cannot be loaded."""
    from envpool.config.options import POOL_DEFAULTS

    limit = task.config.get("max_episode_steps")
    if limit is None:
        try:
            limit = spec_class_of(task).gen_config._field_defaults["max_episode_steps"]
        except (ImportError, ConfigError):
            return "-"
    return "-" if limit == POOL_DEFAULTS["max_episode_steps"] else str(limit)
