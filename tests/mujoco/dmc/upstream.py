"""dm_control's suite as the oracle: the pool must return the same bits.

Env i of a pool with ``env_seed=seeds`` is ``suite.load(domain, task, task_kwargs={"random": seeds[i]})``, episode after
episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import envpool
from tests.support.oracles.actions import make_actions
from tests.support.oracles.pool_runner import assert_pools_equal
from tests.support.oracles.trajectory import Trajectory

#: Bound of controls without limits. The simulation does not survive it; 1 is drawn instead.
UNLIMITED = 1e10


def camel_case(name: str) -> str:
    """Return a name of the suite as EnvPool spells it in an id."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


@cache
def suite_tasks() -> dict[str, tuple[str, str]]:
    """Return domain and task of every task of the suite by id."""
    from dm_control import suite

    return {f"{camel_case(domain)}{camel_case(task)}-v1": (domain, task) for domain, task in suite.ALL_TASKS}


def load(task_id: str, seed: int, max_episode_steps: int, frame_skip: int | None = None) -> Any:
    """Return dm_control's environment, with a time limit in steps as the pool has it."""
    from dm_control import suite

    domain, task = suite_tasks()[task_id]
    env = suite.load(domain, task, task_kwargs={"random": seed})
    env._step_limit = max_episode_steps
    if frame_skip is not None:
        env._n_sub_steps = frame_skip
    return env


def reference(
    task_id: str,
    actions: np.ndarray,
    seeds: Sequence[int],
    max_episode_steps: int = 1000,
    frame_skip: int | None = None,
    info: Mapping[str, Callable[[Any], Any]] | None = None,
) -> Trajectory:
    """Step dm_control's environments.

    Parameters
    ----------
    task_id : str
        The pool's task.
    actions : numpy.ndarray
        float64 (records - 1, num_envs, nu), see `tests.support.oracles.actions.make_actions`.
    seeds : sequence of int
        One for each env.
    max_episode_steps, frame_skip : int
        The pool's options.
    info : mapping
        Keys of the pool's info that are set at the reset and kept in the episode -> a function of the environment that
        gives the value right after its reset.

    Returns
    -------
    Trajectory
        With "discount" (float32, 1 at a reset) besides the usual arrays.
    """
    out = Trajectory(actions.shape[0] + 1, len(seeds))
    for i, seed in enumerate(seeds):
        env = load(task_id, seed, max_episode_steps, frame_skip)
        done, elapsed = True, 0
        started: dict[str, Any] = {}
        for t in range(out.records):
            if done:
                step = env.reset()
                elapsed = 0
                started = {key: np.array(get(env)) for key, get in (info or {}).items()}
            else:
                step = env.step(actions[t - 1, i])
                elapsed += 1
            done = step.last()
            for name, value in step.observation.items():
                out.put(f"obs:{name}", (t, i), np.array(value))
            out.put("reward", (t, i), np.float32(step.reward or 0))
            out.put("discount", (t, i), np.float32(1 if step.discount is None else step.discount))
            out.put("terminated", (t, i), np.bool_(done and step.discount == 0))
            out.put("truncated", (t, i), np.bool_(done and step.discount == 1))
            out.put("elapsed_step", (t, i), np.int32(elapsed))
            for key, value in started.items():
                out.put(f"info:{key}", (t, i), value)
    return out


def assert_exact(
    task_id: str,
    *,
    actions: str = "random",
    num_envs: int = 2,
    steps: int = 200,
    seed: int = 0,
    max_episode_steps: int = 70,
    runs: Sequence[Mapping[str, Any]] = ({},),
    min_episodes: int = 1,
    info: Mapping[str, Callable[[Any], Any]] | None = None,
    **options: Any,
) -> Trajectory:
    """Assert that pools return dm_control's bits.

    Parameters
    ----------
    task_id : str
        The pool's task.
    actions : str
        A mode of `tests.support.oracles.actions.make_actions`.
    num_envs : int
        Env i has the seed ``1000 * seed + i``.
    steps : int
        Records of each env after its first reset; the resets between episodes count.
    seed : int
        Chooses actions and seeds.
    max_episode_steps : int
        Time limit of both.
    runs : sequence of mapping
        Pool options (num_threads, batch_size, autoreset_mode); one pool is run for each, and upstream only once.
    min_episodes : int
        Episodes that each env has to end.
    info : mapping
        See `reference`; needs the option ``debug_info=True``.
    **options
        Task options of the pool.

    Returns
    -------
    Trajectory
        Upstream's.

    Raises
    ------
    AssertionError
        A bit differs, or too few episodes ended.
    """
    options |= {"max_episode_steps": max_episode_steps}
    space = envpool.make_spec(task_id, **options).action_space
    chosen = make_actions(space, actions, steps, num_envs, seed)
    chosen = np.where(space.high == UNLIMITED, chosen / UNLIMITED, chosen)
    seeds = [1000 * seed + i for i in range(num_envs)]
    with np.errstate(all="ignore"):
        expected = reference(task_id, chosen, seeds, max_episode_steps, options.get("frame_skip"), info)
    ended = (expected.arrays["terminated"] | expected.arrays["truncated"]).sum(axis=0)
    assert ended.min() >= min_episodes, f"an env ended {ended.min()} episodes, {min_episodes} are needed"
    discount = expected.arrays.pop("discount")
    assert_pools_equal(expected, task_id, chosen, seeds, runs, **options)
    expected.arrays["discount"] = discount
    return expected
