"""Without a fire reset, and otherwise by default, the family equals gymnasium's own wrappers on ale_py's env."""

from __future__ import annotations

from typing import Any

import ale_py
import gymnasium
import pytest
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

from envpool.atari.registration import GAMES
from tests.support.oracles.gymnasium_oracle import Upstream, assert_exact

gymnasium.register_envs(ale_py)

#: Neither sticky actions nor a limit of frames, and frames are skipped by the wrapper.
RAW: dict[str, Any] = {"frameskip": 1, "repeat_action_probability": 0.0, "max_num_frames_per_episode": 0}


def make_preprocessed(game: str, terminal_on_life_loss: bool = False) -> gymnasium.Env[Any, Any]:
    """Return an env as most of the literature uses it."""
    env = gymnasium.make("ALE/Pong-v5", game=game, disable_env_checker=True, **RAW)
    return FrameStackObservation(AtariPreprocessing(env, terminal_on_life_loss=terminal_on_life_loss), 4)


gymnasium.register("Preprocessed-v0", make_preprocessed, max_episode_steps=27000)


def upstream(game: str, **kwargs: Any) -> Upstream:
    return Upstream("Preprocessed-v0", {"game": game, **kwargs}, info={"lives": "lives"})


def task_id(game: str) -> str:
    return "".join(part.capitalize() for part in game.split("_")) + "-v5"


RUNS = [{"num_threads": 2}, {"num_threads": 2, "batch_size": 1}, {"autoreset_mode": "same_step"}]
OPTIONS = {"use_fire_reset": False}
#: Games that gymnasium's wrapper refuses, since no-op is not among their actions.
WITHOUT_NOOP = ("backgammon", "video_checkers")


@pytest.mark.parametrize("game", ["pong", "breakout", "ms_pacman", "seaquest", "air_raid"])
def test_equals_gymnasium(game: str) -> None:
    assert_exact(
        task_id(game), upstream(game), num_envs=2, steps=150, options=OPTIONS, runs=RUNS[:2], min_episodes=0, seed=1
    )


def test_auto_reset_styles() -> None:
    """Breakout is over soon without FIRE being pressed first, Pong's time limit comes in between."""
    assert_exact("Breakout-v5", upstream("breakout"), num_envs=3, steps=250, options=OPTIONS, runs=RUNS, seed=2)


def test_first_life_of_an_episodic_life() -> None:
    """Until a life is lost; gymnasium then starts a new game, this family goes on."""
    options = OPTIONS | {"episodic_life": True, "autoreset_mode": "disabled"}
    lost = upstream("breakout", terminal_on_life_loss=True)
    expected = assert_exact("Breakout-v5", lost, num_envs=2, steps=24, options=options, seed=3, min_episodes=0)
    assert expected.num_episodes == 0


@pytest.mark.slow
@pytest.mark.parametrize("game", [game for game in GAMES if game not in WITHOUT_NOOP])
def test_game_for_long(game: str) -> None:
    assert_exact(
        task_id(game), upstream(game), num_envs=1, steps=120, options=OPTIONS, runs=RUNS[:1], min_episodes=0, seed=4
    )
