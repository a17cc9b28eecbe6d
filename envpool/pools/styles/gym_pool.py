"""The base class of the pools that have spaces: what ``make(task_id, "gym")`` returns in any case."""

from __future__ import annotations

from typing import Any

from envpool.pools.pool import EnvPool


class GymPool(EnvPool):
    """A pool of the gymnasium style or of the style of gym before 0.26.

    Attributes
    ----------
    observation_space, action_space : Space
        The spaces of one environment.
    single_observation_space, single_action_space : Space
        The same spaces, under the names that gymnasium's vector environments use.
    is_vector_env : bool
        True.
    """

    observation_space: Any
    action_space: Any
    single_observation_space: Any
    single_action_space: Any
    is_vector_env = True
