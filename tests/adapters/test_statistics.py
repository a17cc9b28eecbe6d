"""Adapters of pools with the option `episode_statistics`: a row has an entry only if it ended an episode."""

import numpy as np

import envpool
from envpool.adapters.single import SingleEnvironment
from envpool.adapters.sub_env import SubEnv
from envpool.pools.infos import split_info


def test_split_info_leaves_rows_out_that_have_not_ended():
    with envpool.make_gymnasium("CartPole-v1", num_envs=5, episode_statistics=True) as pool:
        pool.reset()
        seen = 0
        for _ in range(60):
            info = pool.step(np.ones(5, int))[4]
            for i, row in enumerate(split_info(info)):
                assert ("episode" in row) == ("episode" in info and bool(info["_episode"][i]))
                assert "_episode" not in row
                if "episode" in row:
                    seen += 1
                    assert row["episode"] == {part: values[i] for part, values in info["episode"].items()}
                    assert [type(v) for v in row["episode"].values()] == [float, int, float]
        assert seen > 5


def test_a_sub_env():
    options = {"num_envs": 2, "autoreset_mode": "disabled", "episode_statistics": True}
    with envpool.make_gymnasium("CartPole-v1", **options) as pool:
        env = SubEnv(pool, 1)
        env.reset()
        terminated, steps = False, 0
        while not terminated:
            *_, terminated, _, info = env.step(1)
            steps += 1
            assert ("episode" in info) == terminated
        assert (info["episode"]["r"], info["episode"]["l"]) == (steps, steps)


def test_a_single_environment():
    env = SingleEnvironment("CartPole-v1", num_envs=1, episode_statistics=True)
    step, steps = env.reset(), 0
    assert step.observation.episode.l == 0
    while not step.last():
        step, steps = env.step(1), steps + 1
    assert step.observation.episode.l == step.observation.episode.r == steps
    env.close()
