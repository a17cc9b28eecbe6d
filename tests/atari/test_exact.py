"""Every game, and every option, returns what plain Python makes of ale_py and OpenCV."""

from __future__ import annotations

from typing import Any

import pytest

from envpool.atari.registration import GAMES
from tests.atari.oracle import check

IDS = ["".join(part.capitalize() for part in game.split("_")) + "-v5" for game in GAMES]
FIVE = ["Pong-v5", "Breakout-v5", "MsPacman-v5", "Seaquest-v5", "MontezumaRevenge-v5"]

OPTIONS: list[dict[str, Any]] = [
    {"episodic_life": True},
    {"episodic_life": True, "use_fire_reset": False, "noop_max": 0, "max_episode_steps": 200},
    {"gray_scale": False},
    {"repeat_action_probability": 0.25},
    {"full_action_space": True, "reward_clip": True},
    {"img_height": 100, "img_width": 77},
    {"img_height": 105, "img_width": 80, "gray_scale": False},
    {"img_height": 300, "img_width": 100, "stack_num": 2},
    {"img_height": 84, "img_width": 84, "use_inter_area_resize": False, "gray_scale": False},
    {"img_height": 210, "img_width": 160, "stack_num": 1, "gray_scale": False},
    {"frame_skip": 1, "stack_num": 3},
    {"frame_skip": 2, "noop_max": 1},
    {"frame_skip": 7, "max_episode_steps": 30, "noop_max": 100},
]
#: Together these have every kind of option above; for the long runs.
COMBINED: list[dict[str, Any]] = [
    {"episodic_life": True, "repeat_action_probability": 0.25, "full_action_space": True, "reward_clip": True},
    {"gray_scale": False, "img_height": 100, "img_width": 90, "use_fire_reset": False, "frame_skip": 3},
]


def name_of(options: dict[str, Any]) -> str:
    return "-".join(f"{k}={v}" for k, v in options.items()) or "default"


@pytest.mark.parametrize("task_id", IDS)
def test_game(task_id: str) -> None:
    check(task_id, 30)


@pytest.mark.parametrize("options", OPTIONS, ids=name_of)
def test_option(options: dict[str, Any]) -> None:
    check("Breakout-v5", 200, num_envs=2, num_threads=2, **options)
    check("MsPacman-v5", 100, seed=5, **options)


def test_whole_games() -> None:
    """Some of them end in the middle of a step, some with it."""
    assert check("Breakout-v5", 700, num_envs=2, seed=3) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("task_id", IDS)
def test_game_for_long(task_id: str) -> None:
    check(task_id, 500, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, *COMBINED], ids=name_of)
@pytest.mark.parametrize("task_id", FIVE)
def test_five_games_for_very_long(task_id: str, options: dict[str, Any]) -> None:
    check(task_id, 10_000, num_envs=2, num_threads=2, seed=2, **options)


@pytest.mark.parametrize("task_id", ["SpaceInvaders-v5", "Adventure-v5", "Tetris-v5"])
def test_modes_and_difficulties(task_id: str) -> None:
    import ale_py
    from ale_py import roms

    ale = ale_py.ALEInterface()
    ale.loadROM(roms.get_rom_path(GAMES[IDS.index(task_id)]))
    for mode, difficulty in zip(ale.getAvailableModes()[-2:], ale.getAvailableDifficulties()[-2:], strict=False):
        check(task_id, 20, mode=mode, difficulty=difficulty)
