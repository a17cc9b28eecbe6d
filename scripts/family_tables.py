"""The tables of tasks, options and parameters on the pages of families, made from the registry."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from envpool import make_spec
from envpool.cli.spec import SHOWN_BOUNDS, value_text
from envpool.config.option_texts import option_texts
from envpool.config.options import SHARED_OPTIONS
from envpool.config.params import Param
from envpool.registration import registry
from envpool.tasks.entries import TaskEntry, family_of
from envpool.tasks.spec import spec_class_of

#: The number of environments up to which a table of options names those that have an option.
MOST_OWNERS = 6

#: The length of the longest default that a table shows.
MOST_CHARACTERS = 100

#: The family whose page has the options that another one takes from it, by the other one.
BASES = {"mujoco.dmc": "mujoco.gym", "mujoco.robotics": "mujoco.gym"}

#: A table with more rows than this has one row for all options that a single environment has, without descriptions.
MOST_ROWS = 30

#: How the description of an option begins that is another name of one; such names stand in tables of their own.
SYNONYM = "if not None, replaces "

#: The begin of a part that belongs to a family, and the part's name: "tasks box2d".
MARKER = re.compile(r"<!-- ((tasks|options|parameters) ([\w.]+)): begin")


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
    """Return task ids with their time limits; ids with the same limit share it."""
    groups: dict[int | None, list[str]] = {}
    for name, limit in names:
        groups.setdefault(limit, []).append(f"`{name}`")
    return "; ".join(", ".join(ids) + (f" ({limit})" if limit else "") for limit, ids in groups.items())


def own_options(task: TaskEntry) -> list[tuple[str, str]]:
    """Return the options that a task has and other tasks do not have, with their descriptions."""
    definition = spec_class_of(task).definition
    texts = option_texts(definition)
    own = [name for name in definition.options if name not in SHARED_OPTIONS or texts.get(name)]
    return [(name, texts.get(name, "")) for name in own if name not in definition.params]


def options(folder: str) -> str:
    """Return the table of the options that the tasks of a family have and other tasks do not have.

    Options of the same environments with the same description share a row. A default that differs among tasks is not
    shown. Options that stand on the page of another family, and other names of options, are left out. Parameters, which
    may differ among the environments of a pool, have tables of their own.
    """
    defaults: dict[tuple[str, str], set[str]] = {}
    owners: dict[tuple[str, str], dict[str, None]] = {}
    elsewhere = {key for task in members(BASES.get(folder, "")).values() for key in own_options(task)}
    for task in members(folder).values():
        values = spec_class_of(task).gen_config._field_defaults | dict(task.config)
        for name, text in own_options(task):
            if (name, text) not in elsewhere and not text.startswith(SYNONYM):
                defaults.setdefault((name, text), set()).add(repr(values[name]))
                owners.setdefault((name, text), {})[task.env or ""] = None
    rows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    everyone = {task.env or "" for task in members(folder).values()}
    for (name, text), envs in owners.items():
        rows.setdefault((who(envs, everyone), text), []).append((name, shown(defaults[name, text])))
    cells = [
        [", ".join(f"`{name}`" for name, _ in shared), joined(shared), envs, described(text)]
        for (envs, text), shared in rows.items()
    ]
    if len(cells) > MOST_ROWS:
        cells = [*(cell for cell in cells if not is_single(cell[2])), *single(cells, members(folder))]
    if not cells:
        return "The tasks have only [the options of every task](options.md)."
    if all(row[2] == "all" for row in cells):
        return table(("option", "default", "meaning"), ([*row[:2], row[3]] for row in cells))
    return table(("option", "default", "environments", "meaning"), cells)


def parameters(folder: str) -> str:
    """Return the table of the parameters of a family with their defaults, with one row per environment."""
    rows: dict[str, str] = {}
    for name, task in members(folder).items():  # the last task of an environment has its current version
        params = make_spec(name).param_spec.items()
        rows[task.env or ""] = ", ".join(f"`{key}`{default_of(param)}" for key, param in params)
    return table(("environment", "parameters (default)"), ([env, values] for env, values in rows.items() if values))


def is_single(envs: str) -> bool:
    """Return whether the cell of environments of a row of options names one environment."""
    return envs != "all" and re.fullmatch(r"\w+", envs) is not None


def single(cells: list[list[str]], tasks: dict[str, TaskEntry]) -> list[list[str]]:
    """Return a row for each environment that alone has the options of some rows, with their names and defaults."""
    last = {task.env: name for name, task in tasks.items()}
    found: dict[str, list[str]] = {}
    for names, defaults, env, _ in cells:
        if is_single(env):
            found.setdefault(env, []).append(f"{names} ({defaults})")
    return [[", ".join(own), "", env, f"`envpool spec {last[env]}`"] for env, own in found.items()]


def default_of(param: Param) -> str:
    """Return the default of a parameter with its unit, in parentheses; nothing for arrays that are too long to show."""
    text = f"{value_text(param.default)} {param.unit}".rstrip()
    return "" if np.size(param.default) > SHOWN_BOUNDS else f" ({text})"


def shown(defaults: set[str]) -> str:
    """Return the text of a default."""
    if len(defaults) > 1:
        return "per task"
    text = f"`{next(iter(defaults))}`".replace("'", '"')
    return text if len(text) <= MOST_CHARACTERS else "see `envpool spec`"


def joined(names: Iterable[tuple[str, str]]) -> str:
    """Return the defaults of the options in a row: one if all are equal."""
    values = [value for _, value in names]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def described(text: str) -> str:
    """Return a description for a cell, without the default at its end, which has a column."""
    return re.sub(r"\. Default \S+$", "", text).replace("|", "\\|")


def who(owners: Iterable[str], everyone: set[str]) -> str:
    """Return the environments that have an option, or their number: `envpool spec TASK` has the options of a task."""
    names = list(dict.fromkeys(owners))
    if set(names) == everyone:
        return "all"
    return ", ".join(names) if len(names) <= MOST_OWNERS else f"{len(names)} environments"


RENDERERS: dict[str, Callable[[str], str]] = {"tasks": tasks, "options": options, "parameters": parameters}


def parts(text: str) -> dict[str, Any]:
    """Return the tables that belong into a page, by the names of its parts."""
    return {name: RENDERERS[kind](folder) for name, kind, folder in MARKER.findall(text)}
