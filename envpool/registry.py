"""The task table: task ids, where their envs are, and config defaults. Families are loaded on make, not before."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envpool.errors import ConfigError, UnknownTaskError
from envpool.family import load_compiled
from envpool.gymnasium_ids import publish
from envpool.render_options import DEFAULTS as RENDER_DEFAULTS
from envpool.render_options import check_options, make_view

if TYPE_CHECKING:
    from envpool.pool import EnvPool
    from envpool.spec import EnvSpec

ENV_TYPES = ("dm", "gym", "gymnasium")

#: Arguments of make() that are no configuration of the env, unless its kind has an option of that name.
WRAPPER_OPTIONS = ("render_mode", *RENDER_DEFAULTS, "from_pixels", "gym_api")


@dataclass(frozen=True)
class Task:
    """One entry of the task table; see `EnvRegistry.register` for the fields."""

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
        self._tasks: dict[str, Task] = {}
        self._are_families_loaded = False

    @property
    def tasks(self) -> dict[str, Task]:
        """Tasks by id, in registration order; the tables of the families in this package come first."""
        if not self._are_families_loaded:
            self._are_families_loaded = True
            mine, self._tasks = self._tasks, {}
            root = Path(__file__).parent
            for table in sorted(root.rglob("*/registration.py")):
                import_module(".".join(("envpool", *table.relative_to(root).with_suffix("").parts)))
            self._tasks |= mine
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
            Its id, e.g. ``"CartPole-v1"``.
        import_path : str
            Module that has the env; imported on the first make.
        spec_cls, dm_cls, gymnasium_cls : str, optional
            Names of ready-made classes in that module (EnvPool's form). Not needed with `env`.
        aliases : sequence of str
            More ids for the same task.
        env : str
            Name of the kind of env in that module, see ``envpool.spec.NativeEnv``.
        **config
            Defaults of this task, which replace those of the env.

        Raises
        ------
        ConfigError
            The id exists, or neither `env` nor all three classes are given.
        """
        if env is None and not (spec_cls and dm_cls and gymnasium_cls):
            raise ConfigError(f"task {task_id!r} needs env=..., or all of spec_cls, dm_cls and gymnasium_cls")
        for name in (task_id, *aliases):
            if name in self._tasks:
                raise ConfigError(f"task {name!r} is already registered (in {self._tasks[name].import_path})")
        for name in (task_id, *aliases):
            self._tasks[name] = Task(name, import_path, env, spec_cls, dm_cls, gymnasium_cls, dict(config))
        publish((task_id, *aliases))

    def find(self, task_id: str) -> Task:
        """Return the task with this id, or raise UnknownTaskError naming the nearest ids."""
        task = self.tasks.get(task_id)
        if task is None:
            near = difflib.get_close_matches(str(task_id), self.tasks, n=4, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise UnknownTaskError(f"{task_id} is not supported, {hint}`envpool.list_all_envs()` may help.")
        return task

    def spec_class(self, task: Task) -> Any:
        """Return the EnvSpec class of a task, or raise ImportError where its module is missing."""
        module = load_compiled(task.import_path)
        if task.env is None:
            return getattr(module, str(task.spec_cls))
        from envpool.spec import spec_class

        return spec_class(getattr(module, task.env))

    def make_spec(self, task_id: str, **options: Any) -> EnvSpec:
        """Return the EnvSpec of a task.

        Parameters
        ----------
        task_id : str
            See ``list_all_envs``.
        **options
            Configuration; ``seed`` may be one int or one for each env.

        Raises
        ------
        UnknownTaskError
            No such task (an AssertionError and a KeyError).
        TypeError
            Unknown option, or a value of a wrong type.
        ConfigError
            A value that is not allowed (an AssertionError and a ValueError).
        """
        return self.make_parts(task_id, options)[0]

    def make_parts(self, task_id: str, options: dict[str, Any]) -> tuple[EnvSpec, dict[str, Any]]:
        """Return the EnvSpec of a task, and of the options of ``make`` those that concern the pool."""
        task = self.find(task_id)
        wrapper = self._split_options(task, options)
        return self._make_spec(task, options), wrapper

    def _split_options(self, task: Task, options: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments that concern the pool, checked; in `options` stays what configures the env."""
        wrapper = {k: options[k] for k in WRAPPER_OPTIONS if k in options}
        check_options(task.task_id, wrapper)
        own = self.spec_class(task).gen_config._fields
        for name in wrapper:
            if name not in own or options[name] is None:
                del options[name]
        if wrapper.get("from_pixels") and "from_pixels" not in own:
            raise ConfigError(f"from_pixels=True is only supported for MuJoCo tasks, {task.task_id} is none")
        return wrapper

    def _make_spec(self, task: Task, options: dict[str, Any]) -> EnvSpec:
        from envpool.spec import check_names, check_seeds, is_sequence

        cls = self.spec_class(task)
        check_names(options, cls.gen_config._fields, f"task {task.task_id!r}")
        seed = options.get("seed", 0)
        if is_sequence(seed):
            if len(options.get("env_seed", ())):
                raise ConfigError("pass seed as a sequence or env_seed, not both")
            options |= {"seed": 0, "env_seed": check_seeds("seed", seed, options.get("num_envs", 1))}
        spec: EnvSpec = cls(cls.gen_config(**(task.config | options)))
        spec.task_id = task.task_id
        return spec

    def make(self, task_id: str, env_type: str, **options: Any) -> EnvPool:
        """Return a pool of environments.

        Parameters
        ----------
        task_id : str
            See ``list_all_envs``.
        env_type : {"gymnasium", "gym", "dm"}
            API style. "gym" gives Gymnasium's forms, unless a ``gym`` package older than 0.26 is loaded.
        **options
            Configuration of the task, see ``make_spec``; ``gym_api`` ("auto", "gymnasium", "legacy"), which forces the
            forms of env_type "gym"; and what ``EnvPool.render`` draws: ``render_mode`` (None, "rgb_array", "human"),
            ``render_env_id`` (0), ``render_width`` and ``render_height`` (upstream's), ``render_camera_id`` (-1, the
            default camera).

        Raises
        ------
        UnknownTaskError, TypeError, ConfigError
            See ``make_spec``; ConfigError also for a render mode of a task that draws no pictures.
        ImportError
            What the render mode needs is missing.
        """
        task = self.find(task_id)
        if env_type not in ENV_TYPES:
            raise ConfigError(f"env_type should be one of 'dm', 'gym', or 'gymnasium', got {env_type!r}")
        wrapper = self._split_options(task, options)
        is_legacy = wants_legacy_gym(env_type, wrapper.get("gym_api", "auto"))
        if is_legacy:
            options.setdefault("gym_reset_return_info", False)
        elif not options.get("gym_reset_return_info", True):
            raise ConfigError(
                "gym_reset_return_info=False needs the old gym forms (gym_api='legacy'): else reset() returns an info"
            )
        spec = self._make_spec(task, options)
        spec.follows_gym = env_type == "gym" and wrapper.get("gym_api") != "gymnasium"
        pool: EnvPool = self._pool_class(task, env_type, is_legacy)(spec, make_view(spec, wrapper))
        return pool

    def _pool_class(self, task: Task, env_type: str, is_legacy: bool) -> Any:
        """Return the class of the pool, e.g. CartPoleGymnasiumEnvPool."""
        if task.env is None and not is_legacy:
            name = str(task.dm_cls if env_type == "dm" else task.gymnasium_cls)
            return getattr(import_module(task.import_path), name)
        from envpool.pool import pool_class

        return pool_class(self.spec_class(task), "gym" if is_legacy else "dm" if env_type == "dm" else "gymnasium")

    def make_dm(self, task_id: str, **options: Any) -> EnvPool:
        """Return ``make(task_id, "dm", **options)``."""
        return self.make(task_id, "dm", **options)

    def make_gym(self, task_id: str, **options: Any) -> EnvPool:
        """Return ``make(task_id, "gym", **options)``."""
        return self.make(task_id, "gym", **options)

    def make_gymnasium(self, task_id: str, **options: Any) -> EnvPool:
        """Return ``make(task_id, "gymnasium", **options)``."""
        return self.make(task_id, "gymnasium", **options)

    def list_all_envs(self) -> list[str]:
        """Return all task ids in registration order, aliases included."""
        return list(self.tasks)


def wants_legacy_gym(env_type: str, gym_api: str) -> bool:
    """Whether a pool gets the forms of gym before 0.26: asked for, or because such a gym is loaded."""
    if gym_api not in ("auto", "gymnasium", "legacy"):
        raise ConfigError(f"gym_api must be one of 'auto', 'gymnasium', or 'legacy', got {gym_api!r}")
    if env_type != "gym":
        if gym_api == "legacy":
            raise ConfigError(f"gym_api='legacy' needs env_type='gym', got {env_type!r}")
        return False
    if gym_api != "auto":
        return gym_api == "legacy"
    version = getattr(sys.modules.get("gym"), "__version__", None)
    return version is not None and tuple(int(v) for v in version.split(".")[:2]) < (0, 26)


registry = EnvRegistry()
register = registry.register
make = registry.make
make_dm = registry.make_dm
make_gym = registry.make_gym
make_gymnasium = registry.make_gymnasium
make_spec = registry.make_spec
list_all_envs = registry.list_all_envs
