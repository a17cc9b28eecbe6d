"""The shared Python side of the env definitions of dm_control's suite: models and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from envpool.config.checks import check_choice
from envpool.mujoco.base.env_definition import OPTIONS, MujocoEnvDefinition
from envpool.mujoco.base.model import Model, load_text
from envpool.mujoco.dmc.suite import load

#: The models in use, by the arguments of `load_model`. Compiling a model takes up to a second, and a spec and its pool
#: need the same one.
_models: WeakValueDictionary[tuple[Any, ...], Model] = WeakValueDictionary()


def load_model(domain: str, *args: Any, function: str = "get_model_and_assets", **kwargs: Any) -> Model:
    """Return the compiled model of a domain; while a model is in use, equal arguments return the same object.

    Parameters
    ----------
    domain : str
        Name of a module of ``dm_control.suite``.
    *args, **kwargs
        Arguments of the function, which must be hashable.
    function : str
        Name of the function of the module that returns the XML, either alone or with the files that the XML names.

    Returns
    -------
    Model
        The compiled model.

    Raises
    ------
    ImportError
        dm_control cannot be imported. The text gives the command that installs it.
    """
    key = domain, function, args, tuple(sorted(kwargs.items()))
    if model := _models.get(key):
        return model
    module = load(f"dm_control.suite.{domain}")
    result = getattr(module, function)(*args, **kwargs)
    xml, assets = result if isinstance(result, tuple) else (result, module.common.ASSETS)
    text = xml.decode() if isinstance(xml, bytes) else xml
    model = load_text(text, assets, f"dm_control's model of {domain}")
    _models[key] = model
    return model


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
    continues_after_end = False  # Upstream resets the environment instead.
    refuses_nan = False  # The step fails with upstream's PhysicsError.

    @staticmethod
    def max_seed(config: Any) -> int:
        """Return the largest seed of a RandomState."""
        return 2**32 - 1

    @classmethod
    def build(cls, config: Any) -> Any:
        """Return the capsule of a task of the domain, or raise a ConfigError that lists the tasks."""
        check_choice("task_name", config.task_name, cls.tasks)
        return cls.define(config, cls.tasks[config.task_name])

    @staticmethod
    def define(config: Any, task: Any) -> Any:
        """Return the capsule of one task, which the value of `tasks` describes."""
        raise NotImplementedError("a domain must implement define(config, task)")
