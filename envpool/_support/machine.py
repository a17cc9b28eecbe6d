"""The CPUs and the memory that this process may use: affinity, OpenMP's binding of threads, and control groups.

Where a system has no affinity masks, no folder ``/proc`` or no control groups, nothing of that kind limits a process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator


def thread_cpus(thread: int = 0) -> set[int]:
    """Return the CPUs on which a thread may run, by default the calling one: on macOS, all CPUs."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(thread)
    return set(range(os.cpu_count() or 1))


#: The CPUs of the importing thread when this module was imported.
_CPUS_AT_IMPORT = frozenset(thread_cpus())
#: With one of these variables, an OpenMP library binds the thread that loads it, usually to one CPU.
BINDING = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")
#: Bytes below every limit: a process that has loaded numpy uses more.
ALWAYS_FITS = 16 << 20


# ---- CPUs ------------------------------------------------------------------------------------------------------------


def process_cpus() -> set[int]:
    """Return the CPUs on which the threads of a pool may run.

    These are the CPUs of the calling thread. If a variable of OpenMP asks for a binding of threads, the calling thread
    may have been bound to one CPU when an OpenMP library was loaded, so that its mask says nothing about the process.
    The result then has the CPUs of all threads, the CPUs at the import of envpool, and all places of OpenMP.
    """
    cpus = thread_cpus()
    if any(os.environ.get(name) for name in BINDING) and os.path.isdir("/proc/self/task"):
        cpus |= _CPUS_AT_IMPORT | _openmp_cpus()
        for task in os.listdir("/proc/self/task"):
            try:
                cpus |= thread_cpus(int(task))
            except ProcessLookupError:  # The thread has ended.
                continue
    return cpus


def _openmp_cpus() -> set[int]:
    """Return the CPUs of the places of every OpenMP library that is loaded."""
    import ctypes

    with open("/proc/self/maps", errors="surrogateescape") as maps:
        files = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "omp" in line.rpartition("/")[2]}
    cpus: set[int] = set()
    for file in sorted(files):
        try:
            library = ctypes.CDLL(file, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
            for place in range(library.omp_get_num_places()):
                ids = (ctypes.c_int * library.omp_get_place_num_procs(place))()
                library.omp_get_place_proc_ids(place, ids)
                cpus.update(ids)
        except (OSError, AttributeError):  # Not loaded under this name, or not an OpenMP library.
            continue
    return cpus


def cpu_limit(proc: str = "/proc/self") -> int:
    """Return the number of CPUs that this process may use: its CPUs, or the quota of its control group if it is less.

    Parameters
    ----------
    proc : str
        The process, as a folder of proc.
    """
    cpus = len(process_cpus())
    for folder in _group_folders(proc, "cpu"):
        quota, _, period = (_read(f"{folder}/cpu.max") or "").partition(" ")
        if not quota:
            quota, period = _read(f"{folder}/cpu.cfs_quota_us") or "", _read(f"{folder}/cpu.cfs_period_us") or ""
        if quota.isdigit() and period.isdigit() and int(period):  # "max" and -1 stand for no quota
            cpus = min(cpus, -(-int(quota) // int(period)))
    return max(cpus, 1)


def numa_nodes(system: str = "/sys/devices/system/node") -> list[list[int]]:
    """Return the CPUs of each NUMA node on which the threads of a pool may run; one node if the system does not tell.

    Parameters
    ----------
    system : str
        The folder in which the kernel describes the nodes.
    """
    allowed = process_cpus()
    names = os.listdir(system) if os.path.isdir(system) else []
    numbers = sorted(int(name[4:]) for name in names if name.startswith("node") and name[4:].isdigit())
    nodes = [sorted(allowed & _listed(_read(f"{system}/node{number}/cpulist") or "")) for number in numbers]
    return [node for node in nodes if node] or [sorted(allowed)]


def _listed(text: str) -> set[int]:
    """Return the CPUs in a list of the kernel's, for example ``"0-3,8"``."""
    ranges = [part.partition("-") for part in text.split(",") if part]
    return {cpu for first, _, last in ranges for cpu in range(int(first), int(last or first) + 1)}


# ---- memory ----------------------------------------------------------------------------------------------------------


def memory_limit(proc: str = "/proc/self") -> tuple[int, str]:
    """Return the bytes of memory that this process can use at most, and what limits them, for error messages.

    Parameters
    ----------
    proc : str
        The process, as a folder of proc.
    """
    limit, source = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), "the memory of this machine"
    for folder in _group_folders(proc, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            text = _read(f"{folder}/{name}") or ""
            if text.isdigit() and int(text) < limit:
                limit, source = int(text), f"the limit of its control group, {folder}/{name}"
    return limit, source


def check_memory(needed: int, what: str, way_out: str) -> None:
    """Raise MemoryError for what could never fit, before the system kills the process for it.

    Parameters
    ----------
    needed : int
        Bytes that it needs at least.
    what, way_out : str
        For the message: what needs the memory, and what to do.
    """
    if needed < ALWAYS_FITS:
        return
    limit, source = memory_limit()
    if needed > 0.9 * limit:
        raise MemoryError(
            f"{what} needs at least {needed / 2**30:.1f} GiB, but this process has {limit / 2**30:.1f} GiB ({source}): "
            f"{way_out}"
        )


# ---- control groups --------------------------------------------------------------------------------------------------


def _read(file: str) -> str | None:
    try:
        with open(file, errors="surrogateescape") as opened:
            return opened.read().strip()
    except OSError:
        return None


def _group_folders(proc: str, controller: str) -> Iterator[str]:
    """Yield the folders of the control groups of the process that may limit `controller`, up to the root."""
    groups: dict[str, str] = {}
    for line in (_read(f"{proc}/cgroup") or "").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            groups["cgroup2"] = path
        elif controller in controllers.split(","):
            groups["cgroup"] = path
    for line in (_read(f"{proc}/mountinfo") or "").splitlines():
        mount, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        if kind not in groups or (kind == "cgroup" and controller not in options.split()[-1].split(",")):
            continue
        root, top = (part.replace("\\040", " ") for part in mount.split(" ")[3:5])
        # A container may see its own group mounted as the root, and may read the path of that group as the host's.
        is_inside = f"{groups[kind]}/".startswith(f"{root.rstrip('/')}/")
        folder = os.path.normpath(os.path.join(top, os.path.relpath(groups[kind], root) if is_inside else "."))
        while folder.startswith(top):
            yield folder
            folder = "" if folder == top else os.path.dirname(folder)
