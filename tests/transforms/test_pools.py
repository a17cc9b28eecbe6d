"""Transforms of batches in every kind of pool: async, partial, rollouts, API styles, failures, JAX."""

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError
from tests.support import plugin
from tests.support.checked_pool import FAIL

MODES = ["next_step", "same_step", "disabled"]
TRANSFORMS = {"normalize_obs": True, "clip_obs": 2, "normalize_reward": True, "reward_clip": 0.7}


def assert_equal_bits(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


class Moments:
    """gymnasium's RunningMeanStd, fed with the batches of a pool."""

    def __init__(self):
        from gymnasium.wrappers.utils import RunningMeanStd

        self.rms = RunningMeanStd(shape=(17,), dtype=np.float32)

    def normalise(self, obs):
        self.rms.update(obs)
        return ((obs - self.rms.mean) / np.sqrt(self.rms.var + 1e-8)).astype(np.float32)


@pytest.mark.parametrize("batch_size", [4, 2])
def test_batches_count_in_the_order_of_their_rows(batch_size):
    """With one thread, the batches of an async pool do not depend on time."""
    options = {"num_envs": 4, "batch_size": batch_size, "num_threads": 1}
    moments = Moments()
    with (
        envpool.make_gymnasium("HalfCheetah-v5", **options) as plain,
        envpool.make_gymnasium("HalfCheetah-v5", **options, normalize_obs=True) as native,
    ):
        for pool in (plain, native):
            pool.async_reset()
        for t in range(20):
            raw, got = plain.recv(), native.recv()
            assert_equal_bits(raw[-1]["env_id"], got[-1]["env_id"])
            assert_equal_bits(moments.normalise(raw[0]), got[0])
            action = plain.sample_actions(t, raw[-1]["env_id"])
            for pool in (plain, native):
                pool.send(action, raw[-1]["env_id"])


def test_partial_batches():
    moments = Moments()
    with (
        envpool.make_gymnasium("HalfCheetah-v5", num_envs=6, num_threads=2) as plain,
        envpool.make_gymnasium("HalfCheetah-v5", num_envs=6, num_threads=2, normalize_obs=True) as native,
    ):
        for pool in (plain, native):
            pool.async_reset()
        for t in range(10):
            ids = [(t + k) % 6 for k in (4, 1, 2)]
            raw, got = plain.recv(env_id=ids)[0], native.recv(env_id=ids)[0]
            assert_equal_bits(moments.normalise(raw), got)
            for pool in (plain, native):
                pool.send(pool.sample_actions(t, ids), ids)
        for pool in (plain, native):
            pool.reset()
        assert native.normalization.get()["obs.count"] == 1e-4 + 30 + 6


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", ["CartPole-v1", "HalfCheetah-v5"])
def test_rollouts(task, mode):
    options = {"num_envs": 5, "num_threads": 2, "max_episode_steps": 8, "autoreset_mode": mode}
    with (
        envpool.make_gymnasium(task, **options, **TRANSFORMS) as plain,
        envpool.make_gymnasium(task, **options, **TRANSFORMS) as recorded,
    ):
        rollout = envpool.Rollout(recorded, num_steps=6)
        obs = plain.reset()[0].copy()
        rollout.reset()
        for _ in range(3):
            expected, finals = [obs], []
            for t in range(6):
                action = plain.sample_actions(t)
                got = rollout.step(action)
                obs, reward, terminated, truncated, info = plain.step(action)
                assert_equal_bits(obs, got[0])
                assert_equal_bits(reward, got[1])
                ended = np.flatnonzero(terminated | truncated)
                finals += list((info["final_obs"] if mode == "same_step" else obs)[ended])
                if mode == "disabled" and ended.size:
                    obs = obs.copy()
                    obs[ended] = plain.reset(ended)[0]
                    rollout.reset(ended)
                expected.append(obs)
            data = rollout.finish()
            assert_equal_bits(np.stack(expected[:-1]), np.ascontiguousarray(data.obs))
            assert_equal_bits(expected[-1], np.ascontiguousarray(data.last_obs))
            if finals:
                assert_equal_bits(np.stack(finals), data.last_of_episodes()[2])


def test_rollouts_share_the_memory_of_raw_observations():
    """The observations from which others are computed take the memory of one step, and nobody sees them."""
    with envpool.make_gymnasium("HalfCheetah-v5", num_envs=8, normalize_obs=True) as pool:
        rollout = envpool.Rollout(pool, num_steps=64)
        rollout.reset()
        for t in range(64):
            rollout.step(pool.sample_actions(t))
        data = rollout.finish()
        assert not any("raw" in name for name in data.names)
        with pytest.raises(ConfigError, match="no array 'raw:obs'; its arrays are obs, "):
            data.array("raw:obs")
        arrays = [data.array(name) for name in data.names]
        start = min(array.ctypes.data for array in arrays)
        end = max(array.ctypes.data + array.nbytes for array in arrays)
        unseen = end - start - sum(array.nbytes for array in arrays)
        # Arrays that belong to observations have one slot more than the array shows.
        more = sum(array.nbytes // 64 for array in arrays)
        assert unseen <= 8 * 17 * 8 + more + 64 * len(arrays)


def test_async_rollouts():
    with envpool.make_gymnasium("HalfCheetah-v5", num_envs=6, batch_size=3, num_threads=2, **TRANSFORMS) as pool:
        rollout = envpool.Rollout(pool, num_steps=10)
        data, _ = rollout.collect(lambda result: (pool.sample_actions(0, result[-1]["env_id"]), {}), rollout.reset())
        assert data.obs.dtype == np.float32 and np.abs(data.obs).max() <= 2
        assert data.obs[: data.lengths.min()].any(axis=(1, 2)).all()


def test_frames_of_stacks_are_stored_once():
    with envpool.make_gymnasium("CarRacing-v3", num_envs=2, frame_stack=3) as pool:
        rollout = envpool.Rollout(pool, num_steps=4, frames_once=True)
        rollout.reset()
        for _ in range(4):
            rollout.step(np.zeros((2, 3), np.float32))
        data = rollout.finish()
        assert data.obs.shape == (4, 2, 3, 96, 96, 3)
        assert_equal_bits(data.minibatch(np.arange(8)), np.ascontiguousarray(data.obs).reshape(8, 3, 96, 96, 3))


@pytest.mark.parametrize("env_type", ["gym", "dm"])
def test_styles(env_type):
    with (
        envpool.make_gymnasium("HalfCheetah-v5", num_envs=3, **TRANSFORMS) as plain,
        envpool.make("HalfCheetah-v5", env_type=env_type, num_envs=3, **TRANSFORMS) as pool,
    ):
        plain.reset()
        pool.reset()
        for t in range(5):
            expected, got = plain.step(plain.sample_actions(t)), pool.step(plain.sample_actions(t))
            obs, reward = (got.observation.obs, got.reward) if env_type == "dm" else got[:2]
            assert_equal_bits(expected[0], obs)
            assert_equal_bits(expected[1], reward)


def test_legacy_gym():
    options = {"gym_api": "legacy", "num_envs": 2, "normalize_obs": True, "clip_obs": 1}
    with envpool.make_gym("CartPole-v1", **options) as pool:
        assert np.abs(pool.reset()).max() <= 1 and np.abs(pool.step(np.zeros(2, int))[0]).max() <= 1


def test_a_batch_with_a_failed_env_counts_once():
    """The call that raises counts nothing; the call that returns the batch counts it."""
    with plugin.make(num_envs=3, normalize_reward=True, float32_obs=True) as pool:
        pool.reset()
        pool.step(np.zeros(3))
        before = pool.normalization.get()["reward.count"]
        with pytest.raises(EnvStepError):
            pool.step(np.array([0, FAIL, 0]))
        assert pool.normalization.get()["reward.count"] == before
        pool.recv()
        assert pool.normalization.get()["reward.count"] == before + 3


def test_jax():
    jax = pytest.importorskip("jax")
    with (
        envpool.make_gymnasium("HalfCheetah-v5", num_envs=2, frame_stack=1, **TRANSFORMS) as plain,
        envpool.make_gymnasium("HalfCheetah-v5", num_envs=2, **TRANSFORMS) as pool,
    ):
        plain.reset()
        pool.reset()
        handle, _, _, step = pool.xla()
        action = plain.sample_actions(0)
        _, (obs, reward, *_) = jax.jit(step)(handle, action.astype(np.float32).astype(np.float64))
        expected = plain.step(action.astype(np.float32))
        assert_equal_bits(expected[0], np.asarray(obs))
        assert_equal_bits(expected[1], np.asarray(reward))
