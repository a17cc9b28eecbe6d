"""``workers="auto"``: whether the environments of a pool are worth processes, from the time that a few steps take."""

from __future__ import annotations

import copy
import random
import time
from typing import Any

import numpy as np

from envpool.python_envs.source import EnvSource

#: The measurement ends after this many steps, or after this many seconds.
STEPS, SECONDS = 64, 0.1

#: Cost of handing a batch to processes, in seconds: they must save more than that per batch.
OVERHEAD = 100e-6


def seconds_per_step(source: EnvSource) -> float:
    """Return what a step of an environment takes with random actions; 0 if the environment fails.

    The environment is made for this purpose and closed afterwards. The global generators of NumPy and Python keep their
    states.
    """
    env: Any = None
    states = np.random.get_state(legacy=False), random.getstate()
    try:
        env = source.new_env(0)
        env.reset(seed=0)
        actions = copy.deepcopy(source.action_space)  # the pool's own keeps its generator
        actions.seed(0)
        began, count = time.perf_counter(), 0
        while count < STEPS and time.perf_counter() - began < SECONDS:
            *_, terminated, truncated, _ = env.step(source.actions.packed(actions.sample()))
            count += 1
            if terminated or truncated:
                env.reset()
        return (time.perf_counter() - began) / count
    except Exception:
        return 0.0
    finally:
        source.close_env(env)
        np.random.set_state(states[0])
        random.setstate(states[1])


def choose(cost: float, num_envs: int, num_workers: int) -> str:
    """Return "process" if processes save more time per batch than they cost, else "inline".

    Parameters
    ----------
    cost : float
        Time of a step of one environment, in seconds.
    num_envs, num_workers : int
        Number of environments, and of processes that run at the same time.
    """
    saved = num_envs * cost * (1 - 1 / num_workers)
    return "process" if saved > OVERHEAD else "inline"
