"""Configuration files of tests."""

from __future__ import annotations

from pathlib import Path


def written(folder: Path, text: str) -> str:
    """Return the path of a configuration file with a text."""
    path = folder / "scenario.cfg"
    path.write_text(text)
    return str(path)
