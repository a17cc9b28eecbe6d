"""Closed descriptors: ``python -m tests.python_envs.descriptors SECONDS [SEED]``.

Programs without stdin, stdout or stderr, such as daemons, make a pool whose environments are in processes and write to
descriptors 1 and 2, as C code does that prints. What they write must not get into the memory that the processes share:
each step must return the right rewards, and the pool must close.
"""

import contextlib
import os
import random
import signal
import sys
import time
import traceback

import gymnasium
import numpy as np
from gymnasium import spaces

import envpool
from tests.support.process import PATIENCE

#: Where a program tells what went wrong.
REPORT = 100


class LoudEnv(gymnasium.Env):
    """Writes to stdout and stderr, by their numbers, whether they are open or not."""

    observation_space = spaces.Box(-np.inf, np.inf, (1200,), np.float32)
    action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        self.count = 0
        self.shout()
        return np.zeros(1200, np.float32), {}

    def step(self, action):
        self.count += 1
        self.shout()
        return np.full(1200, self.count, np.float32), float(action), self.count == 5, False, {"count": self.count}

    def shout(self):
        for number in (1, 2):
            with contextlib.suppress(OSError):
                os.write(number, b"x" * 4096)


def program(pick):
    """Run in a process of its own: close descriptors, and use a pool."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    for number in pick.sample([0, 1, 2], pick.randint(1, 3)):
        os.close(number)
    num_envs = pick.choice([1, 3])
    options = {"batch_size": pick.choice([num_envs, 1]), "num_threads": pick.choice([1, num_envs])}
    with envpool.make_python(LoudEnv, num_envs, workers="process", seed=0, **options) as pool:
        pool.async_reset()
        expected = np.zeros(num_envs)
        counts = np.zeros(num_envs)
        for _ in range(30):
            obs, reward, terminated, _, info = pool.recv()
            ids = info["env_id"].copy()
            begins = info["elapsed_step"] == 0
            counts[ids] = np.where(begins, 0, counts[ids] + 1)
            assert (obs == counts[ids][:, None]).all(), "an observation of something else"
            assert (reward == np.where(begins, 0, expected[ids])).all(), "a reward of something else"
            assert (terminated == (counts[ids] == 5)).all()
            expected[ids] = [pick.randrange(4) for _ in ids]
            pool.send(expected[ids].astype(np.int64), ids)


def run(pick):
    """Run the program and raise AssertionError with what it tells."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.dup2(write, REPORT)
            os.closerange(3, REPORT)
            program(pick)
            status = 0
        except BaseException:
            os.write(REPORT, traceback.format_exc().encode())
        finally:
            os._exit(status)
    os.close(write)
    deadline = time.monotonic() + PATIENCE
    found, status = 0, 0
    while not found:
        found, status = os.waitpid(child, os.WNOHANG)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            deadline += PATIENCE
        time.sleep(0.002)
    with open(read, "rb") as report:
        text = report.read().decode()
    assert status == 0, f"status {os.waitstatus_to_exitcode(status)}\n{text}"


def main(seconds, seed):
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            run(random.Random(seed * 1_000_003 + rounds))
        except BaseException:
            print(f"seed {seed}, round {rounds}", file=sys.stderr, flush=True)
            raise
        rounds += 1
    print(f"{rounds} programs in {seconds:g} s, seed {seed}: nothing found")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
