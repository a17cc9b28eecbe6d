"""The models of dm_control's suite, from the installed package."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

from envpool.errors import ConfigError
from envpool.mujoco.base.model import Model, import_with_bindings, load_text

#: Models in use by their arguments. Compiling one takes up to a second, and a spec and its pool need the same.
_models: WeakValueDictionary[tuple[Any, ...], Model] = WeakValueDictionary()


def check_task(config: Any, tasks: Sequence[str]) -> str:
    """Return ``config.task_name``, or raise ConfigError if it is none of the domain's tasks."""
    if config.task_name not in tasks:
        raise ConfigError(f"task_name is {config.task_name!r}, allowed are {', '.join(map(repr, tasks))}")
    return str(config.task_name)


def load_model(domain: str, *args: Any, function: str = "get_model_and_assets", **kwargs: Any) -> Model:
    """Return the compiled model of a domain, the same one while it is in use.

    Parameters
    ----------
    domain : str
        Module of ``dm_control.suite``.
    *args, **kwargs
        For its function; hashable.
    function : str
        What makes the XML, with or without the files that it names.

    Returns
    -------
    Model

    Raises
    ------
    ImportError
        dm_control cannot be imported; the text has the command that installs it.
    """
    key = domain, function, args, tuple(sorted(kwargs.items()))
    if model := _models.get(key):
        return model
    with warnings.catch_warnings():  # of windows that dm_control would open
        warnings.simplefilter("ignore")
        try:
            module = import_with_bindings(f"dm_control.suite.{domain}")
        except ImportError as error:
            raise ImportError(
                f"the models of dm_control's tasks come from dm_control, which cannot be imported ({error}): "
                "pip install 'envpool[dmc]'"
            ) from error
        made = getattr(module, function)(*args, **kwargs)
        xml, assets = made if isinstance(made, tuple) else (made, module.common.ASSETS)
        text = xml.decode() if isinstance(xml, bytes) else xml
        model = load_text(text, assets, f"dm_control's model of {domain}")
    _models[key] = model
    return model
