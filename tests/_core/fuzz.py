"""Whatever meets a pool in whatever state, for sanitizers too: ``python -m tests._core.fuzz SECONDS [SEED]``.

Several threads, signal handlers, destructors, forked children, and arguments that call back use one pool at once. Each
call must end in a correct result or in a documented exception: nothing hangs, and no thread stays. stress.py checks
every row of well-behaved use; this module checks every answer to unreasonable use.
"""

import faulthandler
import gc
import itertools
import os
import queue
import random
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np

from envpool.errors import ActionError, ConfigError, EnvIdError, EnvStepError, PoolStateError, RenderError
from tests.support import plugin
from tests.support.callbacks import CallsBack, ComparesBack, CountsBack, DiesBack, ListsBack
from tests.support.checked_pool import FAIL, TERMINATE, TRUNCATE
from tests.support.forking import may_fork
from tests.support.process import PATIENCE, wait_until, workers

DOCUMENTED = (PoolStateError, EnvIdError, ActionError, RenderError, ConfigError, EnvStepError)
ACTIONS = (0, 1, 2, 3, 50, TRUNCATE, TERMINATE, FAIL)
#: Calls that a forked child may make.
HARMLESS = {"call_close", "call_look", "call_collect", "call_kill", "call_fork"}
#: Seconds for which a child that hangs may print where it does.
GRACE = 5
#: Depth of calls within calls.
MAX_DEPTH = 3
#: Seconds for which a call waits for another thread that it has asked to use the pool.
NOD = 0.005


