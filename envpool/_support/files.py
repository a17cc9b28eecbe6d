"""Files of results: checked before the work begins, and replaced when their content is complete."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from envpool.errors import ConfigError


def check_output(path: Path, *, is_replaced: bool = False) -> None:
    """Raise ConfigError if a file cannot be written; it is created for a moment unless it exists.

    `is_replaced`: `replaced` will write it, which cannot write to a device.
    """
    if not path.parent.is_dir():
        raise ConfigError(f"cannot write {path}: the directory {path.parent} does not exist")
    if path.is_dir():
        raise ConfigError(f"cannot write {path}: it is a directory; give the name of a file")
    if is_replaced and path.exists() and not path.is_file():
        raise ConfigError(f"cannot write {path}: it is a device, pipe or socket; give the name of a file")
    try:
        if not path.exists():
            path.open("xb").close()
            path.unlink()
        elif not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file; an OSError names it, also if the file could be opened and not be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Open a file under another name, which is renamed to `path` when everything is on the disk.

    An exception leaves `path` as it was. An OSError that has the other name is raised with `path`. If `path` is a
    symbolic link, the file that it leads to is replaced; the new file has the permissions of the old one. Raises
    ConfigError for a device or another thing that a file must not replace.
    """
    target = path.resolve()
    if target.exists():
        check_output(path, is_replaced=True)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        if error.filename != str(part):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        part.unlink(missing_ok=True)
