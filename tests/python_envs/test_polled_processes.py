"""Processes of a portable build, which are asked by their numbers."""

import os
import signal

import pytest

from envpool.python_envs.processes import PolledProcess, exists


@pytest.fixture
def child():
    """Return the handle of a child that waits for a signal."""
    pid = os.fork()
    if pid == 0:
        signal.pause()
        os._exit(0)
    yield PolledProcess(pid)
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def test_a_child_that_ends(child):
    assert not child.has_ended() and not child.has_ended(0.001)
    child.send(signal.SIGKILL)
    assert child.has_ended(60) and child.has_ended()
    assert exists(child.pid)  # nobody has waited for it
    result = child.reap()
    assert (result.si_code, result.si_status) == (os.CLD_KILLED, signal.SIGKILL)
    assert not exists(child.pid)


def test_a_child_of_which_somebody_else_was_told_gets_no_signal(child):
    """Its number may be that of another process by now."""
    child.send(signal.SIGKILL)
    os.waitpid(child.pid, 0)
    assert child.has_ended()
    with pytest.raises(ProcessLookupError):
        child.send(signal.SIGTERM)
    with pytest.raises(ChildProcessError):
        child.reap()


def test_a_process_of_another_parent():
    answers = iter([False, False, True])
    assert PolledProcess(1, lambda pid: next(answers)).has_ended(60)
    assert exists(1) and exists(os.getpid())
