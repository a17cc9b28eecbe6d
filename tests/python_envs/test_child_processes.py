"""Processes that environments start, and copies of processes: none of them outlives its pool, or takes part in it."""

import os
import select
import subprocess
import sys
import time

import numpy as np
import pytest

import envpool
from envpool.errors import EnvStepError, PoolStateError
from tests.python_envs.test_processes import check_nothing_is_left, pids_of, pool_of  # noqa: F401
from tests.support.process import PATIENCE
from tests.support.python import environment, run_python
from tests.support.python_envs import FaultyEnv


def has_ended(pidfd):
    """Wait for the end of a process, and close its pidfd."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    ended = bool(poll.poll(PATIENCE * 1000))
    os.close(pidfd)
    return ended


# ---- processes that environments start -------------------------------------------------------------------------------


class StartingEnv(FaultyEnv):
    """Starts a process in a session of its own, which starts another one in the same way."""

    def start(self):
        command = ["sh", "-c", "setsid sleep 1000 & echo $!; wait"]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        return child.pid, int(child.stdout.readline())


def test_the_pool_is_closed():
    with pool_of(StartingEnv, 2) as pool:
        pidfds = [os.pidfd_open(pid) for pid in pool.call("start", env_id=[1])[0]]
    assert all(map(has_ended, pidfds))


def test_a_worker_hangs():
    class Env(StartingEnv):
        def step(self, action):
            if action == 1:
                time.sleep(1000)
            return super().step(action)

    with pool_of(Env, 2, step_timeout=1) as pool:
        pool.reset()
        pidfds = [os.pidfd_open(pid) for pid in pool.call("start", env_id=[1])[0]]
        with pytest.raises(EnvStepError, match="step_timeout"):
            pool.step(np.array([0, 1]))
        assert all(map(has_ended, pidfds))
        assert pool.recv()[0][0, 0] == 1


PROGRAM = """
import sys, envpool
from tests.python_envs.test_child_processes import StartingEnv
pool = envpool.make_python(StartingEnv, 1, workers="process", start_method=sys.argv[1])
print(*pool.call("start")[0], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_the_program_is_killed(method):
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, method], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with program:
        pidfds = [os.pidfd_open(int(pid)) for pid in program.stdout.readline().split()]
        program.kill()
    assert len(pidfds) == 2 and all(map(has_ended, pidfds))


def test_other_processes_stay(tmp_path):
    """What this process has started is none of the pool's business."""
    bystander = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    with pool_of(StartingEnv, 1) as pool:
        pool.call("start")
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


# ---- copies of processes ---------------------------------------------------------------------------------------------


class ForkingEnv(FaultyEnv):
    """Forks with the action 3 and returns in both processes, or raises in the child with the action 4."""

    children = ()

    def step(self, action):
        if action in (3, 4):
            child = os.fork()
            if child:
                self.children = (*self.children, child)
            elif action == 4:
                sys.exit()
            else:
                self.count = 1000
        return super().step(action)

    def fork(self):
        child = os.fork()
        return "parent" if child else "child"

    def reap(self):
        """Return how the children ended."""
        return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in self.children]


@pytest.mark.parametrize("action", [3, 4])
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_a_copy_of_a_worker_ends(method, action):
    with pool_of(ForkingEnv, 4, start_method=method) as pool:
        pool.reset()
        for k in range(1, 6):
            obs = pool.step(np.array([action, 0, 0, 0]))[0]
            assert obs[:, 0].tolist() == [k] * 4
        assert pool.call("reap", env_id=[0]) == ([1] * 5,)
        assert pool.call("fork", env_id=[1, 2]) == ("parent", "parent")
        assert pool.step(np.zeros(4, int))[0][:, 0].tolist() == [6] * 4


def test_an_environment_that_forks_while_it_is_made():
    class Env(ForkingEnv):
        def __init__(self):
            super().__init__()
            self.is_copy = os.getpid() != main and os.fork() == 0

    main = os.getpid()
    with pool_of(Env, 4) as pool:
        pool.reset()
        assert pool.get_attr("is_copy") == (False,) * 4
        assert pool.step(np.zeros(4, int))[0][:, 0].tolist() == [1] * 4


COPIES = """
import os, sys
import numpy as np
import envpool
from envpool.errors import PoolStateError
from tests.python_envs.test_child_processes import ForkingEnv

main = os.getpid()
pool = envpool.make_python(ForkingEnv, 4, workers=sys.argv[1], num_threads=2)
pool.reset()
obs = pool.step(np.array([3, 0, 0, 0]))[0]
if os.getpid() != main:
    try:
        pool.step(np.zeros(4, int))
    except PoolStateError as error:
        assert "before this process was forked" in str(error), error
        os._exit(7)
assert os.getpid() == main and obs[:, 0].tolist() == [1] * 4
print(pool.call("reap", env_id=[0])[0])
"""


@pytest.mark.parametrize(("kind", "expected"), [("inline", {"[7]\n"}), ("thread", {"[1]\n", "[7]\n"})])
def test_copies_of_the_program(kind, expected):
    """A copy of the thread that called the pool cannot call it again; a copy of a thread of the pool ends."""
    done = run_python(COPIES.replace("sys.argv[1]", repr(kind)))
    assert done.returncode == 0 and done.stdout in expected, done


def test_a_child_that_ends_itself_is_no_copy():
    class Env(FaultyEnv):
        def step(self, action):
            child = os.fork()
            if child == 0:
                os._exit(5)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
            return super().step(action)

    with pool_of(Env, 2) as pool:
        pool.reset()
        assert pool.step(np.zeros(2, int))[0][:, 0].tolist() == [1, 1]


def test_pools_of_a_copy_are_refused():
    with envpool.make_python(FaultyEnv, 2) as pool:
        pool.reset()
        child = os.fork()
        if child == 0:
            try:
                pool.call("square", 2)
            except PoolStateError:
                os._exit(4)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
