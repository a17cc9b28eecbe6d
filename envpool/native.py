"""For authors of native environments: an environment's Python class, and the capsule of ``include/envpool/env.h``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol

from envpool._core.definition import Description, Field, define, describe
from envpool.config.checks import LARGEST_SEED
from envpool.config.params import Param, above, below, param_fields

__all__ = [
    "Description",
    "EnvDefinition",
    "Field",
    "GameFields",
    "Param",
    "PlayerGroup",
    "TextField",
    "above",
    "below",
    "define",
    "describe",
    "param_fields",
]


class GameFields(NamedTuple):
    """The info arrays for the statistics of whole games, if an episode may be only a part of a game.

    Attributes
    ----------
    reward : str
        Name of the array, float32, with the reward before clipping, for instance ``"info:reward"``.
    over : str
        Name of the array, int32, that is nonzero if the game is over. A truncated episode ends the game as well.
    lives : str
        Name of the array, int32, with the number of lives. If it rises in a reset, the reset has begun another game.
    resets_continue : bool
        True if a reset after the end of an episode that was not the end of a game continues the game. A reset in the
        middle of an episode never does.
    """

    reward: str
    over: str
    lives: str
    resets_continue: bool


class PlayerGroup(NamedTuple):
    """Players of an environment that have the same spaces.

    Attributes
    ----------
    name : str
        Name of the group, a valid identifier.
    players : tuple of int
        Numbers of the players, in increasing order.
    shapes : mapping of str to tuple of int
        Row shapes, without the leading -1, by the name of a field or an action, where those of the group are smaller
        than those of the field: the leading part of each dimension is that of the group, and the rest is zero. A
        dimension that is not smaller stays as it is.
    """

    name: str
    players: tuple[int, ...]
    shapes: Mapping[str, tuple[int, ...]] = MappingProxyType({})


class TextField(NamedTuple):
    """An array that holds text: ASCII, uint8 (length,), padded with zeros.

    Attributes
    ----------
    letters : str
        The characters that may occur.
    option : str
        The option that asks for text, as it is written in a call, for instance ``"mission='text'"``.
    """

    letters: str
    option: str


class EnvDefinition(Protocol):
    """The Python class of a native environment, which the task table names.

    Subclass it, implement `build`, and override the other methods where their defaults do not fit. They are called on
    the class, which is never instantiated.

    Attributes
    ----------
    options : mapping of str to object
        Options of this environment and their defaults, in addition to the options that every task has. A value must be
        of the type of its default; an option whose default is None accepts any value. Floats must be finite, except
        for the options in `unbounded`. No name is that of an option that every task has; ``envpool.register(...,
        num_envs=2)`` sets the default of such an option.
    unbounded : collection of str
        Options of floats that may be infinite, such as limits.
    params : mapping of str to Param
        Parameters, whose values may differ among environments, in the order of the table that `build` passes to
        `define`. They are options as well, which accept one value per environment. If a default is None,
        `resolve_params` fills it in.
    reset_options : mapping of str to Param
        Options of ``reset(options=)``, which hold for one reset, in the order of the table that `build` passes to
        `define`: after the parameters, see `param_fields`. The default of an option stands for an option
        that is not given.
    presets : mapping of str to mapping
        Values of options by the name of the preset that sets them, see `envpool.tasks.presets`.
    refuses_nan : bool
        If True, an action of floats that contains NaN raises an ActionError and is not sent. Set it if a step would
        return NaN otherwise. By default the environment gets such actions.
    needs_seeds : bool
        If False, the option ``seed=None`` leaves the environments without a seed; by default, it draws one.
    default_source : str
        Source of the defaults that are None in `params`, e.g. "from the model"; by default empty.
    chooses_players : bool
        True if `build` takes the number of players from the option ``max_num_players``, which ``envpool spec`` then
        shows.
    continues_after_end : bool
        If True, the environment may be stepped after the end of its episode, as upstream's may: ``step_many`` then
        simulates as it does before the end. By default, a step after the end is refused.

    Options
    -------
    reward_threshold : float
        Mean return at which the task counts as solved. It has no effect on the environment.

    Notes
    -----
    ``envpool spec`` shows the descriptions in the section "Options" of the docstrings of a class and its base classes,
    in the format of the one above.
    """

    options: ClassVar[Mapping[str, Any]] = {}
    unbounded: ClassVar[Collection[str]] = ()
    params: ClassVar[Mapping[str, Param]] = {}
    reset_options: ClassVar[Mapping[str, Param]] = {}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    refuses_nan: ClassVar[bool] = False
    needs_seeds: ClassVar[bool] = True
    default_source: ClassVar[str] = ""
    chooses_players: ClassVar[bool] = False
    continues_after_end: ClassVar[bool] = False

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of this environment under a configuration.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task. A parameter with one value per environment is replaced by the largest or
            the smallest of them, see `Param.common`.

        Returns
        -------
        PyCapsule
            Made by `define` or by a C extension, see ``include/envpool/env.h``.

        Raises
        ------
        ConfigError
            A value, or a combination of values, is not allowed.
        """
        raise NotImplementedError("an environment definition must implement build(config)")

    @classmethod
    def resolve_params(cls, config: Any) -> Mapping[str, Param]:
        """Return `params` with the defaults, shapes and bounds that depend on the other options.

        Parameters
        ----------
        config : namedtuple
            The options of the task, validated except for the parameters.
        """
        return cls.params

    @staticmethod
    def check_reset_options(config: Any, values: Mapping[str, Any]) -> None:
        """Raise ConfigError if options of a reset, each of which is allowed, are not allowed together.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        values : mapping of str to numpy.ndarray
            The values of all `reset_options`, each with one row for all environments or one row per environment.
        """

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load the packages and files that the environment needs, or raise an ImportError that says what to install.

        This method is called once for each pool, before the pool creates environments. The default needs nothing.
        """

    @staticmethod
    def max_seed(config: Any) -> int:
        """Return the largest seed of an environment; the default is 2**64 - 1, the largest that the pool can pass.

        Override this method if the generator takes fewer seeds, as NumPy's RandomState does: a pool refuses others. If
        it does not take 42 and the seeds that follow it, register the task with another default, such as ``seed=0``.

        Parameters
        ----------
        config : namedtuple
            The options of the task, validated except for the seeds and the parameters.
        """
        return LARGEST_SEED

    @staticmethod
    def game_fields(config: Any) -> GameFields | None:
        """Return the arrays from which whole games are counted; the default is None: every episode is a whole game.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        """
        return None

    @staticmethod
    def text_fields(config: Any) -> Mapping[str, TextField]:
        """Return the arrays that users see as str, by name; the default is none.

        Only pools of gymnasium's style return texts: they have `envpool.pools.styles.texts.Texts` in place of these
        arrays, and Text spaces. With other styles, creating a pool raises a ConfigError.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        """
        return {}

    @staticmethod
    def player_groups(config: Any) -> Sequence[PlayerGroup] | None:
        """Return the groups of players with equal spaces, of an environment with players: each player is in one group.

        The default, None, is one group ``"agents"`` of all players.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        """
        return None

    @staticmethod
    def spaces(config: Any, changed: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """Return gymnasium's observation and action space of one environment.

        The default, None, selects the spaces that are derived from the field tables.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        changed : mapping of str to gymnasium.spaces.Space
            The spaces of the arrays that transforms have changed, by the name of the array.
        """
        return None

    @staticmethod
    def pool_base(base: Any) -> Any:
        """Return the base class of the pools of this environment; the default is `base`, that of their API style."""
        return base

    @staticmethod
    def render_fps(config: Any) -> int | None:
        """Return the frame rate in ``metadata["render_fps"]``: that of the upstream environment, in frames per second.

        The default, None, stands for real time if `define` was given a ``step_time``, and otherwise for 30.
        """
        return None

    @staticmethod
    def reward_past_end(config: Any) -> float | None:
        """Return the reward of a step that terminates an episode again, see `continues_after_end`.

        The default, None, is the reward of any other step.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        """
        return None

    @staticmethod
    def info_past_end(config: Any) -> Mapping[str, Any]:
        """Return values that replace those of info in the steps of which `reward_past_end` speaks; by default, none.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        """
        return {}

    @staticmethod
    def render_assets(config: Any, height: int, width: int) -> bytes | None:
        """Return the data that ``render_many`` receives as `assets`, for example images; the default is None, no data.

        This method is called once for each pool that has a render mode. It raises an ImportError if a package or a
        system library that rendering needs is missing; the error says what to install.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        height, width : int
            Size of the frames, in pixels.
        """
        return None

    @staticmethod
    def build_for_rendering(config: Any, height: int, width: int) -> Any | None:
        """Return the capsule of a pool that has a render mode; the default, None, selects the capsule of `build`.

        Override this method if rendering needs more than stepping does, or if the default frame size depends on
        something that is loaded only for rendering.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        height, width : int
            Size of the frames that the user asked for, in pixels; 0 for the default size.
        """
        return None
