"""Handles of processes.

A handle is a pidfd, which stands for one process even if the number of the process is used again. A portable build asks
for the state of a process by its number instead, again and again.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable

from envpool._support.built import PORTABLE
from envpool._support.descriptors import high_descriptor

#: Longest pause between two looks at a process, in seconds.
PAUSE = 0.01


class Process:
    """A process, by its pidfd, which the handle closes."""

    def __init__(self, pid: int, pidfd: int):
        self.pid, self._pidfd = pid, pidfd

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Return whether the process has ended, after waiting for at most this many seconds."""
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def send(self, number: int) -> None:
        """Send a signal; ProcessLookupError if the process no longer exists."""
        signal.pidfd_send_signal(self._pidfd, number)

    def reap(self) -> os.waitid_result | None:
        """Return how this child has ended; ChildProcessError if it was already reaped."""
        return os.waitid(os.P_PIDFD, self._pidfd, os.WEXITED)

    def close(self) -> None:
        """Close the handle."""
        os.close(self._pidfd)


class PolledProcess:
    """A process, by its number, with the methods of `Process`.

    Parameters
    ----------
    pid : int
        The number.
    has_ended : callable, optional
        Says whether a process that is not a child of this one has ended.
    """

    def __init__(self, pid: int, has_ended: Callable[[int], bool] | None = None):
        self.pid, self._look, self._is_gone = pid, has_ended or self._has_child_ended, False

    def _has_child_ended(self, pid: int) -> bool:
        try:
            return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # it was already reaped, and the number may be used again
            self._is_gone = True
            return True

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Return whether the process has ended, after waiting for at most this many seconds."""
        deadline, pause = time.monotonic() + seconds, PAUSE / 64
        while not self._look(self.pid):
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, PAUSE)
        return True

    def send(self, number: int) -> None:
        """Send a signal; ProcessLookupError if the process no longer exists."""
        if self._is_gone:
            raise ProcessLookupError
        os.kill(self.pid, number)

    def reap(self) -> os.waitid_result | None:
        """Return how this child has ended; ChildProcessError if it was already reaped."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED)

    def close(self) -> None:
        """Close the handle, which holds nothing."""


def process_of_child(pid: int) -> Process | PolledProcess:
    """Return the handle of a child; if there can be none, end the child and raise OSError."""
    if PORTABLE:
        return PolledProcess(pid)
    try:
        return Process(pid, high_descriptor(os.pidfd_open(pid)))
    except OSError:
        os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        raise


def parent_of_workers(pid: int) -> int:
    """Return what `envpool.python_envs.worker.follow` takes for a process: its pidfd, or its number."""
    return pid if PORTABLE else high_descriptor(os.pidfd_open(pid))


def exists(pid: int) -> bool:
    """Return whether there is a process with a number; a process that has ended counts until it is reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
