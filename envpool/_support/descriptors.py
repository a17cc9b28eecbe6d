"""File descriptors above those of standard input, output and error.

In a process that has closed one of its standard streams, a new descriptor gets its number, and whatever prints to the
stream writes into the new file, for instance into memory that processes share. Therefore every descriptor that this
package keeps passes through a function of this module; ``include/envpool/descriptor.h`` has the one for C.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import socket
import threading

#: The lowest number that no standard stream has.
LEAST = 3

_lock = threading.Lock()


def high_descriptor(fd: int) -> int:
    """Return a descriptor of the same open file that is not one of a standard stream; a lower one is closed."""
    if fd >= LEAST:
        return fd
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LEAST)
    finally:
        os.close(fd)


def high_pipe() -> tuple[int, int]:
    """Return the read end and the write end of a new pipe."""
    reader, writer = os.pipe()
    try:
        reader = high_descriptor(reader)
    except OSError:
        os.close(writer)
        raise
    try:
        return reader, high_descriptor(writer)
    except OSError:
        os.close(reader)
        raise


def high_socket(own: socket.socket) -> socket.socket:
    """Return a socket with the descriptor that `high_descriptor` returns for that of `own`."""
    return own if own.fileno() >= LEAST else socket.socket(fileno=high_descriptor(own.detach()))


def map_file(fd: int, size: int, prot: int = mmap.PROT_READ | mmap.PROT_WRITE) -> mmap.mmap:
    """Return a shared mapping of a file. The object duplicates the descriptor, and so takes the lowest free number."""
    taken: list[int] = []
    with _lock:
        try:
            while not taken or taken[-1] < LEAST:
                taken.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
            return mmap.mmap(fd, size, prot=prot)
        finally:
            for number in taken:
                os.close(number)


def _forget_lock() -> None:
    """Replace the lock in a forked child: another thread of the parent may have held it."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)
