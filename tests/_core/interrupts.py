"""Ctrl-C at random times, and no batch is lost: ``python -m tests._core.interrupts COUNT [SEED]``.

A signal raises KeyboardInterrupt at any point of a loop that steps a pool. Afterwards, the pool must have the batch, or
the loop must. The signals come from a timer, at any instruction, or from another thread, while it has the GIL.

If a timer's signal comes after a call has looked for signals for the last time, Python raises the exception between the
return of the call and the assignment of its result. No library can prevent that. The last frame of the traceback tells
these batches apart, which are counted on their own; signals of other threads never cause them. The counters of the
pool, which must be those of the batches, show that no batch was completed twice.
"""

import contextlib
import itertools
import math
import queue
import random
import signal
import sys
import threading
import time
import traceback

import gymnasium
import numpy as np
from gymnasium import spaces

import envpool
from envpool.errors import EnvStepError
from tests.support import plugin
from tests.support.checked_pool import FAIL

HERE = __file__
#: Steps of a rollout, of which its envs do an eighth on average.
STEPS = 4000


class TalkativeEnv(gymnasium.Env):
    """A Python environment with short episodes, and with infos and objects, which are added to a batch in Python."""

    observation_space = spaces.Dict({"count": spaces.Box(0, 1e6, (), np.float32), "text": spaces.Text(9)})
    action_space = spaces.Discrete(100)

    def obs(self):
        return {"count": np.float32(self.count), "text": f"{self.count}"}

    def reset(self, *, seed=None, options=None):
        self.count = 0
        return self.obs(), {"began": True}

    def step(self, action):
        if action == FAIL:
            raise ValueError("on purpose")
        self.count += 1
        return self.obs(), 1.0, self.count == 3, False, {"count": self.count, "nest": {"name": f"{self.count}"}}


def synthetic(**options):
    """Return a function that makes a pool of synthetic envs."""
    return lambda: plugin.make(**{"num_threads": 2, "episode_length": 3, "cost_ns": 3e3} | options)


def cartpole(**options):
    """Return a function that makes a pool of CartPole."""
    return lambda: envpool.make_gymnasium("CartPole-v1", num_threads=1, max_episode_steps=5, **options)


def python(**options):
    """Return a function that makes a pool of Python environments."""
    return lambda: envpool.make_python(TalkativeEnv, 3, **options)


FINISHED = {"episode_statistics": True, "finished_episodes": True}
NORMALIZED = {"normalize_obs": True, "normalize_reward": True}
#: Pools by name, with the keyword arguments of recv().
POOLS = {
    "sync": (synthetic(num_envs=5), {}),
    "async": (synthetic(num_envs=6, batch_size=2), {}),
    "many blocks": (synthetic(num_envs=40, batch_size=1), {}),
    "part of sync": (synthetic(num_envs=5), {"min_ready": 1}),
    "part of async": (synthetic(num_envs=6, batch_size=2), {"min_ready": 1}),
    "failures": (synthetic(num_envs=5, on_error="restart"), {}),
    "failures async": (synthetic(num_envs=40, batch_size=2, on_error="restart"), {}),
    "failures part": (synthetic(num_envs=5, on_error="restart"), {"min_ready": 1}),
    "raised failures": (synthetic(num_envs=5), {}),
    "finished": (cartpole(num_envs=8, **FINISHED), {}),
    "finished async": (cartpole(num_envs=8, batch_size=3, **FINISHED), {}),
    "finished many": (cartpole(num_envs=40, batch_size=2, **FINISHED), {}),
    "finished part": (cartpole(num_envs=8, **FINISHED), {"min_ready": 1}),
    "finished same_step": (cartpole(num_envs=8, autoreset_mode="same_step", **FINISHED), {}),
    "normalized": (cartpole(num_envs=8, **FINISHED, **NORMALIZED), {}),
    "normalized part": (cartpole(num_envs=8, **FINISHED, **NORMALIZED), {"min_ready": 1}),
    "rollout": (cartpole(num_envs=8, **FINISHED), {}),
    "rollout async": (cartpole(num_envs=8, batch_size=3, **FINISHED), {}),
    "python": (python(), {}),
    "python failures": (python(on_error="restart"), {}),
    "python same_step": (python(autoreset_mode="same_step"), {}),
    "python part": (python(), {"min_ready": 1}),
    "python thread": (python(batch_size=2, workers="thread"), {}),
    "python process": (python(workers="process", num_threads=1), {}),
}


