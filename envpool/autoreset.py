"""Auto-reset styles: their names, and the codes that the core knows them by."""

from __future__ import annotations

from typing import Any

from envpool.errors import ConfigError

#: Canonical names; the position is the core's code.
MODES = ("next_step", "same_step", "disabled")


def canonical_mode(mode: Any) -> str:
    """Return the canonical name of an auto-reset style.

    Parameters
    ----------
    mode : str or gymnasium.vector.AutoresetMode
        ``"next_step"``: the step after the last one of an episode ignores its action and returns the first observation
        of the next episode. ``"same_step"``: the last step already returns that observation, and what it saw itself
        stands in ``info["final_obs"]`` and ``info["final_info"]``. ``"disabled"``: the caller resets.

    Returns
    -------
    str
        One of `MODES`.

    Raises
    ------
    ConfigError
        No such style.
    """
    value = getattr(mode, "value", mode)
    if isinstance(value, str):
        name = value.lower().replace("_", "").replace("-", "")
        for known in MODES:
            if name == known.replace("_", ""):
                return known
    raise ConfigError(
        f"autoreset_mode must be one of {', '.join(map(repr, MODES))} or a gymnasium.vector.AutoresetMode, got {mode!r}"
    )
