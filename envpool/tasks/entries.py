"""Rows of the task table: what a task id stands for. Data only: the module of a task is imported when it is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from envpool._support.text import shown
from envpool.errors import ConfigError

PACKAGE = os.path.dirname(os.path.dirname(__file__))


class TaskEntry(NamedTuple):
    """One row of the task table; `EnvRegistry.register` describes the fields."""

    task_id: str
    import_path: str
    env: str | None
    spec_cls: str | None
    dm_cls: str | None
    gymnasium_cls: str | None
    config: dict[str, Any]


#: The rows of the families' tables by id, by the name of the table's module. Only the import of that module writes
#: them, which therefore needs no lock of the registry's: a thread that loads the families may wait for the import.
tables: dict[str, dict[str, TaskEntry]] = {}


def table(module: str) -> Callable[..., None]:
    """Return the function that adds a row to the table of a family in this package.

    Parameters
    ----------
    module : str
        ``__name__`` of the table, a module ``registration`` in the family's folder. If the module is executed again,
        because its import was interrupted, its table starts empty.

    Returns
    -------
    callable
        It has the arguments of `EnvRegistry.register`.
    """
    rows = tables[module] = {}

    def register(*args: Any, **kwargs: Any) -> None:
        entries = entries_of(*args, **kwargs)
        check_free(entries, rows)
        rows.update(entries)

    return register


def entries_of(
    task_id: str,
    import_path: str,
    spec_cls: str | None = None,
    dm_cls: str | None = None,
    gymnasium_cls: str | None = None,
    aliases: Sequence[str] = (),
    *,
    env: str | None = None,
    **config: Any,
) -> dict[str, TaskEntry]:
    """Return the rows of a task and its aliases by id; see `EnvRegistry.register` for the arguments."""
    for name, value in (("task_id", task_id), ("import_path", import_path)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, got {shown(value)}")
    classes = {"env": env, "spec_cls": spec_cls, "dm_cls": dm_cls, "gymnasium_cls": gymnasium_cls}
    for name, given in classes.items():
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{name} must be the name of a class in {import_path}, a str, got {shown(given)}")
    if not isinstance(aliases, Sequence) or isinstance(aliases, str) or not all(isinstance(a, str) for a in aliases):
        raise TypeError(f"aliases must be a sequence of task ids, such as ('CartPole-v1',), got {shown(aliases)}")
    ids = task_id, *aliases
    for task in ids:
        if not task.isprintable() or task.split() != [task]:
            raise ConfigError(f"a task id must have characters, and no spaces or line breaks, got {shown(task)}")
    if len({*ids}) < len(ids):
        raise ConfigError(f"aliases must differ from {task_id!r} and from each other, got {shown(aliases)}")
    if env is None and not (spec_cls and dm_cls and gymnasium_cls):
        raise ConfigError(f"task {task_id!r} needs env=..., or all of spec_cls, dm_cls and gymnasium_cls")
    return {name: TaskEntry(name, import_path, env, spec_cls, dm_cls, gymnasium_cls, dict(config)) for name in ids}


def check_free(ids: Iterable[str], tasks: Mapping[str, TaskEntry]) -> None:
    """Raise ConfigError if a task has one of the ids."""
    for name in ids:
        if name in tasks:
            raise ConfigError(f"task {name!r} is already registered (in {tasks[name].import_path})")


def family_of(task: TaskEntry) -> str:
    """Return the family of a task, e.g. "classic_control"; for a task of another package, its module.

    The folder of a family is the one that holds its ``registration.py``; an environment may have a subfolder of it.
    """
    package, *inner = task.import_path.split(".")
    if package != "envpool" or not inner:
        return task.import_path
    folder = inner[:-1]
    while folder and not os.path.exists(os.path.join(PACKAGE, *folder, "registration.py")):
        folder.pop()
    return ".".join(folder or inner)
