"""EnvSpec: a validated configuration, and all that follows from an env's field table under it."""

from __future__ import annotations

import difflib
import operator
import sys
from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from envpool import spaces
from envpool._core.definition import describe, upgrade_capsule
from envpool.autoreset import canonical_mode
from envpool.errors import ConfigError
from envpool.spaces import ArraySpec

INT32_MAX = 2**31 - 1

#: Options that every task has, with their defaults.
COMMON_OPTIONS: dict[str, Any] = {
    "num_envs": 1,
    "batch_size": 0,
    "num_threads": 0,
    "max_num_players": 1,
    "thread_affinity_offset": -1,
    "seed": 42,
    "env_seed": [],
    "gym_reset_return_info": True,
    "autoreset_mode": "next_step",
    "max_episode_steps": INT32_MAX,
}

#: Arrays of a batch that the core fills, in the order and under the names of EnvPool's state spec.
CORE_STATE: dict[str, ArraySpec] = {
    "info:env_id": ArraySpec(np.int32, []),
    "info:players.env_id": ArraySpec(np.int32, [-1]),
    "elapsed_step": ArraySpec(np.int32, []),
    "done": ArraySpec(np.bool_, []),
    "reward": ArraySpec(np.float32, [-1]),
    "discount": ArraySpec(np.float32, [-1], 0.0, 1.0),
    "step_type": ArraySpec(np.int32, []),
    "trunc": ArraySpec(np.bool_, []),
}
CORE_ACTION: dict[str, ArraySpec] = {
    "env_id": ArraySpec(np.int32, []),
    "players.env_id": ArraySpec(np.int32, [-1]),
}


