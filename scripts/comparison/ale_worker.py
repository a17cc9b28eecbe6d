"""Steps ale_py's AtariVectorEnv on request, with the protocol of worker.py, for the Atari tasks of this package."""

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

#: Seconds to wait at the end of a run, long enough for the envs in flight to finish.
SETTLE = 0.1


class AsyncLoop:
    """A loop that calls send() and recv(). The other envs stay in flight, and finish before a run ends.

    Parameters
    ----------
    pool : AtariVectorEnv
        An async vector env with no env in flight.
    actions : iterable
        Actions for one batch each, in the form that send() takes, used in turn.
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
        """Send actions to the envs that were received last, and receive the next batch."""
        self.pool.send(action)
        return self.pool.recv()

    def settle(self) -> float:
        """Wait for the envs in flight, and return the CPU seconds that they used in the meantime."""
        before = time.process_time()
        time.sleep(SETTLE)
        return time.process_time() - before

    def run(self, seconds: float) -> Any:
        """Step for `seconds` and return what was done."""
        found = self.loop.run(seconds)
        return found._replace(cpu_seconds=found.cpu_seconds + self.settle())


class AleWorker(worker.Worker):
    """A worker that steps ale_py's vector env, with the settings that correspond to envpool's defaults."""

    def hello(self) -> dict[str, Any]:
        """Return the version of the package."""
        return {"version": ale_py.__version__}

    def open(self, task: str, num_envs: int, batch_size: int, num_threads: int) -> dict[str, Any]:
        """Create a pool and reset all its envs."""
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
