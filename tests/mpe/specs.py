"""Cases of MPE for the conformance tests: options and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from tests.conformance.cases import BadOption, SpecCase
from tests.mpe.cases import MEASURED, TASKS

COMMON = {"continuous_actions": False, "dynamic_rescaling": True}
FIGURES = {"benchmark_data": False}
NEIGHBOURS = {"num_agent_neighbors": None, "num_landmark_neighbors": None}
#: Size of the longest observation, and the options of each scenario.
SCENARIOS: dict[str, tuple[int, dict[str, Any]]] = {
    "collect_treasure": (86, {"num_collectors": 6, "num_deposits": 2, "num_treasures": 6}),
    "simple": (4, {}),
    "simple_adversary": (10, {"N": 2, **NEIGHBOURS}),
    "simple_crypto": (8, {}),
    "simple_formation": (6, {"N": 4, "terminate_on_success": False}),
    "simple_line": (8, {"N": 4, "terminate_on_success": False}),
    "simple_push": (19, {}),
    "simple_reference": (21, {"local_ratio": 0.5}),
    "simple_speaker_listener": (11, {}),
    "simple_spread": (
        18,
        {
            "N": 3,
            "local_ratio": 0.5,
            "curriculum": False,
            "curriculum_stage": 0,
            "terminate_on_success": False,
            **NEIGHBOURS,
        },
    ),
    "simple_tag": (
        16,
        {
            "num_good": 1,
            "num_adversaries": 3,
            "num_obstacles": 2,
            "curriculum": False,
            "curriculum_stage": 0,
            "terminate_on_success": False,
            **NEIGHBOURS,
        },
    ),
    "simple_world_comm": (
        34,
        {"num_good": 2, "num_adversaries": 4, "num_obstacles": 1, "num_food": 2, "num_forests": 2},
    ),
}

SPECS = [
    SpecCase(
        TASKS[name],
        max_episode_steps=25,
        state={"obs": (np.float32, [-1, size])},
        action=(np.int32, [-1]),
        options={**COMMON, **(FIGURES if name in MEASURED else {}), **options},
    )
    for name, (size, options) in SCENARIOS.items()
]


def refused(name: str, options: dict[str, Any], *parts: str, error: type[Exception] = ConfigError) -> BadOption:
    return BadOption(TASKS[name], options, error, parts)


BAD_OPTIONS = [
    *(refused("simple_spread", {"N": n}, f"N must be between 1 and 128, got {n}") for n in (-1, 0, 129)),
    refused("simple_adversary", {"N": 128}, "N must be between 1 and 127, got 128"),
    refused("simple_spread", {"local_ratio": 1.5}, "local_ratio must be between 0 and 1, got 1.5"),
    refused("simple_reference", {"local_ratio": -0.5}, "local_ratio must be between 0 and 1, got -0.5"),
    refused("simple_tag", {"num_good": 0}, "num_good must be between 1 and 128, got 0"),
    refused("simple_tag", {"num_adversaries": 100, "num_good": 100}, "num_good and num_adversaries must .* got 200"),
    refused("simple_world_comm", {"num_food": 0}, "num_food must be between 1 and 128, got 0"),
    refused("simple_world_comm", {"num_food": 100, "num_forests": 100}, "num_obstacles, num_food and num_forests must"),
    refused("collect_treasure", {"num_deposits": 7}, "num_deposits must be between 1 and 6, got 7"),
    refused("collect_treasure", {"num_collectors": 127}, "num_collectors and num_deposits must .* got 129"),
    refused("simple_formation", {"N": 0}, "N must be between 1 and 128, got 0"),
    *(
        refused("simple_tag", {"num_agent_neighbors": n}, f"num_agent_neighbors must be between 1 and 128.* got {n}")
        for n in (0, 129)
    ),
    refused("simple_tag", {"num_landmark_neighbors": 1.5}, "num_landmark_neighbors must be an int", error=TypeError),
    refused("simple_tag", {"num_agent_neighbors": True}, "num_agent_neighbors must be an int", error=TypeError),
    refused("simple_spread", {"curriculum_stage": 2}, "curriculum_stage must be"),
    refused("simple", {"continuous_actions": 2}, "continuous_actions must be of type bool, got 2", error=TypeError),
    refused("simple_line", {"benchmark_data": True}, "no option 'benchmark_data'", error=TypeError),
    refused("simple", {"N": 3}, "no option 'N'", error=TypeError),
]
