"""The models of dm_control's suite."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

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
