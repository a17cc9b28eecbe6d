"""``start_method="forkserver"``: a fresh interpreter that loads what the environments need, and forks the workers.

The workers are children of the server, so only the server can learn how a worker has ended. It looks when it is asked;
until then, a worker that has ended stays a zombie, whose number is not used again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import threading
from typing import Any

from envpool._support.built import PORTABLE
from envpool._support.descriptors import high_descriptor, high_socket
from envpool.errors import PoolStateError
from envpool.python_envs.arena import Arena
from envpool.python_envs.faults import failure_of
from envpool.python_envs.launch import dumps, ending_of, run_child, start_interpreter
from envpool.python_envs.processes import PolledProcess, Process, exists, parent_of_workers

#: A request, and a reply: three numbers.
MESSAGE = struct.Struct("iii")

START, REAP, LOOK = 0, 1, 2

#: macOS has neither sockets that keep the ends of messages nor the flag. Messages are short, and one is answered before
#: the next one is sent.
KIND = socket.SOCK_STREAM if PORTABLE else socket.SOCK_SEQPACKET
CLOEXEC = 0 if PORTABLE else socket.MSG_CMSG_CLOEXEC

#: Bytes of the text of a server that could not load the environments.
LONGEST_TEXT = 1 << 14

#: Time for which `close` waits for the server to end, in seconds, before it is killed.
PATIENCE = 1.0


class ForkServer:
    """The side of the pool: one server process.

    A call that is interrupted or fails ends the server, since a reply may be left in the socket; then `is_usable` is
    False, and the workers continue without it.

    Parameters
    ----------
    arena : Arena
        The shared memory.
    source : envpool.python_envs.source.EnvSource
        Makes the environments. It is unpickled once, so the modules that it needs are imported once.
    """

    def __init__(self, arena: Arena, source: Any):
        self.is_usable = True
        self._lock = threading.Lock()
        self._socket, theirs = map(high_socket, socket.socketpair(socket.AF_UNIX, KIND))
        with theirs:
            self._process = start_interpreter(
                "envpool.python_envs.fork_server",
                [theirs.fileno(), arena.fd],
                dumps((arena.plan, source, os.getpid())),
            )

    def start(self, index: int, restarts: int, trace: int) -> Process | PolledProcess:
        """Fork a worker, and return a handle of it; PoolStateError if the server has ended."""
        reply, fds = self._ask((START, index, restarts), [trace])
        if PORTABLE:
            return PolledProcess(reply[0], self._has_ended)
        if not fds:
            os.kill(reply[0], signal.SIGKILL)
            self.reap(reply[0])
            raise OSError(errno.EMFILE, "this process has no file descriptor left for a worker process: close files")
        return Process(reply[0], fds[0])

    def _has_ended(self, pid: int) -> bool:
        """Return whether a worker has ended. In a portable build, only its parent can find out."""
        with contextlib.suppress(PoolStateError):
            (_, has_ended, _), _ = self._ask((LOOK, pid, 0), [])
            return bool(has_ended)
        return not exists(pid)

    def reap(self, pid: int) -> str:
        """Wait for the end of a worker that was started by this server, and return how it ended."""
        with contextlib.suppress(PoolStateError):
            (_, code, status), _ = self._ask((REAP, pid, 0), [])
            return ending_of(code, status)
        return "it ended"

    def _ask(self, request: tuple[int, int, int], fds: list[int]) -> tuple[tuple[int, ...], list[int]]:
        with self._lock:
            text = "it has ended"
            try:
                if self.is_usable:
                    with contextlib.suppress(OSError):
                        socket.send_fds(self._socket, [MESSAGE.pack(*request)], fds)
                        data, received, _, _ = socket.recv_fds(self._socket, LONGEST_TEXT, 1, CLOEXEC)
                        if len(data) == MESSAGE.size:
                            return MESSAGE.unpack(data), [high_descriptor(fd) for fd in received]
                        text = data.decode(errors="replace") or text
                    self._end()
            except BaseException:
                self._end()
                raise
            raise PoolStateError(f"the fork server of the worker processes cannot be used: {text}")

    def _end(self) -> None:
        self.is_usable = False
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # the server sees it even if a forked process has the socket
        self._socket.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # it is still importing
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """End the server; workers that are still running continue."""
        with self._lock:
            if self.is_usable:
                self._end()


def main(stream: Any) -> None:
    """Be the server, whose plan is in a stream, until the pool or its process ends."""
    control_fd, arena_fd = pickle.load(stream)
    try:
        plan, source, parent = pickle.load(stream)
    except BaseException as error:
        os.write(control_fd, failure_of(error).encode()[-LONGEST_TEXT:])
        return
    parent_ended = -1 if PORTABLE else parent_of_workers(parent)
    sizes: tuple[int, int, tuple[int, ...], tuple[int, ...], int, int] = plan
    arena = Arena(*sizes, arena_fd)
    poll = select.poll()
    poll.register(control_fd, select.POLLIN)
    if not PORTABLE:  # otherwise, the end of the parent closes the socket
        poll.register(parent_ended, select.POLLIN)
    with socket.socket(fileno=control_fd) as control:
        while all(fd != parent_ended for fd, _ in poll.poll()):
            data, received, _, _ = socket.recv_fds(control, MESSAGE.size, 1, CLOEXEC)
            fds = [high_descriptor(fd) for fd in received]
            if not data:
                return
            for fd in fds if PORTABLE else ():
                os.set_inheritable(fd, False)
            kind, number, restarts = MESSAGE.unpack(data)
            if kind == LOOK:
                has_ended = os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
                control.send(MESSAGE.pack(number, has_ended, 0))
                continue
            if kind == REAP:
                result = os.waitid(os.P_PID, number, os.WEXITED)
                assert result is not None
                control.send(MESSAGE.pack(number, result.si_code, result.si_status))
                continue
            pid = os.fork()
            if pid == 0:
                control.close()
                run_child(arena, number, source, restarts, parent, fds[0])
            pidfds = [] if PORTABLE else [high_descriptor(os.pidfd_open(pid))]
            socket.send_fds(control, [MESSAGE.pack(pid, 0, 0)], pidfds)
            for pidfd in pidfds:
                os.close(pidfd)
            os.close(fds[0])
