"""The distribution: its name, its install commands, its compiled modules, and modules that are imported late."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

#: Name of the distribution. Another project distributes a package envpool under the name ``envpool``.
NAME = "envpool-cython"
#: Name of the package, which both distributions install.
PACKAGE = "envpool"


def install(extra: str) -> str:
    """Return the command that installs this distribution with an extra.

    >>> install("render")
    "pip install 'envpool-cython[render]'"
    """
    return f"pip install '{NAME}[{extra}]'"


def warn_of_others() -> None:
    """Warn if a distribution named like the package is installed in the folder that this package is imported from.

    Whichever of the two was installed last has overwritten files of the other.
    """
    site = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    try:
        names = os.listdir(site)
    except OSError:  # It may not be read.
        return
    for name in names:
        if not (name.startswith(f"{PACKAGE}-") and name.endswith(".dist-info")):
            continue
        other = name.removesuffix(".dist-info").replace("-", " ")
        warnings.warn(
            f"{site} contains the distributions {other} and {NAME}, and both install the package {PACKAGE}: "
            f"pip uninstall {PACKAGE}; pip install --force-reinstall --no-deps {NAME}",
            RuntimeWarning,
            stacklevel=2,
        )


def load_compiled(module: str, requirements: str = "") -> ModuleType:
    """Import a module that this build of the package may lack.

    Parameters
    ----------
    module : str
        Full name of the module.
    requirements : str
        A sentence, or the beginning of one, that the error puts before the command which builds the package: what has
        to be installed first.

    Raises
    ------
    ImportError
        The build lacks the module; the text says how to build it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module or not module.startswith("envpool."):
            raise
        from envpool._support.built import PORTABLE

        linux = ", or they need system calls of Linux, which this portable build does without" if PORTABLE else ""
        raise ImportError(
            f"{module} is not in this build of envpool: its sources could not be downloaded, or they did not compile"
            f"{linux}. "
            f"{requirements and requirements + ' '}`pip install -v --no-binary {NAME} {NAME}` builds it again and "
            "says what is missing"
        ) from error


def submodules_of(package: str, *names: str) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that imports submodules when they are looked up.

    Parameters
    ----------
    package : str
        Name of the package.
    *names : str
        Names of the submodules.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return find
