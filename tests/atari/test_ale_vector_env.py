"""The options that ALE's own vector environment has: pools equal `ale_py.AtariVectorEnv` bit for bit.

Neither package presses no-ops here, whose number they draw from different generators. The emulator is seeded with the
same word, so that repeated actions are equal, too.
"""

from __future__ import annotations

from typing import Any

import ale_py
import numpy as np
import pytest
from ale_py.vector_env import AtariVectorEnv

import envpool
from envpool.errors import ConfigError
from tests.atari.cases import id_of
from tests.atari.oracle import Game

#: The names of ale_py for our options; the others are equal.
THEIRS = {"gray_scale": "grayscale", "frame_skip": "frameskip", "reward_clip": "reward_clipping"}
#: What both do in every comparison.
SAME: dict[str, Any] = {"noop_max": 0, "reward_clip": False}
#: What AtariVectorEnv does anyway.
ALES: dict[str, Any] = {"padding_type": "zero", "frame_number_info": True}
HELD = 6  # steps for which an action is held on average


def emulator_word(seed: int) -> int:
    """Return the word with which a pool, like ale_py.AtariEnv, seeds the emulator of an environment."""
    return int(np.random.SeedSequence(seed).generate_state(2)[1])


#: Seeds of environments whose words AtariVectorEnv accepts.
SEEDS = [seed for seed in range(20) if emulator_word(seed) < 2**31][:3]


def draw(space: Any, rng: np.random.Generator, num_envs: int) -> np.ndarray:
    """Return random actions; continuous ones are often at the rim, as sticks are."""
    if space.shape == ():
        return rng.integers(0, space.n, num_envs, np.int32)
    actions = rng.uniform(space.low, space.high, (num_envs, 3)).astype(np.float32)
    actions[rng.random(num_envs) < 0.5, 0] = 1
    return actions


def compare(game: str, steps: int, options: dict[str, Any]) -> dict[str, int]:
    """Assert that a pool and AtariVectorEnv return the same bits; return how many events of each kind happened."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    num_envs = len(SEEDS)
    options = SAME | options
    upstream = AtariVectorEnv(game, num_envs, **{THEIRS.get(name, name): value for name, value in options.items()})
    rng = np.random.default_rng(5)
    counts = {"ends": 0, "lost lives": 0, "rewards": 0}
    with envpool.make_gymnasium(id_of(game), num_envs=num_envs, env_seed=SEEDS, **ALES, **options) as pool:
        space = pool.action_space
        expected, theirs = upstream.reset(seed=np.array([emulator_word(seed) for seed in SEEDS]))
        obs, info = pool.reset()
        assert_rows(expected, obs, theirs, info, f"{game} {options} reset")
        actions = draw(space, rng, num_envs)
        for step in range(steps):
            changed = draw(space, rng, num_envs)
            mask = (rng.integers(0, HELD, num_envs) == 0).reshape(-1, *[1] * (actions.ndim - 1))
            actions = np.where(mask, changed, actions)
            expected, reward, terminated, truncated, theirs = upstream.step(actions)
            obs, *mine, info = pool.step(actions)
            where = f"{game} {options} step {step}"
            assert_rows(expected, obs, theirs, info, where)
            signal = mine[1] | info["life_loss"] if options.get("life_loss_info") else mine[1]
            assert np.array_equal(mine[0], reward), where
            assert np.array_equal(signal, terminated), where
            assert np.array_equal(mine[2], truncated), where
            counts["ends"] += int(mine[1].sum())
            counts["lost lives"] += int((signal & ~mine[1]).sum())
            counts["rewards"] += int((reward != 0).sum())
    upstream.close()
    return counts


def assert_rows(expected: Any, obs: Any, theirs: dict[str, Any], info: dict[str, Any], where: str) -> None:
    """Assert that observations and infos are equal; ale_py's colours are on the last axis."""
    if expected.ndim == 5:
        expected = np.moveaxis(expected, -1, 2).reshape(obs.shape)
    assert np.array_equal(obs, expected), where
    for key in ("lives", "frame_number", "episode_frame_number"):
        assert info[key].dtype == theirs[key].dtype, where
        assert np.array_equal(info[key], theirs[key]), (where, key, info[key], theirs[key])


STICKY = {"repeat_action_probability": 0.25}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"continuous": True},
    {"continuous": True, "continuous_action_threshold": 0.2, **STICKY, "use_fire_reset": False},
    {"maxpool": False, "gray_scale": False, "stack_num": 2},
    {"maxpool": False, "frame_skip": 2, "full_action_space": True, **STICKY},
    {"life_loss_info": True, "frame_skip": 3},
]
NAMES = ["plain", "continuous", "continuous, sticky", "no pooling", "two frames", "life loss"]


