"""Pools that end on their own threads, for sanitizers too: ``python -m tests.python_envs.dropping SECONDS [SEED]``.

Pools of Python environments are dropped without close(), in reference cycles, with steps in flight. The collector then
runs wherever memory is allocated: in an environment, on a thread of the pool itself. Environments also collect, close
and render their own pool, and drop the last reference to it. Nothing may crash or hang, and no thread may stay.
"""

import contextlib
import faulthandler
import gc
import os
import random
import sys
import time
import weakref

import gymnasium
import numpy as np
from gymnasium import spaces

import envpool
from envpool.errors import EnvIdError, PoolStateError, RenderError
from tests.support.process import PATIENCE, wait_until, workers

DOCUMENTED = (EnvIdError, PoolStateError, RenderError)
#: A sanitizer's allocator has no handler for fork: a lock that another thread holds would stay locked in the child.
START_METHOD = "spawn" if "san" in os.environ.get("LD_PRELOAD", "") else "fork"
STEP, COLLECT, ALLOCATE, LET_GO, CLOSE, RENDER, SLEEP = range(7)


class OwnerEnv(gymnasium.Env):
    """An environment that has its pool, in a list that it shares with the others; the action decides what it does."""

    observation_space = spaces.Box(0, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(7)

    def __init__(self, pools, render_mode=None):
        self.pools, self.render_mode, self.itself = pools, render_mode, self
        self.count = 0

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {"env": self}

    def step(self, action):
        self.count += 1
        if action == COLLECT:
            gc.collect()
        elif action == ALLOCATE:
            self.garbage = [[k] for k in range(2000)]
        elif action == LET_GO:
            self.pools.clear()
        elif action in (CLOSE, RENDER):
            for pool in list(self.pools):
                with contextlib.suppress(*DOCUMENTED):
                    pool.close() if action == CLOSE else pool.render([0])
                del pool
        elif action == SLEEP:
            time.sleep(0.001)
        return np.full(2, self.count, np.float32), 1.0, self.count % 4 == 0, False, {"count": self.count}

    def render(self):
        return np.zeros((4, 4, 3), np.uint8)


def drop(pick):
    """Make a pool, use it, and drop it while its environments step.

    Returns a weak reference to it, and the list through which its environments have it. The collector does not see that
    the pool has the environments, so the list must be cleared at last.
    """
    kind = pick.choice(["inline", "inline", "thread", "thread", "process"])
    num_envs = pick.choice([1, 2, 5])
    pools = []
    pool = envpool.make_python(
        [lambda **kwargs: OwnerEnv(pools, **kwargs)] * num_envs,
        batch_size=pick.choice([num_envs, 1]),
        workers=kind,
        render_mode="rgb_array",
        on_error="restart",
        **({"num_threads": 1, "start_method": START_METHOD} if kind == "process" else {}),
    )
    pools.append(pool)
    actions = [STEP, COLLECT, ALLOCATE, SLEEP] + ([LET_GO, CLOSE, RENDER] if kind != "process" else [])
    with contextlib.suppress(*DOCUMENTED):
        pool.async_reset()
        for _ in range(pick.choice([0, 1, 10])):
            ids = pool.recv()[-1]["env_id"].copy()
            pool.send([pick.choice(actions) for _ in ids], ids)
        if pool.num_outstanding < num_envs and not pool.is_closed:
            pool.send([pick.choice(actions) for _ in range(num_envs)])
    if pick.random() < 0.7:
        pool.itself = pool
    if pick.random() < 0.5:
        pools.clear()
    found = weakref.ref(pool)
    if pick.random() < 0.2:
        pool.close()
    return found, pools


def main(seconds, seed):
    faulthandler.enable()
    sys.setswitchinterval(1e-5)
    end, rounds = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        pick = random.Random(seed * 1_000_003 + rounds)
        gc.set_threshold(pick.choice([700, 50, 5]), 5, 5)
        try:
            dropped = [drop(pick) for _ in range(3)]
            gc.collect()
            for _, pools in dropped:
                pools.clear()
            wait_until(lambda dropped=dropped: gc.collect() >= 0 and all(ref() is None for ref, _ in dropped))
            wait_until(lambda: not workers())
        except BaseException:
            print(f"seed {seed}, round {rounds}", file=sys.stderr, flush=True)
            raise
        rounds += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{3 * rounds} pools in {seconds:g} s, seed {seed}: nothing found")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**6)
