"""Methods of pools of goal environments: the rewards of batches of goals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import MujocoEnvDefinition

Array = np.ndarray[Any, Any]


class GoalPool:
    """The methods of a pool of goal environments."""

    spec: Any

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any = None) -> Any:
        """Return the rewards that upstream gives for goals, for example for goals that HER substitutes.

        The result equals the rewards of steps, which the pool returns as float32.

        Parameters
        ----------
        achieved_goal, desired_goal : array_like
            Goals (..., goal), of equal shape, float32 or float64. Other dtypes are converted to float64.
        info : object, optional
            Has no effect. Gymnasium-Robotics' method has this argument.

        Returns
        -------
        numpy.ndarray or numpy.floating
            Rewards (...). Sparse ones are float32, in mazes float64. Others have the dtype of the goals, except that
            they are float64 if ``ignore_z_target_rotation`` is set.

        Raises
        ------
        ConfigError
            Goals are not arrays of numbers, or a shape differs from the other, or does not end with the number of
            values in a goal.
        """
        return checked_reward(self.spec, achieved_goal, desired_goal)

    def compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any = None) -> Any:
        """Return whether an episode terminates at a goal, as upstream does.

        Only the episodes of mazes with ``continuing_task=False`` terminate, when the goal is reached. Unlike upstream's
        method, this one never moves the goal.

        Parameters
        ----------
        achieved_goal, desired_goal, info
            As for `compute_reward`.

        Returns
        -------
        bool or numpy.ndarray
            A bool for two single goals, bool (...) for batches.

        Raises
        ------
        ConfigError
            As for `compute_reward`.
        """
        achieved, desired = checked_goals(self.spec, achieved_goal, desired_goal)
        ended = [self.spec.definition.ends_at(*goals, self.spec.config) for goals in rows_of(achieved, desired)]
        return ended[0] if achieved.ndim == 1 else np.array(ended, np.bool_).reshape(achieved.shape[:-1])

    def compute_truncated(self, achieved_goal: Any, desired_goal: Any, info: Any = None) -> Any:
        """Return whether an episode is truncated at a goal, as upstream does: never, since goals are no time limit.

        See `compute_terminated` for arguments, results and errors.
        """
        achieved, _ = checked_goals(self.spec, achieved_goal, desired_goal)
        return False if achieved.ndim == 1 else np.zeros(achieved.shape[:-1], np.bool_)


class GoalEnvDefinition(MujocoEnvDefinition):
    """An env definition of a goal environment.

    Attributes
    ----------
    goal_size : int
        Number of values in a goal.
    compute_reward : callable
        Returns rewards (...) of arrays of achieved and desired goals (..., goal), given the options of the task.

    Options
    -------
    xml_file : str
        The model: a name in the folder of ``gymnasium_robotics``, or a path that starts with ".", "/" or "~".
    reward_type : str
        "sparse" or "dense".
    distance_threshold : float
        Distance from the goal (m) up to which it counts as reached.
    """

    goal_size: ClassVar[int]
    compute_reward: ClassVar[staticmethod[[Array, Array, Any], Any]]

    @staticmethod
    def ends_at(achieved_goal: Array, desired_goal: Array, config: Any) -> bool:
        """Return whether an episode terminates when a goal (goal,) is desired and another one is achieved."""
        return False

    @staticmethod
    def pool_base(base: Any) -> Any:
        """Return the pool class of an API style with the methods of goal environments."""
        return type(base.__name__, (GoalPool, base), {"__doc__": base.__doc__, "__module__": base.__module__})


def compute_reward(spec: Any, achieved_goal: Any, desired_goal: Any, info: Any = None) -> Any:
    """Return the rewards of goals without a pool: ``compute_reward(envpool.make_spec("FetchPush-v4"), a, b)``.

    Parameters
    ----------
    spec : EnvSpec
        The spec of a goal environment.
    achieved_goal, desired_goal, info
        See `GoalPool.compute_reward`.

    Raises
    ------
    TypeError
        The task has no goals.
    """
    return checked_reward(spec, achieved_goal, desired_goal)


def checked_reward(spec: Any, achieved_goal: Any, desired_goal: Any) -> Any:
    """Return the rewards of goals after a check of their shapes."""
    achieved, desired = checked_goals(spec, achieved_goal, desired_goal)
    return spec.definition.compute_reward(achieved, desired, spec.config)


def checked_goals(spec: Any, achieved_goal: Any, desired_goal: Any) -> tuple[Array, Array]:
    """Return goals as arrays of floats after a check of their shapes."""
    size = getattr(spec.definition, "goal_size", None)
    if size is None:
        raise TypeError(
            f"spec must belong to a task with a desired_goal, got the spec of {spec.task_id!r}, which has no goals"
        )
    achieved, desired = as_floats("achieved_goal", achieved_goal), as_floats("desired_goal", desired_goal)
    if achieved.shape != desired.shape or achieved.shape[-1:] != (size,):
        raise ConfigError(
            f"achieved_goal and desired_goal must have equal shapes (..., {size}), got {achieved.shape} and "
            f"{desired.shape}"
        )
    return achieved, desired


def rows_of(achieved: Array, desired: Array) -> Iterator[tuple[Array, Array]]:
    """Return the pairs of single goals in two batches of goals."""
    size = achieved.shape[-1]
    return zip(achieved.reshape(-1, size), desired.reshape(-1, size), strict=True)


def as_floats(name: str, goal: Any) -> Array:
    """Return goals as an array of float32 or float64."""
    try:
        array = np.asarray(goal)
        return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name} must be an array of numbers, got {shown(goal)}: {error}") from None
