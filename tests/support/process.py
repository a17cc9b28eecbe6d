"""Looking at a process from outside: its worker threads, files and memory; and waiting for other threads."""

import os
import time
from pathlib import Path

#: A wait that takes longer than this has failed, seconds. It only bounds a test that would hang, and is long because
#: virtual machines may stand still for a while.
PATIENCE = 120


def wait_until(condition):
    """Wait for something that another thread does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.001)


def status_of(folder):
    """What the kernel tells of a process or thread in its folder of /proc, e.g. {"State": "S (sleeping)"}."""
    return dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())


def is_asleep(process):
    """Whether a thread, or the main thread of a process, given by its id, waits for something."""
    return status_of(Path(f"/proc/{process}"))["State"].startswith("S")


def worker_ids():
    """Ids of the worker threads of this process's pools."""
    tasks = [(task.name, status_of(task)["Name"]) for task in Path("/proc/self/task").iterdir()]
    return [int(task) for task, name in tasks if name.startswith("envpool-")]


def workers(process="self"):
    """CPUs that each worker thread of any pool may run on, by thread name, e.g. {"envpool-0": "0-1"}."""
    found = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        try:
            status = status_of(task)
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            continue
        if status["Name"].startswith("envpool-"):
            found[status["Name"]] = status["Cpus_allowed_list"]
    return found


def open_files():
    """How many files are open."""
    return len(os.listdir("/proc/self/fd"))


def resident():
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
