"""Finding the upstream environment of a task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_paths
from traceback import FrameSummary, extract_tb
from typing import Any

import gymnasium

from envpool._support.packages import install, load_compiled
from envpool._support.text import shown
from envpool.errors import EnvPoolError
from envpool.tasks.registry import registry
from envpool.verify.oracle import Oracle

INSTALL = install("verify")

#: Folders of code that is not the user's: Python, installed packages, and this package.
INSTALLED = (
    *{get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")},
    str(Path(__file__).parents[1]),
)
#: Errors that say that a package, or an environment of it, is missing.
MISSING = (
    ImportError,
    gymnasium.error.DependencyNotInstalled,
    gymnasium.error.DeprecatedEnv,
    gymnasium.error.UnregisteredEnv,
)


class MissingUpstreamError(EnvPoolError, ImportError):
    """A package of an upstream environment is missing, or its version does not have the environment."""


class FailedUpstreamError(EnvPoolError, RuntimeError):
    """An upstream environment raised an exception."""


@contextmanager
def needs_upstream() -> Iterator[None]:
    """Turn exceptions of upstream packages into a MissingUpstreamError or a FailedUpstreamError."""
    try:
        yield
    except MISSING as error:
        text = " ".join(str(error).split()).rstrip(".")
        raise MissingUpstreamError(f"its upstream package cannot be used ({text}); run: {INSTALL}") from error
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise FailedUpstreamError(f"its upstream environment failed ({text}), {place_of(error)}") from error


def place_of(error: BaseException) -> str:
    """Return the place that raised an exception and, if that is installed code, the user's line that called it."""
    frames = extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((*INSTALLED, "<"))]
    place = f"at {described(frames[-1])}"
    return place if not own or own[-1] is frames[-1] else f"{place}, called at {described(own[-1])}"


def described(frame: FrameSummary) -> str:
    """Return the file, line and function of a frame, and the code of the line if it is known."""
    file = frame.filename.rpartition("site-packages/")[2]
    code = f": {frame.line}" if frame.line else ""
    return f"{file}, line {frame.lineno}, in {frame.name}{code}"


def oracle_of(task_id: str) -> Oracle | None:
    """Return the upstream environment of a task.

    The module of the environment, or else the nearest module ``upstream`` in the packages that contain it, has a
    function ``upstream_of(task_id)``, which returns an `Oracle`, or None if the task has no upstream environment.

    Parameters
    ----------
    task_id : str
        The task.

    Returns
    -------
    Oracle or None
        None if the task has no upstream environment.

    Raises
    ------
    UnknownTaskError
        The task does not exist.
    MissingUpstreamError
        A package of the upstream environment is missing.
    FailedUpstreamError
        A package of the upstream environment raised another exception.
    TypeError
        The function returns something else.
    ImportError
        This build of envpool lacks the environment, or a package is missing that the environment needs.
    """
    entry = registry.find(task_id)
    module = load_compiled(entry.import_path)
    with needs_upstream():
        function = getattr(module, "upstream_of", None) or upstream_function(entry.import_path)
        oracle: Oracle | None = function(task_id) if function else None
    if not isinstance(oracle, (Oracle, type(None))):
        raise TypeError(f"upstream_of({task_id!r}) must return an Oracle or None, got {shown(oracle)}")
    return oracle


def upstream_function(module: str) -> Any:
    """Return ``upstream_of`` of the nearest module ``upstream`` in the packages that contain a module, or None."""
    package = module.rpartition(".")[0]
    while package:
        if find_spec(f"{package}.upstream"):
            return import_module(f"{package}.upstream").upstream_of
        package = package.rpartition(".")[0]
    return None
