"""Cases of Procgen for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.registration import registry
from tests.conformance.cases import BadOption, SpecCase
from tests.procgen.cases import TASKS

#: Steps after which the library ends an episode, as its states say.
LIMITS = {"Bigfish": 6000, "Bossfight": 4000, "Plunder": 4000, "Leaper": 500, "Maze": 500, "JumperMemory": 2000}
MODES = {"Easy": 0, "Hard": 1, "Extreme": 2, "Memory": 10, "Exploration": 20}
assert len(TASKS) == 50


def limit_of(task_id: str) -> int:
    """Return the time limit of a task."""
    return next((limit for name, limit in LIMITS.items() if task_id.startswith(name)), 1000)


def spec_case(task_id: str) -> SpecCase:
    """Return what the spec of a task contains."""
    (mode,) = [mode for mode in MODES if task_id.endswith(f"{mode}-v0")]
    return SpecCase(
        task_id,
        max_episode_steps=limit_of(task_id),
        state={
            "obs": (np.uint8, [3, 64, 64]),
            "info:prev_level_seed": (np.int32, [-1]),
            "info:prev_level_complete": (np.int32, [-1]),
            "info:level_seed": (np.int32, [-1]),
        },
        action=(np.int32, [-1]),
        options={
            "env_name": task_id.removesuffix(f"{mode}-v0").lower(),
            "channel_first": True,
            "num_levels": 0,
            "start_level": 0,
            "use_sequential_levels": False,
            "center_agent": True,
            "use_backgrounds": True,
            "use_monochrome_assets": False,
            "restrict_themes": False,
            "use_generated_assets": False,
            "paint_vel_info": False,
            "use_easy_jump": False,
            "distribution_mode": MODES[mode],
            "seed_rows": False,
        },
    )


SPECS = [spec_case(task_id) for task_id in TASKS]
TASK = "CoinrunEasy-v0"


def bad(options: dict[str, Any], *parts: str, task_id: str = TASK, error: type[Exception] = ConfigError) -> BadOption:
    """Return a case of options that are refused."""
    return BadOption(task_id, options, error, parts)


#: Every one of these values would end the process if the library saw it.
BAD_OPTIONS = [
    bad({"env_name": "coinrun_old"}, "env_name must be one of 'bigfish', .*, got 'coinrun_old'"),
    bad({"env_name": "coinrun,maze"}, "env_name must be one of"),
    bad({"env_name": ""}, "env_name must be one of .*, got ''"),
    bad({"env_name": "x" * 1000}, "env_name must be one of"),
    bad({"distribution_mode": 2}, r"of coinrun must be one of 0 \(easy\), 1 \(hard\), 20 \(exploration\), got 2"),
    bad({"distribution_mode": 10}, "got 10"),
    bad({"distribution_mode": -1}, "got -1"),
    bad({"distribution_mode": 3}, "got 3"),
    bad({"distribution_mode": 20}, "of bigfish must be one of", task_id="BigfishEasy-v0"),
    bad({"env_name": "bigfish"}, "of bigfish must be one of", task_id="CoinrunExploration-v0"),
    bad({"distribution_mode": "easy"}, "distribution_mode must be of type int", error=TypeError),
    bad({"num_levels": -1}, r"num_levels must be between 0 and 2\*\*31 - 1, got -1"),
    bad({"num_levels": 2**31}, "num_levels must be between"),
    bad({"start_level": -1}, "start_level must be between 0"),
    bad({"start_level": 2**40}, "start_level must be between 0"),
    bad({"num_levels": 2, "start_level": 2**31 - 2}, r"num_levels \+ start_level must be at most"),
    bad({"num_levels": 5}, "num_levels must be 0 .*exploration.* got 5", task_id="MazeExploration-v0"),
    bad({"start_level": 5}, "start_level must be 0 .*exploration.* got 5", task_id="MazeExploration-v0"),
    bad({"num_levels": 1.5}, "num_levels must be of type int", error=TypeError),
    bad({"center_agent": 2}, "center_agent must be of type bool, got 2", error=TypeError),
    bad({"debug_mode": 1}, "no option 'debug_mode'", error=TypeError),
    bad({"rand_seed": 1}, "no option 'rand_seed'", error=TypeError),
]
assert {i for i, entry in registry.tasks.items() if entry.env == "Procgen"} == set(TASKS)
