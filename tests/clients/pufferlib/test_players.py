"""Players as agents: the values of PufferLib's emulation of PettingZoo, its backends, and players that are absent."""

import numpy as np
import pufferlib.emulation
import pufferlib.vector
import pytest
from mpe2 import simple_spread_v3

from envpool.adapters.pools import GRID, open_pool
from envpool.adapters.pufferlib import PufferEnv
from envpool.errors import ActionError, ConfigError
from tests.support import plugin
from tests.support.crowd import CUT, DIE, END

SPREAD = "MPE/simple_spread-v3"


def test_the_values_of_pufferlib():
    theirs = pufferlib.emulation.PettingZooPufferEnv(env_creator=simple_spread_v3.parallel_env)
    ours = PufferEnv(SPREAD, seed=7)
    assert ours.num_agents == theirs.num_agents == 3
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space.n == theirs.single_action_space.n
    theirs.reset(seed=7)
    obs, _ = ours.reset()
    assert np.array_equal(obs, theirs.observations)
    rng = np.random.default_rng(0)
    for step in range(25):
        actions = rng.integers(0, 5, 3)
        theirs.step(actions)
        obs, *results, infos = ours.step(actions)
        for got, expected in zip(results, (theirs.rewards, theirs.terminals, theirs.truncations), strict=True):
            assert np.array_equal(got, expected)
        if step < 24:
            assert np.array_equal(obs, theirs.observations) and infos == []
    assert theirs.done and len(infos) == 3 and {info["episode_length"] for info in infos} == {25}
    ours.close()


def test_players_that_come_and_go():
    plugin.load()
    options = {"num_envs": 3, "places": 4, "episode_length": 12}
    env = pufferlib.vector.make(PufferEnv, env_args=["Crowd-v0"], env_kwargs=options)
    pool = open_pool("Crowd-v0", options, knows_same_step=True, players=GRID)
    env.async_reset()
    obs, info = pool.reset()
    assert np.array_equal(env.recv()[0], obs.reshape(12, 8))
    assert np.array_equal(env.masks, info["player_mask"].reshape(12))
    returns, rng, count = np.zeros(12), np.random.default_rng(0), 0
    for _ in range(100):
        actions = rng.choice([0, 1, DIE, CUT, END], 12, p=[0.4, 0.4, 0.1, 0.05, 0.05]).astype(np.int32)
        env.send(actions)
        obs, rewards, terminals, truncations, infos, ids, masks = env.recv()
        theirs, their_rewards, *_, info = pool.step(actions.reshape(3, 4))
        mask = info["player_mask"].reshape(12)
        assert ids.tolist() == list(range(12)) and np.array_equal(masks, mask)
        assert np.array_equal(obs, theirs.reshape(12, 8)) and np.array_equal(rewards, their_rewards.reshape(12))
        assert np.array_equal(terminals, info["player_terminated"].reshape(12) | ~mask)
        assert np.array_equal(truncations, info["player_truncated"].reshape(12))
        returns += rewards
        ended = info["_final_obs"].repeat(4)
        assert [i["episode_return"] for i in infos] == returns[ended].tolist()
        returns[ended] = 0
        count += (~mask).sum()
    assert count > 50
    env.close(), pool.close()


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_several_pools(backend):
    options = {"num_workers": 2, "overwork": True} if backend == "Multiprocessing" else {}
    envs = pufferlib.vector.make(
        PufferEnv,
        env_args=[SPREAD],
        env_kwargs={"num_envs": 2, "num_threads": 1},
        backend=backend,
        num_envs=2,
        **options,
    )
    single = [PufferEnv(SPREAD, 2, seed=i) for i in range(2)]
    obs, _ = envs.reset(seed=0)
    assert envs.num_agents == 12
    assert np.array_equal(np.reshape(obs, (12, 18)), np.concatenate([env.reset()[0] for env in single]))
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.integers(0, 5, 12)
        obs, rewards, *_ = envs.step(actions.reshape(envs.action_space.shape))
        expected = [env.step(part) for env, part in zip(single, np.split(actions, 2), strict=True)]
        assert np.array_equal(np.reshape(obs, (12, 18)), np.concatenate([step[0] for step in expected]))
        assert np.array_equal(np.ravel(rewards), np.concatenate([step[1] for step in expected]))
    envs.close()


def test_mistakes():
    with pytest.raises(ConfigError, match="PufferLib needs players with equal action spaces"):
        PufferEnv("MPE/simple_speaker_listener-v4")
    with pytest.raises(ConfigError, match="players must be 'grid' for an adapter in which each player is a row"):
        PufferEnv(SPREAD, players="rows")
    with pytest.raises(ConfigError, match="controlled is not available for PufferLib"):
        PufferEnv(SPREAD, controlled=[0])
    with pytest.raises(ConfigError, match=r"PufferLib needs an action of each row, and the players .* move in turn"):
        PufferEnv("ConnectFour-v0")
    env = PufferEnv(SPREAD, 2)
    env.reset()
    for actions in (np.zeros(2, int), np.full(6, 5)):
        with pytest.raises(ActionError):
            env.step(actions)
    assert env.step(np.zeros(6, int))[1].shape == (6,)
    env.close()
