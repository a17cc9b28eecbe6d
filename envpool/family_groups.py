"""Classes of EnvPool that stand for several environments here, one of which an option of theirs chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from envpool.error_texts import shown
from envpool.errors import ConfigError
from envpool.registration import pool_class, style_of


class Group(NamedTuple):
    """Environments that are one class in EnvPool.

    Attributes
    ----------
    option : str
        EnvPool's option that chooses the environment.
    envs : mapping of str to str
        Names of the environments here by the values of the option; the first one is the default.
    """

    option: str
    envs: Mapping[str, str]


class GroupClass(type):
    """The type of such classes: their instances are those of the classes that they stand for."""

    styles: tuple[str | None, ...]
    package: str
    names: frozenset[str]

    def __instancecheck__(cls, instance: Any) -> bool:
        """Return whether an object is a spec of the package, or a pool of the style."""
        env: Any = getattr(getattr(instance, "spec", instance), "env", None)
        if not isinstance(env, type) or env.__name__ not in cls.names:
            return False
        return env.__module__.startswith(f"{cls.package}.") and style_of(type(instance)) in cls.styles


def make_group(package: str, name: str, group: Group, find: Any, style: str | None) -> GroupClass:
    """Return the EnvSpec class of a group, or its pool class in a style.

    Parameters
    ----------
    package : str
        Name of the family's package.
    name : str
        Name of the class.
    group : Group
        The group.
    find : callable
        Returns the EnvSpec class of an environment in the package.
    style : str or None
        API style of the pool class; None for the EnvSpec class.
    """
    members: dict[str, Any] = {"package": package, "styles": (style,), "names": frozenset(group.envs.values())}

    def gen_config(**options: Any) -> Any:
        """Return the configuration of the environment that the option chooses."""
        chosen = options.pop(group.option, next(iter(group.envs)))
        if chosen not in group.envs:
            raise ConfigError(f"{group.option} must be one of {', '.join(group.envs)}, got {shown(chosen)}")
        return find(group.envs[chosen]).gen_config(**options)

    def new_spec(cls: type, config: Any) -> Any:
        """Return the spec of a configuration of `gen_config`."""
        for env in group.envs.values():
            spec_cls = find(env)
            if isinstance(config, spec_cls.gen_config):
                return spec_cls(config)
        raise TypeError(f"{cls.__name__} needs a configuration of its gen_config, got {shown(config)}")

    def new_pool(cls: type, spec: Any, render: Any = None) -> Any:
        """Return the pool of a spec."""
        return pool_class(type(spec), str(style))(spec, render)

    if style is None:
        members |= {"gen_config": staticmethod(gen_config), "__new__": new_spec}
    else:
        members["__new__"] = new_pool
    return GroupClass(name, (), members)
