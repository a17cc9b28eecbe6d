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

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

import envpool
from tests.support.oracles.actions import make_actions
from tests.support.oracles.oracle import Oracle
from tests.support.oracles.pool_runner import assert_pools_equal
from tests.support.oracles.trajectory import Trajectory, leaves


def unchanged(value: Any) -> Any:
    """Return the argument."""
    return value


@dataclass(frozen=True)
class Upstream(Oracle):
    """An upstream env, and how its values relate to the pool's.

    Attributes
    ----------
    id : str
        For ``gymnasium.make``.
    kwargs : mapping
        For ``gymnasium.make``.
    prepare : callable
        Called with each env once it is made, e.g. to set attributes of ``env.unwrapped``.
    observation : callable
        Upstream's observation -> the pool's row: an array, or a nested dict of arrays. Integers may differ in width.
    action : callable
        One env's row of the pool's action -> upstream's action. Integer scalars arrive as numpy.int64.
    info : mapping
        The pool's info key ("a.b" for nested ones) -> upstream's info key, or a callable of (env, upstream's info).
        Records for which upstream's info lacks the key are not compared.
    """

    id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    prepare: Callable[[gymnasium.Env[Any, Any]], None] | None = None
    observation: Callable[[Any], Any] = unchanged
    action: Callable[[Any], Any] = unchanged
    info: Mapping[str, str | Callable[[gymnasium.Env[Any, Any], dict[str, Any]], Any]] = field(default_factory=dict)

    def make(self) -> gymnasium.Env[Any, Any]:
        """Return a new env, without gymnasium's checks of arguments and results or its warnings about versions."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            env = gymnasium.make(self.id, disable_env_checker=True, **self.kwargs)
        if self.prepare:
            self.prepare(env)
        return env

    def play(self, case: Any) -> tuple[Any, list[int], Trajectory]:
        """Return the actions and seeds of a case, and what upstream returned."""
        space = envpool.make_spec(case.task_id, **case.options).action_space
        actions = make_actions(space, case.actions, case.steps, case.num_envs, case.seed)
        seeds = [1000 * case.seed + i for i in range(case.num_envs)]
        return actions, seeds, reference(self, actions, seeds)


def reference(upstream: Upstream, actions: Any, seeds: Sequence[int]) -> Trajectory:
    """Step upstream envs in Python, each reset with its seed first and without one after each episode.

    Parameters
    ----------
    upstream : Upstream
        The env.
    actions : numpy.ndarray or dict
        (records - 1, num_envs, ...), see `tests.support.oracles.actions.make_actions`. The entry of a reset record is
        not used.
    seeds : sequence of int
        One for each env.

    Returns
    -------
    Trajectory
        Rewards as float32 of upstream's. Of info, the keys of ``upstream.info``.
    """
    out = Trajectory(next(leaves(actions, "action"))[1].shape[0] + 1, len(seeds))
    with np.errstate(all="ignore"):
        for i, seed in enumerate(seeds):
            env = upstream.make()
            record_env(upstream, env, seed, actions, i, out)
            env.close()
    return out


def record_env(
    upstream: Upstream, env: gymnasium.Env[Any, Any], seed: int, actions: Any, i: int, out: Trajectory
) -> None:
    """Record env i."""
    done, elapsed = True, 0
    reward: Any
    for t in range(out.records):
        if done:
            obs, info = env.reset(seed=seed) if t == 0 else env.reset()
            reward, terminated, truncated, elapsed = 0.0, False, False, 0
        else:
            obs, reward, terminated, truncated, info = env.step(upstream.action(action_row(actions, t - 1, i)))
            elapsed += 1
        done = terminated or truncated
        for name, value in leaves(upstream.observation(obs), "obs"):
            out.put(name, (t, i), value)
        out.put("reward", (t, i), np.float32(reward))
        out.put("terminated", (t, i), np.bool_(terminated))
        out.put("truncated", (t, i), np.bool_(truncated))
        out.put("elapsed_step", (t, i), np.int32(elapsed))
        for key, source in upstream.info.items():
            if callable(source):
                out.put_known(f"info:{key}", (t, i), source(env, info))
            elif source in info:
                out.put_known(f"info:{key}", (t, i), info[source])


def action_row(actions: Any, t: int, i: int) -> Any:
    """Return env i's action for record t + 1; the caller may change it."""
    if isinstance(actions, dict):
        return {k: action_row(v, t, i) for k, v in actions.items()}
    row = actions[t, i]
    return row.copy() if row.ndim else np.int64(row) if row.dtype.kind in "iu" else row


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
        A mode of `tests.support.oracles.actions.make_actions`.
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
