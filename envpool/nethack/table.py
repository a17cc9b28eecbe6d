"""The tasks, and the options in which they differ; the task table imports this module, so it imports nothing."""

from __future__ import annotations

from typing import Any

#: Upstream's classes, in the order of the numbers that structs.pxd gives them.
TASKS = (
    "NetHack",
    "NetHackScore",
    "NetHackStaircase",
    "NetHackStaircasePet",
    "NetHackOracle",
    "NetHackGold",
    "NetHackEat",
    "NetHackScout",
    "NetHackChallenge",
)
CHALLENGE_KEYS = (
    "glyphs",
    "chars",
    "colors",
    "specials",
    "blstats",
    "message",
    "inv_glyphs",
    "inv_strs",
    "inv_letters",
    "inv_oclasses",
    "tty_chars",
    "tty_colors",
    "tty_cursor",
    "misc",
)

#: Options of tasks that differ from the defaults.
TASK_OPTIONS: dict[str, dict[str, Any]] = {
    "NetHackChallenge": {
        "character": "@",
        "allow_all_yn_questions": True,
        "allow_all_modes": True,
        "penalty_step": 0.0,
        "max_steps": 1_000_000,
        "observation_keys": CHALLENGE_KEYS,
    },
}
