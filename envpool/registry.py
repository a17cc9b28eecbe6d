"""The task table: what each task id stands for, and how an id and its options become a validated spec.

The table holds data only: a family is imported when the first of its tasks is made. The registry knows neither pools
nor API styles; `envpool.registration` makes pools of what it returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from envpool.error_texts import shown
from envpool.errors import ConfigError, UnknownTaskError
from envpool.extensions import load_compiled
from envpool.plugins import load_plugins
from envpool.suggestions import similar_tasks

if TYPE_CHECKING:
    from envpool.render_options import RenderOptions
    from envpool.spec import EnvSpec
    from envpool.task_options import Options

ENV_TYPES = ("dm", "gym", "gymnasium")
GYM_APIS = ("auto", "gymnasium", "legacy")


@dataclass(frozen=True)
class TaskEntry:
    """One row of the task table; `EnvRegistry.register` describes the fields."""

    task_id: str
    import_path: str
    env: str | None
    spec_cls: str | None
    dm_cls: str | None
    gymnasium_cls: str | None
    config: dict[str, Any]


class EnvRegistry:
    """All tasks by id."""

    def __init__(self) -> None:
        self._tasks: dict[str, TaskEntry] = {}
        self._are_families_loaded = False
        self._listeners: list[Callable[[Sequence[str]], None]] = []

    @property
    def tasks(self) -> dict[str, TaskEntry]:
        """Tasks by id, in registration order; the tables of the families in this package come first."""
        if not self._are_families_loaded:
            self._are_families_loaded = True
            added, self._tasks = self._tasks, {}
            root = Path(__file__).parent
            for table in sorted(root.rglob("*/registration.py")):
                package = ".".join(("envpool", *table.relative_to(root).parent.parts))
                # A table that was imported before has already added its tasks.
                self._tasks |= {i: entry for i, entry in added.items() if entry.import_path.startswith(f"{package}.")}
                import_module(f"{package}.registration")
            self._tasks |= added
        return self._tasks

    def register(
        self,
        task_id: str,
        import_path: str,
        spec_cls: str | None = None,
        dm_cls: str | None = None,
        gymnasium_cls: str | None = None,
        aliases: Sequence[str] = (),
        *,
        env: str | None = None,
        **config: Any,
    ) -> None:
        """Register a task.

        Parameters
        ----------
        task_id : str
            Id of the task, e.g. ``"CartPole-v1"``.
        import_path : str
            Module that defines the environment. It is imported when the task is first made.
        spec_cls, dm_cls, gymnasium_cls : str, optional
            Names of ready-made spec and pool classes in that module, as EnvPool's families register them. They are not
            needed if `env` is given.
        aliases : sequence of str
            Further ids of the same task.
        env : str, optional
            Name of the environment's class in that module, see ``envpool.native.EnvDefinition``.
        **config
            Defaults of this task's options; they replace the defaults of the environment.

        Raises
        ------
        ConfigError
            The id is already registered, or neither `env` nor all three classes are given.
        """
        if env is None and not (spec_cls and dm_cls and gymnasium_cls):
            raise ConfigError(f"task {task_id!r} needs env=..., or all of spec_cls, dm_cls and gymnasium_cls")
        ids = (task_id, *aliases)
        for name in ids:
            if name in self._tasks:
                raise ConfigError(f"task {name!r} is already registered (in {self._tasks[name].import_path})")
        for name in ids:
            self._tasks[name] = TaskEntry(name, import_path, env, spec_cls, dm_cls, gymnasium_cls, dict(config))
        for listener in self._listeners:
            listener(ids)

    def on_register(self, listener: Callable[[Sequence[str]], None]) -> None:
        """Call a function whenever a task is registered, with a sequence of the task's id and its aliases."""
        self._listeners.append(listener)

    def list_all_envs(self) -> list[str]:
        """Return all task ids in registration order, aliases included; tasks of other packages are loaded first."""
        load_plugins()
        return list(self.tasks)

    def find(self, task_id: str) -> TaskEntry:
        """Return the entry of a task id, or raise UnknownTaskError with the most similar ids."""
        entry = self.tasks.get(task_id)
        if entry is None:
            load_plugins()
            entry = self.tasks.get(task_id)
        if entry is None:
            near = similar_tasks(str(task_id), self.tasks)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise UnknownTaskError(f"{task_id} is not supported, {hint}`envpool.list_all_envs()` may help.")
        return entry

    def spec_class(self, entry: TaskEntry) -> Any:
        """Return the EnvSpec class of a task, or raise ImportError if the task's module is missing."""
        from envpool.spec import spec_class

        module = load_compiled(entry.import_path)
        if entry.env is None:
            return getattr(module, str(entry.spec_cls))
        return spec_class(getattr(module, entry.env))

    def make_spec(self, task_id: str, **options: Unpack[Options]) -> EnvSpec:
        """Return the EnvSpec of a task.

        Parameters
        ----------
        task_id : str
            Id of the task, one of ``list_all_envs()``.
        **options
            Configuration of the task. ``seed`` is one int for all environments, or a sequence of num_envs ints.
            ``preset`` names a set of options, see `envpool.presets`; options beside it take precedence.

        Raises
        ------
        UnknownTaskError
            There is no such task (also an AssertionError and a KeyError).
        TypeError
            An option does not exist, or its value has a wrong type.
        ConfigError
            A value is not allowed (also an AssertionError and a ValueError).
        """
        from envpool.render_options import check_render_options

        entry = self.find(task_id)
        chosen = self._with_preset(entry, options)
        spec = self._make_spec(entry, chosen)
        check_render_options(task_id, chosen)
        return spec

    def resolve(self, task_id: str, env_type: str, options: Mapping[str, Any]) -> tuple[EnvSpec, RenderOptions | None]:
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
        return self.resolve_entry(self.find(task_id), env_type, options)

    def resolve_entry(
        self, entry: TaskEntry, env_type: str, options: Mapping[str, Any]
    ) -> tuple[EnvSpec, RenderOptions | None]:
        """Return what `resolve` returns, for a row that need not be in the task table."""
        if not isinstance(env_type, str) or env_type not in ENV_TYPES:
            raise ConfigError(f"env_type should be one of 'dm', 'gym', or 'gymnasium', got {shown(env_type)}")
        options = self._with_preset(entry, options)
        gym_api = options.get("gym_api", "auto")
        is_legacy = wants_legacy_gym(env_type, gym_api)
        if is_legacy:
            options = {"gym_reset_return_info": False} | dict(options)
        elif not options.get("gym_reset_return_info", True):
            raise ConfigError(
                "gym_reset_return_info=False is only available with gym_api='legacy'; without it, reset() always "
                "returns (obs, info)"
            )
        spec = self._make_spec(entry, options)
        spec.style = "gym" if is_legacy else "dm" if env_type == "dm" else "gymnasium"
        spec.follows_gym = env_type == "gym" and gym_api != "gymnasium"
        if entry.env is None and not is_legacy:
            name = str(entry.dm_cls if env_type == "dm" else entry.gymnasium_cls)
            spec.pool_cls = getattr(import_module(entry.import_path), name)
        from envpool.render_options import make_render_options

        return spec, make_render_options(spec, options)

    def _with_preset(self, entry: TaskEntry, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with those of the preset that they name, see `envpool.presets`."""
        from envpool.presets import with_preset

        definition = getattr(self.spec_class(entry), "definition", None)
        return with_preset(entry.task_id, getattr(definition, "presets", {}), options)

    def _make_spec(self, entry: TaskEntry, options: Mapping[str, Any]) -> EnvSpec:
        """Return the spec of a task.

        Options of the pool do not go into the spec, unless the environment has an option of the same name and the value
        is not None.
        """
        from envpool.option_values import convert
        from envpool.render_options import RENDER_DEFAULTS
        from envpool.spec import check_names

        task_id, spec_cls = entry.task_id, self.spec_class(entry)
        own_names = spec_cls.gen_config._fields
        pool_names = ("render_mode", *RENDER_DEFAULTS, "from_pixels", "gym_api")
        from_pixels = options.get("from_pixels")
        if "from_pixels" not in own_names and from_pixels is not None and convert("from_pixels", from_pixels, False):
            raise ConfigError(f"from_pixels=True is only available for MuJoCo tasks; {task_id!r} is not one")
        config = {k: v for k, v in options.items() if k not in pool_names or (k in own_names and v is not None)}
        check_names(config, own_names, f"task {task_id!r}")
        spec: EnvSpec = spec_cls(spec_cls.gen_config(**(entry.config | config)))
        spec.task_id, spec.task_defaults = task_id, entry.config
        return spec


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


#: The tasks of this process.
registry = EnvRegistry()
