"""RolloutData: the arrays of a finished rollout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.rollout_layout import RolloutLayout, RolloutMemory
from envpool.api import tree
from envpool.spaces import nested

Array = npt.NDArray[Any]


def map_leaves(nest: Any, leaf: Callable[[str], Any]) -> Any:
    """Return a nested dict of array names with the result of `leaf` for each name."""
    if isinstance(nest, dict):
        return {k: map_leaves(v, leaf) for k, v in nest.items()}
    return leaf(nest)


class RolloutData:
    """The arrays of a finished rollout: T steps of N environments.

    The arrays show the memory that the workers wrote; nothing is copied. They are yours to keep and to write: memory of
    which somebody holds an array, or a tensor that shares it, is never used for another rollout. Every attribute makes
    a new array object. An extra that was declared is an attribute as well, for instance ``data.value`` (T, N).

    Attributes
    ----------
    num_steps : int
        T. In an async pool, the largest number of steps of an environment.
    lengths : numpy.ndarray
        int64 (N,), the number of steps of each environment. In a sync pool, every entry is T.
    """

    def __init__(self, layout: RolloutLayout, memory: RolloutMemory, lengths: npt.NDArray[np.int64]):
        self.lengths = lengths
        self.num_steps = int(lengths.max())
        self._layout, self._memory = layout, memory

    def array(self, name: str, shift: int = 0) -> Array:
        """Return an array of the pool by its name, (T, N, ...); `names` lists them.

        Parameters
        ----------
        name : str
            For instance "obs:a.b", "info:lives", "discount" or "rollout:valid". Arrays that belong to an observation
            begin with the one before the first step.
        shift : int
            With 1, these arrays begin with the observation after the first step.
        """
        return self._layout.array(self._memory, name, shift, self.num_steps)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all arrays."""
        return self._layout.names

    def last(self, name: str) -> Array:
        """Return what an array that belongs to an observation, or an extra, has for the last observations: (N, ...).

        The extras are those that were passed to ``finish``; in an async pool, those that came with the action.
        """
        name = name if name in self.names else f"extra:{name}"
        slots: Array = self._layout.array(self._memory, name, 0, self.num_steps + 1)
        if (self.lengths == self.num_steps).all():
            last: Array = slots[self.num_steps]
        else:
            last = slots[self.lengths, np.arange(len(self.lengths))]
        return last

    def last_of_episodes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Any]:
        """Return the last observations of the episodes that ended, in every auto-reset mode.

        Returns
        -------
        steps, envs : numpy.ndarray
            int64 (E,): the steps that ended an episode.
        obs : numpy.ndarray or dict
            (E, ...), copies of the observations that these steps led to, for instance to bootstrap from their value
            where ``truncated[steps, envs]``.
        """
        steps, envs = np.nonzero(self.done & self.valid)
        is_final = self.array("final:mask")[steps, envs] if "final:mask" in self.names else None

        def rows(name: str) -> Array:
            found = self.array(name, 1)[steps, envs]
            if is_final is not None:
                found[is_final] = self.array("final:" + name)[steps[is_final], envs[is_final]]
            return found

        return steps, envs, map_leaves(self._obs_names, rows)

    @property
    def _obs_names(self) -> Any:
        return tree.observation(self.names)

    @property
    def obs(self) -> Any:
        """Observations before each step, which the actions answer: (T, N, ...), or a nested dict of such arrays."""
        return map_leaves(self._obs_names, self.array)

    @property
    def next_obs(self) -> Any:
        """Observations that each step returned, (T, N, ...): `obs` one step later.

        Where an episode ended, this is its last observation with the auto-reset mode "next_step", and the first one of
        the next episode with "same_step"; see `last_of_episodes`.
        """
        return map_leaves(self._obs_names, lambda name: self.array(name, 1))

    @property
    def last_obs(self) -> Any:
        """Observations after the last step of each environment, with which the next rollout begins: (N, ...)."""
        return map_leaves(self._obs_names, self.last)

    @property
    def action(self) -> Any:
        """Actions as the environments got them: (T, N, ...), or a nested dict of such arrays."""
        if "action" in self.names:
            return self.array("action")
        names = {n.removeprefix("action."): n for n in self.names if n.startswith("action.")}
        return map_leaves(nested(names), self.array)

    @property
    def info(self) -> dict[str, Any]:
        """Arrays of the environment's info as each step returned them: (T, N, ...)."""
        nest: dict[str, Any] = map_leaves(tree.info(self.names), lambda name: self.array(name, 1))
        return nest

    @property
    def reward(self) -> Array:
        """Rewards, float32 (T, N)."""
        return self.array("reward")

    @property
    def terminated(self) -> Array:
        """Whether the step ended an episode in a terminal state, bool (T, N)."""
        return self.array("terminated")

    @property
    def truncated(self) -> Array:
        """Whether the step ended an episode otherwise, bool (T, N)."""
        return self.array("truncated")

    @property
    def done(self) -> Array:
        """Whether the step ended an episode, bool (T, N): terminated or truncated."""
        return self.array("rollout:done")

    @property
    def first(self) -> Array:
        """Whether `obs` is the first observation of an episode, bool (T, N)."""
        return self.array("rollout:first")

    @property
    def last_first(self) -> Array:
        """Whether `last_obs` is the first observation of an episode, bool (N,)."""
        return self.last("rollout:first")

    @property
    def valid(self) -> Array:
        """Whether the step is a transition, bool (T, N).

        It is not if it only reset the environment (auto-reset mode "next_step"), if the environment failed, or behind
        the last step of an environment in an async pool.
        """
        return self.array("rollout:valid")

    def __getattr__(self, name: str) -> Array:
        if not name.startswith("_") and f"extra:{name}" in self.names:
            return self.array(f"extra:{name}")
        raise AttributeError(f"the rollout has no array {name!r}; declare what the learner adds in Rollout(extras=...)")

    def __repr__(self) -> str:
        return f"RolloutData({self.num_steps} steps of {len(self.lengths)} envs: {', '.join(self.names)})"
