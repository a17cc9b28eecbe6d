"""Recording what a pool returns, for any number of threads, batch size and auto-reset mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import envpool
from envpool.verify.records import as_reset, batch_record, leaves
from tests.support.oracles.trajectory import Trajectory, compare


def run_pool(task_id: str, actions: Any, seeds: Sequence[int], **options: Any) -> Trajectory:
    """Step a gymnasium-style pool and record every env.

    Parameters
    ----------
    task_id : str
        Task of the pool.
    actions : numpy.ndarray or dict
        (records - 1, num_envs, ...), see `envpool.sampling.sequences.make_actions`. Record t + 1 of env i uses
        actions[t, i]; the entry of a record that is a reset is not used.
    seeds : sequence of int
        One for each env.
    **options
        For ``envpool.make``: num_threads, batch_size, autoreset_mode ("disabled" needs a sync pool), task options.

    Returns
    -------
    Trajectory
        With all info keys of the task.
    """
    with envpool.make_gymnasium(task_id, num_envs=len(seeds), env_seed=list(seeds), **options) as pool:
        return Recorder(pool, actions).run()


def assert_pools_equal(
    expected: Trajectory,
    task_id: str,
    actions: Any,
    seeds: Sequence[int],
    runs: Sequence[Mapping[str, Any]] = ({},),
    **options: Any,
) -> None:
    """Assert that pools return a trajectory, bit for bit.

    Parameters
    ----------
    expected : Trajectory
        Upstream's.
    task_id, actions, seeds
        See `run_pool`.
    runs : sequence of mapping
        Pool options (num_threads, batch_size, autoreset_mode); one pool is run for each.
    **options
        Task options of the pools.

    Raises
    ------
    AssertionError
        A bit differs.
    """
    for run in runs:
        differences = compare(expected, run_pool(task_id, actions, seeds, **options, **run))
        assert differences.total == 0, f"{task_id} {options} {dict(run)}: {differences}"


class Recorder:
    """Drives a pool so that env i goes through actions[:, i], and stores each of its records."""

    def __init__(self, pool: Any, actions: Any):
        self.pool = pool
        self.actions = actions
        steps, num_envs = next(leaves(actions, "action"))[1].shape[:2]
        self.out = Trajectory(steps + 1, num_envs)
        self.next_record = np.zeros(num_envs, np.int64)  # by env id
        self.mode = pool.config["autoreset_mode"]
        if pool.is_async and self.mode == "disabled":
            raise ValueError("autoreset_mode='disabled' needs a sync pool here: reset(env_id) returns a batch")

    def run(self) -> Trajectory:
        """Step until each env has all its records; an env that is ahead continues, and its extra rows are dropped."""
        if self.pool.is_async:
            self.pool.async_reset()
            batch = self.pool.recv()
        else:
            batch = self.reset_batch(None)
        while True:
            ids = self.store(*batch)
            if self.next_record.min() >= self.out.records:
                return self.out
            batch = self.pool.step(self.choose(ids), ids)

    def choose(self, ids: np.ndarray) -> Any:
        """Return the next action of each env."""
        at = np.minimum(self.next_record[ids] - 1, self.out.records - 2), ids
        if isinstance(self.actions, dict):
            return {k: v[at] for k, v in self.actions.items()}
        return self.actions[at]

    def reset_batch(self, env_id: Any) -> tuple[Any, ...]:
        """Reset envs and return their rows in the form of step()."""
        obs, info = self.pool.reset(env_id)
        return as_reset(obs, info)

    def store(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any]) -> np.ndarray:
        """Store a batch, and the resets that belong to it in modes other than next_step; return the env ids."""
        ids = info["env_id"]
        done = np.flatnonzero(terminated | truncated)
        if self.mode == "next_step" or not len(done):
            self.store_rows(obs, reward, terminated, truncated, info)
        elif self.mode == "same_step":
            first_obs, first_info = take(obs, done), take(info, done)
            last = info["final_info"] | {"env_id": ids}
            assert np.array_equal(info["_final_obs"], terminated | truncated)
            keep = ~(terminated | truncated)
            self.store_rows(*(take(x, keep) for x in (obs, reward, terminated, truncated, info)))
            self.store_rows(*(take(x, done) for x in (info["final_obs"], reward, terminated, truncated, last)))
            self.store_rows(*as_reset(first_obs, first_info))
        else:
            self.store_rows(obs, reward, terminated, truncated, info)
            self.store_rows(*self.reset_batch(ids[done]))
        return np.asarray(ids)

    def store_rows(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any]) -> None:
        """Store one record for each row, at its env's next place."""
        ids = info["env_id"]
        rows = batch_record(obs, reward, terminated, truncated, info)
        wanted = self.next_record[ids] < self.out.records
        at = self.next_record[ids[wanted]], ids[wanted]
        for name, values in rows.items():
            self.out.put(name, at, values[wanted])
        self.next_record[ids] += 1


def take(nest: Any, rows: np.ndarray) -> Any:
    """Return some rows of each array of a nest."""
    return {k: take(v, rows) for k, v in nest.items()} if isinstance(nest, dict) else nest[rows]
