"""Pool classes: that of an environment in an API style, and the classes of a family under EnvPool's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.tasks.registry import registry

if TYPE_CHECKING:
    from envpool.config.render_options import RenderOptions
    from envpool.pools.env_pool import EnvPool
    from envpool.tasks.spec import EnvSpec

#: Endings of class names with the API style of the pool class; None stands for the EnvSpec class.
ENDINGS = {"EnvSpec": None, "DMEnvPool": "dm", "GymnasiumEnvPool": "gymnasium"}
#: Ending of EnvPool's names of environments whose observations are frames by default.
PIXEL = "Pixel"

_variants: dict[tuple[str, str], type] = {}
_with_defaults: dict[type, type] = {}
_groups: dict[tuple[str, str], GroupClass] = {}
_pool_classes: dict[tuple[type, str], type[EnvPool]] = {}


def pool_class(spec_cls: type[EnvSpec], style: str) -> type[EnvPool]:
    """Return the pool class of an environment in an API style, e.g. CartPoleGymnasiumEnvPool.

    Parameters
    ----------
    spec_cls : type
        The EnvSpec class of the environment. Each class is made once: equal arguments return the same class.
    style : {"gymnasium", "gym", "dm", "vector", "arrays"}
        Name of a module in ``envpool.pools.styles``.
    """
    from envpool.tasks.spec import new_class

    key = (spec_cls, style)
    if key not in _pool_classes:
        base: Any = spec_cls.definition.pool_base(import_module(f"envpool.pools.styles.{style}").pool_base())
        members = {"__doc__": base.__doc__, "_made_by": (pool_class, style), "_spec_cls": spec_cls}
        made: type[EnvPool] = new_class(spec_cls.env, spec_cls.env.__name__ + base._suffix, base, members)
        return _pool_classes.setdefault(key, made)  # Another thread may have been faster.
    return _pool_classes[key]


def open_pool(spec: EnvSpec, render: RenderOptions | None) -> EnvPool:
    """Return a pool of what `envpool.tasks.resolve` returns."""
    cls: type[EnvPool] = spec.pool_cls or pool_class(type(spec), spec.style)
    if spec.controlled is not None:
        from envpool.pools.opponents.opponents_pool import with_opponents

        cls = with_opponents(cls)
    return cls(spec, render)


def style_of(pool_cls: type) -> str | None:
    """Return the API style of a class that `pool_class` has made; None for every other class."""
    _, style = vars(pool_cls).get("_made_by", (None, None))
    return None if style is None else str(style)


class Group(NamedTuple):
    """Environments that are one class in EnvPool.

    Attributes
    ----------
    option : str
        EnvPool's option that chooses the environment.
    envs : mapping of str to str
        Names of the environments here by the values of the option; the first one is the default.
    defaults : mapping of str to mapping
        Defaults of options that differ, by the values of the option.
    """

    option: str
    envs: Mapping[str, str]
    defaults: Mapping[str, Mapping[str, Any]] = {}


class Variant(NamedTuple):
    """Meaning of EnvPool's name of an environment.

    Attributes
    ----------
    env : str
        Name of the environment here.
    defaults : mapping
        Defaults of its options that differ.
    """

    env: str
    defaults: Mapping[str, Any] = {}


class VariantType(type):
    """The type of the classes of a variant: their instances are also those of the environment with these options.

    Attributes
    ----------
    base : type
        The environment here.
    defaults : mapping
        The options that make it the variant.
    """

    base: type
    defaults: Mapping[str, Any]

    def __instancecheck__(cls, instance: Any) -> bool:
        """Return whether an object is a spec or a pool of the class, or one of the environment with these options."""
        if super().__instancecheck__(instance):
            return True
        spec: Any = getattr(instance, "spec", instance)
        own: Any = type(cls)  # the class itself may have attributes of these names
        if getattr(spec, "env", None) is not own.base or style_of(type(instance)) != style_of(cls):
            return False
        return all(getattr(spec.config, name) == value for name, value in own.defaults.items())


class DefaultsType(type):
    """The type of an EnvSpec class whose ``gen_config`` has EnvPool's defaults: its instances are those of its base."""

    def __call__(cls, config: Any) -> Any:
        """Return a spec of the base class."""
        return cls.__base__(config)  # type: ignore[misc]

    def __instancecheck__(cls, instance: Any) -> bool:
        """Return whether an object is a spec of the base class."""
        return isinstance(instance, cls.__base__)  # type: ignore[arg-type]

    def __subclasscheck__(cls, subclass: type) -> bool:
        """Return whether a class is the base class or derived from it."""
        return issubclass(subclass, cls.__base__)  # type: ignore[arg-type]


