"""Steps ale_py's AtariVectorEnv on request: worker.py's protocol, for Atari tasks of this package."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import Any

import ale_py
import worker
from ale_py.vector_env import AtariVectorEnv

from envpool.registration import registry

#: Long enough for the envs in flight at the end of a run to be done.
SETTLE = 0.1


class AsyncLoop:
    """recv(), then send() to the envs it returned: the rest of the envs stays in flight, and is done before a run ends.

    Parameters
    ----------
    pool : AtariVectorEnv
        Async, nothing in flight.
    actions : iterable
        Actions for one batch each, ready to pass, used in turn.
    loops : module
        ``envpool.cli.bench.loops``.
    """

    def __init__(self, pool: AtariVectorEnv, actions: Iterable[Any], loops: Any):
        self.loops = loops
        self.pool = pool
        pool.reset(seed=42)
        self.loop = loops.SyncLoop(self.step, actions, pool.batch_size)
        self.settle()

    def step(self, action: Any) -> Any:
        """Act in the envs that came back last, and return those that are done next."""
        self.pool.send(action)
        return self.pool.recv()

    def settle(self) -> float:
        """Wait for the envs in flight; return the CPU seconds that they took meanwhile."""
        before = time.process_time()
        time.sleep(SETTLE)
        return time.process_time() - before

    def run(self, seconds: float) -> Any:
        """Step for `seconds`."""
        found = self.loop.run(seconds)
        return found._replace(cpu_seconds=found.cpu_seconds + self.settle())


class AleWorker(worker.Worker):
    """A pool of ale_py, with the rules that envpool's defaults give."""

    def hello(self) -> dict[str, Any]:
        """Tell which package this is."""
        return {"version": ale_py.__version__}

    def open(self, task: str, num_envs: int, batch_size: int, num_threads: int) -> dict[str, Any]:
        """Make a pool and bring all its envs to their first step."""
        self.close()
        self.pool = pool = AtariVectorEnv(
            game=registry.find(task).config["task"],
            num_envs=num_envs,
            batch_size=batch_size,
            num_threads=num_threads,
            reward_clipping=False,
        )
        actions = worker.draw_actions(pool.single_action_space, batch_size)
        if batch_size < num_envs:
            self.loop = AsyncLoop(pool, actions, self.loops)
        else:
            pool.reset(seed=42)
            self.loop = self.loops.SyncLoop(pool.step, actions, num_envs)
        return {}


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker.serve(AleWorker(worker.load(sys.argv[1])), sys.stdin, replies)
