"""Threads that write to arrays in use, for sanitizers too: ``python -m tests._core.writers SECONDS [SEED]``.

Every array that a call of a pool or of a rollout gets is filled by another thread meanwhile, with values of any kind.
NumPy fills large arrays without the GIL, so this also happens between two instructions of a call. Each call must end in
a correct result or in a documented exception: values are copied and then checked, or checked where they are used.
"""

import contextlib
import faulthandler
import gc
import random
import sys
import threading
import time

import numpy as np

import envpool
from envpool.errors import ActionError, ConfigError, EnvIdError, EnvStepError, PoolStateError
from tests.support import plugin
from tests.support.process import PATIENCE

#: Rows of the arrays: NumPy keeps the GIL while it fills small ones.
N = 1500
DOCUMENTED = (ActionError, ConfigError, EnvIdError, EnvStepError, PoolStateError)


class Writers:
    """A thread that fills arrays again and again, each with contents of one of several kinds.

    Parameters
    ----------
    pick : random.Random
        Source of the order.
    """

    def __init__(self, pick):
        self.pick = random.Random(pick.random())
        self.arrays = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def add(self, *contents):
        """Return an array that has the first contents now, and later any of them."""
        array = contents[0].copy()
        self.arrays.append((array, contents))
        return array

    def run(self):
        while not self.stop.is_set():
            array, contents = self.pick.choice(self.arrays)
            np.copyto(array, self.pick.choice(contents))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.stop.set()
        self.thread.join()


def ids_of(pick, dtype, n=N):
    """Return contents of an array of ids, of which only the first ones are allowed."""
    order = pick.sample(range(n), n)
    wrong = np.array(order)
    wrong[pick.randrange(n)] = pick.choice([-1, n, 2**31 - 1, -(2**31)])
    return [np.array(order, dtype), np.arange(n, dtype=dtype), wrong.astype(dtype), np.zeros(n, dtype)]


def check(batch):
    """Check that a batch has rows of different environments of the pool, and numbers."""
    ids = batch[-1]["env_id"]
    assert len(np.unique(ids)) == len(ids) and (not len(ids) or (ids.min() >= 0 and ids.max() < N)), ids
    assert np.isfinite(batch[0].astype(np.float64)).all()


def use(calls, pick, number):
    """Make calls in any order; each may raise a documented exception."""
    for _ in range(number):
        with contextlib.suppress(*DOCUMENTED):
            pick.choice(calls)()


def discrete(pick):
    """Ids and integer actions."""
    options = {"batch_size": pick.choice([0, N // 3]), "render_mode": "rgb_array", "episode_length": 3}
    with plugin.make(num_envs=N, num_threads=2, **options) as pool:
        writers = Writers(pick)
        ids = writers.add(*ids_of(pick, pick.choice([np.int32, np.int64])))
        dtype = pick.choice([np.int32, np.int64])
        actions = writers.add(*(np.full(N, value, dtype) for value in (0, 1, 7, -(2**31), 2**31 - 1)))
        with writers:
            pool.reset(np.arange(N))
            calls = [
                lambda: pool.send(actions, ids),
                lambda: pool.send(actions),
                lambda: check(pool.step(actions, ids)),
                lambda: check(pool.recv()),
                lambda: check(pool.recv(env_id=ids, timeout=0.001)),
                lambda: check(pool.reset(ids)),
                lambda: pool.render(ids[:600]),
                lambda: pool.get_params(ids),
                pool.async_reset,
            ]
            use(calls, pick, 60)
    assert plugin.load().native.num_violations() == 0, "two threads in one env"


def continuous(pick):
    """Floats that must be finite."""
    with envpool.make_gymnasium("Pendulum-v1", num_envs=N, num_threads=2, require_finite_actions=True) as pool:
        writers = Writers(pick)
        values = [np.zeros((N, 1), np.float32) for _ in range(3)]
        values[1][pick.randrange(N)] = np.nan
        values[2][pick.randrange(N)] = np.inf
        actions = writers.add(*values)
        pool.reset()
        with writers:
            use([lambda: check(pool.step(actions))], pick, 60)


def states(pick):
    """Ids of the calls that save, restore and copy, and values of parameters."""
    with envpool.make_gymnasium("CartPole-v1", num_envs=N, num_threads=2) as pool:
        writers = Writers(pick)
        ids = writers.add(*ids_of(pick, np.int64))
        gravity = writers.add(np.full(N, 9.8), np.full(N, np.nan), np.full(N, 1e300))
        pool.reset()
        saved = pool.get_state()
        with writers:
            calls = [
                lambda: pool.get_state(ids),
                lambda: pool.set_state(saved, ids),
                lambda: pool.copy_state(ids[: N // 2], ids[N // 2 :]),
                lambda: pool.set_params({"gravity": gravity}, ids),
                lambda: pool.set_randomize({"length": ("uniform", 1, 2)}, ids),
            ]
            use(calls, pick, 20)
        assert np.isfinite(pool.get_params()["gravity"]).all()
        check(pool.reset())


def rollouts(pick):
    """Ids of minibatches, extras, and arrays of a finished rollout."""
    once = pick.random() < 0.5
    with envpool.make_gymnasium("CartPole-v1", num_envs=N, num_threads=2, frame_stack=2) as pool:
        rollout = envpool.Rollout(pool, 2, {"value": np.float32}, frames_once=once)
        rollout.reset()
        writers = Writers(pick)
        value = writers.add(np.zeros(N, np.float32), np.full(N, np.nan, np.float32))
        rows = writers.add(*ids_of(pick, pick.choice([np.int32, np.int64]), 2 * N))
        with writers:
            for _ in range(3):
                for _ in range(2):
                    rollout.step(np.zeros(N, np.int64), value=value)
                data = rollout.finish(value=value)
                for name in ("obs", "env_id", "reward", "rollout:numbers", "rollout:frames"):
                    if name in data.names:
                        data.array(name)[...] = pick.choice([0, 1, 2**30])
                calls = [lambda data=data, k=k: data.minibatch(rows, num_threads=k) for k in (0, 2)]
                use(calls, pick, 20)


def main(seconds, seed):
    plugin.load()
    faulthandler.enable()
    sys.setswitchinterval(1e-5)
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        pick = random.Random(seed * 1_000_003 + rounds)
        scenario = pick.choice([discrete, discrete, continuous, states, rollouts])
        try:
            scenario(pick)
        except BaseException:
            print(f"seed {seed}, round {rounds}: {scenario.__name__}", file=sys.stderr, flush=True)
            raise
        rounds += 1
    faulthandler.cancel_dump_traceback_later()
    gc.collect()
    print(f"{rounds} rounds in {seconds:g} s, seed {seed}: nothing found")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
