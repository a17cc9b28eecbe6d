"""Locks that distinguish the files of a running process from the leftovers of a killed one."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from envpool._support.descriptors import high_descriptor


def try_lock(path: Path) -> int | None:
    """Return the file descriptor of a lock on a file or a folder; None if a process holds it, or it is another user's.

    The lock is released when the file descriptor is closed, also by the end of the process.
    """
    try:
        file = high_descriptor(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file
