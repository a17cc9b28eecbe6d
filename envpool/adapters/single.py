"""A pool of one environment as a ``dm_env.Environment`` without batches, as Acme's ``EnvironmentLoop`` wants it."""

from __future__ import annotations

from typing import Any

import dm_env
import numpy as np

from envpool.api.dm import DMEnvPool
from envpool.errors import ConfigError
from envpool.registration import make_dm


class SingleEnvironment(dm_env.Environment):
    """One environment: ``acme.EnvironmentLoop(SingleEnvironment("CheetahRun-v1"), actor)``.

    Parameters
    ----------
    pool : str or DMEnvPool
        Task id, or a pool of one environment made by ``envpool.make_dm``; ``close()`` closes it.
    **options
        As for ``envpool.make``, with a task id.

    Raises
    ------
    TypeError
        `pool` is neither, or options with a pool.
    ConfigError
        More than one environment.

    Notes
    -----
    ``reset()`` and ``step(action)`` return TimeStep(StepType, reward float or None, discount float or None,
    observation), where observation is the pool's named tuple State with arrays of one environment: what
    ``observation_spec()`` says. They are yours to keep.
    """

    def __init__(self, pool: Any, **options: Any):
        if isinstance(pool, str):
            pool = make_dm(pool, **options)
        elif not isinstance(pool, DMEnvPool):
            raise TypeError(f"needs a task id or a pool of envpool.make_dm, got {type(pool).__name__}")
        elif options:
            raise TypeError(f"{', '.join(options)}: a pool takes no options any more, give them to envpool.make_dm")
        if pool.num_envs != 1:
            raise ConfigError(f"num_envs is {pool.num_envs}, but this is a single environment: use num_envs=1")
        self.pool = pool

    def reset(self) -> dm_env.TimeStep:
        """Start a new episode."""
        return self._single(self.pool.reset())

    def step(self, action: Any) -> dm_env.TimeStep:
        """Take one step; after the last one of an episode, or before the first, start one instead."""
        return self._single(self.pool.step(np.expand_dims(action, 0)))

    def observation_spec(self) -> Any:
        """Return the specs of the named tuple State."""
        return self.pool.observation_spec()

    def action_spec(self) -> Any:
        """Return the spec of the action."""
        return self.pool.action_spec()

    def close(self) -> None:
        """Close the pool; may be called again."""
        self.pool.close()

    def _single(self, batch: Any) -> dm_env.TimeStep:
        kind = dm_env.StepType(int(batch.step_type[0]))
        observation = only_row(batch.observation)
        if kind == dm_env.StepType.FIRST:
            return dm_env.restart(observation)
        return dm_env.TimeStep(kind, float(batch.reward[0]), float(batch.discount[0]), observation)


def only_row(nest: Any) -> Any:
    """Return nested named tuples of arrays (1, ...) as those of arrays (...)."""
    if isinstance(nest, tuple):
        return type(nest)(*(only_row(value) for value in nest))
    return np.asarray(nest[0])
