"""RolloutData: the arrays of a finished rollout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.definition import RAW_PREFIX
from envpool._support.machine import cpu_limit
from envpool._support.text import shown
from envpool.config.spaces import nested
from envpool.errors import ConfigError
from envpool.pools.styles import tree
from envpool.rollout.frames import gather
from envpool.rollout.layout import RolloutLayout, RolloutMemory
from envpool.sampling.arrays import checked, count, number

Array = npt.NDArray[Any]

#: Bytes of a minibatch for which another thread pays off.
BYTES_PER_THREAD = 1 << 20
FLOAT32_MAX = float(np.finfo(np.float32).max)


def map_leaves(nest: Any, leaf: Callable[[str], Any]) -> Any:
    """Return a nested dict of array names with the result of `leaf` for each name."""
    if isinstance(nest, dict):
        return {k: map_leaves(v, leaf) for k, v in nest.items()}
    return leaf(nest)


def checked_rows(ids: Any, count: int) -> npt.NDArray[np.int64]:
    """Return ids of rows as int64, or raise ConfigError or TypeError."""
    rows = np.array(ids)  # a copy, so that the checked values cannot change
    if rows.shape == (0,):
        return rows.astype(np.int64)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise TypeError(f"ids must be a one-dimensional array of integers, got {rows.dtype} {rows.shape}")
    bad = np.flatnonzero((rows < 0) | (rows >= count))
    if bad.size:
        raise ConfigError(f"ids[{bad[0]}] must be between 0 and {count - 1}, step * N + env, got {rows[bad[0]]}")
    return np.ascontiguousarray(rows, np.int64)


class RolloutData:
    """The arrays of a finished rollout: T steps of N environments.

    The arrays show the memory that the workers wrote; nothing is copied. With ``frames_once``, `obs` and the other
    observations are copies instead, and a learner should use `minibatch`.

    The arrays are yours to keep and to write: while an array, or a tensor that shares its memory, exists, its memory is
    not used for another rollout. Every attribute makes a new array object. Every declared extra is an attribute as
    well, for instance ``data.value`` (T, N).

    Attributes
    ----------
    num_steps : int
        T. In an async pool, the largest number of steps of an environment.
    lengths : numpy.ndarray
        int64 (N,), the number of steps of each environment. In a sync pool, every entry is T.
    """

    def __init__(self, layout: RolloutLayout, memory: RolloutMemory, lengths: npt.NDArray[np.int64], depth: int = 0):
        self.lengths = lengths
        self._depth = depth
        self.num_steps = int(lengths.max())
        self._layout, self._memory = layout, memory

    def array(self, name: str, shift: int = 0) -> Array:
        """Return an array of the pool by its name, (T, N, ...); `names` lists them.

        Parameters
        ----------
        name : str
            For instance "obs:a.b", "info:lives", "discount" or "rollout:valid". Arrays that belong to an observation
            begin with the one before the first step. With ``frames_once``, "rollout:numbers" is a copy: the numbers say
            where the memory has the frames of a stack.
        shift : int
            With 1, these arrays begin with the observation after the first step.
        """
        if self._depth and name == "obs":
            envs = len(self.lengths)
            self._layout.array(self._memory, "rollout:frames", shift, self.num_steps)  # checks the slots
            slots = np.arange(shift * envs, (shift + self.num_steps) * envs)
            stacks: Array = self._rows(name, slots).reshape(self.num_steps, envs, *self._shape)
            return stacks
        return self._layout.array(self._memory, name, shift, self.num_steps)

    def minibatch(self, ids: Any, out: Array | None = None, scale: float | None = None, num_threads: int = 0) -> Any:
        """Copy rows of the observations in native threads, and optionally convert them to float32.

        Parameters
        ----------
        ids : array_like of int
            (B,), ``step * N + env`` of each row, as for ``obs.reshape(T * N, ...)[ids]``.
        out : numpy.ndarray, optional
            (B, ...), C-contiguous, of the dtype of the observations; or float32, for uint8 observations. It may be the
            memory of a torch tensor, ``tensor.numpy()``, but not the memory of the rollout or `ids`. By default the
            result is a new array. `out` is not available if the task has several arrays of observations.
        scale : float, optional
            Factor of the values, for instance ``1 / 255``: each result is the float32 product of the value and the
            float32 factor. It needs uint8 observations. By default, the values are kept.
        num_threads : int
            Threads to use; by default as many as pay off, at most the number of available CPUs.

        Returns
        -------
        numpy.ndarray or dict
            `out`, or (B, ...) new arrays in the form of the observations.

        Raises
        ------
        ConfigError, TypeError
            Ids are out of range, `out` has a wrong dtype or shape or overlaps what is read, or the observations cannot
            be scaled.
        """
        rows = checked_rows(ids, self.num_steps * len(self.lengths))
        if isinstance(ids, np.ndarray) and isinstance(out, np.ndarray) and np.may_share_memory(ids, out):
            raise ConfigError("out must not overlap ids: pass memory of its own")
        if isinstance(self._obs_names, dict):
            if out is not None:
                raise ConfigError("out is only available for tasks with one array of observations: leave it out")
            return map_leaves(self._obs_names, lambda name: self._rows(name, rows, None, scale, num_threads))
        return self._rows(self._obs_names, rows, out, scale, num_threads)

    def _rows(
        self,
        name: str,
        rows: npt.NDArray[np.int64],
        out: Array | None = None,
        scale: float | None = None,
        num_threads: int = 0,
    ) -> Array:
        """Return rows of an array that belongs to an observation; `rows` may contain rows of the last slot."""
        dtype = self._layout.dtypes[self._layout.names.index(name)]
        shape = (len(rows), *(self._shape if self._depth else self._layout.array(self._memory, name, 0, 0).shape[2:]))
        num_threads = count("num_threads", num_threads, 0)
        if scale is not None:
            scale = number("scale", scale, -FLOAT32_MAX, FLOAT32_MAX)
            if dtype != np.uint8:
                raise ConfigError(f"scale is only available for uint8 observations; {name} has dtype {dtype}")
        if out is None:
            out = np.empty(shape, dtype if scale is None else np.float32)
        allowed = (
            [np.dtype(np.float32)] if scale is not None else [dtype] + [np.dtype(np.float32)] * (dtype == np.uint8)
        )
        out = checked("out", out, allowed, shape, is_output=True)
        threads = num_threads or max(1, min(cpu_limit(), out.nbytes // BYTES_PER_THREAD))
        gather(self._layout, self._memory, name, self._depth, rows, out, scale, threads)
        return out

    @property
    def _shape(self) -> tuple[int, ...]:
        """Shape of a stack of frames."""
        _, _, *frame = self._layout.array(self._memory, "rollout:frames", 0, 0).shape[1:]
        return (self._depth * frame[0], *frame[1:])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all arrays."""
        return tuple(name for name in self._layout.names if RAW_PREFIX not in name)

    def last(self, name: str) -> Array:
        """Return the values of an array of the observation, or of an extra, for the last observations: (N, ...).

        The extras are those that were passed to ``finish``; in an async pool, those that came with the action.
        """
        name = name if name in self.names else f"extra:{name}"
        if self._depth and name == "obs":
            envs = np.arange(len(self.lengths))
            return self._rows(name, self.lengths * len(envs) + envs)
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
            found = self._rows(name, (steps + 1) * len(self.lengths) + envs)
            if is_final is not None:
                found[is_final] = self.array("final:" + name)[steps[is_final], envs[is_final]]
            return found

        return steps, envs, map_leaves(self._obs_names, rows)

    @property
    def _obs_names(self) -> Any:
        return tree.observation(self.names)

    @property
    def obs(self) -> Any:
        """Observations for which the actions were chosen: (T, N, ...), or a nested dict of such arrays."""
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
        """Actions as sent, before `clip_action` and `rescale_action`: (T, N, ...), or a nested dict of such arrays."""
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
        """Rewards, float32 (T, N), or (T, N, P) if the environments have players."""
        return self.array("player:reward" if "player:reward" in self.names else "reward")

    @property
    def player_mask(self) -> Array:
        """Which players have an observation in `obs`, bool (T, N, P); the places of others are zero."""
        return self.array("player:mask")

    @property
    def player_terminated(self) -> Array:
        """Whether the step ended the episode of a player in a terminal state, bool (T, N, P)."""
        return self.array("player:terminated")

    @property
    def player_truncated(self) -> Array:
        """Whether the step ended the episode of a player otherwise, bool (T, N, P)."""
        return self.array("player:truncated")

    @property
    def current_player(self) -> Array:
        """Turn-based tasks: the player whose move `action` is, int32 (T, N), a fresh array; -1 in steps of resets."""
        acts = self.array("rollout:acts")
        players = np.take_along_axis(self.player_id, acts.argmax(2, keepdims=True), 2)[..., 0]
        return np.where(acts.any(2), players, np.int32(-1))

    @property
    def player_id(self) -> Array:
        """The number of the player of each place, int32 (T, N, P); differs from the place if there are opponents."""
        if "rollout:players" in self.names:
            return self.array("rollout:players")
        shape = self.array("rollout:acts").shape
        return np.broadcast_to(np.arange(shape[2], dtype=np.int32), shape)

    @property
    def legal_action_mask(self) -> Array:
        """Turn-based tasks: the moves from which `action` was chosen, bool (T, N, A); all False in steps of resets."""
        return self.array("rollout:legal")

    @property
    def player_valid(self) -> Array:
        """Whether the step is a transition of a player that acted in it, bool (T, N, P), a fresh array."""
        valid: Array = self.array("rollout:acts") & self.valid[..., None]
        return valid

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

        False for a step that only reset the environment (auto-reset mode "next_step") or in which the environment
        failed, and after the last step of an environment in an async pool.
        """
        return self.array("rollout:valid")

    def __getattr__(self, name: str) -> Array:
        if not name.startswith("_") and f"extra:{name}" in self.names:
            return self.array(f"extra:{name}")
        raise AttributeError(
            f"the rollout has no array {shown(name)}; declare what the learner adds in Rollout(extras=...)"
        )

    def __reduce__(self) -> Any:
        raise TypeError(
            "a RolloutData shows the memory of its rollout and cannot be pickled or copied: use its arrays, for "
            "instance {name: data.array(name) for name in data.names}"
        )

    def __repr__(self) -> str:
        return f"RolloutData({self.num_steps} steps of {len(self.lengths)} envs: {', '.join(self.names)})"
