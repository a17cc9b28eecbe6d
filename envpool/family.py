"""The classes of a family under EnvPool's names, such as ``envpool.classic_control.CartPoleEnvSpec``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from envpool.family_groups import Group, GroupClass, make_group
from envpool.registration import pool_class
from envpool.registry import registry

#: Endings of class names with the API style of the pool class; None stands for the EnvSpec class.
ENDINGS = {"EnvSpec": None, "DMEnvPool": "dm", "GymnasiumEnvPool": "gymnasium"}
#: Ending of EnvPool's names of environments whose observations are frames by default.
PIXEL = "Pixel"

_variants: dict[tuple[str, str], type] = {}
_groups: dict[tuple[str, str], GroupClass] = {}


class Variant(NamedTuple):
    """What EnvPool's name of an environment stands for.

    Attributes
    ----------
    env : str
        Name of the environment here.
    defaults : mapping
        Defaults of its options that differ.
    """

    env: str
    defaults: Mapping[str, Any] = {}


def classes_of(package: str, **names: Variant | Group) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that finds the classes of a family, and its table ``registration``.

    Parameters
    ----------
    package : str
        Name of the family's package. ``<Env>EnvSpec``, ``<Env>DMEnvPool`` and ``<Env>GymnasiumEnvPool`` can be imported
        from the package for each environment that the task table has in it. For an environment with the option
        `from_pixels`, ``<Env>PixelEnvSpec`` and its pools have observations of pixels by default.
    **names : Variant or Group
        Environments, or groups of them, by names that only EnvPool has.

    Returns
    -------
    callable
        The value of ``__getattr__`` in the package's ``__init__.py``.
    """

    def find(name: str) -> Any:
        if name == "registration":
            return import_module(f"{package}.registration")
        for ending, style in ENDINGS.items():
            group = names.get(name.removesuffix(ending)) if name.endswith(ending) else None
            if isinstance(group, Group):
                made = make_group(package, name, group, partial(find_spec_class, package), style)
                return _groups.setdefault((package, name), made)
            if name.endswith(ending) and (spec_cls := find_named(package, name.removesuffix(ending), names)):
                return spec_cls if style is None else pool_class(spec_cls, style)
        if (name in names or name.endswith(PIXEL)) and (spec_cls := find_named(package, name, names)):
            return spec_cls.env  # for pickle, which looks the class of a variant up by its name
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def find_named(package: str, name: str, names: Mapping[str, Variant | Group]) -> Any:
    """Return the EnvSpec class of an environment under its name here or EnvPool's, None if the package has none."""
    other = names.get(name)
    if isinstance(other, Group):
        return None
    if other is not None:
        return variant(package, name, find_spec_class(package, other.env), other.defaults)
    if spec_cls := find_spec_class(package, name):
        return spec_cls
    if name.endswith(PIXEL) and (base := find_named(package, name.removesuffix(PIXEL), names)):
        return variant(package, name, base, {"from_pixels": True}) if "from_pixels" in base.env.options else None
    return None


def find_spec_class(package: str, env: str) -> Any:
    """Return the EnvSpec class of an environment in a package, None if the package has no environment of this name."""
    for entry in list(registry.tasks.values()):
        if entry.env == env and entry.import_path.startswith(package + "."):
            return registry.spec_class(entry)
    return None


def variant(package: str, name: str, base: Any, defaults: Mapping[str, Any]) -> Any:
    """Return the EnvSpec class of an environment under another name, with other defaults of its options."""
    from envpool.spec import spec_class

    if not defaults:
        return base
    members = {"options": {**base.env.options, **defaults}, "__module__": package, "__doc__": base.env.__doc__}
    env = _variants.setdefault((package, name), type(name, (base.env,), members))
    return spec_class(env)
