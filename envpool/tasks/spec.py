"""EnvSpec: a validated configuration, and the arrays, spaces and specs of the environment under it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial, wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from envpool._core.definition import RAW_PREFIX, describe
from envpool._core.draws import ParamDraws
from envpool._support.packages import load_compiled
from envpool._support.text import shown, similar_names
from envpool.config import spaces
from envpool.config.checks import INT32_MAX, check_seed_options, convert, whole_number
from envpool.config.options import (
    POOL_DEFAULTS,
    POOL_OPTIONS,
    TRANSFORM_OPTIONS,
    canonical,
    check_together,
    transforms_of,
    with_transforms,
)
from envpool.config.params import Param, check_table, named_in_table, shown_options, shown_value, validate_params
from envpool.config.randomize import Draw, check_draws, check_form, widest
from envpool.config.render_options import RENDER_MODES
from envpool.config.spaces import ArraySpec, gymnasium_spaces, loaded_spaces
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Field, PlayerGroup, TextField
from envpool.tasks.definition_checks import built, check_class, check_text_fields
from envpool.tasks.entries import TaskEntry
from envpool.tasks.players import (
    check_controlled,
    check_groups,
    group_spec,
    has_players,
    row_spec,
    with_players,
)
from envpool.tasks.statistics import ENTRIES, entry_arrays, game_numbers
from envpool.transforms.plan import ACTION_TRANSFORMS, OBS_TRANSFORMS, Transforms

if TYPE_CHECKING:
    from envpool.config.task_options import Config

#: Frame rate of tasks whose environment names none.
DEFAULT_FPS = 30

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
#: Further arrays of tasks with players.
PLAYER_STATE: dict[str, ArraySpec] = {
    "info:players.id": ArraySpec(np.int32, [-1]),
    "info:player_terminated": ArraySpec(np.bool_, [-1]),
    "info:player_truncated": ArraySpec(np.bool_, [-1]),
}
#: Those of the views "grid" and "dict".
PLAYER_FLAGS = tuple(Field(f"info:player_{name}", np.bool_, (-1,)) for name in ("mask", "terminated", "truncated"))
PLAYER_ACTION: dict[str, ArraySpec] = {"players.id": ArraySpec(np.int32, [-1])}


class EnvSpec:
    """Configuration and specs of a pool.

    ``envpool.make_spec`` makes instances. `spec_class` makes a subclass for each environment.

    Parameters
    ----------
    config : namedtuple
        The configuration, made by ``gen_config(**options)``.

    Attributes
    ----------
    config : namedtuple
        The validated configuration; a ``batch_size`` of 0 is replaced by ``num_envs``.
    common_config : namedtuple
        The configuration that the methods of the environment definition get: a parameter with one value per environment
        is replaced by the largest or the smallest of them, see `envpool.config.params.Param`.
    env : type
        Class of the environment that the task table names.
    definition : type
        `env` as an EnvDefinition: `env` itself, or a subclass that adds the default methods of EnvDefinition.
    capsule : PyCapsule
        The environment definition with `transforms`, see ``include/envpool/env.h``.
    transforms : Transforms
        The transforms of observations, rewards and actions.
    num_players : int
        Places for players in each environment; 0 if the environments have one player.
    is_turn_based : bool
        True if the players move in turn.
    groups : tuple of PlayerGroup
        The groups of the players; none if the environments have one player. With the option `controlled`, those of the
        players that are controlled.
    all_groups : dict of str to tuple of int
        The numbers of the players of each group, controlled or not.
    controlled : tuple of int or "alternate" or None
        The players whose actions the user chooses, in increasing order; "alternate" for a player that changes with each
        episode; None for all players.
    entry : TaskEntry or None
        The row of the task table; None if the spec was made from its class rather than by ``make`` or ``make_spec``.
    task_id : str or None
        The task id, that of `entry`.
    task_defaults : mapping of str to object
        The defaults of the task that differ from those of the environment, those of `entry`.
    style : str
        API style of the pool that ``make`` creates: "gymnasium" (the default), "gym" or "dm".
    follows_gym : bool
        If True, the spaces are those of the ``gym`` package once that package is loaded. ``make`` sets it for env_type
        "gym"; False by default.
    pool_options : dict
        The options of ``make`` with which the spec was made and that are not part of `config`: options of rendering and
        of opponents, and ``gym_api``. A pool of the spec has them as well.
    pool_cls : type or None
        Pool class with which the task was registered; None if the API style provides the class.

    Raises
    ------
    ConfigError
        A value is not allowed (also an AssertionError and a ValueError).
    TypeError
        A value has a wrong type.
    """

    env: ClassVar[type]
    definition: ClassVar[type[EnvDefinition]]
    gen_config: ClassVar[Any]
    entry: TaskEntry | None = None
    pool_options: Mapping[str, Any] = MappingProxyType({})
    #: Options of another function than `make` that made the pool, such as `workers`; they are shown only.
    _other_options: Mapping[str, Any] = MappingProxyType({})
    controlled: tuple[int, ...] | Literal["alternate"] | None = None
    style: str = "gymnasium"
    follows_gym: bool = False
    pool_cls: Any = None
    _id: str | None = None

    config: Config
    common_config: Config
    #: How the pool draws parameters for each episode, from the option `randomize`; None if it does not.
    draws: ParamDraws | None

    def __init__(self, config: Any):
        if getattr(config, "_fields", None) != self.gen_config._fields:
            name = type(self).__name__
            raise TypeError(f"config must be made by {name}.gen_config(**options), got {shown(config)}")
        self.config = validate(config, self.definition)
        self._params = dict(self.definition.resolve_params(self.config))
        self.config, self.common_config = validate_params(self.config, self._params)
        self.draws = self._make_draws(self.config.randomize)
        self.common_config = self._with_drawn()
        names = transforms_of(self.config, own_options(self.definition))
        self.transforms = Transforms(self.config, names)
        # In place of a value that a transform applies, the environment gets its own default.
        replaced = {name: self.definition.options[name] for name in names if name in self.definition.options}
        self.common_config = self.common_config._replace(**replaced)
        own = built(self.env, self.definition.build(self.common_config))
        about = describe(own)
        self.config, self.common_config = with_players(self.config, about), with_players(self.common_config, about)
        self.num_players: int = about.num_players
        self.is_turn_based: bool = about.is_turn_based
        groups = check_groups(self.definition.player_groups(self.common_config), about)
        self._refuse_with_players()
        self.capsule = self.transforms.wrap(own, groups)
        self.groups = self.transforms.groups(groups, about.fields)
        self.all_groups = {group.name: group.players for group in groups}
        self._description = about if self.capsule is own else describe(self.capsule)
        table = named_in_table(self._params, self.definition.reset_options)
        check_table(self._description.name, table, self._description.params)
        self._made_spaces: dict[str, tuple[Any, Any]] = {}

    def _make_draws(self, ranges: Any) -> ParamDraws | None:
        """Return how to draw parameters, from values of the option `randomize`; None if there are none.

        Raises
        ------
        ConfigError, TypeError
            A parameter does not exist, or a distribution is not allowed.
        """
        checked = check_form("randomize", ranges)
        return None if checked is None else ParamDraws(checked, self._checked_draws(checked))

    def _checked_draws(self, ranges: Mapping[str, Any]) -> list[Draw]:
        return check_draws(ranges, self._params, self.config, self.task_id or self.env.__name__)

    def _with_drawn(self) -> Any:
        """Return `common_config` with numbers that are the largest or smallest ones of all draws."""
        changed = {}
        for draw in [] if self.draws is None else self._checked_draws(self.draws.ranges):
            name, param = list(self._params.items())[draw.param]
            ends = None if param.shape else widest(draw, param)
            if ends is not None:
                changed[name] = getattr(np.append(ends, getattr(self.common_config, name)), param.common)().item()
        return self.common_config._replace(**changed)

    def _set_pool_options(self, options: Mapping[str, Any]) -> None:
        """Set `pool_options`, and what follows from them; raise ConfigError for values that the task does not allow."""
        self.pool_options = options
        self.controlled = check_controlled(self, options)
        if isinstance(self.controlled, tuple):
            parts = [g._replace(players=tuple(p for p in g.players if p in self.controlled)) for g in self.groups]
            self.groups = tuple(group for group in parts if group.players)

    @property
    def shown_players(self) -> tuple[int, ...]:
        """The players of which results have places; with ``controlled="alternate"``, any one."""
        if self.controlled == "alternate":
            return (0,)
        return tuple(range(self.num_players)) if self.controlled is None else self.controlled

    def _refuse_with_players(self) -> None:
        """Raise ConfigError for options that do not work with players."""
        if self.num_players and self.definition.game_fields(self.common_config) is not None:
            raise ConfigError(f"game_fields() of {self.env.__name__} must return None, since it has players")

    @property
    def frame_size(self) -> tuple[int, int] | None:
        """Default (height, width) of a frame, in pixels; None if the environment has no renderer."""
        return self._description.frame_size

    @property
    def render_fps(self) -> int:
        """The frame rate that the upstream environment names, in frames per second: ``metadata["render_fps"]``."""
        own = self.definition.render_fps(self.common_config)
        if own is not None:
            return int(convert(f"render_fps() of {self.env.__name__}", own, 0.0))
        return DEFAULT_FPS if self._step_fps is None else self._step_fps

    @property
    def real_time_fps(self) -> int:
        """The frame rate at which frames of all steps play in real time; `render_fps` if a step has no duration."""
        return self.render_fps if self._step_fps is None else self._step_fps

    @property
    def _step_fps(self) -> int | None:
        step_time = self._description.step_time or 0.0
        return max(round(1 / step_time), 1) if step_time > 0 else None

    @property
    def tracking_camera(self) -> int:
        """Number of the camera that follows the robot; -1, the default camera, if there is none."""
        return self._description.tracking_camera

    @property
    def render_modes(self) -> list[str]:
        """The render modes that pools of this task can have; empty if the task has no renderer."""
        return list(RENDER_MODES) if self.frame_size else []

    @property
    def task_id(self) -> str | None:
        """The task id; None if the spec has no entry."""
        return None if self.entry is None else self.entry.task_id

    @property
    def task_defaults(self) -> Mapping[str, Any]:
        """The defaults of the task that differ from those of the environment."""
        given = {} if self.entry is None else self.entry.config
        return MappingProxyType(canonical(given, self.gen_config._fields))

    @property
    def id(self) -> str | None:
        """The task id, under the name that it has in the specs of gymnasium.

        Programs may set another id, for instance for the names of their logs; the task stays `task_id`.
        """
        return self.task_id if self._id is None else self._id

    @id.setter
    def id(self, id: str | None) -> None:
        self._id = id

    @property
    def reward_threshold(self) -> float | None:
        """Mean return at which the task is considered solved; None if the task does not define one."""
        return getattr(self.config, "reward_threshold", None)

    @property
    def max_episode_steps(self) -> int | None:
        """Number of steps after which an episode is truncated; None if there is no limit."""
        limit: int = self.config.max_episode_steps
        return None if limit == INT32_MAX else limit

    @property
    def max_seed(self) -> int:
        """The largest seed of an environment: 2**64 - 1, or 2**32 - 1 where the seeds of the upstream generator end."""
        return self.definition.max_seed(self.config)

    @cached_property
    def state_array_spec(self) -> dict[str, ArraySpec]:
        """All arrays of a batch by name: ``obs...`` and ``info:...`` of the environment, and the arrays of the core."""
        fields = {f.name: row_spec(f, self.num_players, self.shown_players) for f in self.shown_fields}
        core = CORE_STATE | (PLAYER_STATE if self.num_players else {})
        return core | self.transforms.reward_array | fields | entry_arrays(self.entries, self.num_players)

    @cached_property
    def _game_numbers(self) -> tuple[int, int, int, bool] | None:
        """The argument `games` of `Statistics`, see `envpool.tasks.statistics.game_numbers`."""
        games = self.definition.game_fields(self.common_config)
        return game_numbers(games, self._description.fields, self.env.__name__)

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of statistics that batches have: "episode", and "game" if an episode may be a part of a game."""
        if not self.config.episode_statistics:
            return ()
        return ENTRIES[:1] if self.definition.game_fields(self.common_config) is None else ENTRIES

    @cached_property
    def text_fields(self) -> dict[str, TextField]:
        """The arrays that pools of gymnasium's style return as texts, by name."""
        texts = self.definition.text_fields(self.common_config)
        return check_text_fields(self.env, texts, self.shown_fields, self.transforms.options)

    @cached_property
    def action_array_spec(self) -> dict[str, ArraySpec]:
        """All arrays of an action by name."""
        core = CORE_ACTION | (PLAYER_ACTION if self.num_players else {})
        return core | {f.name: row_spec(f, self.num_players, self.shown_players) for f in self._description.actions}

    @property
    def action_fields(self) -> tuple[Field, ...]:
        """The table of actions of the environment definition."""
        actions: tuple[Field, ...] = self._description.actions
        return actions

    @property
    def shown_fields(self) -> tuple[Field, ...]:
        """The arrays of the environment in a batch, without those of the transforms that users do not see."""
        return tuple(f for f in self._description.fields if not f.name.startswith(RAW_PREFIX))

    @property
    def param_spec(self) -> dict[str, Param]:
        """The parameters, whose values may differ among environments, by name."""
        return dict(self._params)

    @property
    def reset_option_spec(self) -> dict[str, Param]:
        """The options of ``reset(options=)``, by name; a default stands for an option that is not given."""
        return dict(self.definition.reset_options)

    def observation_spec(self) -> Any:
        """Return the dm_env specs of env_id, players, observation and info arrays, as a named tuple State.

        With ``players="grid"``, the arrays of players have a leading dimension of players; with ``players="dict"``,
        there is a named tuple of them for each group.
        """
        if self.config.players in ("grid", "dict"):
            return self._players_spec()
        flat = {
            k.partition(":")[2] or k: spaces.to_dm_spec(leaf(k), v)
            for k, v in self.state_array_spec.items()
            if k.startswith(("obs", "info"))
        }
        return spaces.named("State", spaces.nested(flat))

    def action_spec(self) -> Any:
        """Return the dm_env spec of the action; if it has several arrays, a named tuple that includes the env ids."""
        if self.config.players in ("grid", "dict"):
            return spaces.named_or_leaf("Action", self._players_nest(self._description.actions, "action", dm_leaf))
        specs = self.action_array_spec
        if len(self._description.actions) == 1:
            name, spec = list(specs.items())[-1]
            return spaces.to_dm_spec(name, spec)
        return spaces.named("Action", spaces.nested({k: spaces.to_dm_spec(leaf(k), v) for k, v in specs.items()}))

    @property
    def observation_space(self) -> Any:
        """Observation space of one environment, a Dict if it has several arrays; see `follows_gym` for its package."""
        return self._spaces(self._space_module())[0]

    @property
    def action_space(self) -> Any:
        """Action space of one environment; a Dict that includes the env ids if there are several arrays."""
        return self._spaces(self._space_module())[1]

    @property
    def gymnasium_observation_space(self) -> Any:
        """`observation_space` in the classes of gymnasium."""
        return self._spaces(gymnasium_spaces())[0]

    @property
    def gymnasium_action_space(self) -> Any:
        """`action_space` in the classes of gymnasium."""
        return self._spaces(gymnasium_spaces())[1]

    def _space_module(self) -> Any:
        return loaded_spaces() if self.follows_gym else gymnasium_spaces()

    def _spaces(self, module: Any) -> tuple[Any, Any]:
        """Return the observation space and the action space in the classes of `module`; they are made once."""
        made = self._made_spaces.get(module.__name__)
        if made is None:
            spaces = (self._make_observation_space(module), self._make_action_space(module))
            made = self._made_spaces.setdefault(module.__name__, spaces)
        return made

    def _make_observation_space(self, module: Any) -> Any:
        """Return the observation space in the classes of `module` (``gymnasium.spaces`` or ``gym.spaces``)."""
        if self.config.players in ("grid", "dict"):
            shown = [f for f in self._description.fields if f.name.startswith("obs")]
            nest = self._players_nest(shown, "obs", partial(space_leaf, module))
            return spaces.space_of_nest(spaces.single(nest) if self.config.players == "grid" else nest, module)
        own = self._own_spaces()
        if own is not None:
            return own[0]
        letters = {k: field.letters for k, field in self.text_fields.items()}
        flat = {
            k.partition(":")[2] or k: spaces.to_space(v, module, letters.get(k))
            for k, v in self.state_array_spec.items()
            if k.startswith("obs")
        }
        return next(iter(flat.values())) if len(flat) == 1 else spaces.dict_space(spaces.nested(flat), module)

    def _make_action_space(self, module: Any) -> Any:
        """Return the action space in the classes of `module` (``gymnasium.spaces`` or ``gym.spaces``)."""
        if self.config.players in ("grid", "dict"):
            nest = self._players_nest(self._description.actions, "action", partial(space_leaf, module))
            return spaces.space_of_nest(spaces.single(nest) if self.config.players == "grid" else nest, module)
        own = self._own_spaces()
        if own is not None:
            return own[1]
        specs = self.action_array_spec
        if len(self._description.actions) == 1:
            return spaces.to_space(list(specs.values())[-1], module)
        return spaces.dict_space(spaces.nested({k: spaces.to_space(v, module) for k, v in specs.items()}), module)

    def _own_spaces(self) -> tuple[Any, Any] | None:
        """Return the spaces that the environment itself has, with those of the arrays that transforms have changed."""
        changed: dict[str, ArraySpec] = {}
        if self.transforms.changes(*OBS_TRANSFORMS):
            changed |= {name: spec for name, spec in self.state_array_spec.items() if name.startswith("obs")}
        if self.transforms.changes(*ACTION_TRANSFORMS):
            changed |= self.action_array_spec
        module = gymnasium_spaces()
        return self.definition.spaces(
            self.common_config, {name: spaces.to_space(spec, module) for name, spec in changed.items()}
        )

    def _players_nest(
        self, fields: Sequence[Field], prefix: str, leaf_of: Callable[[str, ArraySpec, bool], Any]
    ) -> Any:
        """Return a nest of what `leaf_of` makes of arrays in the view of the option `players`, "grid" or "dict".

        Parameters
        ----------
        fields : sequence of Field
            Fields whose names begin with `prefix`.
        prefix : str
            "obs", "info" or "action".
        leaf_of : callable
            Called with the last part of a name, the spec of the array, and whether its first dimension is players.
        """
        count = self.num_players

        def nest_of(group: PlayerGroup | None, chosen: Sequence[Field]) -> Any:
            flat = {}
            for f in chosen:
                if group is not None and has_players(f):
                    made = leaf_of(leaf(f.name), group_spec(f, count, group), True)
                else:
                    made = leaf_of(leaf(f.name), ArraySpec(f.dtype, f.shape, f.low, f.high), False)
                # An action may have a name outside of its prefix, EnvPool's "players.action".
                flat[f.name[len(prefix) + 1 :] if f.name.startswith(prefix) else f.name] = made
            return flat[""] if list(flat) == [""] else spaces.nested(flat)

        if self.config.players == "grid":
            return nest_of(PlayerGroup("", self.shown_players), fields)
        own = [f for f in fields if not has_players(f)]
        if prefix == "action" and own:
            return nest_of(PlayerGroup("", self.shown_players), fields)
        of_players = [f for f in fields if has_players(f)]
        if not of_players:
            return nest_of(None, own)
        nest = {group.name: nest_of(group, of_players) for group in self.groups}
        return nest | (nest_of(None, own) if own else {})

    def _players_spec(self) -> Any:
        """Return `observation_spec` in the view "grid" or "dict"."""
        obs = self._players_nest([f for f in self.shown_fields if f.name.startswith("obs")], "obs", dm_leaf)
        info = self._players_nest([f for f in self.shown_fields if f.name.startswith("info")], "info", dm_leaf)
        flags = {f.name.partition(":")[2]: self._players_nest([f], f.name, dm_leaf) for f in PLAYER_FLAGS}
        nest = {"env_id": dm_leaf("env_id", CORE_STATE["info:env_id"], False)} | flags
        nest |= obs if isinstance(obs, dict) else {"obs": obs}
        nest |= {"info": info} if self.config.players == "dict" and info else info
        entries = {k.partition(":")[2]: v for k, v in entry_arrays(self.entries, self.num_players).items()}
        return spaces.named(
            "State", nest | spaces.nested({k: spaces.to_dm_spec(leaf(k), v) for k, v in entries.items()})
        )

    def seeds(self) -> npt.NDArray[np.uint64] | None:
        """Return the seeds of the environments, uint64 (num_envs,): ``env_seed`` if given, else ``seed + i``.

        They are None if the environments are not seeded, which only Python environments allow.
        """
        config = self.config
        if config.env_seed:
            return np.asarray(config.env_seed, np.uint64)
        if config.seed is None:
            return None
        return np.uint64(config.seed) + np.arange(config.num_envs, dtype=np.uint64)

    def __repr__(self) -> str:
        return self.text(type(self).__name__)

    def text(self, name: str) -> str:
        """Return the task id, the name of a class, and in parentheses the options that differ from their defaults."""
        values = {
            **shown_options(self.config, self._params, self.defaults),
            **{option: shown_value(value) for option, value in {**self.pool_options, **self._other_options}.items()},
        }
        task = f"{self.task_id}: " if self.task_id else ""
        return f"{task}{name}({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    @property
    def defaults(self) -> dict[str, Any]:
        """The options of the task with their defaults; that of batch_size is the number of environments."""
        defaults: dict[str, Any] = self.gen_config._field_defaults
        resolved: dict[str, Any] = {"batch_size": self.config.num_envs}
        if self.num_players:
            resolved |= {"max_num_players": self.num_players, "players": "rows"}
        if self.is_turn_based:
            resolved |= {"observe": "all", "illegal_actions": "raise"}
        return defaults | dict(self.task_defaults) | resolved

    def given_options(self) -> dict[str, Any]:
        """Return the options that differ from the defaults of the task; ``make_spec`` makes an equal spec with them."""
        config, defaults = self.config._asdict(), self.defaults
        return {n: v for n, v in config.items() if repr(v) != repr(defaults[n])} | dict(self.pool_options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvSpec) and type(self) is type(other) and self.config == other.config

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(self.config)))

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self.env, self.entry, self.config._asdict(), dict(self.pool_options))


