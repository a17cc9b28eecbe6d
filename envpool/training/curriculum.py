"""Curricula: distributions of parameters that follow a level, which rises with the success of the policy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from envpool._core.inputs import as_ids
from envpool._support.text import shown
from envpool.errors import ConfigError


class Curriculum:
    """Lets a pool draw parameters from distributions that depend on a level from 0 to 1.

    The level follows the scores of the episodes, see `update`, or a schedule of your own that sets `level`. New
    distributions hold for an environment from its next reset on.

    Parameters
    ----------
    pool : EnvPool
        The pool; the curriculum takes the place of its option `randomize`.
    randomize : callable
        ``randomize(level)`` returns the option `randomize` of ``make`` for a level.
    level : float
        The first level, from 0 to 1. Default 0.
    step : float
        How much the level changes at once, greater than 0. Default 0.1.
    harder_at : float
        The level rises if the mean score of `window` episodes is at least this. Default 0.8, for scores that are 1 for
        a success and 0 for a failure.
    easier_at : float, optional
        The level falls if this mean is at most this number, which must be less than `harder_at`. By default the level
        never falls.
    window : int
        Number of episodes, at least 1. Default 100. After each change of the level, the count starts again.

    Raises
    ------
    ConfigError, TypeError
        An argument is not allowed, or the distributions are not.
    EnvIdError
        Environments of the pool are in flight.
    """

    def __init__(
        self,
        pool: Any,
        randomize: Callable[[float], Mapping[str, Sequence[Any]] | None],
        *,
        level: float = 0.0,
        step: float = 0.1,
        harder_at: float = 0.8,
        easier_at: float | None = None,
        window: int = 100,
    ):
        if not callable(randomize):
            raise TypeError(f"randomize must be a function of the level, got {shown(randomize)}")
        if not hasattr(pool, "set_randomize"):
            raise TypeError(f"pool must be a pool of envpool.make, got {shown(pool)}: pass vec.pool of a VectorEnv")
        for name, value in (("step", step), ("harder_at", harder_at), ("easier_at", easier_at)):
            if not is_number(value) and (name != "easier_at" or value is not None):
                raise ConfigError(f"{name} must be a finite number, got {shown(value)}")
        if step <= 0:
            raise ConfigError(f"step must be greater than 0, got {shown(step)}")
        if easier_at is not None and not easier_at < harder_at:
            raise ConfigError(f"easier_at must be less than harder_at, which is {harder_at}, got {shown(easier_at)}")
        if not isinstance(window, int | np.integer) or isinstance(window, bool) or not 1 <= window < 2**31:
            raise ConfigError(f"window must be an integer between 1 and 2**31 - 1, got {shown(window)}")
        self.pool, self.randomize = pool, randomize
        self.step, self.harder_at, self.easier_at = step, harder_at, easier_at
        self._scores: deque[float] = deque(maxlen=int(window))
        self._level = checked_level(level)
        self._applied = np.full(pool.num_envs, np.nan)  # by environment: the level whose distributions it has
        self._apply(self._level, None)

    @property
    def level(self) -> float:
        """The level; setting it changes the distributions of all environments, none of which may be in flight."""
        return self._level

    @level.setter
    def level(self, level: float) -> None:
        new = checked_level(level)
        self._apply(new, None)  # if it raises, the level stays
        if new != self._level:
            self._level = new
            self._scores.clear()

    def update(self, scores: Any = (), env_id: Any = None) -> float:
        """Count episodes, change the level if it is time, and return it; or raise an exception and count nothing.

        One call changes the level once: scores that follow the change in it belong to the level before.

        Parameters
        ----------
        scores : array_like
            (n,) scores of episodes that have ended, for instance whether they were successful, or their returns.
        env_id : array_like of int, optional
            (B,) environments that get the distributions of the level, if they do not have them. None of them may be in
            flight; in an async pool, pass the ids that were received. By default all environments.

        Raises
        ------
        ConfigError
            A score is not a finite number.
        EnvIdError
            The ids are not integers from 0 to num_envs - 1, or envs that need other distributions are in flight: pass
            the scores again with the ids of envs that are not.
        """
        ids = as_ids(env_id)
        try:
            given = np.asarray(scores)
        except ValueError as error:  # ragged
            raise ConfigError(f"scores must be a sequence of finite numbers, got {shown(scores)}") from error
        if given.ndim != 1 or given.dtype.kind not in "biuf" or not np.isfinite(given).all():
            raise ConfigError(f"scores must be a sequence of finite numbers, one for each episode, got {shown(scores)}")
        level, counted = self._level, self._scores.copy()
        for score in given.tolist():
            counted.append(float(score))
            if len(counted) == counted.maxlen:
                mean = sum(counted) / len(counted)
                if mean >= self.harder_at:
                    level = min(round(level + self.step, 12), 1.0)
                elif self.easier_at is not None and mean <= self.easier_at:
                    level = max(round(level - self.step, 12), 0.0)
                if level != self._level:
                    counted.clear()
                    break  # the other episodes were played at the level before
        self._apply(level, ids)
        self._level, self._scores = level, counted
        return level

    def _apply(self, level: float, ids: npt.NDArray[np.integer[Any]] | None) -> None:
        """Give environments the distributions of a level if they have others."""
        # An id that does not fit becomes negative, and is refused; an empty list is an array of floats.
        ids = np.arange(len(self._applied)) if ids is None else ids.astype(np.int64)
        is_known = (ids >= 0) & (ids < len(self._applied))  # the pool refuses others
        old = ids[~is_known | (self._applied[np.where(is_known, ids, 0)] != level)]
        if len(old):
            self.pool.set_randomize(self.randomize(level), old)
            self._applied[old] = level


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    is_real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_real and abs(value) < float("inf")


def checked_level(level: Any) -> float:
    """Return a level as a float, or raise ConfigError."""
    if not is_number(level) or not 0 <= level <= 1:
        raise ConfigError(f"level must be a number between 0 and 1, got {shown(level)}")
    return float(level)
