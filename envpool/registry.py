"""The task table: what each task id stands for, and how an id and its options become a validated spec.

The table holds data only: a family is imported when the first of its tasks is made. The registry knows neither pools
nor API styles; `envpool.registration` makes pools of what it returns.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from envpool.error_texts import shown
from envpool.errors import ConfigError, PoolStateError, UnknownTaskError
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


#: The rows of the families' tables by id, by the name of the table's module. Only the import of that module writes
#: them, which therefore needs no lock of the registry's: a thread that loads the families may wait for the import.
_tables: dict[str, dict[str, TaskEntry]] = {}


def table(module: str) -> Callable[..., None]:
    """Return the function that adds a row to the table of a family in this package.

    Parameters
    ----------
    module : str
        ``__name__`` of the table, a module ``registration`` in the family's folder. If the module is executed again,
        because its import was interrupted, its table starts empty.

    Returns
    -------
    callable
        It has the arguments of `EnvRegistry.register`.
    """
    rows = _tables[module] = {}

    def register(*args: Any, **kwargs: Any) -> None:
        entries = entries_of(*args, **kwargs)
        check_free(entries, rows)
        rows.update(entries)

    return register


def entries_of(
    task_id: str,
    import_path: str,
    spec_cls: str | None = None,
    dm_cls: str | None = None,
    gymnasium_cls: str | None = None,
    aliases: Sequence[str] = (),
    *,
    env: str | None = None,
    **config: Any,
) -> dict[str, TaskEntry]:
    """Return the rows of a task and its aliases by id; see `EnvRegistry.register` for the arguments."""
    for name, value in (("task_id", task_id), ("import_path", import_path)):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str, got {shown(value)}")
    if isinstance(aliases, str) or not all(isinstance(alias, str) for alias in aliases):
        raise TypeError(f"aliases must be a sequence of task ids, such as ('CartPole-v1',), got {shown(aliases)}")
    if env is None and not (spec_cls and dm_cls and gymnasium_cls):
        raise ConfigError(f"task {task_id!r} needs env=..., or all of spec_cls, dm_cls and gymnasium_cls")
    return {
        name: TaskEntry(name, import_path, env, spec_cls, dm_cls, gymnasium_cls, dict(config))
        for name in (task_id, *aliases)
    }


def check_free(ids: Iterable[str], tasks: Mapping[str, TaskEntry]) -> None:
    """Raise ConfigError if a task has one of the ids."""
    for name in ids:
        if name in tasks:
            raise ConfigError(f"task {name!r} is already registered (in {tasks[name].import_path})")


def family_tasks() -> dict[str, TaskEntry]:
    """Import the tables of all families in this package, and return their tasks by id."""
    root = Path(__file__).parent
    tasks: dict[str, TaskEntry] = {}
    for file in sorted(root.rglob("*/registration.py")):
        module = ".".join(("envpool", *file.relative_to(root).with_suffix("").parts))
        import_module(module)
        check_free(_tables[module], tasks)
        tasks |= _tables[module]
    return tasks


class EnvRegistry:
    """All tasks by id.

    Any thread may use the registry at any time. The families are loaded by the first call that needs them; if this call
    is interrupted or fails, the next one loads them.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, TaskEntry] | None = None  # None until all families are loaded
        # Held while the families are loaded and while a task is added; never while code of a plug-in runs.
        self._lock = threading.RLock()
        self._is_loading = False
        self._listeners: list[Callable[[Sequence[str]], None]] = []
        # Ids that plug-ins have registered before they were interrupted or failed: they may be registered again.
        self._unfinished: set[str] = set()
        self._local = threading.local()

    @property
    def tasks(self) -> dict[str, TaskEntry]:
        """Tasks by id, in registration order; those of the families in this package come first."""
        if self._tasks is None:
            with self._lock:
                if self._tasks is None:
                    self._tasks = self._load_families()
        return self._tasks

    def _load_families(self) -> dict[str, TaskEntry]:
        if self._is_loading:  # a signal handler or a finalizer has interrupted the loading
            raise PoolStateError("this thread is loading the table of tasks: ask for tasks when that call has returned")
        self._is_loading = True
        try:
            return family_tasks()
        finally:
            self._is_loading = False

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
        TypeError
            An id or `import_path` is not a str, or `aliases` is one.
        """
        entries = entries_of(task_id, import_path, spec_cls, dm_cls, gymnasium_cls, aliases, env=env, **config)
        with self._lock:
            tasks = self.tasks
            check_free(entries.keys() - self._unfinished, tasks)
            try:
                getattr(self._local, "registered", []).extend(entries)
                tasks.update(entries)
                for listener in self._listeners:
                    listener(tuple(entries))
            except BaseException:
                for name in entries:
                    tasks.pop(name, None)
                raise
            self._unfinished -= entries.keys()

    @contextmanager
    def _loading_plugin(self) -> Iterator[None]:
        """Let tasks that this thread registers be registered again if an exception leaves the block."""
        registered: list[str] = []
        self._local.registered = registered
        try:
            yield
        except BaseException:
            with self._lock:
                self._unfinished.update(registered)
            raise
        finally:
            del self._local.registered

    def on_register(self, listener: Callable[[Sequence[str]], None]) -> None:
        """Call a function whenever a task is registered, with a sequence of the task's id and its aliases.

        The tasks of the families in this package are not announced.
        """
        if listener not in self._listeners:
            self._listeners.append(listener)

    def list_all_envs(self) -> list[str]:
        """Return all task ids in registration order, aliases included; tasks of other packages are loaded first."""
        load_plugins(self._loading_plugin)
        return list(self.tasks)

    def has(self, task_id: Any) -> bool:
        """Return whether there is a task of this id; if not, tasks of other packages are loaded first."""
        if isinstance(task_id, str) and task_id not in self.tasks:
            load_plugins(self._loading_plugin)
        return isinstance(task_id, str) and task_id in self.tasks

    def find(self, task_id: str) -> TaskEntry:
        """Return the entry of a task id, or raise UnknownTaskError with the most similar ids."""
        entry = self.tasks.get(task_id) if self.has(task_id) else None
        if entry is None:
            near = similar_tasks(str(task_id).rpartition(":")[2], self.tasks)
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
# A forked process must not inherit a lock that another thread holds, nor a half-loaded table.
os.register_at_fork(
    before=registry._lock.acquire, after_in_parent=registry._lock.release, after_in_child=registry._lock.release
)
