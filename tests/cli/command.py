"""Running the command line in a separate process."""

import subprocess
import sys

from tests.support.python import environment

ENVIRONMENT = environment()
ENVIRONMENT.pop("COLUMNS", None)  # pytest-xdist sets it, and output would be wrapped
COMMAND = [sys.executable, "-m", "envpool"]


def run_command(*arguments):
    """Run ``envpool ARGUMENTS`` to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
