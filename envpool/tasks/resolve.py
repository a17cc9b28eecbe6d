"""From a task id and options to a validated spec and render options: each option is checked once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from envpool._core.definition import describe, upgrade_capsule
from envpool._support.text import shown
from envpool._support.window import check_windows
from envpool.config.checks import check_range, flag
from envpool.config.options import GYM_OPTIONS, OPPONENT_OPTIONS, PRESET_OPTIONS, RENDER_OPTIONS, canonical, checked
from envpool.config.render_options import TRACK, RenderOptions
from envpool.errors import ConfigError
from envpool.tasks.entries import TaskEntry
from envpool.tasks.presets import with_preset
from envpool.tasks.registry import registry
from envpool.tasks.spec import EnvSpec, check_names, spec_class_of

ENV_TYPES = ("dm", "gym", "gymnasium")
#: Options of the pool that are not part of the configuration of a task.
OPTIONS_OF_POOL = RENDER_OPTIONS | GYM_OPTIONS | OPPONENT_OPTIONS


def spec_for(task: str | EnvSpec, options: Mapping[str, Any]) -> EnvSpec:
    """Return the EnvSpec of a task; see `envpool.make_spec`."""
    spec_cls, entry, given = request(task, options)
    spec = spec_of(spec_cls, entry, given)
    render_values(spec, given)
    checked(given, GYM_OPTIONS)
    return spec


def resolve(task: str | EnvSpec, env_type: str, options: Mapping[str, Any]) -> tuple[EnvSpec, RenderOptions | None]:
    """Return the spec and the render options of the pool that ``make`` creates.

    Parameters
    ----------
    task : str or EnvSpec
        Id of the task, one of ``list_all_envs()``, or a spec of the task.
    env_type : {"gymnasium", "gym", "dm"}
        API style.
    options : mapping of str to object
        The options of ``make``; with a spec, they override its own.

    Returns
    -------
    spec : EnvSpec
        The validated configuration. ``spec.style`` names the API style of the pool's results.
    render : RenderOptions or None
        None if the pool has no render mode.

    Raises
    ------
    UnknownTaskError, TypeError, ConfigError, ImportError
        See ``make``.
    """
    return resolve_request(*request(task, options), env_type)


def resolve_entry(entry: TaskEntry, env_type: str, options: Mapping[str, Any]) -> tuple[EnvSpec, RenderOptions | None]:
    """Return what `resolve` returns, for a row that need not be in the task table."""
    spec_cls = spec_class_of(entry)
    return resolve_request(spec_cls, entry, given_options(spec_cls, entry, options), env_type)


def resolve_request(
    spec_cls: Any, entry: TaskEntry | None, options: dict[str, Any], env_type: str
) -> tuple[EnvSpec, RenderOptions | None]:
    """Return what `resolve` returns, for what `request` returns."""
    if not isinstance(env_type, str) or env_type not in ENV_TYPES:
        raise ConfigError(f"env_type must be one of 'dm', 'gym', 'gymnasium', got {shown(env_type)}")
    gym_api = checked(options, GYM_OPTIONS)["gym_api"]
    is_legacy = wants_legacy_gym(env_type, gym_api)
    if is_legacy:
        options = {"gym_reset_return_info": False} | options
    elif not flag("gym_reset_return_info", options.get("gym_reset_return_info", True)):
        raise ConfigError(
            "gym_reset_return_info=False is only available with gym_api='legacy': leave it out, or use "
            "envpool.make_gym with gym_api='legacy'"
        )
    spec = spec_of(spec_cls, entry, options)
    spec.style = "gym" if is_legacy else "dm" if env_type == "dm" else "gymnasium"
    spec.follows_gym = env_type == "gym" and gym_api != "gymnasium"
    if entry is not None and entry.env is None and not is_legacy:
        name = str(entry.dm_cls if env_type == "dm" else entry.gymnasium_cls)
        spec.pool_cls = getattr(import_module(entry.import_path), name)
    return spec, make_render_options(spec, options)


def request(task: str | EnvSpec, options: Mapping[str, Any]) -> tuple[Any, TaskEntry | None, dict[str, Any]]:
    """Return the EnvSpec class of a task or a spec, its row of the task table, and the options of ``make``.

    A row is None for a spec that was made from its class.
    """
    if not isinstance(task, EnvSpec):
        entry = registry.find(task)
        spec_cls = spec_class_of(entry)
        return spec_cls, entry, given_options(spec_cls, entry, options)
    given = given_options(type(task), task.entry, options)
    own = task.given_options()
    if given.keys() & {"seed", "env_seed"}:
        own = {name: value for name, value in own.items() if name not in ("seed", "env_seed")}
    return type(task), task.entry, own | given


def given_options(spec_cls: Any, entry: TaskEntry | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by their names in the configuration of a task, with those of the preset that they name."""
    known = {*spec_cls.gen_config._fields, *OPTIONS_OF_POOL, *PRESET_OPTIONS}
    presets = getattr(getattr(spec_cls, "definition", None), "presets", {})
    presets = {name: canonical(values, known) for name, values in presets.items()}
    return with_preset(name_of(spec_cls, entry), presets, canonical(options, known))


