"""Games of several players: an engine for each of them, whose results depend on seeds and actions only."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError, StateError
from envpool.vizdoom.wheel import package_folder
from tests.vizdoom.engines import engines, kill
from tests.vizdoom.players_upstream import GAMES, RECORDS, SEED, VARIABLES, actions_of, digest

SCREEN = {"stack_num": 1, "img_height": 240, "img_width": 320, "scenario_reward": True, "game_variables": VARIABLES}


def make(task: str = "MultiDuel-v1", count: int = 2, **options: Any) -> Any:
    options = {"num_envs": 1, "players": "grid", "max_num_players": count} | options
    return envpool.make_gymnasium(task, **options)


def play(pool: Any, steps: int, seed: int = 0) -> list[bytes]:
    """Return everything that some random steps return, as bytes."""
    actions = np.random.default_rng(seed).integers(0, 2, (steps, *pool.sample_actions().shape)).astype(np.float64)
    found = []
    for action in actions:
        obs, reward, terminated, truncated, info = pool.step(action)
        found += [a.tobytes() for a in (obs, reward, terminated, truncated, info["HEALTH"], info["FRAGCOUNT"])]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("task", "players"), [(task, players) for task, _, players in GAMES])
def test_the_games_of_the_library(task: str, players: int, tmp_path: Path) -> None:
    """Frames, game variables and rewards of all players are those of DoomGame, bit for bit."""
    expected = json.loads(RECORDS.read_text())[f"{task} {players}"]
    [scenario] = {scenario for name, scenario, _ in GAMES if name == task}
    folder = package_folder() / "scenarios"
    config = tmp_path / "without_particles.cfg"
    config.write_text((folder / f"{scenario}.cfg").read_text() + "\nrender_particles = false\n")
    files = {"cfg_path": str(config), "wad_path": str(folder / f"{scenario}.wad")}
    with make(task, players, seed=SEED, **SCREEN, **files) as pool:
        obs, info = pool.reset()
        assert obs.shape == (1, players, 3, 240, 320)
        rewards = np.zeros((1, players), np.float32)
        for k, actions in enumerate([*actions_of(players, pool.action_space.shape[-1]), None]):
            for p in range(players):
                values = [info[name][0, p] for name in VARIABLES]
                assert digest(obs[0, p], rewards[0, p], values) == expected[k][p], f"player {p}, step {k}"
            if actions is not None:
                obs, rewards, terminated, truncated, info = pool.step(actions[None])
                assert not terminated.any() and not truncated.any()


def test_seeds_and_episodes() -> None:
    """Two pools with the same seed play the same games, also later ones; reset(seed=...) repeats the first one."""
    with make(num_envs=2, num_threads=2) as pool, make(num_envs=2, num_threads=1) as other:
        first = [p.reset(seed=5)[0].tobytes() for p in (pool, other)]
        assert first[0] == first[1]
        played = play(pool, 12)
        assert played == play(other, 12)
        assert pool.reset()[0].tobytes() == other.reset()[0].tobytes()
        assert play(pool, 12, 1) == play(other, 12, 1)
        assert pool.reset(seed=5)[0].tobytes() == first[0]
        assert play(pool, 12) == played


def test_views_and_ends() -> None:
    options = {"max_episode_steps": 3, "use_combined_action": True, "episode_statistics": True}
    with make(num_envs=2, **options | {"players": "rows"}) as pool:
        obs, info = pool.reset()
        assert obs.shape == (4, 12, 84, 84) and pool.action_space.n > 1
        assert info["players"]["id"].tolist() == [0, 1, 0, 1] and info["HEALTH"].shape == (4,)
        for _ in range(3):
            obs, reward, terminated, truncated, info = pool.step(pool.sample_actions())
        assert reward.shape == (4,) and truncated.all() and not terminated.any()
        assert info["player_truncated"].all() and info["episode"]["player_r"].shape == (2, 2)
        obs, *_, info = pool.step(np.zeros(4, np.int32))
        assert info["elapsed_step"].tolist() == [0, 0] and len(engines()) == 4


def test_an_engine_that_dies_ends_the_game_of_all_players() -> None:
    with make(num_envs=2) as pool:
        pool.reset()
        before = engines()
        kill(before[1])
        with pytest.raises(EnvStepError, match=r"1 env.*failed: env \d: the ViZDoom engine was killed by signal 9"):
            pool.step(pool.sample_actions())
        obs, _, _, truncated, _ = pool.recv()
        (failed,) = np.flatnonzero(truncated)
        assert not obs[failed].any() and obs[1 - failed].any()
        left = {*engines()}
        assert len(left) == 2 and left < {*before} - {before[1]}
        pool.step(pool.sample_actions())
        assert len(engines()) == 4 and left < {*engines()}


def test_what_games_of_several_players_do_not_have() -> None:
    with make() as pool:
        pool.reset()
        with pytest.raises(StateError, match="env 0 could not be saved: its game has other players"):
            pool.get_state()
    with make(render_mode="rgb_array") as pool:
        pool.reset()
        assert pool.render().shape == (1, 240, 320, 3)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_num_players": 17}, "max_num_players must be at most 16, got 17"),
        ({"episodic_life": True}, "episodic_life must be left out with max_num_players=2, got True"),
        ({"lmp_save_dir": os.getcwd()}, "lmp_save_dir must be left out with max_num_players=2"),
        ({"game_args": "-host 2"}, "-host must be left out of the arguments of the engine with max_num_players=2"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        envpool.make_gymnasium("Cig-v1", **{"max_num_players": 2} | options)
