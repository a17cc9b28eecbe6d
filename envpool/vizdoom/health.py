"""The checks of ``envpool doctor`` for the engine of ViZDoom."""

from __future__ import annotations

from envpool._support.diagnosis import Finding, installation
from envpool.vizdoom.wheel import SYSTEM_PACKAGES, VERSION, package_folder

TITLE = "ViZDoom"
PLAY = "import envpool; envpool.make_gymnasium('Basic-v1').reset()"
REMEDY = f"apt-get install {SYSTEM_PACKAGES}; pip install --force-reinstall --no-deps vizdoom=={VERSION}"


def findings() -> list[Finding]:
    """Return whether the package is installed, and whether an engine starts."""
    return [installation("engine", lambda: f"vizdoom {VERSION}, {package_folder()}", PLAY, "no engine starts", REMEDY)]