def restore(env: type, entry: TaskEntry | None, options: dict[str, Any], pool_options: dict[str, Any]) -> EnvSpec:
    """Return the spec that `EnvSpec.__reduce__` has pickled."""
    cls = spec_class(env)
    spec = cls(cls.gen_config(**options))
    spec.entry = entry
    spec._set_pool_options(pool_options)
    return spec


_classes: dict[type, type[EnvSpec]] = {}


def spec_class(env: type) -> type[EnvSpec]:
    """Return the EnvSpec subclass of an environment, e.g. CartPoleEnvSpec; each is made once.

    Parameters
    ----------
    env : type
        Class of the environment. If it does not subclass EnvDefinition, it must have `options` and `build`; the other
        methods of EnvDefinition are added where it lacks them.
    """
    if env not in _classes:
        definition: Any = env if EnvDefinition in env.__mro__ else type(env.__name__, (env, EnvDefinition), {})
        check_class(definition)
        params = {name: param.default for name, param in definition.params.items()}
        options = with_transforms(POOL_DEFAULTS | dict(definition.options) | params)
        name = f"{env.__name__}EnvSpec"
        members = {"env": env, "definition": definition, "gen_config": config_class(name, options)}
        # Another thread may have been faster.
        return _classes.setdefault(env, new_class(env, name, EnvSpec, members))
    return _classes[env]


