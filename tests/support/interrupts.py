"""Calls that Ctrl-C, a step timeout or a failure ends while environments are in flight."""

import os
import signal
import threading
from contextlib import contextmanager

import pytest

from envpool.errors import EnvStepError, EnvTimeoutError
from tests.support import plugin
from tests.support.checked_pool import FAIL, WAIT
from tests.support.process import PATIENCE, wait_until

#: Ways in which a call ends, with the action of environment 0, what the call raises, and the options that it needs.
ENDINGS = {
    # With a step timeout, the thread that calls waits for the workers; it does not step environments itself.
    "interrupt": (WAIT, KeyboardInterrupt, {"step_timeout": PATIENCE}),
    "timeout": (WAIT, EnvTimeoutError, {"step_timeout": 0.05}),
    "failure": (FAIL, EnvStepError, {}),
}


@contextmanager
def ending_in(ending):
    """Expect that the body, which steps Synthetic-v0 with the action of `ENDINGS`, ends in this way."""
    native = plugin.load().native
    native.close_gate()
    is_over = threading.Event()
    thread = threading.Thread(target=interrupt_at_gate, args=(is_over,))
    try:
        with pytest.raises(ENDINGS[ending][1]) as caught:
            if ending == "interrupt":
                thread.start()
            yield caught
    finally:
        is_over.set()
        native.open_gate()
        if ending == "interrupt":
            thread.join()


def interrupt_at_gate(is_over):
    """Send Ctrl-C to this process once an environment waits at the gate, unless the call is over."""
    wait_until(lambda: plugin.load().native.num_at_gate() > 0 or is_over.is_set())
    if not is_over.is_set():
        os.kill(os.getpid(), signal.SIGINT)
