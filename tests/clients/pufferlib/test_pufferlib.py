"""PufferLib's vectorisation on pools as native environments."""

import numpy as np
import pufferlib
import pufferlib.emulation
import pufferlib.vector
import pytest

import envpool
from envpool.adapters.pufferlib import PufferEnv
from envpool.errors import ActionError, ConfigError

TASKS = ["CartPole-v1", "Pendulum-v1", "Breakout-v5"]


def sample(env, rng):
    """Return random actions for all agents."""
    if isinstance(env.action_space, pufferlib.spaces.Box):
        return rng.uniform(env.action_space.low, env.action_space.high).astype(env.action_space.dtype)
    return rng.integers(env.action_space.nvec)


@pytest.mark.parametrize("task", TASKS)
def test_native_backend(task):
    env = pufferlib.vector.make(PufferEnv, env_args=[task], env_kwargs={"num_envs": 4})
    assert isinstance(env, pufferlib.PufferEnv) and not env.emulated and not env.done
    obs, infos = env.reset(seed=3)
    assert obs is env.observations and obs.shape == (4, *env.single_observation_space.shape) and infos == []
    rng = np.random.default_rng(0)
    for _ in range(5):
        obs, rewards, terminals, truncations, infos = env.step(sample(env, rng))
        assert env.observation_space.contains(obs)
        assert rewards is env.rewards and terminals is env.terminals and truncations is env.truncations
        assert isinstance(infos, list)
    env.close()


def test_send_and_recv():
    env = pufferlib.vector.make(PufferEnv, env_args=["CartPole-v1"], env_kwargs={"num_envs": 3})
    env.async_reset(seed=1)
    obs, *_, infos, ids, masks = env.recv()
    assert ids.tolist() == [0, 1, 2] and masks.all() and infos == []
    before = obs.copy()
    env.send(np.ones(3, np.int32))
    obs, rewards, *_ = env.recv()
    assert (obs != before).any() and rewards.tolist() == [1, 1, 1]


def test_steps_are_those_of_the_pool():
    env = PufferEnv("CartPole-v1", 4, seed=2)
    pool = envpool.make_gymnasium("CartPole-v1", num_envs=4, seed=8, autoreset_mode="same_step")
    assert env.reset()[0].tobytes() == pool.reset()[0].tobytes()
    rng, returns, episodes = np.random.default_rng(0), np.zeros(4), []
    for _ in range(200):
        actions = rng.integers(0, 2, 4)
        obs, rewards, terminals, truncations, infos = env.step(actions)
        theirs = pool.step(actions)
        for a, b in zip((obs, rewards, terminals, truncations), theirs[:4], strict=True):
            assert a.tobytes() == b.tobytes()
        returns += theirs[1]
        ended = theirs[2] | theirs[3]
        assert [i["episode_return"] for i in infos] == [i["episode_length"] for i in infos] == returns[ended].tolist()
        returns[ended] = 0
        episodes += infos
    assert len(episodes) > 10


def test_seeds_that_are_refused():
    env = PufferEnv("CartPole-v1")
    for seed in (1.9, "3", -1, 2**64):
        for call in (env.reset, lambda seed: PufferEnv("CartPole-v1", seed=seed)):
            with pytest.raises((TypeError, ConfigError), match="seed must be"):
                call(seed)
    assert np.array_equal(env.reset(2**64 - 1)[0], PufferEnv("CartPole-v1", seed=2**64 - 1).reset()[0])


@pytest.mark.parametrize("backend", ["Serial", "Multiprocessing"])
def test_several_pools(backend):
    """Each pool writes into its part of PufferLib's buffers, in this or a separate process."""
    options = {"num_workers": 2, "overwork": True} if backend == "Multiprocessing" else {}
    envs = pufferlib.vector.make(
        PufferEnv, env_args=["CartPole-v1"], env_kwargs={"num_envs": 3, "num_threads": 1}, backend=backend, num_envs=2,
        **options,
    )  # fmt: skip
    obs, _ = envs.reset(seed=5)
    assert np.shape(obs)[-1] == 4 and np.size(obs) == 24
    assert len(np.unique(np.reshape(obs, (6, 4)), axis=0)) == 6
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(60):
        obs, rewards, terminals, *_ = envs.step(rng.integers(0, 2, envs.action_space.shape))
        assert (np.ravel(rewards) == 1).all()
        ended += int(np.sum(terminals))
    assert ended > 6
    envs.close()


