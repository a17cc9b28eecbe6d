"""The name under which this package is distributed, commands that install it, and a check for another one's files."""

from __future__ import annotations

import warnings
from pathlib import Path

#: Name of the distribution. Another project distributes a package envpool under the name ``envpool``.
NAME = "envpool-cython"
#: Name of the package, which both distributions install.
PACKAGE = "envpool"


def install(extra: str) -> str:
    """Return the command that installs this distribution with an extra.

    >>> install("render")
    "pip install 'envpool-cython[render]'"
    """
    return f"pip install '{NAME}[{extra}]'"


def warn_of_others() -> None:
    """Warn if a distribution named like the package is installed in the folder that this package is imported from.

    Whichever of the two was installed last has overwritten files of the other.
    """
    site = Path(__file__).parents[1]
    for info in site.glob(f"{PACKAGE}-*.dist-info"):
        other = info.name.removesuffix(".dist-info").replace("-", " ")
        warnings.warn(
            f"{site} contains the distributions {other} and {NAME}, and both install the package {PACKAGE}: "
            f"pip uninstall {PACKAGE}; pip install --force-reinstall --no-deps {NAME}",
            RuntimeWarning,
            stacklevel=2,
        )
