"""The packages that envpool and its extras require, and which of them are installed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from envpool._support.packages import NAME

REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)\s*(\[[^]]*\])?\s*(?P<versions>[^;]*)(;.*extra\s*==\s*[\"'](?P<extra>[^\"']+))?"
)
CLAUSE = re.compile(r"(?P<operator>==|>=|<)\s*(?P<version>[\d.]+)")


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
        return all(
            self._compare(numbers(version), clause["operator"], numbers(clause["version"]))
            for clause in CLAUSE.finditer(self.versions)
        )

    @staticmethod
    def _compare(found: tuple[int, ...], operator: str, wanted: tuple[int, ...]) -> bool:
        size = max(len(found), len(wanted))
        found, wanted = (v + (0,) * (size - len(v)) for v in (found, wanted))
        return found == wanted if operator == "==" else found >= wanted if operator == ">=" else found < wanted


def numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version: those of ``"2.13.0+cpu"`` are (2, 13, 0)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(v) for v in found[0].split(".")) if found else ()


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
    return parse([*project["dependencies"], *(f'{r}; extra == "{e}"' for e, found in extras.items() for r in found)])


def parse(lines: Iterable[str]) -> dict[str, list[Requirement]]:
    """Return requirements in the form of a distribution's metadata by extra."""
    found: dict[str, list[Requirement]] = {"": []}
    for line in lines:
        if match := REQUIREMENT.match(line):
            found.setdefault(match["extra"] or "", []).append(Requirement(match["name"], match["versions"].strip()))
    return found


def source_tree() -> Path | None:
    """Return the folder of the source tree that envpool is imported from; None if it is installed."""
    folder = Path(__file__).parents[2]
    file = folder / "pyproject.toml"
    return folder if file.is_file() and f'name = "{NAME}"' in file.read_text() else None