def name_of(spec_cls: Any, entry: TaskEntry | None) -> str:
    """Return the id of a task for error texts, or the name of the class of its spec if it has no id."""
    return spec_cls.__name__ if entry is None else entry.task_id


def spec_of(spec_cls: Any, entry: TaskEntry | None, options: Mapping[str, Any]) -> EnvSpec:
    """Return the spec of a task.

    Options of the pool do not go into the configuration, unless the environment has an option of the same name and the
    value is not None.
    """
    name, own_names = name_of(spec_cls, entry), spec_cls.gen_config._fields
    given = options.get("from_pixels")
    from_pixels = given is not None and flag("from_pixels", given)
    if from_pixels and "from_pixels" not in own_names:
        raise ConfigError(f"from_pixels=True is only available for MuJoCo tasks; {name!r} is not one")
    pool_names = (*OPTIONS_OF_POOL, "from_pixels")
    config = {k: v for k, v in options.items() if k not in pool_names or (k in own_names and v is not None)}
    camera = config.get("render_camera_id")
    if isinstance(camera, str) and camera == TRACK:
        if from_pixels:
            raise ConfigError(
                f"render_camera_id must be a number with from_pixels=True, got {TRACK!r}: the attribute "
                f"tracking_camera of make_spec({name!r}) is the number of this camera"
            )
        del config["render_camera_id"]
    check_names(config, own_names, f"task {name!r}")
    defaults = {} if entry is None else canonical(entry.config, own_names)
    check_names(defaults, own_names, f"the environment registered as {name!r}")
    spec: EnvSpec = spec_cls(spec_cls.gen_config(**(defaults | config)))
    spec.entry = entry
    chosen = {k: v for k, v in options.items() if k in OPTIONS_OF_POOL and k not in config and v is not None}
    opponents = {k: OPPONENT_OPTIONS[k].check(k, v) for k, v in chosen.items() if k in OPPONENT_OPTIONS}
    spec._set_pool_options(chosen | opponents)
    return spec


def render_values(spec: EnvSpec, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rendering options among those of ``make`` with their values, or raise ConfigError or TypeError."""
    values = checked(options, RENDER_OPTIONS)
    check_range("render_env_id", values["render_env_id"], 0, spec.config.num_envs - 1)
    return values


def make_render_options(spec: EnvSpec, options: Mapping[str, Any]) -> RenderOptions | None:
    """Return the render options of a pool.

    Parameters
    ----------
    spec : EnvSpec
        Task and configuration of the pool.
    options : mapping of str to object
        All options of ``make``; those that do not concern rendering are ignored.

    Returns
    -------
    RenderOptions or None
        None if there is no render mode.

    Raises
    ------
    ConfigError
        The task has no renderer, or a value is not allowed.
    TypeError
        A value has a wrong type.
    ImportError
        A package is missing that the render mode or the task's renderer needs.
    """
    values = render_values(spec, options)
    mode = values["render_mode"]
    if mode is None:
        return None
    if spec.frame_size is None:
        raise ConfigError(f"render_mode must be None, since {spec.task_id} has no renderer, got {shown(mode)}")
    if mode == "human":
        check_windows()
    height, width, capsule, size = values["render_height"], values["render_width"], spec.capsule, spec.frame_size
    built = spec.definition.build_for_rendering(spec.common_config, height, width)
    if built is not None:
        capsule = spec.transforms.wrap(upgrade_capsule(built))
        size = describe(capsule).frame_size or size
    height, width = height or size[0], width or size[1]
    camera = values["render_camera_id"]
    camera = spec.tracking_camera if camera == TRACK else camera
    assets = spec.definition.render_assets(spec.common_config, height, width)
    return RenderOptions(mode, values["render_env_id"], height, width, camera, assets, capsule)


def wants_legacy_gym(env_type: str, gym_api: str) -> bool:
    """Return whether a pool returns what gym before 0.26 does: by option, or because such a gym is loaded."""
    if env_type != "gym":
        if gym_api == "legacy":
            raise ConfigError(f"env_type must be 'gym' with gym_api='legacy', got {shown(env_type)}")
        return False
    if gym_api != "auto":
        return gym_api == "legacy"
    version = getattr(sys.modules.get("gym"), "__version__", None)
    return version is not None and tuple(int(v) for v in version.split(".")[:2]) < (0, 26)
