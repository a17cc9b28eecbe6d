"""Folders for the files of games: one per process, which contains one per environment.

They lie in ``/dev/shm``, whose files are in memory, or else in the folder for temporary files. A process holds a lock
on its folder as long as it lives, so that the folder of a process that was killed can be recognised and removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from multiprocessing import parent_process, util
from pathlib import Path

PREFIX = "envpool-nethack-"
MEMORY = Path("/dev/shm")

#: File descriptors of the folders that this process has locked.
_locks: list[int] = []


def parent_folder() -> Path:
    """Return the folder in which the folders of processes are made."""
    return MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def new_process_folder() -> Path:
    """Make and lock a folder for this process, after removing those of processes that were killed."""
    parent = parent_folder()
    for path in parent.glob(f"{PREFIX}*"):
        remove_if_abandoned(path)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
        if (lock := try_lock(folder)) is not None:
            _locks.append(lock)
            if folder.is_dir():  # otherwise another process has removed it before it was locked
                break
    if parent_process() is not None:
        # Children of multiprocessing exit without calling what is registered with C's atexit().
        util.Finalize(None, shutil.rmtree, (folder, True), exitpriority=0)
    return folder


def remove_if_abandoned(folder: Path) -> None:
    """Remove the folder of a process that no longer exists."""
    lock = try_lock(folder)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def try_lock(folder: Path) -> int | None:
    """Return the file descriptor of a lock on a folder; None if a process holds it, or it is another user's."""
    try:
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file
