"""Whether files can be written, before the work whose results they are to hold."""

from __future__ import annotations

from pathlib import Path

from envpool.errors import ConfigError


def check_output(path: Path) -> None:
    """Raise ConfigError if a file cannot be written because of its folder, or because it is a folder."""
    if not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: the directory {path.parent} does not exist")
    if path.is_dir():
        raise ConfigError(f"cannot write {path}: it is a directory; give the name of a file")
