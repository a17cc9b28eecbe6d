"""The task table: all tasks of this process by id.

The table holds data only: a family is imported when the first of its tasks is made.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from envpool._support.text import shown, similar_tasks, stem
from envpool.errors import ConfigError, PoolStateError, UnknownTaskError
from envpool.tasks.entries import PACKAGE, TaskEntry, check_free, entries_of, family_of, tables
from envpool.tasks.plugins import load_plugins


def family_tables() -> list[str]:
    """Return the names of the modules with the tables of families.

    These are ``registration.py`` in each folder of the package, and in the folders of those: to look into all folders
    would take longer than to import the tables.
    """
    folders: list[tuple[str, ...]] = [(name,) for name in subfolders(PACKAGE)]
    folders += [(*outer, name) for outer in folders for name in subfolders(os.path.join(PACKAGE, *outer))]
    found = [folder for folder in folders if os.path.exists(os.path.join(PACKAGE, *folder, "registration.py"))]
    return sorted(".".join(("envpool", *folder, "registration")) for folder in found)


def subfolders(folder: str) -> list[str]:
    """Return the names of the folders in a folder; none if it may not be read, as another user's ``__pycache__``."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except PermissionError:
        return []


def family_tasks() -> dict[str, TaskEntry]:
    """Import the tables of all families in this package, and return their tasks by id."""
    tasks: dict[str, TaskEntry] = {}
    for module in family_tables():
        import_module(module)
        check_free(tables[module], tasks)
        tasks |= tables[module]
    return tasks


