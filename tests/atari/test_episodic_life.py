"""Resets with `episodic_life`: automatic ones continue the game after a lost life; those of the user begin a new one,
unless the user has to reset."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.adapters.pools import open_pool

OPTIONS = {"num_envs": 1, "episodic_life": True, "noop_max": 1, "img_height": 8, "img_width": 8, "seed": 1}


def lives_of(result):
    """Return the lives of the only environment, in the results of any style."""
    return int(result.observation.lives[0] if hasattr(result, "observation") else result[-1]["lives"][0])


def lose_a_life(pool):
    """Step until a life is lost, and return the lives that are left in the row of that step."""
    action, lives = 1, 5
    for _ in range(400):
        lives, before = lives_of(pool.step(np.array([action]))), lives
        if lives < before < 6:
            return lives
        action = 1 - action
    raise AssertionError


@pytest.mark.parametrize(
    ("style", "mode"),
    [
        *((style, mode) for style in ("gymnasium", "gym", "dm") for mode in ("next_step", "disabled")),
        *((style, "same_step") for style in ("gymnasium", "gym")),
    ],
)
def test_resets_in_the_middle_of_an_episode(style, mode):
    with envpool.make("Breakout-v5", style, autoreset_mode=mode, **OPTIONS) as pool:
        assert lives_of(pool.reset()) == 5
        assert lose_a_life(pool) == 4
        if mode == "next_step":
            assert lives_of(pool.step(np.array([0]))) == 4  # the automatic reset
        elif mode == "disabled":
            assert lives_of(pool.reset()) == 4
        for ids in (None, np.array([0])):
            assert lives_of(pool.step(np.array([0]))) in (4, 5)
            assert lives_of(pool.reset(ids)) == 5


@pytest.mark.parametrize("lives", [4, 5])
@pytest.mark.parametrize(
    ("style", "mode"),
    [("gymnasium", "next_step"), ("gym", "next_step"), ("dm", "next_step"), ("gymnasium", "same_step")],
)
def test_a_reset_right_after_a_lost_life_begins_a_new_game(style, mode, lives):
    """Only the automatic reset continues the game."""
    with envpool.make("Breakout-v5", style, autoreset_mode=mode, **OPTIONS) as pool:
        pool.reset()
        assert lose_a_life(pool) == 4
        if lives == 4:
            assert lives_of(pool.step(np.array([0]))) == 4
            return
        assert lives_of(pool.reset()) == 5
        assert lose_a_life(pool) == 4
        assert lives_of(pool.reset(np.array([0]))) == 5
        assert lose_a_life(pool) == 4
        pool.async_reset()
        assert lives_of(pool.recv()) == 5


def test_the_reset_of_an_adapter_continues_the_game_in_every_mode():
    """The user of an adapter has to reset, as with autoreset_mode="disabled"."""
    for mode in ("disabled", "next_step"):
        with envpool.make_gymnasium("Breakout-v5", autoreset_mode=mode, **OPTIONS) as made:
            pool = open_pool(made, {})
            pool.reset()
            assert lose_a_life(pool) == 4
            assert lives_of(pool.reset([0])) == 4
            pool.step(np.array([0]))
            assert lives_of(pool.reset([0])) == 5


def test_a_given_up_game_is_not_in_the_statistics():
    with envpool.make_gymnasium("Breakout-v5", episode_statistics=True, **OPTIONS) as pool:
        pool.reset()
        lose_a_life(pool)
        pool.reset()
        steps, info = 0, {}
        while "game" not in info:
            *_, info = pool.step(np.array([1]))
            steps += 1
        assert info["lives"][0] == 0 and steps - 5 < info["game"]["l"][0] <= steps  # the rows of four resets


def test_single_and_vector_environments():
    options = {k: v for k, v in OPTIONS.items() if k != "num_envs"}
    with closing(gymnasium.make("envpool/Breakout-v5", **options)) as env:
        env.reset()
        terminated = False
        while not terminated:
            *_, terminated, _, info = env.step(1)
        assert info["lives"] == 4 and env.reset()[1]["lives"] == 4
        env.step(0)
        assert env.reset()[1]["lives"] == 5
    with closing(envpool.make_vec("Breakout-v5", **OPTIONS)) as envs:
        envs.reset()
        assert lose_a_life(envs) == 4
        envs.step(np.array([0]))
        envs.step(np.array([0]))
        assert envs.reset()[1]["lives"].tolist() == [5]


def test_statistics_count_the_game_that_was_given_up_as_another_one():
    with envpool.make_gymnasium("Breakout-v5", episode_statistics=True, **OPTIONS) as pool:
        pool.reset()
        lose_a_life(pool)
        for _ in range(3):
            pool.step(np.array([0]))
        pool.reset()
        steps, info = 0, {}
        while "game" not in info:
            *_, info = pool.step(np.array([1]))
            steps += 1
        assert info["lives"][0] == 0 and steps - 5 < info["game"]["l"][0] <= steps  # the rows of four resets