def test_workers_return_the_steps_of_their_pools():
    """Workers send parts of the environments when they are ready, and get the next actions for these."""
    count, workers, steps = 2, 4, 40
    envs = pufferlib.vector.make(
        PufferEnv, env_args=["CartPole-v1"], env_kwargs={"num_envs": count, "num_threads": 1}, num_envs=workers,
        num_workers=workers, batch_size=2, backend="Multiprocessing", overwork=True,
    )  # fmt: skip
    pools = [PufferEnv("CartPole-v1", count, seed=i) for i in range(workers)]
    actions = np.random.default_rng(0).integers(0, 2, (steps, workers * count))
    expected = []
    for i, pool in enumerate(pools):
        own = actions[:, i * count : (i + 1) * count]
        first = pool.reset()[0].copy(), *(a.copy() for a in (pool.rewards, pool.terminals, pool.truncations))
        expected.append([first] + [tuple(a.copy() for a in pool.step(action)[:4]) for action in own])
        pool.close()
    envs.async_reset(seed=0)
    elapsed = np.zeros(workers, int)
    while elapsed.min() < steps:
        *arrays, _, ids, mask = envs.recv()
        assert mask.all() and len(ids) == 2 * count
        chosen = ids[::count] // count
        for k, i in enumerate(chosen):
            for got, want in zip(arrays, expected[i][min(elapsed[i], steps)], strict=True):
                assert elapsed[i] > steps or got[k * count : (k + 1) * count].tobytes() == want.tobytes()
        elapsed[chosen] += 1
        action = [actions[min(elapsed[i // count], steps) - 1, i] for i in ids]
        envs.send(np.reshape(action, envs.action_space.shape))
    envs.close()


def test_wrong_calls_leave_the_environments_usable():
    env = pufferlib.vector.make(PufferEnv, env_args=["CartPole-v1"], env_kwargs={"num_envs": 3})
    env.reset(seed=0)
    before = env.observations.copy()
    for actions in (np.zeros(2, np.int32), np.full(3, 2), np.zeros((3, 2), np.int32)):
        with pytest.raises(ActionError):
            env.step(actions)
        assert (env.observations == before).all()
    assert env.step(np.ones(3, np.int32))[1].tolist() == [1, 1, 1]
    env.close()
    env.close()


def test_emulation_around_one_environment():
    """PufferLib wraps environments that were not written for it: here gymnasium's form of a dm_control task."""

    class Single:
        """One environment of a pool in gymnasium's form."""

        def __init__(self):
            self.pool = envpool.make_gymnasium("CheetahRun-v1", max_episode_steps=5, autoreset_mode="disabled")
            self.observation_space, self.action_space = self.pool.observation_space, self.pool.action_space
            self.render_mode, self.metadata = None, {}

        def reset(self, seed=None, options=None):
            obs, _ = self.pool.reset(seed=seed)
            return {k: v[0] for k, v in obs.items()}, {}

        def step(self, action):
            obs, reward, terminated, truncated, _ = self.pool.step(action[None])
            return {k: v[0] for k, v in obs.items()}, float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}

        def close(self):
            self.pool.close()

    env = pufferlib.emulation.GymnasiumPufferEnv(env_creator=Single, seed=0)
    env.reset(seed=0)
    for _ in range(5):
        *_, truncated, _ = env.step(np.zeros(6))
    assert truncated and env.done
    env.close()


def test_mistakes():
    with pytest.raises(ConfigError, match="observations in one Box"):
        PufferEnv("CheetahRun-v1")
    with pytest.raises(ConfigError, match="autoreset_mode is always 'same_step' for PufferLib"):
        PufferEnv("CartPole-v1", autoreset_mode="disabled")
