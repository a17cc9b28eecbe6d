"""Tasks of other packages, which a package announces with an entry point of the group ``envpool.envs``.

The value of an entry point is a module that registers tasks when it is imported, or ``module:function`` for a function
without arguments that registers them. Entry points are loaded when all tasks are listed, and when a task is asked for
that is not registered. One that cannot be loaded costs its own tasks only, and becomes a warning.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from types import FrameType
from typing import TYPE_CHECKING

from envpool._support.text import shown

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "envpool.envs"
#: The value of an entry point, which may end with extras of its package.
VALUE = r"\s*[\w.]+\s*(:\s*[\w.]+\s*)?(\[.*\]\s*)?"


class Plugins:
    """The entry points of this process, each of which is loaded once.

    While a thread loads them, other threads wait for it. Two threads do not: the one that loads, when a plug-in asks
    for tasks, and one that is importing a plug-in itself, for which the loading thread may be waiting. They continue
    with the tasks that are registered so far.
    """

    def __init__(self) -> None:
        self._is_done = False
        self._finding = threading.Lock()
        self._pending: list[EntryPoint] | None = None  # None until the entry points have been looked for
        self._packages: set[str] = set()
        self._loader: int | None = None  # the thread that is loading
        self._loader_changes = threading.Condition()

    def load(self, attempt: Callable[[], AbstractContextManager[None]]) -> None:
        """Load the entry points that are not loaded yet.

        Parameters
        ----------
        attempt : callable
            Returns the context in which an entry point is loaded; an exception leaves it if loading fails.
        """
        own = threading.get_ident()
        if self._is_done or self._loader == own:
            return
        with self._finding:
            if self._pending is None:
                pending, problems = find_entry_points()
                self._packages = {re.split("[.:]", point.value, maxsplit=1)[0].strip() for point in pending}
                self._pending = pending
                for problem in problems:
                    warnings.warn(problem, stacklevel=3)
        try:
            with self._loader_changes:
                while self._loader is not None:
                    if is_importing(self._packages):
                        return
                    self._loader_changes.wait()
                self._loader = own
            while self._pending:
                self._load_first(self._pending, attempt)
            self._is_done = True
        finally:
            if self._loader == own:
                with self._loader_changes:
                    self._loader = None
                    self._loader_changes.notify_all()

    def _load_first(self, pending: list[EntryPoint], attempt: Callable[[], AbstractContextManager[None]]) -> None:
        """Load the first of the entry points, and remove it; Ctrl-C leaves it there."""
        point = pending[0]
        try:
            with attempt():
                if not re.fullmatch(VALUE, point.value):
                    raise ValueError(f"its value must be 'module' or 'module:function', got {point.value!r}")
                loaded = point.load()
                if point.attr:
                    loaded()
                del pending[0]
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, for instance
            if pending and pending[0] is point:
                del pending[0]
            warnings.warn(
                f"the entry point {point.name!r} ({point.value}) of the group {GROUP!r} cannot be loaded, so that its "
                f"tasks are missing: {shown(error)}",
                stacklevel=4,
            )

    def after_fork(self) -> None:
        """Forget the threads of the parent process, which the child process does not have."""
        self._finding = threading.Lock()
        self._loader_changes = threading.Condition()
        if self._loader != threading.get_ident():
            self._loader = None


def find_entry_points() -> tuple[list[EntryPoint], list[str]]:
    """Return the entry points of all installed packages, and a text for each package whose metadata cannot be read."""
    from importlib import metadata  # a third of the time of `import envpool`, which does not need it

    with contextlib.suppress(Exception):
        return list(metadata.entry_points(group=GROUP)), []
    # The metadata of one package makes it fail: ask each of them.
    found: dict[str, list[EntryPoint]] = {}
    problems = []
    for distribution in metadata.distributions():
        name = name_of(distribution)
        if name in found:  # It is shadowed by a folder that comes earlier on the path.
            continue
        found[name] = []
        try:
            found[name] = list(distribution.entry_points.select(group=GROUP))
        except Exception as error:
            problems.append(
                f"the entry points of the package {name!r} cannot be read, so that its tasks are missing if it has "
                f"any: {shown(error)}"
            )
    return list(itertools.chain.from_iterable(found.values())), problems


def name_of(distribution: Distribution) -> str:
    """Return the name of an installed package; if its metadata cannot be read, its folder."""
    try:
        return distribution.name.lower().replace("_", "-").replace(".", "-")
    except Exception:
        return str(getattr(distribution, "_path", distribution))


def is_importing(packages: Collection[str]) -> bool:
    """Return whether this thread is executing a module of one of the packages."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and str(frame.f_globals.get("__name__")).partition(".")[0] in packages:
            return True
        frame = frame.f_back
    return False


_plugins = Plugins()
load_plugins = _plugins.load
os.register_at_fork(after_in_child=_plugins.after_fork)
