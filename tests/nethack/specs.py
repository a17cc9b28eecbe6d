"""Cases of NetHack for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.nethack.observations import ARRAYS, DEFAULT_KEYS
from envpool.nethack.table import CHALLENGE_KEYS
from tests.conformance.cases import BadOption, SpacesCase, SpecCase
from tests.nethack.cases import TASKS
from tests.nethack.upstream import upstream_of

NO_LIMIT = 2**31 - 1


def spec_case(task_id: str) -> SpecCase:
    """Return what the spec of a task contains."""
    is_challenge = task_id == "NetHackChallenge-v0"
    keys = CHALLENGE_KEYS if is_challenge else DEFAULT_KEYS
    return SpecCase(
        task_id,
        max_episode_steps=NO_LIMIT,
        state={
            **{f"obs:{name}": (ARRAYS[name].dtype, ARRAYS[name].shape) for name in keys},
            "info:end_status": (np.int32, [-1]),
            "info:is_ascended": (np.bool_, [-1]),
        },
        action=(np.int32, [-1]),
        options={
            "task": task_id.removesuffix("-v0"),
            "observation_keys": keys,
            "actions": None,
            "character": "@" if is_challenge else "mon-hum-neu-mal",
            "options": None,
            "max_steps": 1_000_000 if is_challenge else 5000,
            "penalty_mode": "constant",
            "penalty_step": 0.0 if is_challenge else -0.01,
            "penalty_time": 0.0,
            "allow_all_yn_questions": is_challenge,
            "allow_all_modes": is_challenge,
            "spawn_monsters": True,
            "wizard": False,
            "no_progress_timeout": 10_000,
        },
    )


SPECS = [spec_case(task_id) for task_id in TASKS]


def upstream_spaces(task_id: str, **options: Any) -> Any:
    """Return upstream's spaces."""
    env = upstream_of(task_id, **options).make()
    found = SimpleNamespace(observation_space=env.observation_space, action_space=env.action_space)
    env.close()
    return found


SPACES = [
    SpacesCase("NetHack-v0", lambda: upstream_spaces("NetHack-v0")),
    SpacesCase("NetHackScore-v0", lambda: upstream_spaces("NetHackScore-v0")),
    SpacesCase("NetHackChallenge-v0", lambda: upstream_spaces("NetHackChallenge-v0")),
    SpacesCase(
        "NetHackScore-v0",
        lambda: upstream_spaces("NetHackScore-v0", observation_keys=tuple(ARRAYS)),
        {"observation_keys": tuple(ARRAYS)},
    ),
]


def bad(options: dict[str, Any], *parts: str, error: type[Exception] = ConfigError) -> BadOption:
    """Return a case of options that are refused."""
    return BadOption("NetHackScore-v0", options, error, parts)


BAD_OPTIONS = [
    bad({"task": "NetHackFoo"}, "task must be one of 'NetHack', 'NetHackScore', .*, got 'NetHackFoo'"),
    bad({"observation_keys": ("glyphs", "glyph")}, r"observation_keys\[1\] must be one of 'glyphs', .*, got 'glyph'"),
    bad({"observation_keys": ()}, "observation_keys must contain at least one name"),
    bad({"observation_keys": ("chars", "chars")}, "each name once"),
    bad({"observation_keys": "glyphs"}, "observation_keys must be a sequence of str", error=TypeError),
    bad({"observation_keys": None}, "observation_keys must be a sequence of str", error=TypeError),
    bad({"observation_keys": (3,)}, r"observation_keys\[0\] must be of type str, got 3", error=TypeError),
    bad({"actions": ()}, "actions must have 1 to 512 entries, got 0"),
    bad({"actions": (1,) * 513}, "got 513"),
    bad({"actions": (256,)}, r"actions\[0\] must be between 0 and 255, got 256"),
    bad({"actions": (-1,)}, r"actions\[0\] must be between 0 and 255, got -1"),
    bad({"actions": (1.0,)}, r"actions\[0\] must be of type int, got 1.0", error=TypeError),
    bad({"actions": 5}, "actions must be a sequence of int", error=TypeError),
    bad({"actions": np.array(5)}, "actions must be a sequence of int", error=TypeError),
    bad({"actions": np.zeros((2, 2), int)}, "actions must be a sequence of int", error=TypeError),
    bad({"character": "mon,role:wiz"}, "character must contain no comma"),
    bad({"character": "x" * 26}, "character must be printable ASCII of at most 25 characters"),
    bad({"character": "mön"}, "character must be printable ASCII"),
    bad({"penalty_time": float("nan")}, "penalty_time must be a finite number, got nan"),
    bad({"options": "time"}, "options must be a sequence of str", error=TypeError),
    bad({"options": ("time\0",)}, r"options\[0\] must be printable ASCII of at most 127 characters"),
    bad({"options": ("x" * 128,)}, r"options\[0\] must be printable ASCII"),
    bad({"options": ("time",) * 65}, "options must contain at most 64 options, got 65"),
    bad({"options": ("time," * 20 + "time",) * 4}, "options must contain at most 64 options, got 84"),
    *(
        bad({"options": ("time", text)}, rf"options\[1\] must not set windowtype, .*got {text!r}")
        for text in ("windowtype:tty", "time, WINDOW=tty", "!NO!win:tty")
    ),
    bad({"penalty_mode": "cubic"}, "penalty_mode must be one of 'constant', 'exp', .*, got 'cubic'"),
    bad({"max_steps": 0}, "max_steps must be between 1 and .*, got 0"),
    bad({"no_progress_timeout": 0}, "no_progress_timeout must be between 1"),
    bad({"max_steps": 1.5}, "max_steps must be of type int", error=TypeError),
    bad({"savedir": "x"}, "no option 'savedir'", error=TypeError),
]
