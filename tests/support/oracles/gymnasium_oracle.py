"""Gymnasium's own envs as the oracle: the pool must return the same bits.

Typical use::

    def test_exact():
        assert_exact("Taxi-v3", actions="random", num_envs=16, steps=300, runs=[{"num_threads": 2}])

    def test_with_option():
        upstream = Upstream("FrozenLake-v1", {"is_slippery": False}, info={"prob": "prob"})
        assert_exact("FrozenLake-v1", upstream, options={"is_slippery": False})

Use `reference` and `tests.support.oracles.pool_runner.assert_pools_equal` where that does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

import envpool
from envpool.sampling.sequences import make_actions
from envpool.verify.gymnasium_oracle import GymnasiumOracle, action_row
from envpool.verify.oracle import Oracle
from envpool.verify.records import leaves
from tests.support.oracles.oracle import CaseOracle
from tests.support.oracles.pool_runner import assert_pools_equal
from tests.support.oracles.trajectory import Trajectory


class Reference(CaseOracle):
    """Plays an `Oracle`, which the class that derives from both is."""

    def play(self: Any, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        actions = self.actions_of(case)
        return actions, case.seeds, reference(self, actions, case.seeds)

    def actions_of(self: Any, case: Any) -> Any:
        """Return the actions of a case."""
        space = envpool.make_spec(case.task_id, **case.options).action_space
        return self.choose_actions(space, case.actions, case.steps, case.num_envs, case.seed)


@dataclass(frozen=True)
class Upstream(GymnasiumOracle, Reference):
    """An upstream env that plays the cases of the conformance tests."""

    @classmethod
    def of(cls, oracle: GymnasiumOracle, **changes: Any) -> Upstream:
        """Return what a family compares a task with, with fields replaced."""
        return cls(**{f.name: getattr(oracle, f.name) for f in fields(GymnasiumOracle)} | changes)


def reference(upstream: Oracle, actions: Any, seeds: Sequence[int]) -> Trajectory:
    """Step upstream envs in Python, each reset with its seed first and without one after each episode.

    Parameters
    ----------
    upstream : envpool.verify.oracle.Oracle
        The env.
    actions : numpy.ndarray or dict
        (records - 1, num_envs, ...), see `envpool.sampling.sequences.make_actions`. The entry of a reset record is
        not used.
    seeds : sequence of int
        One for each env.

    Returns
    -------
    Trajectory
        Rewards as float32 of upstream's. Of info, the keys that the oracle gives.
    """
    out = Trajectory(next(leaves(actions, "action"))[1].shape[0] + 1, len(seeds))
    with np.errstate(all="ignore"):
        for i, seed in enumerate(seeds):
            player = upstream.start(seed)
            for t in range(out.records):
                for name, value in player.record(action_row(actions, t - 1, i) if t else None).items():
                    put = out.put_known if name.startswith("info:") else out.put
                    put(name, (t, i), value)
            player.close()
    return out


def assert_exact(
    task_id: str,
    upstream: Upstream | None = None,
    *,
    actions: str = "random",
    num_envs: int = 16,
    steps: int = 300,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    runs: Sequence[Mapping[str, Any]] = ({},),
    min_episodes: int = 1,
) -> Trajectory:
    """Assert that pools return upstream's bits.

    Parameters
    ----------
    task_id : str
        The pool's task.
    upstream : Upstream
        By default the env of the same id.
    actions : str
        A mode of `envpool.sampling.sequences.make_actions`.
    num_envs : int
        Env i has the seed ``1000 * seed + i``.
    steps : int
        Records of each env after its first reset; the resets between episodes count.
    seed : int
        Chooses actions and seeds.
    options : mapping
        Task options of the pool.
    runs : sequence of mapping
        Pool options (num_threads, batch_size, autoreset_mode); one pool is run for each, and upstream only once.
    min_episodes : int
        Episodes that have to end, lest nothing but the first steps is compared.

    Returns
    -------
    Trajectory
        Upstream's.

    Raises
    ------
    AssertionError
        A bit differs, or too few episodes ended.
    """
    upstream = upstream or Upstream(task_id)
    options = dict(options or {})
    space = envpool.make_spec(task_id, **options).action_space
    chosen = make_actions(space, actions, steps, num_envs, seed)
    seeds = [1000 * seed + i for i in range(num_envs)]
    expected = reference(upstream, chosen, seeds)
    assert expected.num_episodes >= min_episodes, f"{expected.num_episodes} episodes ended, {min_episodes} are needed"
    assert_pools_equal(expected, task_id, chosen, seeds, runs, **options)
    return expected
