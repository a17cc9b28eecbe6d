"""Ctrl-C that waits until a piece of work is complete."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C take effect only at the end of the block; a second Ctrl-C interrupts the block.

    Only the main thread receives signals: in any other thread, the block is not changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    seen: list[FrameType | None] = []

    def note(signum: int, frame: FrameType | None) -> None:
        seen.append(frame)
        if len(seen) > 1:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if seen and callable(before):
        before(signal.SIGINT, seen[0])
