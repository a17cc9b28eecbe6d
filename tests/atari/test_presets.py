"""Presets of Atari against the stacks of wrappers of their sources, written out; tests/clients has the libraries' own.

`Game` is a game of ale_py under the rules of the options. Here its options are what the sources prescribe.
"""

from __future__ import annotations

from typing import Any

import ale_py
import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

import envpool
from envpool.atari.presets import PRESETS
from tests.atari.oracle import Game, compare

#: Mnih et al. (2015), "Methods": preprocessing, training details, and Extended Data Table 1.
NATURE_DQN: dict[str, Any] = {
    "frame_skip": 4,  # action repeat
    "stack_num": 4,  # agent history length
    "noop_max": 30,
    "episodic_life": True,  # the end of a life ends an episode in training
    "reward_clip": True,
    "use_fire_reset": False,
    "repeat_action_probability": 0.0,
    "full_action_space": False,
    "img_height": 84,
    "img_width": 84,
    "gray_scale": True,
    "use_inter_area_resize": True,  # image.scale of Torch averages areas when it makes images smaller
    "max_episode_steps": 27_000,
    "zero_discount_on_life_loss": False,
    "continuous": False,
    "maxpool": True,
    "padding_type": "reset",  # the paper does not say what precedes the first frame
    "life_loss_info": False,
    "frame_number_info": False,
}
#: The defaults of EnvPool, and what the scripts of CleanRL and Sample Factory pass to it.
ENVPOOL = NATURE_DQN | {"use_fire_reset": True}


def actions(rng: np.random.Generator, held: np.ndarray, count: int) -> np.ndarray:
    """Return actions of which one in 8 is drawn again."""
    return np.where(rng.integers(0, 8, len(held)) == 0, rng.integers(0, count, len(held)), held).astype(np.int32)


def machado2018(game: str) -> gymnasium.Env[Any, Any]:
    """Return the environment of Machado et al. (2018): ale_py with sticky actions, and gymnasium's wrappers."""
    gymnasium.register_envs(ale_py)
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    env = gymnasium.make(
        "ALE/Pong-v5",
        game=game,
        frameskip=1,
        repeat_action_probability=0.25,
        full_action_space=True,
        max_num_frames_per_episode=18_000,
        disable_env_checker=True,
    )
    env = AtariPreprocessing(env, noop_max=0, frame_skip=5, screen_size=84, terminal_on_life_loss=False)
    return FrameStackObservation(env, 4)


@pytest.mark.parametrize(
    ("game", "task_id", "steps"), [("breakout", "Breakout-v5", 500), ("ms_pacman", "MsPacman-v5", 200)]
)
def test_machado2018(game: str, task_id: str, steps: int) -> None:
    seeds = (3, 4)
    envs = [machado2018(game) for _ in seeds]
    rng, held, ended = np.random.default_rng(0), np.zeros(2, np.int32), 0
    with envpool.make_gymnasium(task_id, num_envs=2, env_seed=seeds, preset="machado2018") as pool:
        obs, info = pool.reset()
        expected: list[Any] = [
            (*env.reset(seed=seed)[:1], 0, False, False) for env, seed in zip(envs, seeds, strict=True)
        ]
        for _ in range(steps):
            for i, env in enumerate(envs):
                assert (expected[i][0] == obs[i]).all()
                assert (env.unwrapped.ale.getRAM() == info["ram"][i]).all()
            held = actions(rng, held, 18)
            obs, reward, terminated, truncated, info = pool.step(held)
            for i, env in enumerate(envs):
                over = expected[i][2] or expected[i][3]
                expected[i] = (env.reset()[0], 0, False, False) if over else env.step(held[i])[:4]
                assert expected[i][1:] == (reward[i], terminated[i], truncated[i])
            ended += int((terminated | truncated).sum())
    assert ended or game == "ms_pacman"


def test_machado2018_ends_games_after_five_minutes() -> None:
    """Nothing happens in Montezuma's Revenge without actions."""
    env = machado2018("montezuma_revenge")
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(3600)]
    assert ends == [(False, False)] * 3599 + [(False, True)]
    with envpool.make_gymnasium("MontezumaRevenge-v5", env_seed=[0], preset="machado2018", img_height=1) as pool:
        pool.reset()
        assert [tuple(x[0] for x in pool.step([0])[2:4]) for _ in range(3600)] == ends


@pytest.mark.parametrize(
    ("preset", "options"),
    [("dqn", NATURE_DQN), ("ppo-cleanrl", ENVPOOL), ("sample-factory", ENVPOOL), ("sb3", ENVPOOL)],
)
@pytest.mark.parametrize("task_id", ["Breakout-v5", "SpaceInvaders-v5"])
def test_written_out(preset: str, options: dict[str, Any], task_id: str) -> None:
    """Every row of two environments, over lives that are lost and a game that is over."""
    seeds = (1, 2)
    rng, held, done, ended = np.random.default_rng(1), np.zeros(2, np.int32), np.ones(2, bool), 0
    with envpool.make_gymnasium(task_id, num_envs=2, env_seed=seeds, preset=preset) as pool:
        task = pool.spec.config.task
        games = [Game({"task": task, "mode": -1, "difficulty": -1, **options}, seed) for seed in seeds]
        obs, info = pool.reset()
        got: tuple[Any, ...] = (obs, *np.zeros((3, 2)), info)
        for record in range(300):
            for i, game in enumerate(games):
                game.reset() if done[i] else game.step(int(held[i]))
                compare(game.values(), got, i, f"{preset}, {task_id}, env {i}, record {record}")
            done = (got[2] != 0) | (got[3] != 0)
            ended += int(done.sum())
            held = actions(rng, held, pool.action_space.n)
            got = pool.step(held)
    assert ended > 1


def test_presets_name_every_option_of_preprocessing() -> None:
    """A preset stands alone: no default of the environment changes what it means."""
    own = {*envpool.make_spec("Pong-v5").definition.options, "max_episode_steps"} - {"task"}
    for name, options in PRESETS.items():
        assert {*options} == own | {"frame_skip", "repeat_action_probability"}, name
