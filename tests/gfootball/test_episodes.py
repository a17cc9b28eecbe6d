"""Episodes: seeds, options, players, threads, interrupts."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.verify.rows import check_rows

CLOSE = "gfootball/academy_empty_goal_close-v1"
THREE = "gfootball/academy_3_vs_1_with_keeper-v1"


def play(pool: Any, steps: int, seed: int = 0) -> list[Any]:
    """Return observations and rewards of random steps after a reset."""
    rng = np.random.default_rng(seed)
    found = [pool.reset()[0]]
    for _ in range(steps):
        obs, reward, *_ = pool.step(rng.integers(0, 19, pool.config["num_envs"], dtype=np.int32))
        found += [obs, reward]
    return found


def same(a: list[Any], b: list[Any]) -> bool:
    """Whether two lists of arrays have equal bits."""
    return len(a) == len(b) and all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


# ---- seeds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 7, 2**32, 2**64 - 1])
def test_episodes_draw_the_seeds_of_pythons_generator(seed: int) -> None:
    """Upstream draws three seeds before the first episode, whose number is 2."""
    random.seed(seed)
    drawn = [random.randint(0, 2_000_000_000) for _ in range(6)]
    with envpool.make_gymnasium(CLOSE, num_envs=1, seed=seed, autoreset_mode="disabled") as pool:
        infos = [pool.reset()[1] for _ in range(3)]
        assert [info["engine_seed"][0] for info in infos] == drawn[3:]
        assert [info["episode_number"][0] for info in infos] == [2, 3, 4]
        _, info = pool.reset(seed=seed)
        assert (info["engine_seed"][0], info["episode_number"][0]) == (drawn[3], 2)


def test_a_seed_of_all_episodes() -> None:
    with envpool.make_gymnasium(CLOSE, num_envs=2, game_engine_random_seed=5) as pool:
        obs, info = pool.reset()
        assert info["engine_seed"].tolist() == [5, 5]
        assert obs[0].tobytes() == obs[1].tobytes()


# ---- options ---------------------------------------------------------------------------------------------------------


def test_representations_show_the_same_game() -> None:
    options = {"num_envs": 1, "seed": 3}
    with (
        envpool.make_gymnasium(THREE, **options, representation="raw") as raw,
        envpool.make_gymnasium(THREE, **options, representation="simple115v2", raw_info=True) as simple,
    ):
        given, _ = raw.reset()
        obs, info = simple.reset()
        assert all(given[name].tobytes() == info[f"raw_{name}"].tobytes() for name in given)
        assert obs[0, :8].tobytes() == given["left_team"].tobytes()
        assert (obs[0, 8:22] == -1).all()
        assert obs[0, 88:91].tobytes() == given["ball"].tobytes()


def test_stacked_observations_begin_with_copies() -> None:
    with (
        envpool.make_gymnasium(CLOSE, num_envs=1, seed=1) as plain,
        envpool.make_gymnasium(CLOSE, num_envs=1, seed=1, stacked=True) as stacked,
    ):
        first, last = plain.reset()[0], stacked.reset()[0]
        assert last.shape == (1, 72, 96, 16)
        assert last.tobytes() == np.concatenate([first] * 4, -1).tobytes()
        frames = [first]
        for action in (5, 5, 13, 5):
            frames.append(plain.step(np.array([action], np.int32))[0])
            last = stacked.step(np.array([action], np.int32))[0]
        assert last.tobytes() == np.concatenate(frames[-4:], -1).tobytes()


def test_the_minimap_of_another_size() -> None:
    with envpool.make_gymnasium(CLOSE, num_envs=1, channel_dimensions=(24, 12)) as pool:
        obs, _ = pool.reset()
        assert obs.shape == (1, 12, 24, 4)
        assert sorted(np.unique(obs)) == [0, 255]


def test_a_goal_is_rewarded_and_ends_the_exercise() -> None:
    """Running to the goal and shooting scores; a checkpoint is worth 0.1, and all of them come with the goal."""
    for rewards, total in (("scoring", 1.0), ("scoring,checkpoints", 2.0)):
        with envpool.make_gymnasium(CLOSE, num_envs=1, seed=2, rewards=rewards) as pool:
            pool.reset()
            for step in range(100):
                _, reward, terminated, _, info = pool.step(np.array([5 if step < 8 else 12], np.int32))
                total -= float(reward[0])
                if terminated[0]:
                    break
            assert terminated[0] and info["score"].tolist() == [[1, 0]] and info["score_reward"] == [1]
            assert abs(total) < 1e-5


def test_parameters_of_each_environment() -> None:
    options = {"num_envs": 2, "seed": [4, 4], "num_threads": 1}
    with envpool.make_gymnasium(THREE, **options, right_team_difficulty=[0.05, 1.0]) as pool:
        obs, _ = pool.reset()
        assert obs[0].tobytes() == obs[1].tobytes()
        assert pool.get_params()["right_team_difficulty"].tolist() == [0.05, 1.0]


def test_a_shorter_game() -> None:
    with envpool.make_gymnasium("gfootball/1_vs_1_easy-v1", num_envs=1, max_episode_steps=5) as pool:
        _, info = pool.reset()
        assert info["steps_left"] == [5]
        for _ in range(5):
            *_, terminated, truncated, info = pool.step(np.zeros(1, np.int32))
        assert truncated[0] and not terminated[0] and info["steps_left"] == [0]


# ---- players ---------------------------------------------------------------------------------------------------------


def test_players_of_both_teams() -> None:
    options = {"left_agents": 2, "right_agents": 2, "representation": "raw", "players": "grid", "seed": 1}
    with envpool.make_gymnasium("gfootball/5_vs_5-v1", num_envs=1, **options) as pool:
        obs, _ = pool.reset()
        assert obs["ball"].shape == (1, 4, 3)
        left, right = obs["left_team"][0, 0], obs["left_team"][0, 2]
        assert np.array_equal(right, -obs["right_team"][0, 0]) and np.array_equal(left, -obs["right_team"][0, 2])
        assert len(set(obs["active"][0, :2])) == len(set(obs["active"][0, 2:])) == 2
        obs, reward, *_ = pool.step(np.full((1, 4), 5, np.int32))
        assert reward.shape == (1, 4)
        assert (obs["sticky_actions"][0, :, 4] == 1).all()  # each runs to its own right


def test_players_of_the_right_team_alone() -> None:
    with envpool.make_gymnasium(THREE, num_envs=1, left_agents=0, right_agents=1, representation="raw") as pool:
        obs, _ = pool.reset()
        assert obs["left_team"].shape == (1, 2, 2) and obs["right_team"].shape == (1, 4, 2)


def test_random_opponents() -> None:
    options = {"left_agents": 1, "right_agents": 1, "controlled": 0, "representation": "simple115v2", "seed": 1}
    with envpool.make_gymnasium("gfootball/1_vs_1_easy-v1", num_envs=2, **options) as pool:
        obs, _ = pool.reset()
        assert obs.shape == (2, 115)
        obs, reward, *_ = pool.step(np.zeros(2, np.int32))
        assert reward.shape == (2,)


def test_a_player_count_that_is_not_that_of_the_agents() -> None:
    with pytest.raises(ConfigError, match="max_num_players"):
        envpool.make_gymnasium(CLOSE, num_envs=1, max_num_players=2)


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_sixteen_games_on_two_threads() -> None:
    with envpool.make_gymnasium(CLOSE, num_envs=16, seed=9, num_threads=0) as pool:
        expected = play(pool, 4)
    with envpool.make_gymnasium(CLOSE, num_envs=16, seed=9, num_threads=2) as pool:
        assert same(expected, play(pool, 4))


def test_pools_of_two_scenarios_in_turn() -> None:
    """The engine has one current game per thread: games of other pools do not disturb it."""
    with envpool.make_gymnasium(CLOSE, num_envs=2, seed=9, num_threads=0) as pool:
        expected = play(pool, 10)
    with (
        envpool.make_gymnasium(CLOSE, num_envs=2, seed=9, num_threads=0) as pool,
        envpool.make_gymnasium(THREE, num_envs=1, seed=1, num_threads=0) as other,
    ):
        other.reset()
        rng = np.random.default_rng(0)
        actual = [pool.reset()[0]]
        for _ in range(10):
            obs, reward, *_ = pool.step(rng.integers(0, 19, 2, dtype=np.int32))
            actual += [obs, reward]
            other.step(np.zeros(1, np.int32))
        assert same(expected, actual)


def test_closing_while_games_are_in_flight() -> None:
    pool = envpool.make_gymnasium(CLOSE, num_envs=4, batch_size=1, num_threads=2)
    pool.async_reset()
    pool.recv()
    closing = threading.Thread(target=pool.close)
    closing.start()
    closing.join()
    with envpool.make_gymnasium(CLOSE, num_envs=1) as again:
        again.reset()


def test_frames_show_the_game() -> None:
    options = {"render_mode": "rgb_array", "render_resolution_x": 320, "render_resolution_y": 180}
    with envpool.make_gymnasium(THREE, num_envs=1, seed=1, **options) as pool:
        pool.reset()
        first = pool.render()
        assert first.shape == (1, 180, 320, 3) and first.dtype == np.uint8
        for _ in range(3):
            pool.step(np.array([5], np.int32))
        last = pool.render()
        assert (first != last).any() and (first == last).mean() > 0.9
        assert {tuple(pixel) for pixel in first[0].reshape(-1, 3)} >= {(214, 48, 49), (41, 98, 214), (240, 240, 240)}


def test_every_row_is_written() -> None:
    options = {"raw_info": True, "left_agents": 2, "representation": "simple115v2", "players": "grid"}
    check_rows(THREE, steps=6, num_envs=2, **options)
