"""Submodules that can be looked up in their package without an import, as in EnvPool, which imports them all."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


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
