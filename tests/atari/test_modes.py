"""The modes and difficulties of games, of which ale_py knows the allowed values."""

from __future__ import annotations

import ale_py
import pytest
from ale_py import roms

from envpool.atari.registration import GAMES
from tests.atari.cases import IDS
from tests.atari.oracle import GameOracle
from tests.conformance.cases import ExactnessCase


@pytest.mark.parametrize("task_id", ["SpaceInvaders-v5", "Adventure-v5", "Tetris-v5"])
def test_modes_and_difficulties(task_id: str) -> None:
    ale = ale_py.ALEInterface()
    ale.loadROM(roms.get_rom_path(GAMES[IDS.index(task_id)]))
    for mode, difficulty in zip(ale.getAvailableModes()[-2:], ale.getAvailableDifficulties()[-2:], strict=False):
        options = {"mode": mode, "difficulty": difficulty}
        oracle = GameOracle()
        oracle.check(ExactnessCase(task_id, oracle, options=options, num_envs=1, steps=20, min_episodes=0))
