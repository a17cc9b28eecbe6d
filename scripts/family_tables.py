"""The tables of tasks and of options on the pages of families, made from the registry."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from envpool.config.option_texts import option_texts
from envpool.config.options import SHARED_OPTIONS
from envpool.registration import registry
from envpool.tasks.entries import TaskEntry, family_of
from envpool.tasks.spec import spec_class_of

#: The number of environments up to which a table of options names those that have an option.
MOST_OWNERS = 6

#: The begin of a part that belongs to a family, and the part's name: "tasks box2d".
MARKER = re.compile(r"<!-- ((tasks|options) ([\w.]+)): begin")


def table(headers: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    lines = [list(headers)]
    lines += [["---"] * len(lines[0]), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def members(folder: str) -> dict[str, TaskEntry]:
    """Return the tasks of a family of this package, and of the families inside its folder, by id."""
    own = {name: task for name, task in registry.tasks.items() if task.import_path.startswith("envpool.")}
    return {name: task for name, task in own.items() if f"{family_of(task)}.".startswith(f"{folder}.")}


def tasks(folder: str) -> str:
    """Return the table of the tasks of a family, with one row per environment."""
    found: dict[str, list[tuple[str, int | None]]] = {}
    for name, task in members(folder).items():
        found.setdefault(task.env or "", []).append((name, task.config.get("max_episode_steps")))
    rows = ([env, with_limits(names)] for env, names in found.items())
    return table(("environment", "task ids (time limit in steps)"), rows)


def with_limits(names: list[tuple[str, int | None]]) -> str:
    """Return task ids with their time limits, or with one limit at the end if all limits are equal."""
    limits = {limit for _, limit in names}
    if len(limits) > 1:
        return ", ".join(f"`{name}` ({limit})" if limit else f"`{name}`" for name, limit in names)
    (limit,) = limits
    return ", ".join(f"`{name}`" for name, _ in names) + (f" ({limit})" if limit else "")


def options(folder: str) -> str:
    """Return the table of the options that the tasks of a family have and other tasks do not have.

    Options of the same environments with the same description share a row. A default that differs among tasks is not
    shown. Parameters, which may differ among the environments of a pool, have tables of their own.
    """
    defaults: dict[tuple[str, str], set[str]] = {}
    owners: dict[tuple[str, str], dict[str, None]] = {}
    for task in members(folder).values():
        spec_cls = spec_class_of(task)
        definition = spec_cls.definition
        texts = option_texts(definition)
        values = spec_cls.gen_config._field_defaults | dict(task.config)
        for name in definition.options:
            if (name not in SHARED_OPTIONS or texts.get(name)) and name not in definition.params:
                key = name, texts.get(name, "")
                defaults.setdefault(key, set()).add(repr(values[name]))
                owners.setdefault(key, {})[task.env or ""] = None
    rows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    everyone = {task.env or "" for task in members(folder).values()}
    for (name, text), envs in owners.items():
        rows.setdefault((who(envs, everyone), text), []).append((name, shown(defaults[name, text])))
    cells = [
        [", ".join(f"`{name}`" for name, _ in shared), joined(shared), envs, described(text)]
        for (envs, text), shared in rows.items()
    ]
    if not cells:
        return "The tasks have only [the options of every task](options.md)."
    if all(row[2] == "all" for row in cells):
        return table(("option", "default", "meaning"), ([*row[:2], row[3]] for row in cells))
    return table(("option", "default", "environments", "meaning"), cells)


def shown(defaults: set[str]) -> str:
    """Return the text of a default."""
    return f"`{next(iter(defaults))}`".replace("'", '"') if len(defaults) == 1 else "per task"


def joined(names: Iterable[tuple[str, str]]) -> str:
    """Return the defaults of the options in a row: one if all are equal."""
    values = [value for _, value in names]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def described(text: str) -> str:
    """Return a description for a cell, without the default at its end, which has a column."""
    return re.sub(r" Default \S+\.$", "", text).replace("|", "\\|")


def who(owners: Iterable[str], everyone: set[str]) -> str:
    """Return the environments that have an option, or their number: `envpool spec TASK` has the options of a task."""
    names = list(dict.fromkeys(owners))
    if set(names) == everyone:
        return "all"
    return ", ".join(names) if len(names) <= MOST_OWNERS else f"{len(names)} environments"


RENDERERS: dict[str, Callable[[str], str]] = {"tasks": tasks, "options": options}


def parts(text: str) -> dict[str, Any]:
    """Return the tables that belong into a page, by the names of its parts."""
    return {name: RENDERERS[kind](folder) for name, kind, folder in MARKER.findall(text)}
