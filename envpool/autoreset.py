"""Auto-reset modes: their names, their codes in the core, and gymnasium's names for them."""

from __future__ import annotations

from typing import Any

from envpool.error_texts import shown
from envpool.errors import ConfigError

#: Names of the modes. The position of a mode is its code in the core, see ``_core/structs.pxd``.
AUTORESET_MODES = ("next_step", "same_step", "disabled")


def canonical_mode(mode: Any) -> str:
    """Return the canonical name of an auto-reset mode.

    Parameters
    ----------
    mode : str or gymnasium.vector.AutoresetMode
        ``"next_step"``: the step after the last step of an episode ignores its action and returns the first observation
        of the next episode. ``"same_step"``: the last step of an episode already returns the first observation of the
        next one; the last observation and info of the episode are in ``info["final_obs"]`` and ``info["final_info"]``.
        ``"disabled"``: the caller resets environments whose episode has ended.

    Returns
    -------
    str
        One of `AUTORESET_MODES`.

    Raises
    ------
    ConfigError
        There is no such mode.
    """
    value = getattr(mode, "value", mode)
    if isinstance(value, str):
        name = value.lower().replace("_", "").replace("-", "")
        for known in AUTORESET_MODES:
            if name == known.replace("_", ""):
                return known
    raise ConfigError(
        f"autoreset_mode must be one of {', '.join(map(repr, AUTORESET_MODES))} or a gymnasium.vector.AutoresetMode, "
        f"got {shown(mode)}"
    )


def core_code(mode: str) -> int:
    """Return the code by which the core knows a mode."""
    return AUTORESET_MODES.index(mode)


def gymnasium_mode(mode: str) -> Any:
    """Return the ``gymnasium.vector.AutoresetMode`` of a mode."""
    from gymnasium.vector import AutoresetMode

    return AutoresetMode[mode.upper()]
