"""Finding installed packages whose files are used without importing them, in the one version whose files are known."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple


class Installed(NamedTuple):
    """A package that is installed.

    Attributes
    ----------
    folder : Path
        The folder of the package.
    version : str
        The version of its distribution.
    """

    folder: Path
    version: str


def find(name: str, package: str = "") -> Installed | None:
    """Return where a package is, without importing it; None if its distribution is not installed.

    Parameters
    ----------
    name : str
        Name of the distribution.
    package : str
        Name of the package; by default that of the distribution.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    return Installed(Path(str(found.locate_file(package or name))), found.version)


def require(name: str, version: str, purpose: str, remedy: str, *files: str) -> Path:
    """Return the folder of a package that must be installed in exactly this version, without importing it.

    Parameters
    ----------
    name : str
        Name of the distribution and of its package.
    version : str
        The version.
    purpose : str
        Beginning of a sentence that says what needs which part of it, e.g. ``"NetHack needs the library"``.
    remedy : str
        Remedy, e.g. a command.
    *files : str
        Paths in the folder of files that must exist.

    Raises
    ------
    ImportError
        The package is not installed, is installed in another version, or lacks a file; the error contains the remedy.
    """
    found = find(name)
    if found is None or found.version != version:
        problem = f"{name} {found.version} is installed" if found else f"{name} is not installed"
        raise ImportError(f"{purpose} of {name} {version}, but {problem}: {remedy}")
    for file in files:
        if not (found.folder / file).is_file():
            raise ImportError(
                f"{purpose} of {name} {version}, which is installed, but its file {found.folder / file} is missing: "
                f"pip install --force-reinstall --no-deps {name}=={version}"
            )
    return found.folder