def config_class(name: str, defaults: Mapping[str, Any]) -> Any:
    """Return the class of configurations of an EnvSpec class, which takes options under all of their names.

    Parameters
    ----------
    name : str
        Name of the EnvSpec class, for error texts.
    defaults : mapping of str to object
        All options with their defaults.
    """
    config = spaces.named_tuple("Config", defaults, defaults.values())
    config.__new__ = with_known_names(config.__new__, name)
    return config


def spec_class_of(entry: TaskEntry) -> Any:
    """Return the EnvSpec class of a task.

    Raises
    ------
    ImportError
        The task's module is missing, or importing it raises an exception.
    ConfigError
        The module does not have the class that the task was registered with.
    """
    try:
        module = load_compiled(entry.import_path)
    except ImportError:
        raise
    except Exception as error:
        raise ImportError(
            f"{entry.task_id} cannot be made, since importing its module {entry.import_path} raises {error!r}"
        ) from error
    argument, name = ("env", entry.env) if entry.env is not None else ("spec_cls", str(entry.spec_cls))
    found = getattr(module, name, None)
    if not isinstance(found, type):
        raise ConfigError(
            f"{argument} of the registered task {entry.task_id} must be the name of a class in {entry.import_path}, "
            f"got {name!r}, {'which it does not have' if found is None else f'which is {shown(found)}'}"
        )
    return found if entry.env is None else spec_class(found)


