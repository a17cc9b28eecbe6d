"""For authors of native environments: an environment's Python class, and the capsule of ``include/envpool/env.h``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

from envpool._core.definition import Description, Field, define, describe
from envpool.params import Param, above, below, param_fields

__all__ = [
    "Description",
    "EnvDefinition",
    "Field",
    "GameFields",
    "Param",
    "above",
    "below",
    "define",
    "describe",
    "param_fields",
]


class GameFields(NamedTuple):
    """The info arrays from which the statistics of whole games are counted, if an episode may be a part of a game.

    Attributes
    ----------
    reward : str
        Name of the array, float32, with the reward before clipping, for instance ``"info:reward"``.
    over : str
        Name of the array, int32, that is nonzero if the game is over. A truncated episode ends the game as well.
    lives : str
        Name of the array, int32, with the number of lives. If it rises in a reset, the reset has begun another game.
    resets_continue : bool
        Whether a reset that does not follow the end of a game continues the game.
    """

    reward: str
    over: str
    lives: str
    resets_continue: bool


class EnvDefinition(Protocol):
    """The Python class of a native environment, which the task table names.

    Subclass it, implement `build`, and override the other methods where their defaults do not fit. They are called on
    the class, which is never instantiated.

    Attributes
    ----------
    options : mapping of str to object
        Options of this environment and their defaults, in addition to the options that every task has. A value must be
        of the type of its default; an option whose default is None accepts any value.
    params : mapping of str to Param
        Parameters that each environment may have a value of its own for, in the order of the table that `build` passes
        to `define`. They are options as well: an option with one value per environment sets each environment's own. A
        default of None stands for the one that `resolve_params` fills in.
    """

    options: ClassVar[Mapping[str, Any]] = {}
    params: ClassVar[Mapping[str, Param]] = {}

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
    def check_requirements(config: Any) -> None:
        """Load the packages and files that the environment needs, or raise an ImportError that says what to install.

        This method is called once for each pool, before the pool creates environments. The default needs nothing.
        """

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
    def spaces(config: Any) -> tuple[Any, Any] | None:
        """Return gymnasium's observation and action space of one environment.

        The default, None, stands for the spaces that follow from the field tables.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.
        """
        return None

    @staticmethod
    def pool_base(base: Any) -> Any:
        """Return the base class of the pools of this environment; the default is `base`, that of their API style."""
        return base

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate at which the environment is shown at its natural speed, in frames per second.

        The default is 30.
        """
        return 30

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
        """Return the capsule of a pool that has a render mode; the default, None, stands for the capsule of `build`.

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
