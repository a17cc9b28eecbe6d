"""Starting a worker process by fork, by a fresh interpreter or by a fork server, and ending it.

A fresh interpreter is started with subprocess rather than multiprocessing: environments travel by cloudpickle, so that
``__main__`` is not imported again and needs no guard. A worker leads a process group, so that Ctrl-C in the terminal is
the pool's business, and processes that an environment has started end with its worker. Processes that have left the
group are found in /proc as long as the worker lives: descendants.h.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import random
import signal
import subprocess
import sys
import traceback
from typing import Any

import cloudpickle
import numpy as np

from envpool._support.descriptors import high_pipe
from envpool._support.memory_files import memory_file
from envpool.python_envs.arena import Arena
from envpool.python_envs.processes import PolledProcess, Process, parent_of_workers, process_of_child
from envpool.python_envs.worker import Worker, end_strays, follow

#: Program of a fresh interpreter: modules are found where the pool's process finds them.
PROGRAM = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from {module} import main; main(sys.stdin.buffer)"
)


class WorkerProcess:
    """One worker process.

    Parameters
    ----------
    arena : Arena
        The shared memory.
    index : int
        Number of the worker.
    source : envpool.python_envs.source.EnvSource
        Makes the environments.
    method : {"fork", "spawn", "forkserver"}
        The start method of the process.
    restarts : int
        How many processes of this number have been started before: if there are any, the process replaces one that has
        died.
    server : envpool.python_envs.fork_server.ForkServer, optional
        The server that forks the process, for the method "forkserver".

    Attributes
    ----------
    pid : int
        The number of the process.
    """

    def __init__(self, arena: Arena, index: int, source: Any, method: str, restarts: int, server: Any = None):
        self._process: Process | PolledProcess
        self._trace = memory_file("envpool-trace")
        self._server = server
        parent = os.getpid()
        try:
            if server is not None:
                self._process = server.start(index, restarts, self._trace)
            elif method == "fork":
                pid = os.fork()
                if pid == 0:
                    run_child(arena, index, source, restarts, parent, self._trace)
                self._process = process_of_child(pid)
            else:
                self._process = process_of_child(self._spawn(arena, index, source, restarts, parent))
            self.pid = self._process.pid
        except BaseException:
            os.close(self._trace)
            raise

    def _spawn(self, arena: Arena, index: int, source: Any, restarts: int, parent: int) -> int:
        payload = dumps((arena.plan, index, source, restarts, parent))
        child = start_interpreter("envpool.python_envs.launch", [arena.fd, self._trace], payload)
        child.returncode = 0  # it is reaped by `reap`
        return child.pid

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Return whether the process has ended, after waiting for at most this many seconds."""
        return self._process.has_ended(seconds)

    def trace(self) -> str:
        """Return what faulthandler has written: where a crash happened, or where an environment hangs."""
        size = os.fstat(self._trace).st_size
        return os.pread(self._trace, min(size, 1 << 16), 0).decode(errors="replace")

    def ask_where(self) -> None:
        """Let the process write where it is; a process that is stopped, or in a long call of C, does not."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send(signal.SIGUSR2)

    def kill(self) -> None:
        """Kill the process, everything in its group, and, unless it has ended already, all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            if not self.has_ended():
                self._process.send(signal.SIGSTOP)  # so that it starts nothing more
                end_strays(self.pid)
            self._process.send(signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # the number is not used again before the process is reaped

    def reap(self) -> str:
        """Wait for the end of the process and return how it ended; a call that was interrupted may be repeated."""
        while not self.has_ended(1.0):  # a process that is not a child of this one cannot be waited for
            pass
        ending = "it ended"
        if self._server is not None:
            ending = self._server.reap(self.pid)
        else:
            with contextlib.suppress(ChildProcessError):  # the user's process ignores SIGCHLD, or has reaped it
                result = self._process.reap()
                assert result is not None
                ending = ending_of(result.si_code, result.si_status)
        return ending

    def release(self) -> None:
        """Close the files that belong to the process, which was reaped."""
        self._process.close()
        os.close(self._trace)


def ending_of(code: int, status: int) -> str:
    """Return how a process ended, from what ``os.waitid`` says of it."""
    return f"it {'exited with status' if code == os.CLD_EXITED else 'was killed by signal'} {status}"


def start_interpreter(module: str, fds: list[int], payload: bytes) -> subprocess.Popen[bytes]:
    """Start a fresh interpreter that calls ``main(stream)`` of a module; the stream has the fds, then the payload."""
    theirs, ours = high_pipe()
    with contextlib.suppress(BrokenPipeError), open(ours, "wb") as stream:  # it has ended, which the supervisor sees
        try:
            child = subprocess.Popen(
                [sys.executable, "-c", PROGRAM.format(module=module)],
                stdin=theirs,
                start_new_session=True,
                pass_fds=fds,
            )
        finally:
            os.close(theirs)
        stream.write(pickle.dumps(sys.path) + pickle.dumps(tuple(fds)) + payload)
    return child


def run_child(arena: Arena, index: int, source: Any, restarts: int, parent: int, trace: int) -> None:
    """Be a forked child: serve, and end the process without running what the parent has planned for its exit."""
    status = 1
    try:
        os.setsid()
        serve(arena, index, source, restarts, parent, trace)
        status = 0
    except BaseException:
        if arena.readiness(index) != 2:
            traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def main(stream: Any) -> None:
    """Be a fresh interpreter, whose plan is in a stream."""
    arena_fd, trace = pickle.load(stream)
    plan, index, source, restarts, parent = pickle.load(stream)
    sizes: tuple[int, int, tuple[int, ...], tuple[int, ...], int, int] = plan
    arena = Arena(*sizes, arena_fd)
    try:
        serve(arena, index, source, restarts, parent, trace)
    except BaseException:
        if arena.readiness(index) == 2:
            sys.exit(1)
        raise


def serve(arena: Arena, index: int, source: Any, restarts: int, parent: int, trace: int) -> None:
    """Make the environments of a worker and answer the pool until it closes."""
    follow(parent_of_workers(parent))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.enable(trace)
    faulthandler.register(signal.SIGUSR2, trace)
    seed_generators(source.seeds, index, restarts)
    Worker(arena, index, source, restarts > 0).serve()


def seed_generators(seeds: list[int], index: int, restarts: int) -> None:
    """Seed the generators of `numpy.random` and `random`, which a forked process has from its parent.

    Parameters
    ----------
    seeds : list of int
        The seeds of the pool; without any, the process draws a random seed.
    index, restarts : int
        Number of the worker, and the number of processes that had it before.
    """
    sequence = np.random.SeedSequence(seeds or None, spawn_key=(index, restarts))
    own, others = sequence.spawn(2)
    np.random.seed(own.generate_state(8))
    random.seed(others.generate_state(8).tobytes())


def dumps(value: Any) -> bytes:
    """Return a value pickled, functions of ``__main__`` and lambdas by value."""
    data: bytes = cloudpickle.dumps(value, 5)
    return data
