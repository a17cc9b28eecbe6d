"""The time limit that a call of ``gymnasium.make`` asks for, which gymnasium does not pass on."""

from __future__ import annotations

import sys
from typing import Any

from gymnasium.envs import registration

from envpool.config.options import POOL_DEFAULTS, WORDS

#: The option, and its other names.
NAME = "max_episode_steps"
NAMES = {NAME, *(word for word, names in WORDS.items() if NAME in names)}
#: The value of the option if there is no limit, for which gymnasium writes -1.
NO_LIMIT: int = POOL_DEFAULTS[NAME]


def with_asked_limit(options: dict[str, Any], depth: int) -> dict[str, Any]:
    """Return the options of an environment with the time limit that the call of ``gymnasium.make`` asks for.

    ``gymnasium.make(id, max_episode_steps=N)`` adds its wrapper TimeLimit and does not pass N to the environment. The
    pool truncates episodes itself, and observations and games may depend on its limit, so it must know N. Nothing but
    the frame of ``make`` has it.

    Parameters
    ----------
    options : dict of str to object
        The options that the environment got.
    depth : int
        Number of calls between this function and the one that may be ``gymnasium.make``. If that is another function,
        the options stay as they are.
    """
    frame = sys._getframe(depth + 1)
    if frame.f_code is not getattr(registration.make, "__code__", None):
        return options
    limit, spec = (frame.f_locals.get(name) for name in (NAME, "id"))
    if limit is None and not NAMES & options.keys():
        limit = getattr(spec, NAME, None)  # of an EnvSpec in the place of an id
    if not isinstance(limit, int):
        return options
    return options | {NAME: NO_LIMIT if limit == -1 else min(limit, NO_LIMIT)}
