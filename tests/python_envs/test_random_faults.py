"""Many random faults in a row: every environment answers every step, and those that were not hit do not notice."""

import contextlib
import os
import random
import signal
import time

import numpy as np
import pytest

import envpool
from tests.support.python_envs import FaultyEnv

NUM_ENVS, NUM_WORKERS = 8, 4

#: Environments of the processes that are hit; all others must not notice.
HIT = [i for i in range(NUM_ENVS) if i % NUM_WORKERS < 2]


class Env(FaultyEnv):
    def step(self, action):
        if action == 3:
            time.sleep(1000)
        if action == 4:
            os._exit(7)
        return super().step(action)


class Reference:
    """What an environment that is not hit returns."""

    def __init__(self, seed):
        self.env = FaultyEnv()
        self.row, self.is_over = self.env.reset(seed=seed)[0], False

    def check(self, obs, terminated, truncated):
        assert np.array_equal(obs, self.row) and terminated == self.is_over and not truncated

    def step(self):
        if self.is_over:
            self.row, self.is_over = self.env.reset()[0], False
        else:
            self.row, _, self.is_over, _, _ = self.env.step(0)


def hit_something(pool, rng):
    """Return an action for an environment that is hit, after doing something to a process or not."""
    kind = rng.choices(["nothing", "raise", "exit", "hang", "kill", "stop"], [60, 12, 4, 1, 4, 1])[0]
    if kind in ("kill", "stop"):
        pid = pool.envs.supervisor.workers[rng.randrange(2)].pid
        with contextlib.suppress(ProcessLookupError):  # it has just been replaced
            os.kill(pid, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
    return {"raise": 1, "exit": 4, "hang": 3}.get(kind, 0), kind != "nothing"


def run(method, batch_size, steps):
    rng = random.Random(f"{method} {batch_size}")
    references = {i: Reference(42 + i) for i in range(NUM_ENVS) if i not in HIT}
    answers, faults, errors = np.zeros(NUM_ENVS, int), 0, 0
    with envpool.make_python(
        Env,
        NUM_ENVS,
        batch_size,
        workers="process",
        num_workers=NUM_WORKERS,
        start_method=method,
        on_error="restart",
        step_timeout=1.0,
    ) as pool:
        pool.async_reset()
        for _ in range(steps):
            obs, _, terminated, truncated, info = pool.recv()
            answers[info["env_id"]] += 1
            failed = info.get("_error", np.zeros(len(obs), bool))
            errors += int(failed.sum())
            assert truncated[failed].all() and not obs[failed].any()
            actions = np.zeros(len(obs), int)
            for row, i in enumerate(info["env_id"].tolist()):
                if i in HIT:
                    actions[row], is_fault = hit_something(pool, rng)
                    faults += is_fault
                else:
                    references[i].check(obs[row], terminated[row], truncated[row])
                    references[i].step()
            pool.send(actions, info["env_id"])
        pids = [worker.pid for worker in pool.envs.supervisor.workers]
    assert answers.sum() == steps * batch_size and (answers > 0).all()
    assert faults and errors
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("batch_size", [NUM_ENVS, 3])
def test_some_faults(batch_size):
    run("fork", batch_size, 30)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [NUM_ENVS, 3])
def test_some_faults_of_fresh_interpreters(batch_size):
    run("spawn", batch_size, 30)


@pytest.mark.sweep
@pytest.mark.parametrize("batch_size", [NUM_ENVS, 3])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_thousand_steps_with_faults(method, batch_size):
    run(method, batch_size, 1000)
