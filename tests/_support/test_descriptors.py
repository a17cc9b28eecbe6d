"""File descriptors: in a process without standard streams, none of the package's gets the number of one."""

import os
import subprocess
import sys

import pytest

from envpool._support.descriptors import high_descriptor
from tests.support.process import PATIENCE
from tests.support.python import environment

#: Defines `low()`, and runs in a process that has closed its standard streams; the result is written to a file.
PRELUDE = """
import os, sys
def low():
    found = []
    for number in range(3):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            pass
    return found
assert low() == [], low()
import atexit, traceback
import numpy as np
failed = []
sys.excepthook = lambda *error: failed.append("".join(traceback.format_exception(*error)))
@atexit.register
def report():
    text = "".join(failed) or f"low: {low()}"
    with open(sys.argv[1], "w") as file:
        file.write(text)
"""

UNITS = """
import socket
from envpool._support.descriptors import high_descriptor, high_pipe, high_socket, map_file
file, pipe = high_descriptor(os.memfd_create("a")), high_pipe()
sockets = list(map(high_socket, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)))
numbers = {file, *pipe, *(s.fileno() for s in sockets)}
assert min(numbers) >= 3 and len(numbers) == 5, numbers
assert not any(map(os.get_inheritable, numbers))
os.write(pipe[1], b"a")
assert os.read(pipe[0], 2) == b"a"
sockets[0].send(b"b")
assert sockets[1].recv(2) == b"b" and sockets[1].type == socket.SOCK_SEQPACKET
os.ftruncate(file, 4096)
memory = map_file(file, 4096)
os.pwrite(file, b"abc", 0)
assert memory[:3] == b"abc" and low() == [], low()
"""

PYTHON_ENVS = """
import envpool
from tests.support.python_envs import FaultyEnv, LargeEnv

class Env(LargeEnv):
    def low(self):
        return low()

    def step(self, action):
        for number in (1, 2):       # what C code prints
            try:
                os.write(number, b"x" * 10000)
            except OSError:
                pass
        return super().step(action)

with envpool.make_python(Env, 2, workers="process", num_threads=2, start_method="METHOD", step_timeout=60) as pool:
    pool.reset()
    for k in range(1, 4):
        obs = pool.step(np.zeros(2, int))[0]
        assert obs[:, :2].tolist() == [[k, k]] * 2, obs
        assert low() == []
    for found in pool.call("low"):      # a fresh interpreter has a pipe as its standard input
        assert all("METHOD" != "fork" and name.startswith("pipe:") for name in found), found
"""

NATIVE = """
import envpool
with envpool.make_gymnasium("TASK", num_envs=2) as pool:
    pool.reset()
    for k in range(4):
        pool.step(pool.sample_actions())
        assert low() == [], low()
    states = pool.get_state()
    pool.set_state(states)
    assert low() == [], low()
"""


def run_without_streams(code, tmp_path):
    """Run code in a process without standard streams, and return what `report` has written."""
    program, result = tmp_path / "program.py", tmp_path / "result"
    program.write_text(PRELUDE + code)
    command = ["sh", "-c", 'exec "$0" "$1" "$2" <&- >&- 2>&-', sys.executable, str(program), str(result)]
    subprocess.run(command, env=environment(), timeout=PATIENCE, check=False)
    return result.read_text()


def test_helpers(tmp_path):
    assert run_without_streams(UNITS, tmp_path) == "low: []"


def test_helpers_change_nothing_that_is_high_already(tmp_path):
    file = os.open(tmp_path, os.O_RDONLY)
    try:
        assert high_descriptor(file) == file
    finally:
        os.close(file)


@pytest.mark.parametrize(
    "method", ["fork", *(pytest.param(m, marks=pytest.mark.slow) for m in ("spawn", "forkserver"))]
)
def test_processes_of_python_environments(method, tmp_path):
    assert run_without_streams(PYTHON_ENVS.replace("METHOD", method), tmp_path) == "low: []"


@pytest.mark.parametrize(
    "task", ["Pong-v5", *(pytest.param(task, marks=pytest.mark.linux) for task in ("NetHackScore-v0", "Basic-v1"))]
)
def test_native_environments(task, tmp_path):
    assert run_without_streams(NATIVE.replace("TASK", task), tmp_path) == "low: []"