class Interrupts:
    """One pool that is stepped and interrupted.

    Parameters
    ----------
    name : str
        One of `POOLS`.
    pick : random.Random
        Source of the times and the actions.
    by_thread : bool
        If True, another thread sends the signals.
    """

    def __init__(self, name, pick, by_thread=False):
        make, self.wish = POOLS[name]
        self.requests = queue.SimpleQueue() if by_thread else None
        self.name, self.pick = name, pick
        self.pool = make()
        self.calls = self.pool
        self.fails = "failures" in name
        self.told_to_fail = np.zeros(len(self.pool), np.bool_)
        self.number = 0  # interrupts
        self.returned = 0  # batches that Python dropped after the call had returned
        self.lost = []  # tracebacks
        self.delay = 2e-4  # the usual time of one turn of the loop, seconds
        self.is_armed = self.is_ordered = False
        self.rows = self.episodes = 0  # received, and ended in them
        self.batch = None

    def order(self, seconds):
        """Let a signal come after some time; it does nothing if it is late."""
        if self.requests is None:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        elif not self.is_ordered:
            self.is_ordered = True
            self.requests.put(seconds)

    def send_signals(self):
        while (seconds := self.requests.get()) is not None:
            time.sleep(seconds)
            signal.raise_signal(signal.SIGALRM)

    def on_signal(self, number, frame):
        self.is_ordered = False
        if self.is_armed:
            self.is_armed = False
            self.number += 1
            raise KeyboardInterrupt

    def actions(self, ids):
        values = [self.pick.choice([0, 1]) for _ in ids]
        if self.fails:
            values = [FAIL if self.pick.random() < 0.3 else value for value in values]
            self.told_to_fail[ids] = np.array(values) == FAIL
        return np.array(values)

    # ---- one turn: a send and a receive ------------------------------------------------------------------------------

    def begin(self):
        """Reset everything, without interrupts."""
        if "rollout" in self.name:
            self.calls = self.calls if self.calls is not self.pool else envpool.Rollout(self.pool, STEPS)
            self.take(self.calls.reset())
            return
        self.pool.async_reset()
        while self.pool.num_outstanding >= self.pool.config["batch_size"]:
            self.receive()

    def receive(self):
        """Receive a batch, without interrupts."""
        while True:
            with contextlib.suppress(EnvStepError):
                self.take(self.calls.recv(**self.wish))
                return

    def take(self, batch):
        info = batch[-1]
        self.ids = info["env_id"].copy()
        self.rows += len(self.ids)
        if self.fails and len(batch) == 5:
            self.check_failures(batch)
        self.episodes += int((batch[2] | batch[3]).sum()) if len(batch) == 5 else 0

    def check_failures(self, batch):
        """Check that every env that was told to fail has failed, unless it was reset in this step."""
        told = self.told_to_fail[self.ids] & (batch[-1]["elapsed_step"] > 0)
        assert batch[3][told].all()
        if self.pool.config["on_error"] == "restart":
            assert (batch[-1].get("_error", np.zeros(len(self.ids), np.bool_)) == batch[3]).all()
        self.told_to_fail[self.ids] = False

    def turn(self):
        """Send to the envs that were received last, and receive, with an interrupt at some point."""
        ids, self.batch, self.sent = self.ids, None, None
        actions = self.actions(ids)
        if "rollout" in self.name and self.calls.recorded > STEPS:
            self.begin()
            return
        self.sent, self.in_flight = self.pool.stats().steps + len(ids), self.pool.num_outstanding + len(ids)
        began = time.perf_counter()
        try:
            self.is_armed = True
            self.order(self.delay * self.pick.uniform(0.01, 1.5))
            if self.wish or self.pool.is_async:
                self.calls.send(actions, ids)
                self.batch = self.calls.recv(**self.wish)
            else:
                self.batch = self.calls.step(actions)
            self.is_armed = False
        except EnvStepError:
            self.is_armed = False
            self.receive()
            return
        except KeyboardInterrupt as error:
            self.recover(actions, ids, error)
            return
        self.delay += (time.perf_counter() - began - self.delay) / 8
        self.take(self.batch)

    def recover(self, actions, ids, error):
        """Get what the interrupted turn would have got."""
        if self.batch is not None:
            self.take(self.batch)
            return
        if self.pool.stats().steps != self.sent:
            self.calls.send(actions, ids)
            self.receive()
        elif self.pool.num_outstanding == self.in_flight:
            self.receive()
        else:
            self.note_loss(error)

    def note_loss(self, error):
        """The batch is neither here nor in the pool: find out where it was dropped, and begin again."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.name != "on_signal"]
        if frames[-1].filename == HERE:
            self.returned += 1
        else:
            self.lost.append("".join(traceback.format_list(frames[-3:])))
        self.begin()

    # ---- the whole ---------------------------------------------------------------------------------------------------

    def run(self, number):
        """Interrupt the pool `number` times; then compare the counters."""
        before = signal.signal(signal.SIGALRM, self.on_signal)
        sender = threading.Thread(target=self.send_signals) if self.requests else None
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            self.begin()
            if sender:
                sender.start()
            while self.number < number:
                self.turn()
        finally:
            self.is_armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            if sender:
                self.requests.put(None)
                sender.join()
            signal.signal(signal.SIGALRM, before)
            sys.setswitchinterval(interval)
        if not self.returned and not self.lost:
            self.check_counters()
        self.pool.close()

    def check_counters(self):
        config = self.pool.config
        if config["episode_statistics"]:
            assert self.pool.stats().episodes == self.episodes, (self.pool.stats().episodes, self.episodes)
        if config.get("normalize_obs"):
            count = float(self.pool.normalization.get()["obs.count"])
            assert round(count - 1e-4) == self.rows, (count, self.rows)


def interrupt(count, seed):
    """Interrupt all pools `count` times in total; return the numbers of interrupts and of batches that Python dropped.

    Raises AssertionError if a batch was lost.
    """
    plugin.load()
    pick = random.Random(seed)
    done, returned, problems = 0, 0, []
    for name, by_thread in itertools.product(POOLS, (False, True)):
        case = Interrupts(name, pick, by_thread)
        case.run(math.ceil(count * (0.1 if by_thread else 0.9) / len(POOLS)))  # those of threads take long to come
        done += case.number
        returned += case.returned
        if case.lost:
            problems.append(f"{name}: {len(case.lost)} of {case.number}, for instance at\n{case.lost[0]}")
        if by_thread and case.returned:
            problems.append(f"{name}: {case.returned} of {case.number} after the return")
    assert not problems, "batches were lost\n" + "\n".join(problems)
    return done, returned


def main(count, seed):
    done, returned = interrupt(count, seed)
    print(f"{done} interrupts, seed {seed}: no batch lost by a pool; {returned} dropped by Python after the return")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
