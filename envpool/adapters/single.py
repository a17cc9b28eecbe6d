"""A pool of one environment as a ``dm_env.Environment`` without batches, which Acme's ``EnvironmentLoop`` needs."""

from __future__ import annotations

from typing import Any

import dm_env
import numpy as np

from envpool.adapters.pools import pool_of
from envpool.errors import ActionError, ConfigError
from envpool.pools.recovery import EXPLAINED, check_shape, explain, start_over
from envpool.pools.styles.dm import DMEnvPool
from envpool.registration import make_dm


class SingleEnvironment(dm_env.Environment):
    """One environment: ``acme.EnvironmentLoop(SingleEnvironment("CheetahRun-v1"), actor)``.

    Parameters
    ----------
    pool : str or DMEnvPool
        Task id, or a pool of one environment made by ``envpool.make_dm``. ``close()`` closes the pool.
    **options
        Options of ``envpool.make``, allowed with a task id only.

    Raises
    ------
    TypeError
        `pool` is neither a task id nor such a pool, or there are options besides a pool.
    ConfigError
        The pool has more than one environment.

    Notes
    -----
    ``reset()`` and ``step(action)`` return TimeStep(StepType, reward float or None, discount float or None,
    observation). The observation is the pool's named tuple State with the arrays of one environment, as
    ``observation_spec()`` declares them; the arrays are yours to keep.
    """

    def __init__(self, pool: Any, **options: Any):
        pool = pool_of(pool, options, DMEnvPool, make_dm)
        if pool.num_envs != 1:
            raise ConfigError(f"num_envs must be 1 for a single environment, got {pool.num_envs}")
        self.pool = pool

    def reset(self) -> dm_env.TimeStep:
        """Start a new episode."""
        return self._single(start_over(self.pool))

    def step(self, action: Any) -> dm_env.TimeStep:
        """Take one step, or start an episode if none is running."""
        try:
            return self._single(self.pool.step(np.expand_dims(action, 0)))
        except ActionError:
            check_shape("action", action, self.action_spec())
            raise
        except EXPLAINED as error:
            explain(self.pool, error, ended="no episode is running: call reset()")
            raise

    def observation_spec(self) -> Any:
        """Return the specs of an observation as a named tuple State."""
        return self.pool.observation_spec()

    def action_spec(self) -> Any:
        """Return the spec of an action."""
        return self.pool.action_spec()

    def close(self) -> None:
        """Close the pool; the method may be called again."""
        self.pool.close()

    def _single(self, batch: Any) -> dm_env.TimeStep:
        step_type = dm_env.StepType(int(batch.step_type[0]))
        observation = only_row(batch.observation)
        if step_type == dm_env.StepType.FIRST:
            return dm_env.restart(observation)
        return dm_env.TimeStep(step_type, float(batch.reward[0]), float(batch.discount[0]), observation)


def only_row(nest: Any) -> Any:
    """Return nested named tuples of arrays (1, ...) with the arrays' only rows, arrays (...), in their places."""
    if isinstance(nest, tuple):
        return type(nest)(*(only_row(value) for value in nest))
    return np.asarray(nest[0])
