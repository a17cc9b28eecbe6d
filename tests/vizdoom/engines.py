"""Looking at engine processes and what they leave behind from outside."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

from tests.support.process import wait_until


def engines(parent: int | None = None) -> list[int]:
    """Return the process ids of the engines that a process has started, also of those that nobody has reaped."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, fields = (folder / "stat").read_text().partition(" (")[2].rpartition(") ")
        except OSError:  # the process has ended meanwhile
            continue
        if name == "vizdoom" and int(fields.split()[1]) == (parent or os.getpid()):
            found.append(int(folder.name))
    return sorted(found)


def leftovers(parent: int | None = None) -> list[Path]:
    """Return the files in shared memory and the folders of engines that a process has started."""
    owner = parent or os.getpid()
    memory = Path("/dev/shm").glob(f"ViZDoom*{owner}_*")
    return [*memory, *Path(tempfile.gettempdir()).glob(f"envpool-vizdoom-{owner}_*")]


def state(process: int) -> str:
    """Return the kernel's letter for the state of a process, "Z" for one that nobody has reaped; "" if it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return ""


def kill(engine: int) -> None:
    """Kill an engine that may have ended already, and wait until it has ended."""
    try:
        os.kill(engine, signal.SIGKILL)
    except ProcessLookupError:
        return
    wait_until(lambda: state(engine) in ("Z", ""))