def new_class(env: type, name: str, base: type, members: dict[str, Any]) -> Any:
    """Return a subclass for an environment, of the type `class_type` that the environment may have."""
    chosen = getattr(env, "class_type", None)
    made_by = type(base) if chosen is None else type(chosen.__name__, (chosen, type(base)), {})
    return made_by(name, (base,), members)


def check_names(options: Mapping[str, Any], known: Collection[str], what: str, otherwise: str | None = None) -> None:
    """Raise TypeError if an option does not exist; the text names the most similar ones, or says `otherwise`."""
    for name in options:
        if name not in known:
            near = similar_names(name, list(known))
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else otherwise
            hint = hint or f"its options are {', '.join(known)}"
            raise TypeError(f"{what} has no option {shown(name)}; {hint}")


def with_known_names(new: Callable[..., Any], what: str) -> Callable[..., Any]:
    """Return the ``__new__`` of a configuration, which raises the TypeError of `check_names` for unknown options.

    Options may have the other names that they have in ``make``.
    """

    @wraps(new)
    def checked(cls: Any, *values: Any, **options: Any) -> Any:
        options = canonical(options, cls._fields)
        check_names(options, cls._fields, what)
        return new(cls, *values, **options)

    return checked


def own_options(definition: type[EnvDefinition]) -> dict[str, Any]:
    """Return the options and parameters of an environment with their defaults."""
    return {**definition.options, **definition.params}


