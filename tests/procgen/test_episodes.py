"""Ends of episodes: as upstream's gym environment returns them, and levels that follow each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import envpool
from envpool.procgen.upstream import load
from envpool.sampling.sequences import make_actions
from tests.conformance.cases import ExactnessCase
from tests.procgen.cases import NO_LIMIT
from tests.procgen.upstream import upstream_of
from tests.support.oracles.trajectory import Trajectory
from tests.support.python import output_of

TASK = "StarpilotHard-v0"

#: Runs in a process of its own, since it imports gym, whose version decides what pools of env_type "gym" return.
AGAINST_GYM = """
import numpy as np
from gym3 import ExtractDictObWrapper, ToGymEnv
from procgen import ProcgenGym3Env
import envpool

env = ToGymEnv(ExtractDictObWrapper(
    ProcgenGym3Env(num=1, num_threads=0, env_name="starpilot", distribution_mode="hard", rand_seed=5), key="rgb"))
with envpool.make_gymnasium("StarpilotHard-v0", seed=5, channel_first=False) as pool:
    done, episodes = True, 0
    obs = pool.reset()[0]
    for action in np.random.default_rng(0).integers(0, 15, 500):
        if done:
            assert np.array_equal(obs[0], env.reset())
        obs, reward, terminated, truncated, info = pool.step(np.array([action], np.int32))
        frame, expected, done, extra = env.step(action)
        assert np.array_equal(obs[0], frame) and reward[0] == expected and terminated[0] == done
        assert all(info[name][0] == extra[name] for name in ("level_seed", "prev_level_seed", "prev_level_complete"))
        if done:
            episodes += 1
            obs = pool.step(np.array([0], np.int32))[0]
print(episodes)
"""


def test_terminal_rows_are_those_of_the_gym_environment() -> None:
    assert int(output_of(AGAINST_GYM).splitlines()[-1]) >= 3


@pytest.mark.parametrize("mode", ["next_step", "same_step", "disabled"])
def test_terminal_rows_in_every_auto_reset_mode(mode: str) -> None:
    """The row that ends an episode shows the observation before, and the first row after it the next level."""
    actions = make_actions(envpool.make_spec(TASK).action_space, "random", 250, 3)
    options: dict[str, Any] = {"num_envs": 3, "seed": 2, "autoreset_mode": mode}
    with envpool.make_gymnasium(TASK, **options) as pool:
        before, ended = pool.reset()[0], np.zeros(3, bool)
        num_ended = 0
        for row in actions:
            if mode == "disabled" and ended.any():
                before[ended] = pool.reset(np.flatnonzero(ended))[0]
            obs, _, terminated, truncated, info = pool.step(row)
            playing = ~ended if mode == "next_step" else np.ones(3, bool)
            now = terminated & playing
            last = info["final_obs"] if mode == "same_step" and now.any() else obs
            assert np.array_equal(last[now], before[now])
            if mode == "same_step":
                assert not np.array_equal(obs[now], before[now]) or not now.any()
            num_ended += now.sum()
            before, ended = obs.copy(), terminated | truncated
        assert num_ended >= 3


def has_gone_on(expected: Trajectory) -> None:
    """Assert that an episode has gone on after a level was solved, and to the level that follows it."""
    arrays = expected.arrays
    solved = arrays["info:prev_level_complete"] == 1
    assert (solved & ~arrays["terminated"]).any()
    steps = arrays["info:level_seed"][solved] - arrays["info:prev_level_seed"][solved]
    assert (steps == 997).any()


def test_sequential_levels() -> None:
    options = {"use_sequential_levels": True}
    upstream = upstream_of("LeaperEasy-v0", limit=NO_LIMIT, **options)
    case = ExactnessCase(
        "LeaperEasy-v0",
        upstream,
        options={**options, "max_episode_steps": NO_LIMIT},
        num_envs=6,
        steps=300,
        runs=[{"num_threads": 2, "autoreset_mode": "same_step"}],
        verify=has_gone_on,
        min_episodes=0,
    )
    upstream.check(case)


def test_hwc_observations() -> None:
    actions = make_actions(envpool.make_spec(TASK).action_space, "random", 40, 2)
    with (
        envpool.make_gymnasium(TASK, num_envs=2, seed=3) as planes,
        envpool.make_gymnasium(TASK, num_envs=2, seed=3, channel_first=False) as pixels,
    ):
        assert pixels.observation_space.shape == (64, 64, 3)
        assert np.array_equal(planes.reset()[0].transpose(0, 2, 3, 1), pixels.reset()[0])
        for row in actions:
            assert np.array_equal(planes.step(row)[0].transpose(0, 2, 3, 1), pixels.step(row)[0])


def test_a_level_reaches_the_limit_of_the_library() -> None:
    """Upstream calls this the end of an episode, and the pool's limit is the same number: both flags are true."""
    with envpool.make_gymnasium("MazeEasy-v0", seed=1) as pool:
        pool.reset()
        for t in range(1, 501):
            _, _, terminated, truncated, info = pool.step(np.array([4], np.int32))
            assert terminated[0] == truncated[0] == (t == 500)
        assert info["prev_level_complete"][0] == 0
    with envpool.make_gymnasium("MazeEasy-v0", seed=1, max_episode_steps=NO_LIMIT) as pool:
        pool.reset()
        for _ in range(500):
            _, _, terminated, truncated, _ = pool.step(np.array([4], np.int32))
        assert terminated[0] and not truncated[0]


def test_upstream_ends_levels_after_the_same_number_of_steps() -> None:
    player = upstream_of("JumperMemory-v0", limit=NO_LIMIT).start(0)
    assert load().ENV_NAMES
    player.record(None)
    ends = next(t for t in range(1, 2001) if player.record(4)["terminated"])
    player.close()
    assert ends == envpool.make_spec("JumperMemory-v0").config.max_episode_steps