class EnvRegistry:
    """All tasks by id.

    Any thread may use the registry at any time. The families are loaded by the first call that needs them; if this call
    is interrupted or fails, the next one loads them.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, TaskEntry] | None = None  # None until all families are loaded
        # Held while the families are loaded and while a task is added; never while code of a plug-in runs.
        self._lock = threading.RLock()
        self._is_loading = False
        self._listeners: list[Callable[[Sequence[str]], None]] = []
        # Ids that plug-ins have registered before they were interrupted: they may be registered again.
        self._unfinished: set[str] = set()
        self._local = threading.local()

    @property
    def tasks(self) -> dict[str, TaskEntry]:
        """Tasks by id, in registration order; those of the families in this package come first."""
        if self._tasks is None:
            with self._lock:
                if self._tasks is None:
                    self._tasks = self._load_families()
        return self._tasks

    def _load_families(self) -> dict[str, TaskEntry]:
        if self._is_loading:  # a signal handler or a finalizer has interrupted the loading
            raise PoolStateError("this thread is loading the table of tasks: ask for tasks when that call has returned")
        self._is_loading = True
        try:
            return family_tasks()
        finally:
            self._is_loading = False

    def register(
        self,
        task_id: str,
        import_path: str,
        spec_cls: str | None = None,
        dm_cls: str | None = None,
        gymnasium_cls: str | None = None,
        aliases: Sequence[str] = (),
        *,
        env: str | None = None,
        **config: Any,
    ) -> None:
        """Register a task.

        Parameters
        ----------
        task_id : str
            Id of the task, e.g. ``"CartPole-v1"``.
        import_path : str
            Module that defines the environment. It is imported when the task is first made.
        spec_cls, dm_cls, gymnasium_cls : str, optional
            Names of ready-made spec and pool classes in that module, as EnvPool's families register them. They are not
            needed if `env` is given.
        aliases : sequence of str
            Further ids of the same task.
        env : str, optional
            Name of the environment's class in that module, see ``envpool.native.EnvDefinition``.
        **config
            Defaults of this task's options; they replace the defaults of the environment.

        Raises
        ------
        ConfigError
            An id is already registered, given twice, or empty, or has spaces; or neither `env` nor all three classes
            are given.
        TypeError
            An id, `import_path` or the name of a class is not a str, or `aliases` is one.
        """
        entries = entries_of(task_id, import_path, spec_cls, dm_cls, gymnasium_cls, aliases, env=env, **config)
        with self._lock:
            tasks = self.tasks
            check_free(entries.keys() - self._unfinished, tasks)
            try:
                getattr(self._local, "registered", []).extend(entries)
                tasks.update(entries)
                for listener in self._listeners:
                    listener(tuple(entries))
            except BaseException:
                for name in entries:
                    tasks.pop(name, None)
                raise
            self._unfinished -= entries.keys()

    @contextmanager
    def _loading_plugin(self) -> Iterator[None]:
        """Take back the tasks that this thread registers if an exception leaves the block.

        After Ctrl-C, they stay, and may be registered again when the plug-in is loaded again: a module of it that has
        been imported will not register them a second time.
        """
        registered: list[str] = []
        self._local.registered = registered
        try:
            yield
        except KeyboardInterrupt:
            with self._lock:
                self._unfinished.update(registered)
            raise
        except BaseException:
            with self._lock:
                for name in registered:
                    self.tasks.pop(name, None)
            raise
        finally:
            del self._local.registered

    def on_register(self, listener: Callable[[Sequence[str]], None]) -> None:
        """Call a function whenever a task is registered, with a sequence of the task's id and its aliases.

        The tasks of the families in this package are not announced.
        """
        if listener not in self._listeners:
            self._listeners.append(listener)

    def list_all_envs(self, family: str | None = None) -> list[str]:
        """Return task ids in registration order, aliases included; tasks of other packages are loaded first.

        Parameters
        ----------
        family : str, optional
            Family of the tasks, such as "classic_control" or "mujoco.dmc"; "mujoco" stands for all families of MuJoCo.
            Tasks of other packages have the module that defines them in its place. By default, all tasks are returned.

        Raises
        ------
        ConfigError
            No task has this family.
        """
        load_plugins(self._loading_plugin)
        if family is None:
            return list(self.tasks)
        families = {task_id: family_of(task) for task_id, task in list(self.tasks.items())}
        found = [task_id for task_id, own in families.items() if f"{own}.".startswith(f"{family}.")]
        if not found or not isinstance(family, str):
            known = ", ".join(map(repr, sorted(set(families.values()))))
            raise ConfigError(f"family must be one of {known}, got {shown(family)}")
        return found

    def has(self, task_id: Any) -> bool:
        """Return whether there is a task of this id; if not, tasks of other packages are loaded first."""
        if isinstance(task_id, str) and task_id not in self.tasks:
            load_plugins(self._loading_plugin)
        return isinstance(task_id, str) and task_id in self.tasks

    def find(self, task_id: str) -> TaskEntry:
        """Return the entry of a task id, or raise UnknownTaskError with the most similar ids."""
        entry = self.tasks.get(task_id) if self.has(task_id) else None
        if entry is not None:
            return entry
        from envpool.tasks import absent  # a long list, which only errors need

        name = str(task_id).rpartition(":")[2]
        family = absent.absent_tasks().get(name)
        has_other_version = "/" not in name and stem(name) in map(stem, self.tasks)
        similar = None if family or has_other_version else absent.similar_family(name)
        if family or similar:
            is_task = "is a task" if family else "is named like a task"
            raise UnknownTaskError(
                f"{task_id} {is_task} of EnvPool 1.2.5, family {family or similar}, that this package does not have; "
                "`envpool.make_python` makes pools of environments that are written in Python, "
                "`envpool.list_all_envs()` lists the tasks of this package."
            )
        if callable(task_id):
            raise UnknownTaskError(f"a task must be an id, got {shown(task_id)}: use `envpool.make_python` for it")
        if not isinstance(task_id, str):
            raise UnknownTaskError(f"a task must be an id, got {shown(task_id)}: `envpool.list_all_envs()` lists all")
        near = similar_tasks(name, self.tasks)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UnknownTaskError(f"{task_id} is not supported, {hint}`envpool.list_all_envs()` may help.")


#: The tasks of this process.
registry = EnvRegistry()
# A forked process must not inherit a lock that another thread holds, nor a half-loaded table.
os.register_at_fork(
    before=registry._lock.acquire, after_in_parent=registry._lock.release, after_in_child=registry._lock.release
)
