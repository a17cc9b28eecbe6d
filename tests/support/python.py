"""Running Python in a separate process, with this envpool and these tests on its path."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.process import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def environment(*folders, **more):
    """Return this process's environment with folders, and then this tree, before all others on Python's path.

    Parameters
    ----------
    *folders : str or Path
        Come before this tree.
    **more : str
        Further variables.
    """
    path = [*map(str, folders), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))} | more


def run_python(code, *folders):
    """Run code until it ends or fails; return the finished process with its output as text."""
    return subprocess.run(
        [sys.executable, "-c", code], env=environment(*folders), capture_output=True, text=True, timeout=PATIENCE
    )


def output_of(code):
    """Run code that must succeed, and return its output."""
    done = run_python(code)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
