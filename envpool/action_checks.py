"""Which floats a pool refuses in actions: the option `check_actions`, and what environments refuse in any case."""

from __future__ import annotations

from typing import Any

from envpool.error_texts import shown
from envpool.errors import ConfigError

#: Codes of the core, see ``_core/actions.pyx``.
NO_FLOAT, NAN, NOT_FINITE = range(3)


def check_actions_option(value: Any) -> None:
    """Raise ConfigError if a value of the option `check_actions` is not allowed."""
    if value is not None and not (isinstance(value, str) and value == "nan"):
        raise ConfigError(
            f"check_actions must be 'nan', which refuses NaN and infinity in actions, or None, which leaves them to "
            f"the environment, got {shown(value)}"
        )


def refused_floats(check_actions: str | None, refuses_nan: bool) -> int:
    """Return the code of the floats that a pool refuses.

    Parameters
    ----------
    check_actions : {"nan"} or None
        The option of the pool.
    refuses_nan : bool
        ``EnvDefinition.refuses_nan`` of the environment.
    """
    return NOT_FINITE if check_actions == "nan" else NAN if refuses_nan else NO_FLOAT
