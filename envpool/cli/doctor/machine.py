"""The machine: processor, CPUs and memory of the process, and the default number of threads."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from envpool._support.diagnosis import Finding
from envpool._support.machine import cpu_limit, memory_limit, numa_nodes, process_cpus
from envpool.cli.bench.machine import cpu_model

TITLE = "machine"
#: CPU features for which the package has variants of its code, by what they are for.
FEATURES = {"avx2": "vectorised steps and images", "avx512bw avx512vbmi": "fast look-up of colours"}


def findings(proc: str = "/proc") -> list[Finding]:
    """Return the facts about the machine.

    Parameters
    ----------
    proc : str
        The folder in which the kernel describes processes and processors.
    """
    cpus, limit = process_cpus(), cpu_limit(f"{proc}/self")
    memory, source = memory_limit(f"{proc}/self")
    quota = f"{limit} CPUs" if limit < len(cpus) else "no quota of CPUs below that"
    return [
        Finding("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        Finding("processor", cpu_model()),
        *features(cpu_flags(proc)),
        Finding("CPUs", f"{len(cpus)} of {os.cpu_count()} for this process: {ranges(cpus)}"),
        Finding("NUMA nodes", str(len(numa_nodes()))),
        Finding("control group", quota),
        Finding("memory", f"{memory / 2**30:.1f} GiB, {source}"),
        Finding("threads", f"{limit} by default, or batch_size if it is less"),
    ]


def cpu_flags(proc: str = "/proc") -> set[str] | None:
    """Return the features of the processor; None if the system does not name them."""
    try:
        lines = Path(proc, "cpuinfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.partition(":")[2].split() for line in lines if line.startswith("flags")]
    return set(found[0]) if found else None


def features(flags: set[str] | None) -> list[Finding]:
    """Return whether the processor has the features that the package uses; without them, the results are the same."""
    if flags is None:
        return [Finding("CPU features", "unknown; using portable code")]
    return [
        Finding(
            names.replace(" ", ", "), f"{'yes' if flags >= set(names.split()) else 'no, portable code is used'} ({use})"
        )
        for names, use in FEATURES.items()
    ]


def ranges(cpus: set[int]) -> str:
    """Return a text of CPU numbers as the kernel writes it, for example ``"0-3,8"``."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and parts[-1][1] == cpu - 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
