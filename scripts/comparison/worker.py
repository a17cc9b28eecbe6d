"""Steps pools on request, from the package that is called `envpool` in its interpreter.

Requests and replies are JSON on stdin and stdout, one per line:

    {"do": "hello"}                                             -> {"version": ...}
    {"do": "open", "task": ..., "num_envs": ..., "batch_size": ..., "num_threads": ...} -> {}
    {"do": "run", "seconds": ...}                               -> {"steps": ..., "seconds": ..., "cpu_seconds": ...}
    {"do": "close"}                                             -> {}

The reply to a request that fails is {"error": ...}. The command-line argument is the path of
``envpool/cli/bench/loops.py``, so that both packages are measured by the same loops.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType
from typing import Any, TextIO

import numpy as np

import envpool

ROUNDS = 16


def load(path: str) -> ModuleType:
    """Load the module in a file."""
    loader = SourceFileLoader("loops", path)
    spec = spec_from_loader("loops", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def draw_actions(space: Any, rows: int) -> list[Any]:
    """Return rounds of random actions of a Discrete or Box space, between 0 and 1 where it has no bounds."""
    rng = np.random.default_rng(0)
    if hasattr(space, "n"):
        return [rng.integers(0, space.n, rows).astype(np.int32) for _ in range(ROUNDS)]
    low = np.where(np.isfinite(space.low), space.low, 0)
    high = np.where(np.isfinite(space.high), space.high, 1)
    return [rng.uniform(low, high, (rows, *space.shape)).astype(space.dtype) for _ in range(ROUNDS)]


class Worker:
    """The pool in use, and the requests that it can answer.

    Parameters
    ----------
    loops : module
        ``envpool.cli.bench.loops``.
    """

    def __init__(self, loops: ModuleType):
        self.loops = loops
        self.pool: Any = None
        self.loop: Any = None

    def hello(self) -> dict[str, Any]:
        """Return the version of the package."""
        return {"version": envpool.__version__}

    def open(self, task: str, **sizes: int) -> dict[str, Any]:
        """Create a pool and reset all its envs."""
        self.close()
        self.pool = pool = envpool.make_gymnasium(task, **sizes)
        actions = draw_actions(pool.action_space, sizes["batch_size"])
        if sizes["batch_size"] < sizes["num_envs"]:
            self.loop = self.loops.AsyncLoop(pool, actions, lambda result: result[-1]["env_id"])
        else:
            pool.reset()
            self.loop = self.loops.SyncLoop(pool.step, actions, sizes["num_envs"])
        return {}

    def run(self, seconds: float) -> dict[str, Any]:
        """Step for `seconds` and return what was done."""
        return dict(self.loop.run(seconds)._asdict())

    def close(self) -> dict[str, Any]:
        """Free the pool and its threads. EnvPool frees them only when the object is deleted."""
        if self.pool is not None:
            self.pool.close()
        self.loop = self.pool = None
        gc.collect()
        return {}


def serve(worker: Worker, requests: Iterable[str], replies: TextIO) -> None:
    """Answer requests until the input ends."""
    for line in requests:
        request = json.loads(line)
        try:
            reply = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            reply = {"error": " ".join(f"{type(error).__name__}: {error}".split())}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    # Output that the packages print goes to stderr, so that it is not mistaken for a reply.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(Worker(load(sys.argv[1])), sys.stdin, replies)