class NativeEnv(Protocol):
    """A kind of native env, as its module offers it to the registry."""

    #: Options of this kind besides COMMON_OPTIONS, with defaults; the type of a default is the type of the option.
    options: ClassVar[Mapping[str, Any]]

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule (``include/envpool/env.h``) for a configuration, or raise ConfigError."""

    # Static methods that a kind may also have:
    # - check_requirements(config) is called before a pool is made: it loads what its envs cannot do without, or raises an
    #   ImportError that names it.
    # - render_fps(config) returns how many pictures a second show it at its own speed; 30 without one.
    # - render_assets(config, height, width) is called once for a pool with a render mode: it returns bytes, which
    #   render_many gets as `assets`, or None. Where drawing needs a package or a system library that is missing, it
    #   raises an ImportError that names them.
    # - build_for_rendering(config, height, width) returns the capsule of a pool with a render mode where build's will
    #   not do: for what only drawing needs, or a default size that is not known before. The size is 0 where the user
    #   asks for none.


class EnvSpec:
    """Configuration and specs of a pool.

    Subclasses are made per kind of env by `spec_class`; ``envpool.make_spec`` makes instances.

    Parameters
    ----------
    config : namedtuple
        ArrayLayout by ``gen_config(**options)``.

    Attributes
    ----------
    config : namedtuple
        The validated configuration; ``batch_size`` 0 has become ``num_envs``.
    task_id : str or None
        Set by ``make`` and ``make_spec``.
    follows_gym : bool
        Whether the spaces are of the ``gym`` package while that is loaded, be it after the pool was made. Set by
        ``make`` for env_type "gym".

    Raises
    ------
    ConfigError
        A value that is not allowed (an AssertionError and a ValueError).
    TypeError
        A value of a wrong type.
    """

    env: ClassVar[type[NativeEnv]]
    gen_config: ClassVar[Any]
    task_id: str | None = None
    follows_gym: bool = False

    def __init__(self, config: Any):
        self.config = validate(config)
        self.capsule = upgrade_capsule(self.env.build(self.config))
        self._kind = describe(self.capsule)
        self._made_spaces: dict[str, tuple[Any, Any]] = {}

    @property
    def frame_size(self) -> tuple[int, int] | None:
        """Height and width of a picture where the user asks for none; None where the env draws no pictures."""
        return self._kind.frame_size

    @property
    def id(self) -> str | None:
        """The task id, under the name that gymnasium's specs have for it."""
        return self.task_id

    @property
    def reward_threshold(self) -> float | None:
        """Mean return at which the task counts as solved; None where there is none."""
        return getattr(self.config, "reward_threshold", None)

    @cached_property
    def state_array_spec(self) -> dict[str, ArraySpec]:
        """Every array of a batch by name: ``obs...`` and ``info:...`` of the env, and what the core fills."""
        return CORE_STATE | {f.name: ArraySpec(f.dtype, f.shape, f.low, f.high) for f in self._kind.fields}

    @cached_property
    def action_array_spec(self) -> dict[str, ArraySpec]:
        """Every array of an action by name."""
        return CORE_ACTION | {f.name: ArraySpec(f.dtype, f.shape, f.low, f.high) for f in self._kind.actions}

    def observation_spec(self) -> Any:
        """Return a named tuple State of dm_env specs: env_id, players, observation and info arrays."""
        flat = {
            k.partition(":")[2] or k: spaces.to_dm_spec(leaf(k), v)
            for k, v in self.state_array_spec.items()
            if k.startswith(("obs", "info"))
        }
        return spaces.named("State", spaces.nested(flat))

    def action_spec(self) -> Any:
        """Return the dm_env spec of the action; with several action arrays a named tuple of all, env ids included."""
        specs = self.action_array_spec
        if len(specs) == len(CORE_ACTION) + 1:
            name, spec = list(specs.items())[-1]
            return spaces.to_dm_spec(name, spec)
        return spaces.named("Action", spaces.nested({k: spaces.to_dm_spec(leaf(k), v) for k, v in specs.items()}))

    @property
    def observation_space(self) -> Any:
        """Space of one env's observation, a Dict where there are several; of gymnasium, but see `follows_gym`."""
        return self._spaces(self._space_module())[0]

    @property
    def action_space(self) -> Any:
        """Space of one env's action; a Dict, env ids included, where there are several arrays."""
        return self._spaces(self._space_module())[1]

    @property
    def gymnasium_observation_space(self) -> Any:
        """Same as `observation_space`, always of gymnasium."""
        return self._spaces(gymnasium_spaces())[0]

    @property
    def gymnasium_action_space(self) -> Any:
        """Same as `action_space`, always of gymnasium."""
        return self._spaces(gymnasium_spaces())[1]

    def _space_module(self) -> Any:
        return loaded_spaces() if self.follows_gym else gymnasium_spaces()

    def _spaces(self, module: Any) -> tuple[Any, Any]:
        """Return the spaces of observation and action in the classes of `module`, made once."""
        if module.__name__ not in self._made_spaces:
            self._made_spaces[module.__name__] = (self.make_observation_space(module), self.make_action_space(module))
        return self._made_spaces[module.__name__]

    def make_observation_space(self, module: Any) -> Any:
        """Return the observation space in the classes of `module` (``gymnasium.spaces`` or ``gym.spaces``)."""
        flat = {
            k.partition(":")[2] or k: spaces.to_space(v, module)
            for k, v in self.state_array_spec.items()
            if k.startswith("obs")
        }
        return next(iter(flat.values())) if len(flat) == 1 else spaces.dict_space(spaces.nested(flat), module)

    def make_action_space(self, module: Any) -> Any:
        """Return the action space in the classes of `module` (``gymnasium.spaces`` or ``gym.spaces``)."""
        specs = self.action_array_spec
        if len(specs) == len(CORE_ACTION) + 1:
            return spaces.to_space(list(specs.values())[-1], module)
        return spaces.dict_space(spaces.nested({k: spaces.to_space(v, module) for k, v in specs.items()}), module)

    def seeds(self) -> npt.NDArray[np.uint64]:
        """Return the seed of each env, uint64 (num_envs,): ``env_seed`` if given, else ``seed + i``."""
        config = self.config
        if config.env_seed:
            return np.asarray(config.env_seed, np.uint64)
        return np.arange(config.seed, config.seed + config.num_envs, dtype=np.uint64)

    def __repr__(self) -> str:
        return type(self).__name__ + repr(self.config)[len("Config") :]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvSpec) and type(self) is type(other) and self.config == other.config

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(self.config)))

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self.env, self.task_id, self.config._asdict())


def restore(env: type[NativeEnv], task_id: str | None, options: dict[str, Any]) -> EnvSpec:
    """Rebuild a pickled spec."""
    cls = spec_class(env)
    spec = cls(cls.gen_config(**options))
    spec.task_id = task_id
    return spec


_classes: dict[type, type[EnvSpec]] = {}


def spec_class(env: type[NativeEnv]) -> type[EnvSpec]:
    """Return the EnvSpec subclass of a kind of env, e.g. CartPoleEnvSpec; the same one each time."""
    if env not in _classes:
        options = COMMON_OPTIONS | dict(env.options)
        config = namedtuple("Config", options, defaults=list(options.values()))  # type: ignore[misc]
        _classes[env] = type(f"{env.__name__}EnvSpec", (EnvSpec,), {"env": env, "gen_config": config})
    return _classes[env]


