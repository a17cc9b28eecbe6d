"""Inspecting a process from outside (worker threads, files, memory), and waiting for other threads."""

import os
import time
from pathlib import Path

#: A wait that takes longer than this has failed, seconds. It only bounds a test that would hang, and is long because
#: virtual machines may pause for a while.
PATIENCE = 120


def wait_until(condition):
    """Wait until a condition holds that another thread brings about."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.001)


def status_of(folder):
    """Return the kernel's status of a process or thread from its folder in /proc, e.g. {"State": "S (sleeping)"}."""
    return dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())


def is_asleep(process):
    """Return whether a thread, or the main thread of a process, with this id is waiting."""
    return status_of(Path(f"/proc/{process}"))["State"].startswith("S")


def worker_ids():
    """Return the ids of the worker threads of this process's pools."""
    tasks = [(task.name, status_of(task)["Name"]) for task in Path("/proc/self/task").iterdir()]
    return [int(task) for task, name in tasks if name.startswith("envpool-")]


def workers(process="self"):
    """Return the CPUs that each worker thread of any pool may run on, by thread name, e.g. {"envpool-0": "0-1"}."""
    found = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        try:
            status = status_of(task)
        except (FileNotFoundError, ProcessLookupError):  # The thread has ended meanwhile.
            continue
        if status["Name"].startswith("envpool-"):
            found[status["Name"]] = status["Cpus_allowed_list"]
    return found


def listed(cpus):
    """Return the set of CPUs in the kernel's notation, e.g. "0-2,5"."""
    ranges = [part.partition("-") for part in cpus.split(",")]
    return {c for first, _, last in ranges for c in range(int(first), int(last or first) + 1)}


def open_files():
    """Return the number of open files."""
    return len(os.listdir("/proc/self/fd"))


def resident():
    """Return the bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
