"""Timed loops over a pool or any other vector env.

This module imports only the standard library, so that ``scripts/compare`` can load it next to another package.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from typing import Any, NamedTuple

#: Time between two clock reads, in seconds: long compared with a clock read, short compared with a slice.
BURST = 50e-6


class Slice(NamedTuple):
    """Steps, elapsed seconds and CPU seconds of one slice of a measurement."""

    steps: int
    seconds: float
    cpu_seconds: float


def bursts(seconds: float) -> Iterator[int]:
    """Yield the number of calls to make before the next clock read, until `seconds` have passed."""
    size = 1
    now = time.perf_counter()
    end = now + seconds
    while True:
        began = now
        yield size
        now = time.perf_counter()
        if now >= end:
            return
        if now - began < BURST:
            size *= 2


class SyncLoop:
    """A loop that calls step() repeatedly.

    Parameters
    ----------
    step : callable
        Takes an action. Each result is kept until the next one is returned, as a learner would keep it.
    actions : iterable
        Actions in the form that `step` takes, used in turn.
    rows : int
        Number of env steps that one call makes.
    cpu_clock : callable
        Returns the CPU seconds used so far; by default, the CPU seconds of this process.
    """

    def __init__(
        self,
        step: Callable[[Any], Any],
        actions: Iterable[Any],
        rows: int,
        cpu_clock: Callable[[], float] = time.process_time,
    ):
        self.step = step
        self.actions = cycle(actions)
        self.rows = rows
        self.cpu_clock = cpu_clock

    def run(self, seconds: float) -> Slice:
        """Step for `seconds`, at least once, and return what was done."""
        step, actions, calls = self.step, self.actions, 0
        cpu, began = self.cpu_clock(), time.perf_counter()
        for size in bursts(seconds):
            for action in islice(actions, size):
                result = step(action)
            calls += size
        took = time.perf_counter() - began
        del result
        return Slice(calls * self.rows, took, self.cpu_clock() - cpu)


class AsyncLoop:
    """A loop that calls recv(), then send() for the envs that it returned. No env is in flight between two runs.

    Parameters
    ----------
    pool : object
        An async pool with no env in flight.
    actions : iterable
        Actions for one batch each, in the form that send() takes, used in turn.
    ids_of : callable
        Takes the result of recv() and returns its env ids.
    """

    def __init__(self, pool: Any, actions: Iterable[Any], ids_of: Callable[[Any], Any]):
        self.pool = pool
        self.actions = cycle(actions)
        self.ids_of = ids_of
        self.batches = pool.config["num_envs"] // pool.config["batch_size"]
        self.rows = pool.config["batch_size"]
        self.idle: list[Any] = []
        pool.async_reset()
        self.receive_all()

    def receive_all(self) -> None:
        """Receive the batches in flight and keep their env ids for the next run."""
        self.idle = [self.ids_of(self.pool.recv()) for _ in range(self.batches)]

    def run(self, seconds: float) -> Slice:
        """Step for `seconds` and return what was done."""
        recv, send, ids_of, actions = self.pool.recv, self.pool.send, self.ids_of, self.actions
        calls = self.batches
        cpu, began = time.process_time(), time.perf_counter()
        for ids in self.idle:
            send(next(actions), ids)
        for size in bursts(seconds):
            for action in islice(actions, size):
                result = recv()
                send(action, ids_of(result))
            calls += size
        self.receive_all()
        took = time.perf_counter() - began
        del result
        return Slice(calls * self.rows, took, time.process_time() - cpu)
