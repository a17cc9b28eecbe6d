"""Running the command line in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import envpool

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(envpool.__file__).parents[1])}
COMMAND = [sys.executable, "-m", "envpool"]


def run_command(*arguments):
    """Run ``envpool ARGUMENTS`` to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
