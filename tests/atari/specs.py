"""Cases of Atari for the conformance tests: options and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.atari.registration import GAMES
from envpool.errors import ConfigError
from tests.atari.cases import id_of
from tests.conformance.cases import BadOption, SpecCase

DEFAULTS = {
    "max_episode_steps": 27000,
    "stack_num": 4,
    "frame_skip": 4,
    "noop_max": 30,
    "zero_discount_on_life_loss": False,
    "episodic_life": False,
    "reward_clip": False,
    "use_fire_reset": True,
    "img_height": 84,
    "img_width": 84,
    "mode": -1,
    "difficulty": -1,
    "full_action_space": False,
    "repeat_action_probability": 0.0,
    "use_inter_area_resize": True,
    "gray_scale": True,
    "continuous": False,
    "continuous_action_threshold": 0.5,
    "maxpool": True,
    "padding_type": "reset",
    "life_loss_info": False,
    "frame_number_info": False,
}
STATE = {
    "obs": (np.uint8, [4, 84, 84]),
    "info:lives": (np.int32, [-1]),
    "info:reward": (np.float32, [-1]),
    "info:terminated": (np.int32, [-1]),
    "info:ram": (np.uint8, [128]),
}
SPECS = [
    SpecCase(id_of(game), None, 27000, None, STATE, (np.int32, [-1]), {"task": game, **DEFAULTS}) for game in GAMES
]

BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"stack_num": 0}, ConfigError, "stack_num must be between 1 and 1024, got 0"),
    ({"stack_num": -4}, ConfigError, "stack_num must be between 1 and 1024, got -4"),
    ({"frame_skip": 0}, ConfigError, "frame_skip must be an integer of at least 1 and at most 10000, got 0"),
    ({"noop_max": -1}, ConfigError, "noop_max must be between 0 and 10000, got -1"),
    ({"img_height": 0}, ConfigError, "img_height must be between 1 and 4096, got 0"),
    ({"img_width": 0}, ConfigError, "img_width must be between 1 and 4096, got 0"),
    ({"img_width": 2**40}, ConfigError, "img_width must be between 1 and 4096, got 1099511627776"),
    ({"mode": 77}, ConfigError, "mode must be one of the integers -1, 0, 1.*, got 77"),
    ({"mode": -2}, ConfigError, "mode must be one of the integers -1.*, got -2"),
    ({"difficulty": 4}, ConfigError, "difficulty must be one of the integers -1.*, got 4"),
    ({"task": "ping"}, ConfigError, "task must be one of adventure"),
    ({"task": "combat"}, ConfigError, "task must be one of .*, got 'combat'"),
    ({"task": "../pong"}, ConfigError, "task must be one of .*, got '../pong'"),
    (
        {"repeat_action_probability": 1.5},
        ConfigError,
        "repeat_action_probability must be .* of at least 0 and at most 1.*, got 1.5",
    ),
    ({"repeat_action_probability": float("nan")}, ConfigError, "repeat_action_probability must be .*, got nan"),
    ({"gray_scale": "yes"}, TypeError, "gray_scale must be of type bool"),
    ({"stack_num": 4.0}, TypeError, "stack_num must be of type int"),
]
BAD_OPTIONS = [BadOption("Pong-v5", options, error, [text]) for options, error, text in BAD]
