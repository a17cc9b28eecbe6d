"""Frames that nobody sees are not drawn, yet what they would have left in the frame buffers is seen where it matters.

ALE draws into two buffers by turns. A frame that ends early, or that its game has not finished when ALE stops waiting,
covers only a part of its buffer, so that the rest shows what older frames left.
"""

from __future__ import annotations

from typing import Any

import ale_py
import numpy as np
import pytest
from ale_py import roms

import envpool
from envpool.atari.registration import GAMES
from envpool.atari.upstream import make_preprocessed
from tests.atari.cases import id_of
from tests.atari.oracle import Game

HOLD = 8  # steps for which an action is held, on average


def test_a_frame_that_is_drawn_in_part() -> None:
    """Episodes of VideoCheckers in which the game takes so long to find its move that ALE stops waiting."""
    seed = 20261122
    env = make_preprocessed("video_checkers", noop_max=0)
    rng = np.random.default_rng(3)
    options: dict[str, Any] = {"noop_max": 0, "use_fire_reset": False}
    with envpool.make_gymnasium("VideoCheckers-v5", num_envs=1, seed=seed, **options) as pool:
        np.testing.assert_array_equal(pool.reset()[0][0], env.reset(seed=seed)[0])
        for step in range(150):
            action = rng.integers(0, 5, 2)[1]
            actual, expected = pool.step(np.array([action], np.int32)), env.step(action)
            np.testing.assert_array_equal(actual[0][0], expected[0], f"step {step}")
    env.close()


def size_of(game: str) -> tuple[int, int]:
    """Return the height and width of a game's screen."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.loadROM(roms.get_rom_path(game))
    height, width = ale.getScreenDims()
    return int(height), int(width)


def play(game: str, steps: int, seed: int, **options: Any) -> None:
    """Play a game on a pool and on ale_py with the same actions; fail where an observation or the RAM differs.

    Observations have the size of the screen, so that nothing is averaged away.
    """
    height, width = size_of(game)
    shown = {"stack_num": 1, "img_height": height, "img_width": width, **options}
    rng = np.random.default_rng(seed)
    with envpool.make_gymnasium(id_of(game), num_envs=1, seed=seed, **shown) as pool:
        expected = Game(pool.spec.config._asdict(), seed)
        expected.reset()
        actual, done = pool.reset()[0], False
        action = 0
        for step in range(steps):
            assert actual.tobytes() == expected.frames[-1].tobytes(), f"{game}, seed {seed}, {options}, step {step}"
            if rng.integers(HOLD) == 0:
                action = int(rng.integers(pool.action_space.n))
            actual, _, terminated, truncated, info = pool.step(np.array([action], np.int32))
            expected.reset() if done else expected.step(action)
            done = bool(terminated[0] or truncated[0])
            assert info["ram"].tobytes() == expected.ale.getRAM().tobytes(), f"{game}, seed {seed}, step {step}: RAM"


#: Options that leave different frames unseen: those of a step, of no-ops, and of steps with an odd number of frames.
UNSEEN: dict[str, dict[str, Any]] = {
    "defaults": {},
    "no no-ops": {"noop_max": 0, "use_fire_reset": False},
    "odd": {"frame_skip": 5, "episodic_life": True, "repeat_action_probability": 0.25},
    "all but the last": {"frame_skip": 1, "noop_max": 100},
    "long": {"frame_skip": 67, "max_episode_steps": 20, "noop_max": 200},
}


@pytest.mark.slow
@pytest.mark.parametrize("options", UNSEEN)
@pytest.mark.parametrize("game", ["video_checkers", "tic_tac_toe_3d"])
def test_games_that_leave_frames_unfinished(game: str, options: str) -> None:
    play(game, 1000 if options != "long" else 50, 20261122, **UNSEEN[options])


@pytest.mark.sweep
@pytest.mark.parametrize("options", ["defaults", "no no-ops"])
@pytest.mark.parametrize("game", GAMES)
def test_every_game_for_20000_steps(game: str, options: str) -> None:
    for seed in (20261122, 7):
        play(game, 20_000, seed, **UNSEEN[options])
