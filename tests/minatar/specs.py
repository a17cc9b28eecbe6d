"""Cases of MinAtar for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

import numpy as np

from envpool.errors import ConfigError
from tests.conformance.cases import BadOption, SpacesCase, SpecCase
from tests.minatar.cases import TASKS
from tests.minatar.upstream import upstream_of

NO_LIMIT = 2**31 - 1
CHANNELS = {"Asterix": 4, "Breakout": 4, "Freeway": 7, "Seaquest": 10, "SpaceInvaders": 6}

SPECS = [
    SpecCase(
        task_id,
        max_episode_steps=NO_LIMIT,
        state={"obs": (np.bool_, [10, 10, CHANNELS[task_id[8:-3]]])},
        action=(np.int32, [-1]),
        options={
            "sticky_action_prob": 0.1,
            "difficulty_ramping": True,
            "use_minimal_action_set": task_id.endswith("v1"),
        },
    )
    for task_id in TASKS
]
SPACES = [SpacesCase(task_id, upstream_of(task_id).make) for task_id in TASKS]
TASK = "MinAtar/Breakout-v1"
BAD_OPTIONS = [
    *(
        BadOption(
            TASK,
            {"sticky_action_prob": value},
            ConfigError,
            [f"sticky_action_prob must be between 0 and 1, got {value}"],
        )
        for value in (-0.1, 1.5)
    ),
    BadOption(
        TASK, {"sticky_action_prob": "never"}, TypeError, ["sticky_action_prob must be of type float, got 'never'"]
    ),
    BadOption(TASK, {"difficulty_ramping": 2}, TypeError, ["difficulty_ramping must be of type bool, got 2"]),
    BadOption(TASK, {"use_minimal_action_set": "yes"}, TypeError, ["use_minimal_action_set must be of type bool"]),
    BadOption(TASK, {"ramping": True}, TypeError, ["no option 'ramping'"]),
]
