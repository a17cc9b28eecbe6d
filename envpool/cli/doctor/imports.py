"""Trial imports of installed packages, each in its own process."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata

from envpool._support.diagnosis import run_python
from envpool._support.requirements import Requirement
from envpool.cli.doctor.parallel import parallel

IMPORT = "import importlib, sys; importlib.import_module(sys.argv[1])"


def import_errors(required: Iterable[Requirement]) -> list[str]:
    """Return why each package cannot be imported; empty if it can be, or if it is not installed."""
    modules: dict[str, list[str]] = {}
    for module, owners in metadata.packages_distributions().items():
        for owner in owners:
            modules.setdefault(plain(owner), []).append(module)
    return parallel(import_error, [main_module(r, modules.get(plain(r.name), [])) for r in required])


@cache
def import_error(module: str) -> str:
    """Return why a module cannot be imported; empty if it can be, or if there is no name."""
    if not module:
        return ""
    succeeded, text = run_python(IMPORT, module)
    return "" if succeeded else text


def main_module(required: Requirement, modules: Iterable[str]) -> str:
    """Return the module of a distribution whose name is most like the distribution's; empty if there is none."""
    public = [m for m in modules if m.isidentifier() and not m.startswith("_")]
    return min(public, key=lambda m: (plain(m) != plain(required.name), m), default="")


def plain(name: str) -> str:
    """Return the name of a distribution in the form in which equal names are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()
