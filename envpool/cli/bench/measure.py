"""Measurement of one configuration: pool, limit and peers run in turns, so that noise affects all of them equally."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal, Protocol

import numpy as np

import envpool
from envpool._support.machine import cpu_limit
from envpool.cli.bench.actions import draw_actions, rounds_of
from envpool.cli.bench.gymnasium_peer import open_peers
from envpool.cli.bench.kernel_loop import KernelLoop
from envpool.cli.bench.loops import AsyncLoop, Slice, SyncLoop
from envpool.pools.env_pool import EnvPool
from envpool.sampling.sampler import Sampler
from envpool.tasks.spec import EnvSpec

#: Number of slices into which a measurement is divided; the median over the slices is reported.
SLICES = 10
POOL = "envpool"
LIMIT = "limit"


class Runner(Protocol):
    """An engine that can be measured."""

    def run(self, seconds: float) -> Slice:
        """Step for `seconds` and return what was done."""


@dataclass(frozen=True)
class Cell:
    """One configuration to measure."""

    task: str
    options: Mapping[str, Any]
    env_type: Literal["gymnasium", "gym", "dm"]
    with_gymnasium: bool


@dataclass(frozen=True)
class Row:
    """The measurements of one engine in one configuration; an entry of "rows" in the JSON file.

    Attributes
    ----------
    engine : str
        "envpool", or the name of the peer.
    steps_per_second : float or None
        Rows per second, including rows of resets; median over the slices.
    frames_per_second : float or None
        steps_per_second times frame_skip; None for tasks without this option.
    cpu_seconds_per_million_steps : float or None
        User and system time of the process and its children; median over the slices.
    limit_steps_per_second : float or None
        Throughput of the kernels in one thread, times the number of threads or available CPUs, whichever is smaller.
    share_of_limit : float or None
        The pool's steps per second divided by the limit in the same turn; median over the turns.
    speedup, cpu_ratio : float or None
        Rows of peers only: envpool's steps per second divided by the peer's, and the peer's CPU time per step divided
        by envpool's; medians over the turns.
    note : str
        Why there are no measurements; empty if there are.
    """

    task: str
    engine: str
    env_type: str
    num_envs: int
    batch_size: int
    num_threads: int
    steps_per_second: float | None = None
    frames_per_second: float | None = None
    cpu_seconds_per_million_steps: float | None = None
    limit_steps_per_second: float | None = None
    share_of_limit: float | None = None
    speedup: float | None = None
    cpu_ratio: float | None = None
    note: str = ""


def measure(cell: Cell, seconds: float, progress: Callable[[str], None]) -> list[Row]:
    """Measure one configuration.

    Parameters
    ----------
    cell : Cell
        The configuration.
    seconds : float
        Time for each engine, including the limit.
    progress : callable
        Called with a short status text from time to time.

    Returns
    -------
    list of Row
        One row per engine, envpool first.
    """
    spec = envpool.make_spec(cell.task, **cell.options)
    config = spec.config
    threads = min(config.num_threads or min(config.batch_size, cpu_limit()), config.num_envs)
    where = f"{cell.task}, {config.num_envs} envs, {threads} {'thread' if threads == 1 else 'threads'}"
    progress(f"{where}: starting")
    with ExitStack() as stack:
        # gymnasium forks its processes before the pool starts threads in this one.
        peers = open_peers(cell.task, config.num_envs, stack) if cell.with_gymnasium else {}
        pool = stack.enter_context(envpool.make(cell.task, cell.env_type, **cell.options))
        actions = draw_actions(spec)
        runners: dict[str, Runner] = {POOL: pool_loop(pool, cell.env_type, actions)}
        limit = open_limit(spec, actions)
        if limit is not None:
            runners[LIMIT] = limit
        runners |= {name: peer for name, peer in peers.items() if not isinstance(peer, str)}
        slices = interleave(runners, seconds, lambda text: progress(f"{where}: {text}"))
    shape = (cell.env_type, config.num_envs, config.batch_size, threads)
    frame_skip = getattr(config, "frame_skip", None)
    if isinstance(frame_skip, tuple):  # one value per environment
        frame_skip = statistics.fmean(frame_skip)
    row = pool_row(Row(cell.task, POOL, *shape), slices, frame_skip)
    others = ("gymnasium", config.num_envs, config.num_envs, 1)
    return [row] + [
        Row(cell.task, name, *others, note=peer)
        if isinstance(peer, str)
        else peer_row(Row(cell.task, name, *others), slices[name], slices[POOL])
        for name, peer in peers.items()
    ]


def pool_loop(pool: EnvPool, env_type: str, actions: Mapping[str, np.ndarray]) -> Runner:
    """Return the loop of a pool: step() in a sync pool, recv() and send() in an async pool."""
    config = pool.config
    rounds = rounds_of(actions, config["batch_size"])
    played: Any = LegalMoves(pool) if pool.spec.is_turn_based else pool
    if pool.is_async:
        ids_of = attrgetter("observation.env_id") if env_type == "dm" else lambda result: result[-1]["env_id"]
        return AsyncLoop(played, rounds, ids_of)
    pool.reset()
    return SyncLoop(played.step, rounds, config["num_envs"])


class LegalMoves:
    """A pool of a turn-based task that draws legal moves in place of the actions that it gets, as a policy would."""

    def __init__(self, pool: EnvPool):
        self.pool, self.sampler = pool, Sampler(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pool, name)

    def step(self, action: Any) -> Any:
        """Step all environments."""
        return self.pool.step(self.pool.sample_actions(self.sampler))

    def send(self, action: Any, env_id: Any) -> None:
        """Send moves to environments."""
        self.pool.send(self.pool.sample_actions(self.sampler, env_id), env_id)


class LimitLoop:
    """The limit of a task: its kernels in a `KernelLoop`."""

    def __init__(self, spec: EnvSpec, actions: Mapping[str, np.ndarray]):
        config = spec.config
        seeds = spec.seeds()
        assert seeds is not None, "native environments have seeds"
        self.loop = KernelLoop(spec.capsule, config.num_envs, seeds, config.max_episode_steps, dict(actions))

    def run(self, seconds: float) -> Slice:
        """Step for `seconds` and return what was done."""
        cpu = time.process_time()
        steps, took = self.loop.run(seconds)
        return Slice(steps, took, time.process_time() - cpu)


def open_limit(spec: EnvSpec, actions: Mapping[str, np.ndarray]) -> LimitLoop | None:
    """Return the kernel loop of a task, or None for a task without native kernels, or with players."""
    return LimitLoop(spec, actions) if hasattr(spec, "capsule") and not spec.num_players else None


def interleave(
    runners: Mapping[str, Runner], seconds: float, progress: Callable[[str], None]
) -> dict[str, list[Slice]]:
    """Run each engine for `seconds` in total, in turns, and return its slices. A short warm-up turn is not counted."""
    slices: dict[str, list[Slice]] = {name: [] for name in runners}
    for runner in runners.values():
        runner.run(seconds / SLICES / 4)
    for i in range(SLICES):
        for name, runner in runners.items():
            slices[name].append(runner.run(seconds / SLICES))
        progress(f"{i + 1}/{SLICES}, {rate(slices[POOL]):,.0f} steps/s")
    return slices


def rate(slices: Sequence[Slice]) -> float:
    """Return the median steps per second over the slices."""
    return statistics.median(s.steps / s.seconds for s in slices)


def cpu_per_million(slices: Sequence[Slice]) -> float:
    """Return the median CPU seconds per million steps over the slices."""
    return statistics.median(s.cpu_seconds / s.steps for s in slices) * 1e6


def speed_ratio(slices: Sequence[Slice], others: Sequence[Slice]) -> float:
    """Return the median over the turns of the ratio of steps per second, `slices` divided by `others`."""
    return statistics.median(a.steps / a.seconds * b.seconds / b.steps for a, b in zip(slices, others, strict=True))


def cpu_ratio(slices: Sequence[Slice], others: Sequence[Slice]) -> float | None:
    """Return the median over the turns of the ratio of CPU time per step, `slices` divided by `others`.

    The result is None if a slice was too short for the CPU clock.
    """
    if any(b.cpu_seconds <= 0 for b in others):
        return None
    return statistics.median(
        a.cpu_seconds / a.steps * b.steps / b.cpu_seconds for a, b in zip(slices, others, strict=True)
    )


def pool_row(row: Row, slices: Mapping[str, list[Slice]], frame_skip: float | None) -> Row:
    """Return the row of envpool, completed with its measurements."""
    steps = rate(slices[POOL])
    cores = min(row.num_threads, cpu_limit())
    return replace(
        row,
        steps_per_second=steps,
        frames_per_second=steps * frame_skip if frame_skip else None,
        cpu_seconds_per_million_steps=cpu_per_million(slices[POOL]),
        limit_steps_per_second=rate(slices[LIMIT]) * cores if LIMIT in slices else None,
        share_of_limit=speed_ratio(slices[POOL], slices[LIMIT]) / cores if LIMIT in slices else None,
    )


def peer_row(row: Row, slices: list[Slice], ours: list[Slice]) -> Row:
    """Return the row of a peer, completed with its measurements."""
    return replace(
        row,
        steps_per_second=rate(slices),
        cpu_seconds_per_million_steps=cpu_per_million(slices),
        speedup=speed_ratio(ours, slices),
        cpu_ratio=cpu_ratio(slices, ours),
    )
