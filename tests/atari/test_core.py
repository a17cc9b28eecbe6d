"""The faster core emulates what ALE does: screens, RAM, rewards and lives of every game, frame by frame."""

from __future__ import annotations

from collections.abc import Generator

import ale_py
import numpy as np
import pytest
from ale_py import roms

from envpool.atari import env as atari_env
from envpool.atari.registration import GAMES
from envpool.atari.roms import read_rom

CHUNK = 250  # frames compared at once

#: Which frames are drawn, of each four: all, those of a step with the default options, the last of a step, any.
DRAWN = {"all": [1, 1, 1, 1], "last two": [0, 0, 1, 1], "last": [0, 0, 0, 1], "any": None}


def plain_frames(
    game: str, seed: int, repeat: float, mode: int, difficulty: int
) -> Generator[tuple[bytes, bytes, int, int, bool], ale_py.Action]:
    """Yield screen, RAM, reward, lives and end of each frame of ale_py; it is sent the actions."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", seed)
    ale.setFloat("repeat_action_probability", repeat)
    ale.loadROM(roms.get_rom_path(game))
    ale.setMode(mode)
    ale.setDifficulty(difficulty)
    ale.reset_game()
    action = yield b"", b"", 0, 0, False
    while True:
        if ale.game_over():
            ale.reset_game()
        reward = ale.act(action)
        action = yield ale.getScreen().tobytes(), ale.getRAM().tobytes(), reward, ale.lives(), ale.game_over()


def compare(
    game: str,
    frames: int,
    drawn: str = "any",
    *,
    seed: int = 3,
    repeat: float = 0.25,
    mode: int | None = None,
    difficulty: int | None = None,
) -> None:
    """Play a game on both; fail where they differ."""
    known = atari_env.find(game)
    mode = known["modes"][0] if mode is None else mode
    difficulty = known["difficulties"][0] if difficulty is None else difficulty
    where = f"{game}, mode {mode}, difficulty {difficulty}, drawn {drawn}"
    rng = np.random.default_rng(seed)
    plain = plain_frames(game, seed, repeat, mode, difficulty)
    next(plain)
    console = atari_env.Console(read_rom(game, known["md5"]), seed, repeat, mode, difficulty)
    pattern = DRAWN[drawn]
    for start in range(0, frames, CHUNK):
        n = min(CHUNK, frames - start)
        actions = np.repeat(rng.choice(known["legal_actions"], n // 8 + 1), 8)[:n].astype(np.uint8)
        flags = rng.integers(0, 2, n) if pattern is None else np.resize(pattern, n)
        screens, ram, rewards, lives, ends = console.play(actions, flags)
        shown = iter(screens)
        for i in range(n):
            expected = plain.send(ale_py.Action(int(actions[i])))
            screen = next(shown).tobytes() if flags[i] else expected[0]
            got = (screen, ram[i].tobytes(), rewards[i], lives[i], ends[i])
            for name, a, b in zip(("screen", "RAM", "reward", "lives", "end"), got, expected, strict=True):
                assert a == b, f"{where}, frame {start + i}: {name} differs"


@pytest.mark.drawn("atari")
@pytest.mark.parametrize("game", GAMES)
def test_every_game(game: str) -> None:
    compare(game, 40)


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("game", ["breakout", "tic_tac_toe_3d", "video_checkers", "robotank"])
def test_which_frames_are_drawn(game: str, drawn: str) -> None:
    """Two of these games need several of ALE's frames for one of theirs; one has its code behind a bank switch."""
    compare(game, 600, drawn)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_every_game_for_long(game: str) -> None:
    compare(game, 2000, "last two", repeat=0, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_modes_and_difficulties(game: str) -> None:
    """Modes show other frames through the same code, so that some of each suffice."""
    known = atari_env.find(game)
    rng = np.random.default_rng(7)
    for mode in rng.choice(known["modes"][1:], min(3, len(known["modes"]) - 1), replace=False):
        compare(game, 120, "last two", mode=int(mode), difficulty=int(rng.choice(known["difficulties"])))
