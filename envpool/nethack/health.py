"""What ``envpool doctor`` says about the library of NetHack."""

from __future__ import annotations

from envpool.diagnosis import NOTE, PROBLEM, Finding, run_python
from envpool.nethack.files import INSTALL, VERSION, find_files

TITLE = "NetHack"
PLAY = "import envpool; envpool.make_gymnasium('NetHackScore-v0').reset()"


def findings() -> list[Finding]:
    """Return whether the library is installed, and whether a game starts, which a process of its own shows."""
    try:
        files = find_files()
    except ImportError as error:
        return [Finding("library", "not installed", NOTE, str(error))]
    where = f"nle {VERSION}, {files.library}"
    succeeded, text = run_python(PLAY)
    return [Finding("library", where) if succeeded else Finding("library", f"{where}: {text}", PROBLEM, INSTALL)]
