"""Running the command line in a process of its own."""

import subprocess
import sys

from tests.support.python import environment

ENVIRONMENT = environment()
COMMAND = [sys.executable, "-m", "envpool"]


def run_command(*arguments):
    """Run ``envpool ARGUMENTS`` to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