def validate(config: Any, definition: type[EnvDefinition]) -> Any:
    """Return a configuration whose values have the right types, except for parameters; or raise an error."""
    declared = POOL_OPTIONS | {name: TRANSFORM_OPTIONS[name] for name in transforms_of(config, own_options(definition))}
    defaults = config._field_defaults
    c = config._asdict()
    for name, value in c.items():
        if name in declared:
            c[name] = declared[name].check(name, value)
        elif name not in definition.params:
            c[name] = convert(name, value, defaults[name])
            if isinstance(c[name], float) and not np.isfinite(c[name]) and name not in definition.unbounded:
                raise ConfigError(f"{name} must be a finite number, got {c[name]}")
    check_together(c)
    is_unseeded = c["seed"] is None and np.size(c["env_seed"]) == 0 and not definition.needs_seeds
    limit = whole_number(f"max_seed() of {definition.__name__}", definition.max_seed(type(config)(**c)))
    c["seed"], c["env_seed"] = check_seed_options(c["seed"], c["env_seed"], c["num_envs"], limit)
    if is_unseeded:
        c["seed"] = None
    return type(config)(**c)


def space_leaf(module: Any, name: str, spec: ArraySpec, has_players: bool) -> Any:
    """Return the space of an array, whose first dimension may be players."""
    return spaces.to_players_space(spec, module) if has_players else spaces.to_space(spec, module)


def dm_leaf(name: str, spec: ArraySpec, has_players: bool) -> Any:
    """Return the dm_env spec of an array, whose first dimension may be players."""
    return spaces.to_players_dm_spec(name, spec) if has_players else spaces.to_dm_spec(name, spec)


def leaf(name: str) -> str:
    """Return the last part of an array name: ``"obs:a.b"`` gives ``"b"``."""
    return name.replace(":", ".").rpartition(".")[2]
