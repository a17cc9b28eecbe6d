"""Findings of ``envpool doctor``, and running a check in a process of its own, which may crash.

A folder of a family contributes findings with a module ``health.py``: TITLE, the heading of its section, and
``findings()``, which returns a list of `Finding`. The module is imported when the command runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

#: States of a finding: it works; it is absent or restricted, which is not a failure; it is installed and does not work.
OK, NOTE, PROBLEM = "ok", "note", "problem"
#: How long a check in a process of its own may take, in seconds.
TIMEOUT = 300


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis.

    Attributes
    ----------
    name : str
        Subject of the check.
    text : str
        Finding.
    state : {"ok", "note", "problem"}
        "problem" makes the exit status 1.
    remedy : str
        Remedy, e.g. a command; every problem has one.
    """

    name: str
    text: str
    state: str = OK
    remedy: str = ""


def installation(name: str, find: Callable[[], str], use: str, failure: str, remedy: str) -> Finding:
    """Return the finding about files that are installed apart from envpool.

    Parameters
    ----------
    name : str
        Name of the files, e.g. ``"library"``.
    find : callable
        Returns what was found, or raises an ImportError that says what to install.
    use : str
        Python code that uses the files, which a process of its own runs.
    failure : str
        Meaning of a failure of the code, e.g. ``"no game starts"``.
    remedy : str
        Remedy if the code fails.
    """
    try:
        found = find()
    except ImportError as error:
        return Finding(name, "not installed", NOTE, str(error))
    succeeded, text = run_python(use)
    return Finding(name, found) if succeeded else Finding(name, f"{found}; {failure}: {text}", PROBLEM, remedy)


def run_python(code: str, *arguments: str, **variables: str) -> tuple[bool, str]:
    """Run code in a Python process with the path of this one.

    Parameters
    ----------
    code : str
        Python code.
    *arguments : str
        Its arguments, ``sys.argv[1:]``.
    **variables : str
        Environment variables that are set.

    Returns
    -------
    succeeded : bool
        True if the exit status was 0.
    text : str
        The standard output; if the process failed, the last line of its errors, or how it ended.
    """
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            env=os.environ | {"PYTHONPATH": path} | variables,
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {TIMEOUT} seconds"
    if done.returncode == 0:
        return True, done.stdout
    if done.returncode < 0:
        return False, f"the process crashed ({signal.Signals(-done.returncode).name})"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return False, lines[-1] if lines else f"exit status {done.returncode}"
