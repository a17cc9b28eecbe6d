"""Leftovers of processes that were killed while an engine started; engine/engine.h says how to recognise them."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from envpool._support.locks import try_lock

SHARED_MEMORY = Path("/dev/shm")
#: Names of the queues of requests. `vizdoom.DoomGame` names its queues with ids of another form.
REQUESTS = re.compile(r"ViZDoomMQDoom(?P<id>\d+_[0-9a-f]{16})")


def remove_leftovers() -> None:
    """Remove shared memory, queues and folders of engines whose process was killed before they had started.

    A folder is only found if that process had the same folder for temporary files, since no name says which one it had.
    """
    for queue in SHARED_MEMORY.glob("ViZDoomMQDoom*"):
        found = REQUESTS.fullmatch(queue.name)
        lock = try_lock(queue) if found else None
        if found is None or lock is None:
            continue
        shutil.rmtree(Path(tempfile.gettempdir(), f"envpool-vizdoom-{found['id']}"), ignore_errors=True)
        for kind in ("SM", "MQCtr", "MQDoom"):
            with suppress(OSError):  # another user's, or a folder
                (SHARED_MEMORY / f"ViZDoom{kind}{found['id']}").unlink()
        os.close(lock)
