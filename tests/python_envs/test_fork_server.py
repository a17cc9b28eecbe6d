"""The start method "forkserver": workers are forked by one fresh interpreter, which may die as well."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import envpool
from envpool.errors import EnvCreateError
from tests.python_envs.test_processes import check_nothing_is_left, is_running, pids_of, pool_of  # noqa: F401
from tests.support.python_envs import FaultyEnv


def servers_of(pool):
    return pool.envs.supervisor._servers


def test_workers_are_forked_by_one_server():
    class Env(FaultyEnv):  # pickled by value, so that the server need not import this module
        def parent(self):
            return os.getppid()

    with pool_of(Env, 3, num_threads=3, start_method="forkserver") as pool:
        (parent,) = set(pool.call("parent"))
        assert parent == servers_of(pool)[0]._process.pid != os.getpid()
    assert not is_running(parent)


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_dies_is_replaced(sig):
    with pool_of(FaultyEnv, 4, start_method="forkserver", on_error="restart") as pool:
        pool.reset()
        os.kill(servers_of(pool)[0]._process.pid, sig)
        assert pool.step(np.zeros(4, int))[0][:, 0].tolist() == [1] * 4  # the workers do not need it
        os.kill(pids_of(pool)[1], signal.SIGKILL)
        *_, info = pool.step(np.zeros(4, int))
        assert info["_error"].tolist() == [False, True, False, True] and "has died" in info["error"][1]
        assert pool.step(np.zeros(4, int))[0][:, 0].tolist() == [3, 0, 3, 0]
        assert len(servers_of(pool)) == 2


class Pickled(FaultyEnv):
    def __init__(self, argument=None):
        super().__init__()


class Calling:
    """Its pickle calls a function where it is loaded."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def test_environments_that_the_server_cannot_load():
    argument = Calling(__import__, "a_module_that_does_not_exist")
    with pytest.raises(EnvCreateError, match=r"No module named .*a_module_that_does_not_exist"):
        pool_of(Pickled, 2, start_method="forkserver", env_kwargs={"argument": argument})


def test_no_warning_about_threads():
    """Only "fork" copies the threads of this process, which may hold locks."""
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    thread.start()
    try:
        with pytest.warns(RuntimeWarning, match="'forkserver' or 'spawn'"):
            pool_of(FaultyEnv, 1).close()
        pool_of(FaultyEnv, 1, start_method="forkserver").close()
    finally:
        event.set()
        thread.join()


def test_start_methods_that_do_not_exist():
    with pytest.raises(envpool.errors.ConfigError, match="'fork', 'spawn', 'forkserver', got 'thread'"):
        pool_of(FaultyEnv, 1, start_method="thread")


@pytest.mark.slow
def test_a_start_that_is_interrupted():
    """Ctrl-C while the server loads the environments leaves nothing behind."""
    threading.Timer(0.8, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pool_of(Pickled, 2, start_method="forkserver", env_kwargs={"argument": Calling(time.sleep, 100)})
    assert time.monotonic() - began < 50