@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
@pytest.mark.parametrize("game", ["breakout", "ms_pacman"])
def test_equals_ales_vector_env(game: str, options: dict[str, Any]) -> None:
    """Breakout has a paddle, and loses lives soon; Ms. Pac-Man has a joystick."""
    counts = compare(game, 80, options)
    assert counts["rewards"] > 0 or options
    assert counts["lost lives"] > 0 or "life_loss_info" not in options or game != "breakout"


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=NAMES)
@pytest.mark.parametrize(
    "game",
    ["pong", "breakout", "ms_pacman", "seaquest", "montezuma_revenge", "kaboom", "video_checkers", "tic_tac_toe_3d"],
)
def test_equals_ales_vector_env_for_long(game: str, options: dict[str, Any]) -> None:
    """Among them are games with paddles, without them, and games that draw frames in parts."""
    compare(game, 600, options)


def test_forms() -> None:
    """Arrays and spaces of the options; by default there is none of them."""
    spec = envpool.make_spec("Pong-v5", continuous=True, life_loss_info=True, frame_number_info=True)
    upstream = AtariVectorEnv("pong", 1, continuous=True)
    assert spec.action_space == upstream.single_action_space
    assert spec.state_array_spec["info:life_loss"].dtype == np.bool_
    for name in ("frame_number", "episode_frame_number"):
        assert spec.state_array_spec[f"info:{name}"].dtype == np.int32
    names = envpool.make_spec("Pong-v5").state_array_spec
    assert not {"info:life_loss", "info:frame_number", "info:episode_frame_number"} & set(names)


def test_strange_sticks() -> None:
    """Values that are not finite, or outside of the space, neither fail nor move a paddle beyond its ends."""
    strange = np.array([[np.nan, 0, 0], [np.inf, 0, 1], [-np.inf, 1, np.nan], [1e30, 2, 0]], np.float32)
    limits = np.array([[0, 0, 0], [1000, 0, 1], [1000, 1 - np.pi, 0], [1000, 2, 0]], np.float32)
    rams = []
    for actions in (strange, limits):
        with envpool.make_gymnasium("Breakout-v5", num_envs=4, continuous=True, seed=1) as pool:
            pool.reset()
            rams.append([pool.step(actions)[-1]["ram"] for _ in range(30)])
    assert np.array_equal(*rams)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"padding_type": "ones"}, "padding_type must be one of 'reset', 'zero', got 'ones'"),
        ({"continuous_action_threshold": 1.5}, "continuous_action_threshold must be between 0 and 1, got 1.5"),
        ({"continuous_action_threshold": float("nan")}, "continuous_action_threshold must be a finite number, got nan"),
    ],
)
def test_refused_values(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        envpool.make_spec("Pong-v5", **options)


def test_numbers_of_frames_count_on_across_games_and_states() -> None:
    """`frame_number` counts until the environment is seeded anew, and is part of saved states, as the strength is."""
    options: dict[str, Any] = {"continuous": True, "frame_number_info": True, **STICKY, "noop_max": 7}
    rng = np.random.default_rng(1)
    with envpool.make_gymnasium("Breakout-v5", seed=3, **options) as pool:
        _, first = pool.reset()
        _, second = pool.reset()
        assert second["frame_number"] == first["frame_number"] + second["episode_frame_number"]
        pool.step(draw(pool.action_space, rng, 1))
        state = pool.get_state([0])
        actions = [draw(pool.action_space, rng, 1) for _ in range(40)]
        runs = []
        for _ in range(2):
            runs.append([pool.step(action) for action in actions])
            pool.set_state(state, [0])
        for one, other in zip(*runs, strict=True):
            assert np.array_equal(one[0], other[0])
            for key in ("ram", "frame_number", "episode_frame_number"):
                assert np.array_equal(one[-1][key], other[-1][key])
        _, again = pool.reset(seed=3)
        assert again["frame_number"] == first["frame_number"]


@pytest.mark.parametrize(("task_id", "mode"), [("SpaceInvaders-v5", 15), ("BankHeist-v5", 28)])
def test_frames_that_select_a_mode_are_counted(task_id: str, mode: int) -> None:
    """As in ALE, which counts those in which it presses SELECT, but none of the other frames of a reset."""
    with envpool.make_gymnasium(task_id, mode=mode, frame_number_info=True, seed=3) as pool:
        game = Game(pool.spec.config._asdict(), 3)
        for _ in range(3):
            pool.reset()
            game.reset()
            info = pool.step([1])[-1]
            game.step(1)
            expected = game.values()
            for key in ("frame_number", "episode_frame_number"):
                assert info[key] == expected[f"info:{key}"]
