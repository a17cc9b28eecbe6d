"""The base class of the pools that have spaces: what ``make(task_id, "gym")`` returns in any case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envpool.pools.env_pool import EnvPool
from envpool.pools.styles.single_env_wrappers import refuse_single_env_wrappers


class GymPool(EnvPool):
    """A pool of the gymnasium style or of the style of gym before 0.26.

    It refuses the wrappers of both libraries for single environments, whose results would be wrong.

    Attributes
    ----------
    single_observation_space, single_action_space : Space
        The spaces of one environment, under the names that gymnasium's vector environments use.
    is_vector_env : bool
        True.
    """

    single_observation_space: Any
    single_action_space: Any
    is_vector_env = True

    def reset(
        self,
        env_id: Any = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
    ) -> Any:
        """Start new episodes; see `EnvPool.reset`.

        Raises
        ------
        TypeError
            The pool is inside a wrapper for single environments.
        """
        if env_id is None:
            refuse_single_env_wrappers(self, "reset")
        return super().reset(env_id, seed=seed, options=options)

    @property
    def observation_space(self) -> Any:
        """Observation space of one environment."""
        refuse_single_env_wrappers(self, "__init__", "observation_space")
        return self._observation_space

    @observation_space.setter
    def observation_space(self, space: Any) -> None:
        self._observation_space = space

    @property
    def action_space(self) -> Any:
        """Action space of one environment."""
        refuse_single_env_wrappers(self, "__init__", "action_space")
        return self._action_space

    @action_space.setter
    def action_space(self, space: Any) -> None:
        self._action_space = space
