"""Classes of a family under EnvPool's names, e.g. ``from envpool.classic_control import CartPoleEnvSpec``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Ending of a class name to the API style of the pool; None is the EnvSpec class.
ENDINGS = {"EnvSpec": None, "DMEnvPool": "dm", "GymnasiumEnvPool": "gymnasium"}


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
