"""Running Python as if only the package and some of its extras were installed."""

import re
import tomllib
from contextlib import suppress
from importlib import metadata

from tests.support.python import ROOT, output_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIREMENT = re.compile(r"([\w.-]+)(?!.*extra\s*==)")
#: Hides the modules whose distributions are all among those that are listed.
HIDE = """
import sys
class Hidden:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden)
"""


def plain(name):
    """Return the name of a distribution in the form in which equal names are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(*extras):
    """Return the distributions that the package and these extras require, directly or through others."""
    found, left = set(), [*PROJECT["dependencies"]]
    for extra in extras:
        left += PROJECT["optional-dependencies"][extra]
    while left:
        match = REQUIREMENT.match(left.pop())
        name = match and plain(match[1])
        if name and name not in found:
            found.add(name)
            with suppress(metadata.PackageNotFoundError):  # for another system, or missing: the code will say so
                left += metadata.requires(name) or []
    return found


def output_with(code, *extras):
    """Run code that must succeed without packages that these extras do not require; return its output."""
    allowed = required(*extras)
    owners = metadata.packages_distributions().items()
    hidden = {module for module, names in owners if not allowed & {plain(name) for name in names}}
    return output_of(HIDE.format(modules=hidden - {"envpool"}) + code)