def any_options(pick):
    """Return options of any small pool."""
    num_envs = pick.choice([1, 2, 3, 5, 8, 40])
    return {
        "num_envs": num_envs,
        "batch_size": pick.choice([0, 0, 1, max(1, num_envs // 2)]),
        "num_threads": pick.choice([1, 2, 3, 20]),
        "autoreset_mode": pick.choice(["next_step", "same_step", "disabled"]),
        "layout": pick.choice(["flat", "flat", "flat", "rich"]),
        "fused": pick.random() < 0.5,
        "cost_ns": pick.choice([0.0, 2e3, 20e3, 200e3]),
        "distribution": pick.choice(["fixed", "heavy_tailed"]),
        "episode_length": pick.choice([0, 1, 3]),
        "max_episode_steps": pick.choice([2, 2**31 - 1]),
        "fail_reset": pick.choice([-1, 0, 2]),
        "frame_ns": pick.choice([0, 300_000, 2_000_000]),
        "render_mode": "rgb_array",
    }


class Fuzz:
    """One pool and everything that uses it.

    Parameters
    ----------
    seed : int
        Determines the options and what each thread does.
    """

    def __init__(self, seed):
        pick = random.Random(seed)
        options = any_options(pick)
        self.num_envs = options["num_envs"]
        self.batch_size = options["batch_size"] or self.num_envs
        self.is_flat = options["layout"] == "flat"
        self.pool = plugin.make(seed=100, **options)
        self.pid = os.getpid()
        self.problems = []  # texts
        self.rows = {}  # (env id, number of its step) of each row that was handed out -> the batch
        self.held = []
        self.is_forking = False  # Python's own locks do not allow a handler to fork inside of os.fork()
        self.forks_left = pick.choice([0, 0, 1, 2])
        self.close_share = pick.choice([0, 0.01, 0.05])
        self.this_thread = threading.local()
        self.requests = queue.SimpleQueue()
        # Drawn by whatever runs on a thread: its calls, its callbacks, its destructors, its signal handlers.
        self.picks = itertools.count(pick.randrange(10**9))
        self.tasks = [(name, getattr(self, name)) for name in dir(self) if name.startswith("call_")]

    # ---- calls: each returns a check of its result, or None ---------------------------------------------------------

    def any_ids(self, pick, most=None):
        """Return ids as the caller might pass them: in any type, sometimes wrong."""
        n = pick.randint(0, self.num_envs if most is None else min(most, self.num_envs))
        ids = pick.sample(range(self.num_envs), n)
        if pick.random() < 0.05:
            ids = [*ids, pick.choice([-1, self.num_envs, 0])]
        return ids

    def dressed(self, pick, values, dtypes=(np.int32, np.int64)):
        """Return values as an array, or as an object that calls back when it becomes one."""
        kind = pick.random()
        if kind < 0.15:
            return CallsBack(values, self.hook(pick)) if values else []
        if kind < 0.25:
            return ListsBack(values, self.hook(pick)) if values else []
        return np.array(values, np.int64).astype(pick.choice(dtypes))

    def some_action(self, pick, n):
        """Return actions of n envs of a pool with one action array."""
        values = [pick.choice(ACTIONS) for _ in range(n)]
        return self.dressed(pick, values, (np.int32, np.int64, np.float64))

    def send_arguments(self, pick):
        if self.is_flat:
            if pick.random() < 0.2:
                return (self.some_action(pick, self.num_envs),)
            ids = self.any_ids(pick)
            return self.some_action(pick, len(ids)), self.dressed(pick, ids, (np.int32, np.int64, np.uint8))
        ids = pick.sample(range(self.num_envs), min(2, self.num_envs))
        players = np.empty(len(ids), object)
        players[:] = [ComparesBack(self.hook(pick)) for _ in ids]
        return (plugin.rich_action() | {"env_id": ids, "players": {"env_id": players}},)

    def call_send(self, pick):
        assert self.pool.send(*self.send_arguments(pick)) is None

    def call_step(self, pick):
        self.check_batch(self.pool.step(*self.send_arguments(pick)))

    def call_recv(self, pick):
        self.check_batch(self.pool.recv(), is_whole=True)

    def call_recv_some(self, pick):
        wish = {"timeout": pick.choice([0, 1e-4, 1e-3, CountsBack(1e-3, self.hook(pick))])}
        if pick.random() < 0.5:
            least = pick.randint(0, self.num_envs)
            wish["min_ready"] = pick.choice([least, CountsBack(least, self.hook(pick))])
        ids = None
        if pick.random() < 0.4:
            ids = self.any_ids(pick)
            wish["env_id"] = self.dressed(pick, ids)
        self.check_batch(self.pool.recv(**wish), allowed=ids)

    def call_reset(self, pick):
        seed = pick.choice([None, None, 7, [7] * self.num_envs, ListsBack([7] * self.num_envs, self.hook(pick))])
        if seed is not None and not isinstance(seed, int):
            self.check_batch(self.pool._reset_envs(None, seed), is_reset=True)
        else:
            self.check_batch(self.pool.reset(seed=seed), is_reset=True)

    def call_reset_some(self, pick):
        ids = self.any_ids(pick)
        self.check_batch(self.pool.reset(self.dressed(pick, ids)), is_reset=True, allowed=ids)

    def call_send_reset(self, pick):
        ids = self.any_ids(pick)
        seeds = pick.choice([None, [CountsBack(7, self.hook(pick)) for _ in ids]])
        assert 0 <= self.pool._send_reset(self.dressed(pick, ids), seeds) <= len(ids)

    def call_async_reset(self, pick):
        assert self.pool.async_reset() is None

    def call_render(self, pick):
        ids = self.any_ids(pick)
        frames = self.pool.render(self.dressed(pick, ids))
        assert frames.shape[0] == len(ids) and frames.dtype == np.uint8
        if self.is_flat and len(ids):
            drawn = np.ascontiguousarray(frames.reshape(len(ids), -1)[:, :8]).view(np.int64)
            assert drawn[:, 0].tolist() == ids, "frames of other envs"

    def call_close(self, pick):
        if pick.random() < self.close_share:
            self.pool.close()
            assert self.pool.is_closed

    def call_look(self, pick):
        assert 0 <= self.pool.num_outstanding <= self.num_envs
        assert self.pool._blocks_allocated >= 0

    def call_collect(self, pick):
        DiesBack(self.hook(pick))
        if pick.random() < 0.2:
            gc.collect(pick.randrange(3))

    def call_kill(self, pick):
        """Send a signal, whose handler uses the pool on the main thread."""
        if os.getpid() == self.pid:
            os.kill(self.pid, signal.SIGTERM)

    def call_fork(self, pick):
        """Fork; the child uses the pool, leaves the calls it is inside of, and exits."""
        if self.forks_left <= 0 or self.is_forking or not may_fork():
            return
        self.forks_left -= 1
        self.is_forking = True  # from now on also in the child
        if child := os.fork():
            self.is_forking = False
            self.await_child(child)
            return
        self.use_in_child(pick)
        if self.depth() == 0:
            self.end_child()

    # ---- checks ------------------------------------------------------------------------------------------------------

    def check_batch(self, batch, is_whole=False, is_reset=False, allowed=None):
        """Check a batch: each row belongs to one env, is complete, and was never handed out before."""
        info, obs = batch[-1], batch[0]
        ids = info["env_id"].tolist()
        assert len(set(ids)) == len(ids) and set(ids) <= set(range(self.num_envs)), f"ids {ids}"
        assert allowed is None or set(ids) <= set(allowed), f"ids {ids}, asked for {allowed}"
        if is_whole:
            assert 0 < len(ids) <= self.num_envs
        if not self.is_flat:
            return
        assert obs.shape == (len(ids), 6)
        if os.getpid() != self.pid:
            return
        for k, (env_id, (i, _, step, action, calls, _)) in enumerate(zip(ids, obs.tolist(), strict=True)):
            if calls == 0:  # a failed env
                assert not obs[k].any()
                continue
            assert i == env_id, f"row of env {i} for env {env_id}"
            assert action == -1 or action in ACTIONS
            assert info["elapsed_step"][k] == step
            if action != -1 and len(batch) == 5:
                assert batch[1][k] == np.float32(step + i / 1024), "reward of another step"
            assert self.rows.setdefault((i, calls), batch) is batch, f"row {calls} of env {i} twice"
        if len(self.held) < 20:
            self.held.append((obs, obs.copy()))

    # ---- how calls are made ------------------------------------------------------------------------------------------

    def depth(self):
        return getattr(self.this_thread, "depth", 0)

    def attempt(self, pick, name=None):
        """Make any call; note everything but a correct result and a documented exception."""
        if self.depth() >= MAX_DEPTH or self.pool is None:
            return
        name, call = pick.choice(self.tasks) if name is None else (name, getattr(self, name))
        self.this_thread.depth = self.depth() + 1
        is_child = os.getpid() != self.pid
        try:
            call(pick)
            assert not is_child or name in HARMLESS, "a child used the pool"
        except DOCUMENTED:
            pass
        except BaseException:
            self.problems.append(f"{name}: {traceback.format_exc()}")
        finally:
            self.this_thread.depth -= 1
        if os.getpid() != self.pid and self.depth() == 0:
            self.end_child()

    def hook(self, pick):
        """Return a function for an argument: it uses the pool now and then, on this thread or on another one."""
        chance = pick.choice([0, 0.3, 1])
        number = next(self.picks)

        def act():
            own = random.Random(number)
            if own.random() >= chance:
                return
            if own.random() < 0.7:
                self.attempt(own)
                return
            done = []
            self.requests.put((number, done))
            until = time.monotonic() + NOD
            while not done and time.monotonic() < until:
                time.sleep(0.0002)

        return act

    def on_signal(self, number, frame):
        if not self.is_forking:
            self.attempt(random.Random(next(self.picks)))

    def work(self, seed, calls):
        """Make random calls on this thread."""
        pick = random.Random(seed)
        for _ in range(calls):
            self.attempt(pick)

    def serve(self):
        """Make the calls that callbacks of other threads ask for."""
        while (request := self.requests.get()) is not None:
            number, done = request
            self.attempt(random.Random(number + 1))
            done.append(None)

    # ---- children ----------------------------------------------------------------------------------------------------

    def use_in_child(self, pick):
        """Make calls that a child may not make: each must raise PoolStateError."""
        for name in pick.sample(["recv", "reset", "async_reset", "render", "close"], 3):
            try:
                getattr(self.pool, name)(*([[0]] if name == "render" else []))
            except PoolStateError as error:
                if "forked" not in str(error) and not self.pool.is_closed:
                    self.problems.append(f"{name}() in a child: {error}")
            except BaseException:
                self.problems.append(f"{name}() in a child: {traceback.format_exc()}")
            else:
                if name != "close":
                    self.problems.append(f"{name}() in a child raised nothing")

    def end_child(self):
        """End the child; the parent learns of problems through its output and its status."""
        os.write(2, "\n".join(self.problems).encode())
        os._exit(1 if self.problems else 0)

    def await_child(self, child):
        """Wait for a child; a signal handler may fork at any point here, and so this call may end in another child."""
        until = time.monotonic() + PATIENCE
        while os.getpid() == self.pid:
            try:
                found, status = os.waitpid(child, os.WNOHANG)
            except ChildProcessError:
                if os.getpid() == self.pid:
                    raise
                return
            if found:
                if status:
                    self.problems.append(f"a child ended with status {os.waitstatus_to_exitcode(status)}")
                return
            if time.monotonic() > until:  # its status tells that it hung, and faulthandler prints where
                os.kill(child, signal.SIGABRT)
                time.sleep(GRACE)
                os.kill(child, signal.SIGKILL)
            time.sleep(0.0005)

    # ---- the whole ---------------------------------------------------------------------------------------------------

    def run(self, pick):
        """Let several threads use the pool, and end it in one of the ways in which pools end."""
        for number in (signal.SIGALRM, signal.SIGTERM):  # never restored: a signal may arrive late
            signal.signal(number, self.on_signal)
        calls = pick.choice([5, 40, 100])
        threads = [threading.Thread(target=self.serve)]
        threads += [threading.Thread(target=self.work, args=(pick.random(), calls)) for _ in range(pick.randint(0, 3))]
        if pick.random() < 0.7:
            signal.setitimer(signal.ITIMER_REAL, 0.001, pick.choice([0.001, 0.01]))
        try:
            for thread in threads:
                thread.start()
            if pick.random() < 0.9:
                self.attempt(pick, "call_reset")
            self.work(pick.random(), calls)
            for thread in threads[1:]:
                thread.join()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.requests.put(None)
            threads[0].join()
        for array, copy in self.held:
            np.testing.assert_array_equal(array, copy)
        if pick.random() < 0.7:
            self.pool.close()
            assert self.pool.is_closed
        self.pool = None
        assert not self.problems, "\n".join(self.problems)


def fuzz(seconds, seed):
    """Use one pool after another in this process, which is the fuzz driver's own; return their number."""
    plugin.load()
    faulthandler.enable()
    warnings.filterwarnings("ignore", "This process .* is multi-threaded, use of fork", DeprecationWarning)
    sys.setswitchinterval(1e-6)
    end = time.monotonic() + seconds
    rounds = 0
    try:
        while time.monotonic() < end:
            faulthandler.dump_traceback_later(3 * PATIENCE, exit=True)
            pick = random.Random(seed * 1_000_003 + rounds)
            gc.set_threshold(pick.choice([700, 50, 5]), 5, 5)
            Fuzz(pick.randrange(10**9)).run(pick)
            gc.collect()
            wait_until(lambda: not workers())
            assert threading.active_count() == 1, threading.enumerate()
            assert plugin.load().native.num_violations() == 0, "two threads in one env"
            rounds += 1
    except BaseException:
        print(f"seed {seed}, pool {rounds}", file=sys.stderr, flush=True)
        raise
    faulthandler.cancel_dump_traceback_later()
    return rounds


def main(seconds, seed):
    rounds = fuzz(seconds, seed)
    print(f"{rounds} pools in {seconds:g} s, seed {seed}: nothing found")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
