"""Cases of the Adroit hand for the conformance tests: options with their defaults, and bad options."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.mujoco.robotics.model_folder import assets
from tests.conformance.cases import BadOption, SpacesCase, SpecCase
from tests.mujoco.robotics.adroit.cases import TASKS
from tests.mujoco.robotics.upstream import upstream_of

SIZES = {"Door": (39, 28), "Hammer": (46, 26), "Pen": (45, 24), "Relocate": (39, 30)}

SPECS = [
    SpecCase(
        f"AdroitHand{name}{suffix}-v1",
        max_episode_steps=200,
        state={
            "obs": (np.float64, [observation]),
            "info:success": (np.float64, [-1]),
            "info:distance": (np.float64, [-1]),
        },
        action=(np.float32, [-1, actions]),
        options={
            "frame_skip": 5,
            "frame_stack": 1,
            "xml_file": f"adroit_hand/adroit_{name.lower()}.xml",
            "reward_type": reward_type,
            "max_episode_steps": 200,
        },
        has_more_options=True,
    )
    for name, (observation, actions) in SIZES.items()
    for suffix, reward_type in (("", "dense"), ("Sparse", "sparse"))
]
SPACES = [SpacesCase(task_id, lambda i=task_id: upstream_of(i).make()) for task_id in TASKS]

WITHOUT_HAND = str(assets() / "point" / "point.xml")
BAD: list[tuple[dict[str, Any], str]] = [
    ({"reward_type": "shaped"}, "reward_type must be 'sparse' or 'dense', got 'shaped'"),
    ({"xml_file": "adroit_hand/door.xml"}, "xml_file must name a file, got 'adroit_hand/door.xml'"),
    ({"xml_file": WITHOUT_HAND}, r"point.xml' has 2 positions \(nq\), this task needs at least 4"),
    ({"xml_file": "adroit_hand/adroit_pen.xml"}, "adroit_pen.xml' has no body called 'frame', which this task needs"),
]
BAD_OPTIONS = [BadOption("AdroitHandDoor-v1", options, ConfigError, [text]) for options, text in BAD] + [
    BadOption(
        "AdroitHandHammer-v1",
        {"xml_file": "adroit_hand/adroit_door.xml"},
        ConfigError,
        ["adroit_door.xml' has no body called 'nail_board'"],
    ),
]
