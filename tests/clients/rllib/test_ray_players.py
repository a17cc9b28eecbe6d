"""`RayPool` of tasks with players: the grids and groups of a local pool, and what a lost actor costs."""

import numpy as np
import pytest
import ray

import envpool
from envpool.adapters.ray.actor import PoolActor, PoolMaker
from envpool.adapters.ray.rows import acting_players
from envpool.errors import ActionError, ConfigError
from tests.clients.rllib.test_ray_pool import kill, pool_of
from tests.support import plugin
from tests.support.python_envs import same

N = 6
TAG = {"seed": 5, "max_episode_steps": 4, "episode_statistics": True}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False)
    yield
    ray.shutdown()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("players", ["grid", "dict"])
def test_equals_a_local_pool(players, mode):
    options = TAG | {"players": players, "autoreset_mode": mode}
    with (
        pool_of("MPE/simple_tag-v3", **options) as pool,
        envpool.make_gymnasium("MPE/simple_tag-v3", num_envs=N, **options) as local,
    ):
        assert pool.observation_space == local.observation_space and pool.action_space == local.action_space
        same(pool.reset(), local.reset())
        num_ended = 0
        for k in range(12):
            actions = local.sample_actions(k)
            got, expected = pool.step(actions), local.step(actions)
            for result in (got, expected):
                if "episode" in result[-1]:
                    del result[-1]["episode"]["t"]
                    num_ended += 1
            same(got, expected)
        assert num_ended > 2
        ids = np.array([5, 0, 3, 1])
        same(pool.reset(ids), local.reset(ids))
        actions = local.sample_actions(99, ids)
        same(pool.step(actions, ids)[:2], local.step(actions, ids)[:2])


def test_pools_with_opponents():
    """A place for each controlled player; moves of a game with turns are one for each environment."""
    for task, action in (("MPE/simple_tag-v3", np.ones((N, 2), np.int32)), ("ConnectFour-v0", np.arange(N))):
        own = [0, 3] if "tag" in task else [1]
        with pool_of(task, players="grid", controlled=own, opponents=zeros) as pool:
            options = {"num_envs": N, "players": "grid", "controlled": own, "opponents": zeros}
            with envpool.make_gymnasium(task, **options) as local:
                same(pool.reset(), local.reset())
                for _ in range(3):
                    same(pool.step(action), local.step(action))


def zeros(obs, info):
    """Play the first move that is legal."""
    return info["legal_action_mask"].argmax(1) if "legal_action_mask" in info else np.zeros(len(obs), np.int32)


def test_async():
    with pool_of("MPE/simple_spread-v3", batch_size=2, players="grid") as pool:
        obs, info = pool.reset()
        for _ in range(10):
            assert obs.shape == (2, 3, 18) and info["player_mask"].all()
            obs, reward, *_, info = pool.step(np.ones((2, 3), np.int32))
            assert reward.shape == (2, 3)


def test_players_of_a_lost_actor_are_truncated():
    with pool_of("MPE/simple_spread-v3", players="grid", on_error="restart") as pool:
        pool.reset()
        ones = np.ones((N, 3), np.int32)
        pool.step(ones)
        kill(pool, 1)
        obs, reward, terminated, truncated, info = pool.step(ones)
        lost = np.arange(N) >= 3
        assert truncated.tolist() == lost.tolist() and not terminated.any() and info["_error"].tolist() == lost.tolist()
        assert (info["player_truncated"] == lost[:, None]).all() and info["player_mask"].all()
        assert not obs[lost].any() and not reward[lost].any()
        assert pool.step(ones)[-1]["elapsed_step"].tolist() == [3, 3, 3, 0, 0, 0]


class Policy:
    """Acts by the signs of the velocities."""

    def __call__(self, result):
        return (result[0][..., 0] > 0).astype(np.int32) + 1, {"value": result[0][..., 0].astype(np.float32)}


def test_rollouts_of_a_policy_next_to_the_environments():
    options, extras = {"players": "grid", "seed": 1}, {"value": (np.float32, (3,))}
    with (
        pool_of("MPE/simple_spread-v3", policy=Policy(), **options) as pool,
        envpool.make_gymnasium("MPE/simple_spread-v3", num_envs=N, **options) as local,
    ):
        rollout = envpool.Rollout(local, 30, extras)
        data, _ = rollout.collect(Policy(), rollout.reset())
        for _, ids, own in pool.collect(30, extras=extras):
            for name in ("obs", "reward", "value", "player_mask", "player_truncated", "player_valid"):
                np.testing.assert_array_equal(own[name], getattr(data, name)[:, ids], name)


def test_mistakes():
    with pytest.raises(ConfigError, match="controlled must name players in a RayPool"):
        pool_of("ConnectFour-v0", controlled="alternate")
    with pytest.raises(ConfigError, match="pass players='grid' or players='dict'"):
        pool_of("MPE/simple_spread-v3")
    with pool_of("MPE/simple_spread-v3", players="grid") as pool:
        pool.reset()
        for shape in [(N,), (N, 4)]:
            with pytest.raises(
                ActionError, match=r"the shape \(6, 3, ...\), a place for each player of each environment"
            ):
                pool.step(np.zeros(shape, np.int32))
        assert pool.step(np.zeros((N, 3), np.int32))[0].shape == (N, 3, 18)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("players", ["grid", "dict"])
def test_who_acts_next(players, mode):
    """A player acts if it takes part in the next step, unless that starts an episode."""
    plugin.load()
    maker = PoolMaker("Crowd-v0", 3, {"places": 4, "players": players, "autoreset_mode": mode, "seed": 1})
    actor, rng, ids = PoolActor(maker, 0, None), np.random.default_rng(0), np.arange(3, dtype=np.int32)
    _, result = actor.reset(ids, None, None)
    acting = acting_players(result, mode == "same_step")
    assert actor.describe()["players"] == 4
    for _ in range(40):
        actions = rng.integers(0, 11, (3, 4), np.int32)
        _, result = actor.exchange(actions, None, None)
        before, acting = acting, acting_players(result, mode == "same_step")
        mask, elapsed = result[-1]["player_mask"], result[-1]["elapsed_step"]
        if players == "dict":
            before, mask = before["agents"], mask["agents"]
        went_on = (elapsed > 0) if mode == "next_step" else elapsed > 1
        assert (mask | ~before)[went_on].all()  # who acted has a row
    _, failed = actor.fail(ids, None, acting)
    assert failed[3].all() and not failed[2].any()
    same((failed[-1]["player_mask"], failed[-1]["player_truncated"]), (acting, acting))
    actor.close()
