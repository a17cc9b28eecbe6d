"""Lets qemu run what Python starts for aarch64; scripts/aarch64 installs this module for the Python that qemu runs."""

from __future__ import annotations

import _posixsubprocess
from collections.abc import Sequence
from typing import Any

ELF_OF_AARCH64 = b"\x7fELF", b"\xb7\x00"  # the first bytes, and the processor


def is_foreign(path: bytes) -> bool:
    """Return whether a file is a program for aarch64."""
    try:
        with open(path, "rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return (head[:4], head[18:]) == ELF_OF_AARCH64


def run_with(*command: str) -> None:
    """Run programs for aarch64 with a command, whenever the module subprocess starts one."""
    fork_exec: Any = _posixsubprocess.fork_exec

    def fork_exec_with_command(args: Sequence[Any], executables: Sequence[bytes], *rest: Any) -> int:
        for path in executables:
            if is_foreign(path):
                return int(fork_exec([*command, path, *args[1:]], [command[0].encode()], *rest))
        return int(fork_exec(args, executables, *rest))

    _posixsubprocess.fork_exec = fork_exec_with_command  # type: ignore[assignment]
