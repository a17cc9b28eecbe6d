"""The checks of ``envpool doctor`` for the library of NetHack."""

from __future__ import annotations

from envpool._support.diagnosis import Finding, installation
from envpool.nethack.files import VERSION, find_files

TITLE = "NetHack"
PLAY = "import envpool; envpool.make_gymnasium('NetHackScore-v0').reset()"
REMEDY = (
    f'remove the reason that is named; `python -c "{PLAY}"` prints the whole error. If the library is damaged, run: '
    f"pip install --force-reinstall --no-deps nle=={VERSION}"
)


def findings() -> list[Finding]:
    """Return whether the library is installed, and whether a game starts."""
    return [installation("library", lambda: f"nle {VERSION}, {find_files().library}", PLAY, "no game starts", REMEDY)]
