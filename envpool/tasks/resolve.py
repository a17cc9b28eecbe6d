"""From a task id and options to a validated spec and render options: each option is checked once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from envpool._core.definition import describe, upgrade_capsule
from envpool._support.text import shown
from envpool._support.window import check_windows
from envpool.config.checks import check_range, convert
from envpool.config.render_options import RENDER_DEFAULTS, RenderOptions, check_render_options
from envpool.errors import ConfigError
from envpool.tasks.entries import TaskEntry
from envpool.tasks.presets import with_preset
from envpool.tasks.registry import registry
from envpool.tasks.spec import EnvSpec, check_names, spec_class_of

ENV_TYPES = ("dm", "gym", "gymnasium")
GYM_APIS = ("auto", "gymnasium", "legacy")


def spec_for(task_id: str, options: Mapping[str, Any]) -> EnvSpec:
    """Return the EnvSpec of a task; see `envpool.make_spec`."""
    entry = registry.find(task_id)
    chosen = with_preset_of(entry, options)
    spec = spec_of(entry, chosen)
    check_render_options(task_id, chosen)
    return spec


def resolve(task_id: str, env_type: str, options: Mapping[str, Any]) -> tuple[EnvSpec, RenderOptions | None]:
    """Return the spec and the render options of the pool that ``make`` creates.

    Parameters
    ----------
    task_id : str
        Id of the task, one of ``list_all_envs()``.
    env_type : {"gymnasium", "gym", "dm"}
        API style.
    options : mapping of str to object
        The options of ``make``.

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
    return resolve_entry(registry.find(task_id), env_type, options)


def resolve_entry(entry: TaskEntry, env_type: str, options: Mapping[str, Any]) -> tuple[EnvSpec, RenderOptions | None]:
    """Return what `resolve` returns, for a row that need not be in the task table."""
    if not isinstance(env_type, str) or env_type not in ENV_TYPES:
        raise ConfigError(f"env_type should be one of 'dm', 'gym', or 'gymnasium', got {shown(env_type)}")
    options = with_preset_of(entry, options)
    gym_api = options.get("gym_api", "auto")
    is_legacy = wants_legacy_gym(env_type, gym_api)
    if is_legacy:
        options = {"gym_reset_return_info": False} | dict(options)
    elif not options.get("gym_reset_return_info", True):
        raise ConfigError(
            "gym_reset_return_info=False is only available with gym_api='legacy'; without it, reset() always "
            "returns (obs, info)"
        )
    spec = spec_of(entry, options)
    spec.style = "gym" if is_legacy else "dm" if env_type == "dm" else "gymnasium"
    spec.follows_gym = env_type == "gym" and gym_api != "gymnasium"
    if entry.env is None and not is_legacy:
        name = str(entry.dm_cls if env_type == "dm" else entry.gymnasium_cls)
        spec.pool_cls = getattr(import_module(entry.import_path), name)
    return spec, make_render_options(spec, options)


def with_preset_of(entry: TaskEntry, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with those of the preset that they name, see `envpool.tasks.presets`."""
    definition = getattr(spec_class_of(entry), "definition", None)
    return with_preset(entry.task_id, getattr(definition, "presets", {}), options)


def spec_of(entry: TaskEntry, options: Mapping[str, Any]) -> EnvSpec:
    """Return the spec of a task.

    Options of the pool do not go into the spec, unless the environment has an option of the same name and the value
    is not None.
    """
    task_id, spec_cls = entry.task_id, spec_class_of(entry)
    own_names = spec_cls.gen_config._fields
    pool_names = ("render_mode", *RENDER_DEFAULTS, "from_pixels", "gym_api")
    from_pixels = options.get("from_pixels")
    if "from_pixels" not in own_names and from_pixels is not None and convert("from_pixels", from_pixels, False):
        raise ConfigError(f"from_pixels=True is only available for MuJoCo tasks; {task_id!r} is not one")
    config = {k: v for k, v in options.items() if k not in pool_names or (k in own_names and v is not None)}
    check_names(config, own_names, f"task {task_id!r}")
    spec: EnvSpec = spec_cls(spec_cls.gen_config(**(entry.config | config)))
    spec.entry = entry
    return spec


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
    values = check_render_options(str(spec.task_id), options)
    mode = values["render_mode"]
    if mode is None:
        return None
    if spec.frame_size is None:
        raise ConfigError(f"render_mode is {shown(mode)}, but {spec.task_id} has no renderer: leave render_mode out")
    check_range("render_env_id", values["render_env_id"], 0, spec.config.num_envs - 1)
    if mode == "human":
        check_windows()
    height, width, capsule, size = values["render_height"], values["render_width"], spec.capsule, spec.frame_size
    built = spec.definition.build_for_rendering(spec.common_config, height, width)
    if built is not None:
        capsule = spec.transforms.wrap(upgrade_capsule(built))
        size = describe(capsule).frame_size or size
    height, width = height or size[0], width or size[1]
    assets = spec.definition.render_assets(spec.common_config, height, width)
    return RenderOptions(mode, values["render_env_id"], height, width, values["render_camera_id"], assets, capsule)


def wants_legacy_gym(env_type: str, gym_api: str) -> bool:
    """Return whether a pool returns what gym before 0.26 does: by option, or because such a gym is loaded."""
    if not isinstance(gym_api, str) or gym_api not in GYM_APIS:
        raise ConfigError(f"gym_api must be one of 'auto', 'gymnasium', or 'legacy', got {shown(gym_api)}")
    if env_type != "gym":
        if gym_api == "legacy":
            raise ConfigError(f"gym_api='legacy' needs env_type='gym', got env_type={shown(env_type)}")
        return False
    if gym_api != "auto":
        return gym_api == "legacy"
    version = getattr(sys.modules.get("gym"), "__version__", None)
    return version is not None and tuple(int(v) for v in version.split(".")[:2]) < (0, 26)
