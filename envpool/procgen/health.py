"""What ``envpool doctor`` says about the library of Procgen."""

from __future__ import annotations

from envpool.diagnosis import NOTE, PROBLEM, Finding, run_python
from envpool.procgen.files import INSTALL, SYSTEM_PACKAGES, find_files

TITLE = "Procgen"
LOAD = "from envpool.procgen.files import load_library; load_library()"


def findings() -> list[Finding]:
    """Return whether the library is installed, and whether it can be loaded, which a process of its own shows."""
    try:
        files = find_files()
    except ImportError as error:
        return [Finding("library", "not installed", NOTE, str(error))]
    where = f"{files.origin} {files.version}, {files.package}"
    succeeded, text = run_python(LOAD)
    if not succeeded:
        return [Finding("library", f"{where}: {text}", PROBLEM, f"apt-get install {SYSTEM_PACKAGES}")]
    if files.origin == "procgen":
        text = f"{where}; some frames differ in a few pixels from those of procgen-mirror"
        return [Finding("library", text, NOTE, INSTALL)]
    return [Finding("library", where)]
