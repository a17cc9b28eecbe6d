"""The packages that envpool and its extras require, and which of them are installed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging import requirements as standard
from packaging.specifiers import SpecifierSet

from envpool._support.packages import NAME

EXTRA = re.compile(r'extra == "([^"]+)"')


@dataclass(frozen=True)
class Requirement:
    """A required package.

    Attributes
    ----------
    name : str
        Name of the distribution.
    versions : str
        Allowed versions, e.g. ``">=2.9,<3"``; empty if all are.
    """

    name: str
    versions: str = ""

    def __str__(self) -> str:
        return self.name + self.versions

    def installed(self) -> str | None:
        """Return the installed version; None if the package is not installed."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def allows(self, version: str) -> bool:
        """Return whether a version is allowed."""
        return SpecifierSet(self.versions).contains(version, prereleases=True)


def requirements() -> dict[str, list[Requirement]]:
    """Return what each extra requires, by the name of the extra; what envpool itself requires has the name "".

    They are read from the ``pyproject.toml`` of the source tree if envpool is imported from one, else from the metadata
    of the installed distribution.
    """
    tree = source_tree()
    if tree is None:
        try:
            return parse(metadata.requires(NAME) or ())
        except metadata.PackageNotFoundError:
            return {"": []}
    project = tomllib.loads((tree / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return parse([*project["dependencies"], *(of_extra(r, e) for e, found in extras.items() for r in found)])


def of_extra(requirement: str, extra: str) -> str:
    """Return a requirement of an extra as a distribution's metadata have it."""
    name, _, marker = requirement.partition(";")
    return f'{name}; {f"({marker}) and " * bool(marker)}extra == "{extra}"'


def parse(lines: Iterable[str]) -> dict[str, list[Requirement]]:
    """Return requirements in the form of a distribution's metadata by extra, those of other extras included."""
    found: dict[str, list[standard.Requirement]] = {"": []}
    for line in lines:
        read = standard.Requirement(line)
        extra = EXTRA.search(str(read.marker))
        name = extra[1] if extra else ""
        if read.marker is None or read.marker.evaluate({"extra": name}):
            found.setdefault(name, []).append(read)

    def expanded(name: str) -> Iterator[Requirement]:
        for read in found.get(name, ()):
            if read.name == NAME:
                for extra in sorted(read.extras):
                    yield from expanded(extra)
            else:
                yield Requirement(read.name, str(read.specifier))

    return {name: list(dict.fromkeys(expanded(name))) for name in found}


def source_tree() -> Path | None:
    """Return the folder of the source tree that envpool is imported from; None if it is installed."""
    folder = Path(__file__).parents[2]
    file = folder / "pyproject.toml"
    return folder if file.is_file() and f'name = "{NAME}"' in file.read_text() else None
