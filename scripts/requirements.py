"""Prints requirements from pyproject.toml, one per line: ``python scripts/requirements.py build run test``."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
groups = {
    "build": project["build-system"]["requires"],
    "run": project["project"]["dependencies"],
    **project["project"]["optional-dependencies"],
    **project["dependency-groups"],
}
for name in sys.argv[1:]:
    if name not in groups:
        raise SystemExit(f"pyproject.toml has no group {name!r}; the groups are {', '.join(groups)}")
    print("\n".join(groups[name]))
