"""The spec of environments that ``gymnasium.make`` and ``gymnasium.make_vec`` make."""

from __future__ import annotations

import copy
from typing import Any


class WithTaskSpec:
    """The part of an environment on a pool that completes the spec with which gymnasium registered the task.

    The registration knows neither the time limit nor the reward threshold, since both would need the task's module.

    Attributes
    ----------
    pool : EnvPool
        The pool.
    spec : gymnasium.envs.registration.EnvSpec or None
        The spec that gymnasium has set, with ``max_episode_steps`` and ``reward_threshold`` of the pool's task.
    """

    pool: Any
    _gymnasium_spec: Any = None

    @property
    def spec(self) -> Any:
        """The spec that gymnasium has set; None if the environment was not made by gymnasium."""
        return self._gymnasium_spec

    @spec.setter
    def spec(self, spec: Any) -> None:
        if spec is not None:
            spec = copy.copy(spec)
            spec.max_episode_steps = self.pool.spec.max_episode_steps
            spec.reward_threshold = self.pool.spec.reward_threshold
            if spec.max_episode_steps is not None and spec.kwargs.get("vectorization_mode") == "vector_entry_point":
                # make_vec adds it to the keyword arguments when it makes an environment from this spec.
                spec.kwargs = spec.kwargs | {"max_episode_steps": spec.max_episode_steps}
        self._gymnasium_spec = spec
