"""Folders for the files of games: one per process, which contains one per environment.

They lie in ``/dev/shm``, whose files are in memory, or else in the folder for temporary files. A process holds a lock
on its folder as long as it lives, so that the folder of a process that was killed can be recognised and removed, unless
it lies in another folder for temporary files than this process has.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from multiprocessing import parent_process, util
from pathlib import Path

from envpool._support.locks import try_lock
from envpool.errors import EnvPoolError

PREFIX = "envpool-nethack-"
MEMORY = Path("/dev/shm")

#: Folders that are made until one can be locked.
MAX_TRIES = 20

#: File descriptors of the folders that this process has locked.
_locks: list[int] = []


class FolderError(EnvPoolError, OSError):
    """The folder for temporary files cannot be used."""


def parent_folder() -> Path:
    """Return the folder in which the folders of processes are made."""
    return MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def new_process_folder() -> Path:
    """Make and lock a folder for this process, after removing the folders of processes that were killed.

    Raises
    ------
    FolderError
        The folder cannot be made or locked.
    """
    parent = parent_folder()
    for path in parent.glob(f"{PREFIX}*"):
        remove_if_abandoned(path)
    folder = make_locked(parent)
    if parent_process() is not None:
        # Children of multiprocessing exit without calling what is registered with C's atexit().
        util.Finalize(None, shutil.rmtree, (folder, True), exitpriority=0)
    return folder


def make_locked(parent: Path) -> Path:
    """Make and lock a folder; before it is locked, another process may lock and remove it: then make another one."""
    for _ in range(MAX_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
        lock = try_lock(folder)
        if lock is None:
            shutil.rmtree(folder, ignore_errors=True)
        elif folder.is_dir():
            _locks.append(lock)
            return folder
        else:
            os.close(lock)
    raise FolderError(
        f"no folder in {parent} can be locked, which the files of NetHack's games require: set the environment "
        "variable TMPDIR to a folder on a local disk"
    )


def remove_if_abandoned(folder: Path) -> None:
    """Remove the folder of a process that no longer exists."""
    lock = try_lock(folder)
    if lock is not None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
