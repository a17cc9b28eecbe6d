"""What families share: compiled modules that may be missing, and classes under EnvPool's names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

#: Ending of a class name to the API style of the pool; None is the EnvSpec class.
ENDINGS = {"EnvSpec": None, "DMEnvPool": "dm", "GymnasiumEnvPool": "gymnasium"}


def load_compiled(module: str, way_out: str = "") -> ModuleType:
    """Import a module of this package that may be missing, because what it is built of was not to be had.

    Parameters
    ----------
    module : str
        Its full name.
    way_out : str
        What to do before it is built again, a sentence.

    Raises
    ------
    ImportError
        It is not there; the text says how to get it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module or not module.startswith("envpool."):
            raise
        text = f"{module} is not in this build of envpool: what it is made of was not to be had, or did not compile. "
        again = "`pip install -v --no-binary envpool envpool` builds it again and says what is missing"
        raise ImportError(f"{text}{way_out and way_out + ' '}{again}") from error


def classes_of(package: str) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that finds the classes of a family.

    Parameters
    ----------
    package : str
        Name of the family's package. For each kind of env that the task table has in it, ``<Env>EnvSpec``,
        ``<Env>DMEnvPool`` and ``<Env>GymnasiumEnvPool`` can be imported from there.

    Returns
    -------
    callable
        To be assigned to ``__getattr__``.
    """

    def find(name: str) -> Any:
        for ending, style in ENDINGS.items():
            if name.endswith(ending) and (spec_cls := find_spec_class(package, name.removesuffix(ending))):
                if style is None:
                    return spec_cls
                from envpool.pool import pool_class

                return pool_class(spec_cls, style)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def find_spec_class(package: str, env: str) -> Any:
    """Return the EnvSpec class of the kind of env with this name in a package, None if it has none."""
    from envpool.registration import registry

    for task in registry.tasks.values():
        if task.env == env and task.import_path.startswith(package + "."):
            return registry.spec_class(task)
    return None