def check_names(options: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """Raise TypeError for options that do not exist, naming the nearest ones."""
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {', '.join(known)}"
            raise TypeError(f"{what} has no option {name!r}; {hint}")


def validate(config: Any) -> Any:
    """Return the configuration with values of the right types, or raise ConfigError or TypeError."""
    c = config._asdict()
    defaults = config._field_defaults
    for name, value in c.items():
        if name not in ("env_seed", "autoreset_mode"):
            c[name] = convert(name, value, defaults[name])
    check_range("num_envs", c["num_envs"], 1)
    check_range("batch_size", c["batch_size"], 0)
    if c["batch_size"] > c["num_envs"]:
        raise ConfigError(f"batch_size is {c['batch_size']}, allowed are 0 (all) to num_envs, which is {c['num_envs']}")
    c["batch_size"] = c["batch_size"] or c["num_envs"]
    check_range("num_threads", c["num_threads"], 0, 4096)
    check_range("max_num_players", c["max_num_players"], 1)
    check_range("thread_affinity_offset", c["thread_affinity_offset"], -1)
    check_range("max_episode_steps", c["max_episode_steps"], 1)
    check_seed("seed", c["seed"])
    is_empty = is_sequence(c["env_seed"]) and len(c["env_seed"]) == 0
    c["env_seed"] = [] if is_empty else check_seeds("env_seed", c["env_seed"], c["num_envs"])
    c["autoreset_mode"] = canonical_mode(c["autoreset_mode"])
    return type(config)(**c)


def convert(name: str, value: Any, default: Any) -> Any:
    """Return an option's value in the type of its default; None allows anything."""
    try:
        if isinstance(default, bool):
            if isinstance(value, (bool, np.bool_, int)) and value in (0, 1):
                return bool(value)
        elif isinstance(default, int):
            if not isinstance(value, (bool, np.bool_)):
                return operator.index(value)
        elif isinstance(default, float):
            if not isinstance(value, (bool, np.bool_, str, bytes)):
                return float(value)
        elif isinstance(default, str):
            if isinstance(value, str):
                return value
        else:
            return value
    except TypeError:
        pass
    raise TypeError(f"{name} must be of type {type(default).__name__}, got {value!r}")


def check_range(name: str, value: int, low: int, high: int = INT32_MAX) -> None:
    """Raise ConfigError for an integer outside [low, high]."""
    if not low <= value <= high:
        raise ConfigError(f"{name} is {value}, allowed are {low} to {high}")


def check_seed(name: str, seed: Any) -> int:
    """Return a seed as int, or raise ConfigError outside [0, 2**31)."""
    seed = convert(name, seed, 0)
    if not 0 <= seed <= INT32_MAX:
        raise ConfigError(f"{name} is {seed}, allowed are 0 to 2**31 - 1 (the range of int32 without negative numbers)")
    return int(seed)


def is_sequence(seed: Any) -> bool:
    """Whether a seed is meant as one for each env: a list, a tuple, an array of one dimension or more."""
    return hasattr(seed, "__len__") and not isinstance(seed, (str, bytes)) and getattr(seed, "ndim", 1) > 0


def check_seeds(name: str, seeds: Any, count: int) -> list[int]:
    """Return one seed for each of `count` envs, or raise ConfigError or TypeError."""
    if not is_sequence(seeds):
        raise TypeError(f"{name} must be a sequence of integers, got {seeds!r}")
    shape = np.array(seeds, dtype=object).shape
    if shape != (count,):
        got = f"shape {shape}" if len(shape) > 1 else f"{len(seeds)} entries"
        raise ConfigError(f"{name} as a sequence needs one entry for each of {count} envs, got {got}")
    return [check_seed(f"{name}[{i}]", s) for i, s in enumerate(seeds)]


def leaf(name: str) -> str:
    """Return the last part of an array name: ``"obs:a.b"`` gives ``"b"``."""
    return name.replace(":", ".").rpartition(".")[2]


def loaded_spaces() -> Any:
    """Return ``gym.spaces`` where that package is loaded, else ``gymnasium.spaces``."""
    gym = sys.modules.get("gym")
    return gymnasium_spaces() if gym is None else gym.spaces


def gymnasium_spaces() -> Any:
    """Return ``gymnasium.spaces``, imported on first use."""
    import gymnasium.spaces

    return gymnasium.spaces
