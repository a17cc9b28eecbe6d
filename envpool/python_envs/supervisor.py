"""The worker processes of a pool: starting them, noticing that one has died or hangs, replacing it, and ending them."""

from __future__ import annotations

import pickle
import threading
import time
import warnings
from typing import Any

from envpool.errors import PoolStateError
from envpool.python_envs.faults import LOST_TEXT, ending_of, failure_of, raise_remote
from envpool.python_envs.fork_server import ForkServer
from envpool.python_envs.launch import WorkerProcess

#: Time for which `close` waits for the processes to close their environments, in seconds; at most step_timeout.
PATIENCE = 5.0

#: Time that a process which hangs has to write where it is, in seconds.
TO_WRITE = 0.05


class Supervisor:
    """The worker processes of one pool.

    Parameters
    ----------
    arena : envpool.python_envs.arena.Arena
        The shared memory.
    source : envpool.python_envs.source.EnvSource
        Makes the environments; its `processes` say how processes start, and how long they may take for a step.

    Raises
    ------
    Exception
        A process could not make its environments: the exception that it raised, see `raise_remote`.

    Attributes
    ----------
    workers : list of WorkerProcess or None
        The processes; None while a process has no successor, since starting one failed.
    """

    def __init__(self, arena: Any, source: Any):
        self.arena, self.source = arena, source
        self.workers: list[WorkerProcess | None] = []
        self._locks = [threading.Lock() for _ in range(source.processes.num_workers)]
        self._starts = [0] * source.processes.num_workers
        self._last_words: dict[int, str] = {}
        self._servers: list[ForkServer] = []
        self._server_lock = threading.Lock()
        if source.processes.start_method == "fork" and threading.active_count() > 1:
            warnings.warn(
                f"start_method='fork' copies a process with {threading.active_count()} threads: a lock that another "
                "thread holds stays locked in the workers. Use start_method='forkserver' or 'spawn' if they hang",
                RuntimeWarning,
                stacklevel=2,
            )
        try:
            for index in range(source.processes.num_workers):
                self.workers.append(self._start(index))
            self._await_ready()
        except BaseException:
            self.close(0.0)
            raise

    def _start(self, index: int) -> WorkerProcess:
        method, restarts = self.source.processes.start_method, self._starts[index]
        self._starts[index] += 1
        arguments = self.arena, index, self.source, method, restarts
        if method != "forkserver":
            return WorkerProcess(*arguments)
        try:
            return WorkerProcess(*arguments, self._server())
        except PoolStateError:
            if restarts == 0:
                raise
            return WorkerProcess(*arguments, self._server())  # the server has died since the pool was made

    def _server(self) -> ForkServer:
        """Return the fork server, after starting one if there is none or if it has ended."""
        with self._server_lock:
            if not self._servers or not self._servers[-1].is_usable:
                self._servers.append(ForkServer(self.arena, self.source))
            return self._servers[-1]

    def _await_ready(self) -> None:
        for index, worker in enumerate(self.workers):
            assert worker is not None
            pause = 0.0005
            while self.arena.readiness(index) == 0:
                if worker.has_ended(pause) and self.arena.readiness(index) == 0:
                    raise PoolStateError(f"worker process {index} ended while it started\n{worker.trace()}")
                pause = min(2 * pause, 0.02)
            if self.arena.readiness(index) == 2:
                raise_remote(*pickle.loads(self.arena.get(index))[1:])

    def look_after(self, index: int, quiet: float) -> bool:
        """Replace a worker that has ended, or that has been quiet for too long.

        If the successor cannot be started, or ends before it serves, what is in flight fails, and the next step tries
        again.

        Return whether the time for its step starts again: the worker was replaced, or is still starting.

        Parameters
        ----------
        index : int
            Number of the worker, which has unfinished entries.
        quiet : float
            Time since it has answered an entry, or was given one, in seconds.
        """
        with self._locks[index]:
            worker = self.workers[index]
            limit = self.source.processes.step_timeout
            if worker is None:
                self._start_successor(index)
                return True
            if worker.has_ended():
                self._replace(index, worker, "the worker process of the environment has died")
                return True
            if self.arena.readiness(index) == 0:
                return True
            if limit is None or quiet <= limit:
                return False
            worker.ask_where()
            worker.has_ended(TO_WRITE)
            reason = f"the environment has been running for longer than step_timeout={limit:g} seconds"
            self._replace(index, worker, reason)
            return True

    def _replace(self, index: int, worker: WorkerProcess, reason: str) -> None:
        """Replace a worker. If Ctrl-C interrupts this, the next call repeats it with a process that has ended."""
        trace, has_served = worker.trace(), self.arena.readiness(index) == 1
        worker.kill()
        ids = self.arena.unfinished(index)
        text = f"{reason}: process {worker.pid} stopped in environment {ids[0] if ids else '(none)'}; {worker.reap()}"
        last_words = ending_of(text, trace)
        for i in range(index, self.arena.num_envs, self.source.processes.num_workers):
            self._last_words[i] = last_words
        self.arena.bury(index)
        self.workers[index] = None
        worker.release()
        if has_served:
            self._start_successor(index)
        else:  # its successor would end as well
            self.arena.give_up(index, last_words)

    def _start_successor(self, index: int) -> None:
        try:
            self.workers[index] = self._start(index)
        except Exception as error:
            self.arena.give_up(index, f"no process could be started for the environment: {failure_of(error)}")

    def last_words(self, env_id: int) -> str:
        """Return why the process of an environment was replaced last; LOST_TEXT if it never was."""
        return self._last_words.get(env_id, LOST_TEXT)

    def close(self, patience: float | None = None) -> None:
        """End all processes: they close their environments if they do so in time, and are killed otherwise."""
        if patience is None:
            patience = min(PATIENCE, self.source.processes.step_timeout or PATIENCE)
        self.arena.stop()
        workers = [worker for worker in self.workers if worker is not None]
        self.workers.clear()
        deadline = time.monotonic() + patience
        try:
            for worker in workers:
                worker.has_ended(max(deadline - time.monotonic(), 0.0))
        finally:  # also if Ctrl-C ends the wait
            for worker in workers:
                worker.kill()
                worker.reap()
                worker.release()
            for server in self._servers:
                server.close()
            self.arena.close()
