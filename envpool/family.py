"""The classes of a family under EnvPool's names, such as ``envpool.classic_control.CartPoleEnvSpec``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from envpool.registration import pool_class
from envpool.registry import registry

#: Endings of class names with the API style of the pool class; None stands for the EnvSpec class.
ENDINGS = {"EnvSpec": None, "DMEnvPool": "dm", "GymnasiumEnvPool": "gymnasium"}


def classes_of(package: str) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that finds the classes of a family.

    Parameters
    ----------
    package : str
        Name of the family's package. ``<Env>EnvSpec``, ``<Env>DMEnvPool`` and ``<Env>GymnasiumEnvPool`` can be imported
        from the package for each environment that the task table has in it.

    Returns
    -------
    callable
        The value of ``__getattr__`` in the package's ``__init__.py``.
    """

    def find(name: str) -> Any:
        for ending, style in ENDINGS.items():
            if name.endswith(ending) and (spec_cls := find_spec_class(package, name.removesuffix(ending))):
                return spec_cls if style is None else pool_class(spec_cls, style)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def find_spec_class(package: str, env: str) -> Any:
    """Return the EnvSpec class of an environment in a package, None if the package has no environment of this name."""
    for entry in list(registry.tasks.values()):
        if entry.env == env and entry.import_path.startswith(package + "."):
            return registry.spec_class(entry)
    return None
