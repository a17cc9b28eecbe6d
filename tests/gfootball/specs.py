"""Cases of Google Research Football for the conformance tests: options, spaces and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from envpool.errors import ConfigError
from envpool.gfootball.registration import DURATIONS
from tests.conformance.cases import BadOption, SpecCase
from tests.gfootball.cases import TASKS

#: EnvPool's info arrays of type int32 without dimensions, and one of upstream.
INFOS = (
    *("game_mode", "ball_owned_team", "ball_owned_player", "steps_left", "engine_seed", "episode_number"),
    "score_reward",
)


def spec_case(scenario: str, task_id: str) -> SpecCase:
    """Return what the spec of a task contains."""
    return SpecCase(
        task_id,
        max_episode_steps=DURATIONS[scenario] + 1,  # as upstream, whose first step has the number 0
        state={
            "obs": (np.uint8, [72, 96, 4]),
            "info:score": (np.int32, [2]),
            **{f"info:{name}": (np.int32, []) for name in INFOS},
        },
        action=(np.int32, [-1]),
        options={
            "env_name": scenario,
            "scenario": None,
            "representation": "extracted",
            "stacked": False,
            "rewards": "scoring",
            "left_agents": 1,
            "right_agents": 0,
            "action_set": "default",
            "channel_dimensions": (96, 72),
            "raw_info": False,
            "game_engine_random_seed": None,
            "physics_steps_per_frame": 10,
            "deterministic": None,
            "offsides": None,
            "second_half": None,
            "end_episode_on_score": None,
            "end_episode_on_possession_change": None,
            "end_episode_on_out_of_play": None,
            "render": False,
            "render_resolution_x": 1280,
            "render_resolution_y": 720,
            "left_team_difficulty": None,
            "right_team_difficulty": None,
        },
    )


SPECS = [spec_case(*item) for item in TASKS.items()]


def bad(options: dict[str, Any], *parts: str, task_id: str = "", error: type[Exception] = ConfigError) -> BadOption:
    """Return a case of options that are refused."""
    return BadOption(task_id or TASKS["5_vs_5"], options, error, parts)


CUSTOM = "gfootball/custom-v1"
TEAM = {"left_team": [(-1, 0, "GK")]}

BAD_OPTIONS = [
    bad({"env_name": "11_vs_11"}, "env_name must be one of '11_vs_11_competition', .*, got '11_vs_11'"),
    bad({"representation": "pixels"}, "representation must be one of 'extracted', .*, got 'pixels'"),
    bad({"representation": "raw", "stacked": True}, "stacked must be False with representation='raw'"),
    bad({"rewards": "checkpoints"}, "rewards must be one of 'scoring', .*, got 'checkpoints'"),
    bad({"action_set": "v1"}, "action_set must be one of 'default', 'v2', 'full', got 'v1'"),
    bad({"left_agents": 5}, "left_agents must be between 0 and 4, .*, got 5"),
    bad({"left_agents": -1}, "left_agents must be between 0 and 4, .*, got -1"),
    bad({"right_agents": 5}, "right_agents must be between 0 and 4, .*, got 5"),
    bad({"left_agents": 0}, r"left_agents \+ right_agents must be at least 1, got 0"),
    bad({"channel_dimensions": (96,)}, "channel_dimensions must be width and height"),
    bad({"channel_dimensions": (0, 72)}, r"channel_dimensions must be .*, got \(0, 72\)"),
    bad({"game_engine_random_seed": -1}, "game_engine_random_seed must be between 0 and .*, got -1"),
    bad({"game_engine_random_seed": 1.5}, "game_engine_random_seed must be an int or None", error=TypeError),
    bad({"physics_steps_per_frame": 0}, "physics_steps_per_frame must be between 1 and 1000, got 0"),
    bad({"render": True}, "render must be False, got True: .*OpenGL"),
    bad({"render_resolution_x": 0}, "render_resolution_x must be between 1 and 8192, got 0"),
    bad({"offsides": "no"}, "offsides must be True or False, got 'no'"),
    bad({"second_half": -1}, r"second_half must be an integer between 0 and 2\*\*31 - 1, got -1"),
    bad({"right_team_difficulty": 1.5}, "right_team_difficulty must be .* at least 0 and at most 1, got 1.5"),
    bad({"scenario": TEAM}, "scenario must be None .*'gfootball/custom-v1'"),
    bad({}, "scenario must be a Python file .* got None", task_id=CUSTOM),
    bad({"scenario": 5}, "scenario must be the path of a .* or a dict, got 5", task_id=CUSTOM, error=TypeError),
    bad({"scenario": {"left": []}}, "scenario: there is no setting 'left'; did you mean", task_id=CUSTOM),
    bad({"scenario": {"left_team": 5}}, "left_team must be a list of players, got 5", task_id=CUSTOM),
    bad({"scenario": {"left_team": [(0, 0, "GK")] * 12}}, "left_team must have at most 11 players", task_id=CUSTOM),
    bad({"scenario": {"left_team": [(0, 0)]}}, r"left_team\[0\] must be \(x, y, role\)", task_id=CUSTOM),
    bad({"scenario": {"left_team": [(0, 0, "XX")]}}, r"left_team\[0\]: role must be one of GK, CB", task_id=CUSTOM),
    bad({"scenario": {"left_team": [(2, 0, "GK")]}}, r"left_team\[0\]: x must be between -1 and 1", task_id=CUSTOM),
    bad({"scenario": {"ball": (0, 1)}}, "ball: y must be between -0.42 and 0.42, got 1", task_id=CUSTOM),
    bad({"scenario": {"ball": float("nan")}}, r"ball must be a pair \(x, y\)", task_id=CUSTOM),
    bad({"scenario": {"game_duration": 0}}, "game_duration must be an integer between 1 and", task_id=CUSTOM),
    bad({"scenario": {"left_team_difficulty": 2}}, "left_team_difficulty must be between 0 and 1", task_id=CUSTOM),
]
