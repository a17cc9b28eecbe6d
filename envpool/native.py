"""For authors of native environments: the Python side of an environment, and the capsule of ``include/envpool/env.h``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from envpool._core.definition import Description, Field, define, describe

__all__ = ["Description", "EnvDefinition", "Field", "define", "describe"]


class EnvDefinition(Protocol):
    """The Python side of a native environment, which the task table names.

    Subclass it and implement `build`; override the other methods where their defaults do not fit. The pool calls the
    class itself: all methods are static, and no instance is ever made.

    Attributes
    ----------
    options : mapping of str to object
        Options of this environment besides those that every task has, with their defaults. The type of a default is
        the type of the option; an option whose default is None accepts any value.
    """

    options: ClassVar[Mapping[str, Any]] = {}

    @staticmethod
    def build(config: Any) -> Any:
        """Return the capsule of this environment (``include/envpool/env.h``) under a configuration.

        Parameters
        ----------
        config : namedtuple
            The validated options of the task.

        Returns
        -------
        PyCapsule
            Made by `define`, or by a C extension.

        Raises
        ------
        ConfigError
            A combination of options is not allowed.
        """
        raise NotImplementedError("an environment definition must implement build(config)")

    @staticmethod
    def check_requirements(config: Any) -> None:
        """Load what the environment cannot run without, or raise an ImportError that says how to install it.

        The pool calls this method once, before it is built. By default an environment needs nothing.
        """

    @staticmethod
    def render_fps(config: Any) -> int:
        """Return the frame rate at which the environment runs at its own speed, in frames per second; 30 by default."""
        return 30

    @staticmethod
    def render_assets(config: Any, height: int, width: int) -> bytes | None:
        """Return the bytes that ``render_many`` receives as `assets`, e.g. images; None, the default, for no assets.

        The pool calls this method once, if it has a render mode. It raises an ImportError that names the package or the
        system library which drawing needs and which is missing.
        """
        return None

    @staticmethod
    def build_for_rendering(config: Any, height: int, width: int) -> Any | None:
        """Return the capsule of a pool with a render mode where that of `build` does not do; None, the default, if it does.

        An environment overrides this method for what only drawing needs, or to determine the default frame size late.
        `height` and `width` are 0 where the user did not ask for a size.
        """
        return None
