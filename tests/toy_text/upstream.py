"""The upstream environments of the toy-text tasks, and actions that reach their goals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envpool.toy_text import upstream
from tests.support.oracles.gymnasium_oracle import Upstream


def upstream_of(task_id: str, kwargs: Mapping[str, Any] | None = None) -> Upstream:
    """Return the oracle of a task, with arguments of ``gymnasium.make``."""
    return Upstream.of(upstream.upstream_of(task_id), kwargs=kwargs or {})


def best_actions(env: Any) -> Any:
    """Return an action for each state that leads to reward, by value iteration over upstream's table.

    Returns
    -------
    numpy.ndarray
        int (states,).
    """
    table = env.unwrapped.P
    outcomes = np.array(
        [[(list(table[s][a]) * 3)[:3] for a in range(env.action_space.n)] for s in range(env.observation_space.n)],
        np.float64,
    )
    chance, target, reward, terminated = np.moveaxis(outcomes, -1, 0)
    chance = chance / chance.sum(axis=-1, keepdims=True)
    values = np.zeros(env.observation_space.n)
    for _ in range(200):
        gains = (chance * (reward + 0.98 * values[target.astype(int)] * (1 - terminated))).sum(axis=-1)
        values = gains.max(axis=-1)
    return gains.argmax(axis=-1)


def guided_actions(upstream: Upstream, steps: int, num_envs: int, seed: int, skill: float = 0.8) -> np.ndarray:
    """Return actions of a walker that knows the way, and takes it with probability `skill`.

    Random actions hardly ever end an episode of Taxi or CliffWalking other than by the time limit.

    Parameters
    ----------
    upstream : Upstream
        An env with a table of transitions.
    steps, num_envs : int
        Sizes.
    seed : int
        Env i is seeded as `tests.support.oracles.gymnasium_oracle.assert_exact` does: with ``1000 * seed + i``.
    skill : float
        In [0, 1].

    Returns
    -------
    numpy.ndarray
        int32 (steps, num_envs).
    """
    rng = np.random.default_rng(seed)
    env: Any = upstream.make()
    best = best_actions(env)
    actions = rng.integers(0, env.action_space.n, (steps, num_envs)).astype(np.int32)
    knows = rng.random((steps, num_envs)) < skill
    for i in range(num_envs):
        obs, _ = env.reset(seed=1000 * seed + i)
        done = False
        for t in range(steps):
            if done:
                (obs, _), done = env.reset(), False
                continue
            if knows[t, i]:
                actions[t, i] = best[obs]
            obs, _, terminated, truncated, _ = env.step(actions[t, i])
            done = terminated or truncated
    env.close()
    return actions
