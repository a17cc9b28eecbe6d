"""The versions of envpool and of its requirements, and other distributions that install a package of its name."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

import envpool
from envpool._support.diagnosis import PROBLEM, Finding
from envpool._support.packages import NAME, PACKAGE
from envpool._support.requirements import Requirement, requirements, source_tree
from envpool.cli.doctor.imports import import_errors

TITLE = "packages"


def findings() -> list[Finding]:
    """Return the versions of envpool, of Python and of the requirements of envpool."""
    tree = source_tree()
    place = f"{'source tree' if tree else 'installed in'} {tree or Path(envpool.__file__).parents[1]}"
    required = requirements()[""]
    return [
        Finding("envpool", f"{envpool.__version__}, {place}"),
        *distributions(),
        Finding("python", f"{platform.python_implementation()} {platform.python_version()}"),
        *(dependency(found, errors) for found, errors in zip(required, import_errors(required), strict=True)),
    ]


def dependency(required: Requirement, error: str) -> Finding:
    """Return the finding about a package without which envpool does not work."""
    version = required.installed()
    remedy = f"pip install '{required}'"
    if version is None:
        return Finding(required.name, f"not installed; envpool requires {required}", PROBLEM, remedy)
    if not required.allows(version):
        return Finding(required.name, f"{version}; envpool requires {required}", PROBLEM, remedy)
    if error:
        remedy = f"pip install --force-reinstall '{required}'"
        return Finding(required.name, f"{version}; it cannot be imported: {error}", PROBLEM, remedy)
    return Finding(required.name, version)


def distributions() -> list[Finding]:
    """Return the findings about distributions that install a package of envpool's name, other than this one."""
    names = sorted(set(metadata.packages_distributions().get(PACKAGE, ())))
    found = []
    for name in names:
        version = metadata.version(name)
        if name.lower() != NAME:
            text = f"the distribution {name} {version} installs a package of the same name"
            found.append(Finding("conflict", text, PROBLEM, f"pip uninstall {name}; {reinstall()}"))
        elif version != envpool.__version__:
            text = f"the installed distribution is {name} {version}, but version {envpool.__version__} is imported"
            found.append(Finding("conflict", text, PROBLEM, f"pip uninstall {name}; {reinstall()}"))
    return found


def reinstall() -> str:
    """Return the command that installs this envpool again."""
    return "pip install ." if source_tree() else f"pip install --force-reinstall --no-deps {NAME}"
