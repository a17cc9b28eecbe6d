"""The vector envs that tests compare: those of this package and of gymnasium."""

import gymnasium
import numpy as np
from gymnasium.spaces import Dict
from gymnasium.vector import AutoresetMode

from tests.support import plugin

NUM_ENVS = 4


def make(task_id="CartPole-v1", num_envs=NUM_ENVS, seed=42, **options):
    return gymnasium.make_vec(f"envpool/{task_id}", num_envs=num_envs, seed=seed, **options)


def upstream(task_id="CartPole-v1", mode=AutoresetMode.NEXT_STEP, **options):
    return gymnasium.make_vec(
        task_id, num_envs=NUM_ENVS, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options
    )


def synthetic(**options):
    """An env with dict observations, and infos of every type."""
    plugin.load()
    return make("Synthetic-v0", layout="rich", **options)


def same_batches(got, expected):
    """Return whether obs, reward as float32, terminated and truncated are equal."""
    for mine, theirs in zip(got[:4], expected[:4], strict=True):
        assert isinstance(mine, np.ndarray)
        assert mine.tobytes() == theirs.astype(mine.dtype).tobytes()


def zero_actions(envs):
    return zero_of(envs.action_space)


def zero_of(space):
    if isinstance(space, Dict):
        return {k: zero_of(s) for k, s in space.items()}
    return np.zeros(space.shape, space.dtype)
