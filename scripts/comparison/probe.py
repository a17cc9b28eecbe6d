"""Measures the cost of importing `envpool` and of creating many envs, in a fresh process; prints one JSON object.

Arguments: task, number of envs, number of threads.
"""

import json
import os
import sys
import time


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(task: str, num_envs: int, num_threads: int) -> dict[str, float]:
    """Return the measurements by name, in seconds and bytes."""
    began = time.perf_counter()
    import envpool

    figures: dict[str, float] = {"import_seconds": time.perf_counter() - began, "import_bytes": resident_bytes()}
    # Modules that are loaded on first use count here, not as memory of the envs below.
    small = envpool.make_gymnasium(task, num_envs=1, num_threads=1)
    small.reset()
    figures["first_pool_seconds"] = time.perf_counter() - began
    figures["first_pool_bytes"] = before = resident_bytes()
    began = time.perf_counter()
    pool = envpool.make_gymnasium(task, num_envs=num_envs, num_threads=num_threads)
    figures["make_seconds"] = time.perf_counter() - began
    pool.reset()
    figures["make_and_reset_seconds"] = time.perf_counter() - began
    figures["bytes_per_env"] = (resident_bytes() - before) / num_envs
    return figures


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))), file=out, flush=True)
