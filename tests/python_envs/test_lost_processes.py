"""Processes that cannot do what is asked of them, again and again: every call returns, and says why it failed."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import envpool.python_envs.supervisor
from envpool.errors import EnvStepError
from tests.python_envs.test_processes import (  # noqa: F401
    await_end,
    check_nothing_is_left,
    is_running,
    pids_of,
    pool_of,
)
from tests.support.process import PATIENCE
from tests.support.python import environment
from tests.support.python_envs import FaultyEnv


def test_reset_that_ends_its_process(tmp_path):
    """The reset is not repeated by the next process, and the one after that is."""
    flag = tmp_path / "flag"

    class Env(FaultyEnv):
        def reset(self, **kwargs):
            if flag.exists():
                os._exit(3)
            return super().reset(**kwargs)

    with pool_of(Env, 4, on_error="restart") as pool:
        pool.reset()
        pool.step(np.zeros(4, int))
        flag.touch()
        for _ in range(2):
            _, info = pool.reset([0])
            assert "status 3" in info["error"][0]
        flag.unlink()
        *_, info = pool.step(np.zeros(4, int))
        assert info["_error"].tolist() == [False, False, True, False]  # it was in the same process
        assert pool.step(np.zeros(4, int))[0][:, 0].tolist() == [1, 3, 0, 3]


def test_command_that_ends_its_process():
    class Env(FaultyEnv):
        def end(self):
            os._exit(3)

    with pool_of(Env, 2) as pool:
        pool.reset()
        for name in ("end", "square"):  # the second call does not find the env
            with pytest.raises(EnvStepError, match=r"status 3[^$]*\. reset\(\) starts a new episode of the env$"):
                pool.call(name, env_id=[1])
        with pytest.raises(EnvStepError, match="status 3") as caught:
            pool.step(np.zeros(2, int))
        assert list(caught.value.failures) == [1]
        assert pool.recv()[0][:, 0].tolist() == [1, 0]
        assert pool.step(np.zeros(2, int))[0][:, 0].tolist() == [2, 0]


def test_process_that_cannot_be_started(monkeypatch):
    with pool_of(FaultyEnv, 4, on_error="restart") as pool:
        pool.reset()
        with monkeypatch.context() as patch:

            def no_process(*args):
                raise BlockingIOError("Resource temporarily unavailable")

            patch.setattr(envpool.python_envs.supervisor, "WorkerProcess", no_process)
            os.kill(pids_of(pool)[1], signal.SIGKILL)
            for _ in range(2):
                *_, info = pool.step(np.zeros(4, int))
                assert info["_error"].tolist() == [False, True, False, True]
                assert "temporarily unavailable" in info["error"][3]
        pool.step(np.zeros(4, int))
        obs, *_, info = pool.step(np.zeros(4, int))
        assert "_error" not in info and obs[:, 0].tolist() == [4, 1, 4, 1]


def test_process_that_ends_while_it_starts(monkeypatch):
    with pool_of(FaultyEnv, 2, on_error="restart") as pool:
        pool.reset()
        with monkeypatch.context() as patch:
            patch.setattr("envpool.python_envs.launch.run_child", lambda *args: os._exit(4))
            os.kill(pids_of(pool)[1], signal.SIGKILL)
            for _ in range(2):
                *_, info = pool.step(np.zeros(2, int))
                assert info["_error"].tolist() == [False, True] and "status 4" in info["error"][1]
        pool.step(np.zeros(2, int))
        assert pool.step(np.zeros(2, int))[0][:, 0].tolist() == [4, 1]


def test_exceptions_that_are_too_large():
    class Env(FaultyEnv):
        def fail(self):
            raise ValueError(bytes(1 << 21))

    with pool_of(Env, 1) as pool:
        pool.reset()
        pids = pids_of(pool)
        with pytest.raises(RuntimeError, match="ValueError"):
            pool.call("fail")
        assert pool.step(np.zeros(1, int))[0][0, 0] == 1 and pids_of(pool) == pids


def test_pool_is_collected_while_an_environment_hangs():
    class Env(FaultyEnv):
        def step(self, action):
            time.sleep(1000)

    pool = pool_of(Env, 2, batch_size=1)
    pool.async_reset()
    pool.recv(), pool.recv()
    pool.send(np.zeros(2, int), [0, 1])
    pool.envs.supervisor.source.processes = pool.envs.supervisor.source.processes._replace(step_timeout=0.1)
    pids = pids_of(pool)
    del pool
    await_end(pids)


INTERRUPT = """
import os, signal, threading, time
import numpy as np
import envpool
from tests.support.python_envs import FaultyEnv

class Env(FaultyEnv):
    def step(self, action):
        time.sleep({3: 0.6, 7: 1000}[action])
        return super().step(action)

pool = envpool.make_python(Env, 2, 1, workers="process", num_threads=2)
"""


@pytest.mark.slow
def test_interrupted_close():
    """Ctrl-C ends the wait for environments that hang, and their processes."""
    code = f"""{INTERRUPT}
pool.async_reset()
pool.recv(), pool.recv()
pool.send(np.full(2, 7), [0, 1])
pids = [worker.pid for worker in pool.envs.supervisor.workers]
time.sleep(0.2)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    pool.close()
    time.sleep(1)
except KeyboardInterrupt:
    print("interrupted")
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no children")
print(pool.is_closed)
"""
    assert output_of(code) == ["interrupted", "no children", "True"]


@pytest.mark.slow
def test_handler_that_does_not_raise():
    """A program that only notes Ctrl-C gets the results of the step, and a handler is called once."""
    code = f"""{INTERRUPT}
pool.close()
pool = envpool.make_python(Env, 2, workers="process", num_threads=2)
seen = []
signal.signal(signal.SIGINT, lambda *args: seen.append(args))
pool.reset()
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
print(pool.step(np.full(2, 3))[0][:, 0], len(seen))
pool.close()
"""
    assert output_of(code) == ["[1. 1.] 1"]


def test_exception_of_a_signal_handler():
    """It is raised like KeyboardInterrupt, and its handler is called once."""
    code = f"""{INTERRUPT}
pool.close()
pool = envpool.make_python(Env, 2, workers="process", num_threads=2)
calls = []
def handler(*args):
    calls.append(args)
    raise TimeoutError("budget")
signal.signal(signal.SIGALRM, handler)
pool.reset()
signal.setitimer(signal.ITIMER_REAL, 0.1)
for call in (lambda: pool.step(np.full(2, 3)), pool.recv):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, len(calls))
print(pool.recv()[3], pool.step(np.zeros(2, int))[0][:, 0])
pool.close()
"""
    assert output_of(code) == ["TimeoutError 1", "EnvStepError 1", "[ True  True] [0. 0.]"]


def output_of(code):
    out = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert out.returncode == 0, out
    return out.stdout.splitlines()
