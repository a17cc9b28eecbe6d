"""The machine facts in a benchmark report: processor, versions and compiler.

A report never contains the name of a machine or a user, nor a path.
"""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np

import envpool
from envpool._support.machine import cpu_limit
from envpool.cli.bench.kernel_loop import COMPILER


def describe_machine() -> dict[str, str | int]:
    """Return the facts about this machine by name."""
    facts: dict[str, str | int] = {
        "cpu": cpu_model(),
        "cores_available": cpu_limit(),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": np.__version__,
        "envpool": envpool.__version__,
    }
    return facts | ({"compiler": COMPILER} if COMPILER else {})


def cpu_model() -> str:
    """Return the model name of the processor, or its architecture if the system does not report a name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
