"""Folders beside the package in a source tree, which a wheel has inside the package: headers, examples, pages."""

from __future__ import annotations

from pathlib import Path


def shipped(name: str) -> Path:
    """Return the folder ``include``, ``examples`` or ``docs`` of an installed package or of a source tree."""
    package = Path(__file__).resolve().parents[1]
    installed = package / name
    return installed if installed.is_dir() else package.parent / name