def classes_of(
    package: str, defaults: Callable[[], Mapping[str, Mapping[str, Any]]] = dict, /, **names: Variant | Group
) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that finds the classes of a family, and its table ``registration``.

    Parameters
    ----------
    package : str
        Name of the family's package. ``<Env>EnvSpec``, ``<Env>DMEnvPool`` and ``<Env>GymnasiumEnvPool`` can be imported
        from the package for each environment that the task table has in it. For an environment with the option
        `from_pixels`, or a group of them, ``<Env>PixelEnvSpec`` and its pools have observations of pixels by default.
    defaults : callable, optional
        Returns, by environment, the defaults of ``<Env>EnvSpec.gen_config`` where EnvPool's differ from those of the
        environment here, which are those of its newest version.
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
            if not name.endswith(ending):
                continue
            env = name.removesuffix(ending)
            if group := find_group(package, env, names):
                made = make_group(package, name, group, partial(find_named, package, names=names), style)
                return _groups.setdefault((package, name), made)
            if spec_cls := find_named(package, env, names):
                if style is not None:
                    return pool_class(spec_cls, style)
                return with_defaults(spec_cls, defaults().get(env.removesuffix(PIXEL)))
        if (name in names or name.endswith(PIXEL)) and (spec_cls := find_named(package, name, names)):
            return spec_cls.env  # for pickle, which looks the class of a variant up by its name
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


def find_group(package: str, name: str, names: Mapping[str, Variant | Group]) -> Group | None:
    """Return the group of a name, or of a name for its environments with observations of pixels; None if it has none.

    The names of such environments end in `PIXEL`.
    """
    group = names.get(name.removesuffix(PIXEL))
    if not isinstance(group, Group) or not name.endswith(PIXEL):
        return group if isinstance(group, Group) else None
    pixels = {value: env + PIXEL for value, env in group.envs.items()}
    return group._replace(envs=pixels) if find_named(package, next(iter(pixels.values())), names) else None


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
            from envpool.tasks.spec import spec_class_of

            return spec_class_of(entry)
    return None


def variant(package: str, name: str, base: Any, defaults: Mapping[str, Any]) -> Any:
    """Return the EnvSpec class of an environment under another name, with other defaults of its options."""
    from envpool.tasks.spec import spec_class

    if not defaults:
        return base
    members = {
        "options": {**base.env.options, **defaults},
        "class_type": type("VariantType", (VariantType,), {"base": base.env, "defaults": defaults}),
        "__module__": package,
        "__doc__": base.env.__doc__,
    }
    env = _variants.setdefault((package, name), type(name, (base.env,), members))
    return spec_class(env)


def with_defaults(spec_cls: Any, defaults: Mapping[str, Any] | None) -> Any:
    """Return an EnvSpec class with other defaults of ``gen_config``; the class itself if there are none."""
    from envpool.tasks.spec import config_class

    if not defaults:
        return spec_cls
    if spec_cls not in _with_defaults:
        name = spec_cls.__name__
        members = {
            "gen_config": config_class(name, spec_cls.gen_config._field_defaults | defaults),
            "__doc__": spec_cls.__doc__,
            "__module__": spec_cls.__module__,
        }
        made_by: Any = type("DefaultsType", (DefaultsType, type(spec_cls)), {})
        return _with_defaults.setdefault(spec_cls, made_by(name, (spec_cls,), members))
    return _with_defaults[spec_cls]


class GroupClass(type):
    """The type of such classes: their instances are those of the classes that they stand for."""

    styles: tuple[str | None, ...]
    package: str
    names: frozenset[str]

    def __instancecheck__(cls, instance: Any) -> bool:
        """Return whether an object is a spec of the package, or a pool of the style."""
        spec: Any = getattr(instance, "spec", instance)
        env: Any = getattr(spec, "env", None)
        if not isinstance(env, type) or not f"{env.__module__}.".startswith(f"{cls.package}."):
            return False
        is_named = env.__name__ in cls.names
        if getattr(getattr(spec, "config", None), "from_pixels", False):
            is_named = is_named or env.__name__ + PIXEL in cls.names
        return is_named and style_of(type(instance)) in cls.styles


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
        return find(group.envs[chosen]).gen_config(**{**group.defaults.get(chosen, {}), **options})

    def new_spec(cls: type, config: Any) -> Any:
        """Return the spec of a configuration of `gen_config`."""
        for env in group.envs.values():
            spec_cls = find(env)
            if isinstance(config, spec_cls.gen_config):
                return spec_cls(config)
        raise TypeError(f"config must be a configuration of gen_config of {cls.__name__}, got {shown(config)}")

    def new_pool(cls: type, spec: Any, render: Any = None) -> Any:
        """Return the pool of a spec."""
        return pool_class(type(spec), str(style))(spec, render)

    if style is None:
        members |= {"gen_config": staticmethod(gen_config), "__new__": new_spec}
    else:
        members["__new__"] = new_pool
    return GroupClass(name, (), members)
