"""Curricula: distributions of parameters that follow a level, which rises with the success of the policy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from envpool._support.text import shown
from envpool.errors import ConfigError


class Curriculum:
    """Lets a pool draw parameters from distributions that depend on a level from 0 to 1.

    The level follows the scores of the episodes, see `update`, or a schedule of your own that sets `level`. New
    distributions hold for an environment from its next reset on.

    Parameters
    ----------
    pool : EnvPool
        The pool; its option `randomize` does not hold any more.
    randomize : callable
        ``randomize(level)`` returns the option `randomize` of ``make`` for a level.
    level : float
        The first level, from 0 to 1. Default 0.
    step : float
        How much the level changes at once, above 0. Default 0.1.
    harder_at : float
        The level rises if the mean score of `window` episodes is at least this. Default 0.8, for scores that are 1 for
        a success and 0 for a failure.
    easier_at : float, optional
        The level falls if this mean is at most this number, which must be less than `harder_at`. By default the level
        never falls.
    window : int
        Number of episodes, at least 1. Default 100. After each change of the level, they are counted anew.

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
        if not step > 0:
            raise ConfigError(f"step must be above 0, got {shown(step)}")
        if easier_at is not None and not easier_at < harder_at:
            raise ConfigError(f"easier_at must be less than harder_at, which is {harder_at}, got {shown(easier_at)}")
        if not isinstance(window, int | np.integer) or window < 1:
            raise ConfigError(f"window must be an integer of at least 1, got {shown(window)}")
        self.pool, self.randomize = pool, randomize
        self.step, self.harder_at, self.easier_at = step, harder_at, easier_at
        self._scores: deque[float] = deque(maxlen=int(window))
        self._level = checked_level(level)
        self._changes = 1
        self._applied = np.zeros(pool.num_envs, np.int64)  # by environment: the value of _changes whose level it has
        self._apply(None)

    @property
    def level(self) -> float:
        """The level; setting it changes the distributions of all environments, none of which may be in flight."""
        return self._level

    @level.setter
    def level(self, level: float) -> None:
        self._move(checked_level(level))
        self._apply(None)

    def update(self, scores: Any = (), env_id: Any = None) -> float:
        """Count episodes, change the level if it is time, and return it.

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
            Environments are in flight. The scores are counted; the next call changes the distributions.
        """
        given = np.asarray(scores)
        if given.ndim != 1 or given.dtype.kind not in "biuf" or not np.isfinite(given).all():
            raise ConfigError(f"scores must be a sequence of finite numbers, one for each episode, got {shown(scores)}")
        for score in given.tolist():
            self._scores.append(float(score))
            if len(self._scores) == self._scores.maxlen:
                mean = sum(self._scores) / len(self._scores)
                if mean >= self.harder_at:
                    self._move(min(self._level + self.step, 1.0))
                elif self.easier_at is not None and mean <= self.easier_at:
                    self._move(max(self._level - self.step, 0.0))
        self._apply(env_id)
        return self._level

    def _move(self, level: float) -> None:
        if level != self._level:
            self._level = level
            self._changes += 1
            self._scores.clear()

    def _apply(self, env_id: Any) -> None:
        """Give environments the distributions of the level if they have others."""
        ids = np.arange(len(self._applied)) if env_id is None else np.atleast_1d(np.asarray(env_id, np.int64))
        is_known = (ids >= 0) & (ids < len(self._applied))  # the pool refuses others
        old = ids[~is_known | (self._applied[np.where(is_known, ids, 0)] != self._changes)]
        if len(old):
            self.pool.set_randomize(self.randomize(self._level), old)
            self._applied[old] = self._changes


def checked_level(level: Any) -> float:
    """Return a level as a float, or raise ConfigError."""
    if not isinstance(level, int | float | np.number) or not 0 <= level <= 1:
        raise ConfigError(f"level must be a number from 0 to 1, got {shown(level)}")
    return float(level)
