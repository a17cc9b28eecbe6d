"""What the env definitions of dm_control's suite share on the Python side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.mujoco.base.env_definition import OPTIONS, MujocoEnvDefinition


def suite_tasks(frame_skip: int, **tasks: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return ``options`` and ``tasks`` of a domain.

    Parameters
    ----------
    frame_skip : int
        Default of the option ``frame_skip``: upstream's number of physics steps in a control step.
    **tasks
        The names of the tasks, each with what distinguishes the task from the others. The first one is the default of
        the option ``task_name``.
    """
    return OPTIONS | {"frame_skip": frame_skip, "task_name": next(iter(tasks))}, tasks


class SuiteEnvDefinition(MujocoEnvDefinition):
    """A domain of the suite.

    Attributes
    ----------
    tasks : mapping of str to object
        The tasks of the domain, see `suite_tasks`.

    Options
    -------
    task_name : str
        Name of the task in its domain.
    """

    tasks: ClassVar[Mapping[str, Any]]
    goes_on = False  # Upstream resets the environment instead.
    refuses_nan = False  # The step fails with upstream's PhysicsError.

    @staticmethod
    def max_seed(config: Any) -> int:
        """Return the largest seed of a RandomState."""
        return 2**32 - 1

    @classmethod
    def build(cls, config: Any) -> Any:
        """Return the capsule of a task of the domain, or raise a ConfigError that lists the tasks."""
        if config.task_name not in cls.tasks:
            raise ConfigError(
                f"task_name must be one of {', '.join(map(repr, cls.tasks))}, got {shown(config.task_name)}"
            )
        return cls.define(config, cls.tasks[config.task_name])

    @staticmethod
    def define(config: Any, task: Any) -> Any:
        """Return the capsule of one task, which the value of `tasks` describes."""
        raise NotImplementedError("a domain must implement define(config, task)")
