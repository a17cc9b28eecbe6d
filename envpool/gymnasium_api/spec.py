"""The spec of environments that ``gymnasium.make`` and ``gymnasium.make_vec`` make."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import gymnasium

from envpool._support.text import shown
from envpool.errors import ConfigError


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
    close: Any
    _gymnasium_spec: Any = None
    #: Keyword arguments without which ``gymnasium.make(spec)`` would make another environment.
    _more_kwargs: Mapping[str, Any] = MappingProxyType({})

    @property
    def spec(self) -> Any:
        """The spec that gymnasium has set; None if the environment was not made by gymnasium."""
        return self._gymnasium_spec

    @spec.setter
    def spec(self, spec: Any) -> None:
        if spec is not None:
            self._check_task(spec)
            spec = copy.copy(spec)
            spec.max_episode_steps = self.pool.spec.max_episode_steps
            spec.reward_threshold = self.pool.spec.reward_threshold
            if spec.max_episode_steps is not None and spec.kwargs.get("vectorization_mode") == "vector_entry_point":
                # make_vec adds it to the keyword arguments when it makes an environment from this spec.
                spec.kwargs = spec.kwargs | {"max_episode_steps": spec.max_episode_steps}
            spec.kwargs = spec.kwargs | self._more_kwargs
        self._gymnasium_spec = spec

    def _check_task(self, spec: Any) -> None:
        """Raise ConfigError, and close the environment, if its task is not the one that the id of the spec names."""
        registered = gymnasium.registry.get(spec.id)
        task_id = None if registered is None else registered.kwargs.get("task_id")
        given = spec.kwargs.get("task_id", task_id)
        if task_id is not None and given != task_id:
            self.close()
            raise ConfigError(f"task_id must be {task_id!r} for {spec.id!r}, got {shown(given)}: leave it out")
