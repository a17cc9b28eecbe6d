"""Settings of all tests."""

import os
import signal

import pytest

# A shell ignores Ctrl-C in commands that it runs in the background, and so would every process that tests start: tests
# of Ctrl-C would wait forever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("MUJOCO_GL", "egl")  # dm_control chooses its OpenGL library when it is imported.


@pytest.fixture
def gate():
    """Yield the plug-in with its gate closed: envs with the action WAIT stop there. The gate is opened at the end."""
    from tests.support import plugin

    native = plugin.load().native
    native.close_gate()
    yield native
    native.open_gate()
