"""The checks of ``envpool doctor`` for the library of Procgen."""

from __future__ import annotations

from envpool._support.diagnosis import NOTE, OK, Finding, installation
from envpool.procgen.files import INSTALL, SYSTEM_PACKAGES, find_files

TITLE = "Procgen"
LOAD = "from envpool.procgen.files import load_library; load_library()"


def findings() -> list[Finding]:
    """Return whether the library is installed, and whether it can be loaded."""
    found = installation("library", where, LOAD, "it cannot be loaded", f"apt-get install {SYSTEM_PACKAGES}")
    if found.state == OK and find_files().origin == "procgen":
        text = f"{found.text}; some frames differ in a few pixels from the frames of procgen-mirror"
        return [Finding("library", text, NOTE, INSTALL)]
    return [found]


def where() -> str:
    """Return what is installed, and where."""
    files = find_files()
    return f"{files.origin} {files.version}, {files.package}"
