"""normalize_obs, normalize_reward, clipping and scaling against gymnasium's vector wrappers around the same pool."""

import itertools
from contextlib import closing

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

import envpool
from envpool.errors import ConfigError
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv

TASKS = ["CartPole-v1", "Pendulum-v1", "HalfCheetah-v5"]
NORMALIZED = {"normalize_obs": True, "normalize_reward": True}


def wrapped(env, obs=True, reward=True, **options):
    """Return the stack of gymnasium's wrappers in the order in which the pool transforms."""
    if obs:
        env = wrappers.NormalizeObservation(env)
        env = wrappers.TransformObservation(env, lambda o: np.clip(o, -2, 2))
    env = wrappers.TransformReward(env, lambda r: r * 0.3)
    if reward:
        env = wrappers.NormalizeReward(env, **options)
        env = wrappers.TransformReward(env, lambda r: np.clip(r, -0.5, 1.5))
    return env


def assert_equal_bits(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def steps_of(env, actions):
    yield env.reset()[0], None
    for action in actions:
        obs, reward, *_ = env.step(action)
        yield obs, reward


@pytest.mark.parametrize(
    ("task", "num_envs"),
    [
        *itertools.product(TASKS, [1, 3, 16, 257]),
        *[("CartPole-v1", 1500), ("Pendulum-v1", 4096), ("MinAtar/Breakout-v1", 17)],
    ],
)
def test_bits_of_gymnasium(task, num_envs):
    options = {"num_threads": 2, "seed": 5, "max_episode_steps": 23}
    plain = wrapped(EnvPoolVectorEnv(task, num_envs, **options))
    native = EnvPoolVectorEnv(
        task,
        num_envs,
        **options,
        **NORMALIZED,
        clip_obs=2.0,
        scale_reward=0.3,
        reward_clip=(-0.5, 1.5),
    )
    rng = np.random.default_rng(0)
    actions = [native.pool.sample_actions(rng) for _ in range(60)]
    with closing(plain), closing(native):
        assert native.single_observation_space.dtype == np.float32
        for expected, got in zip(steps_of(plain, actions), steps_of(native, actions), strict=True):
            assert_equal_bits(expected[0], got[0])
            assert got[0] in native.observation_space
            if got[1] is not None:
                # The rewards of gymnasium's wrapper are float64, those of a pool float32.
                assert_equal_bits(expected[1].astype(np.float32), got[1])


@pytest.mark.parametrize("num_envs", [9, 1100])
@pytest.mark.parametrize("mode", ["same_step", "disabled"])
def test_rewards_in_other_modes(mode, num_envs):
    options = {"num_threads": 2, "seed": 42, "autoreset_mode": mode, "max_episode_steps": 12}
    plain = EnvPoolVectorEnv("CartPole-v1", num_envs, **options)
    assert plain.metadata["autoreset_mode"] == AutoresetMode[mode.upper()]
    native = EnvPoolVectorEnv(
        "CartPole-v1", num_envs, **options, **NORMALIZED, scale_reward=0.3, reward_clip=(-0.5, 1.5)
    )
    expected_env = wrapped(plain, obs=False)
    rng = np.random.default_rng(1)
    with closing(plain), closing(native):
        for env in (expected_env, native):
            env.reset()
        for _ in range(60):
            action = rng.integers(2, size=num_envs)
            expected, got = expected_env.step(action), native.step(action)
            assert_equal_bits(expected[1].astype(np.float32), got[1])
            if mode == "disabled" and (got[2] | got[3]).any():
                for env in (expected_env, native):
                    env.reset()


def test_final_observations_use_the_moments_of_the_batch():
    options = {"num_envs": 6, "autoreset_mode": "same_step", "max_episode_steps": 7}
    with (
        envpool.make_gymnasium("HalfCheetah-v5", **options) as plain,
        envpool.make_gymnasium("HalfCheetah-v5", **options, normalize_obs=True, clip_obs=1.5) as native,
    ):
        plain.reset()
        native.reset()
        for t in range(20):
            action = plain.sample_actions(t)
            raw, got = plain.step(action), native.step(action)
            moments = native.normalization.get()
            mask = got[4]["_final_obs"]
            expected = (raw[4]["final_obs"] - moments["obs.mean"]) / np.sqrt(moments["obs.var"] + 1e-8)
            expected = np.clip(expected.astype(np.float32), -1.5, 1.5)
            expected[~mask] = 0
            assert_equal_bits(expected, got[4]["final_obs"])
            assert mask.all() == (t % 7 == 6)


def test_every_array_of_a_dict_has_its_own_moments():
    options = {"num_envs": 5, "num_threads": 2}
    with (
        envpool.make_dm("CheetahRun-v1", **options) as plain,
        envpool.make_dm("CheetahRun-v1", **options, normalize_obs={"epsilon": 1e-3}) as native,
    ):
        raw, got = plain.reset(), native.reset()
        for t in range(5):
            action = plain.sample_actions(t)
            raw, got = plain.step(action), native.step(action)
        moments = native.normalization.get()
        for name in ("position", "velocity"):
            x, y = getattr(raw.observation, name), getattr(got.observation, name)
            mean, var = moments[f"obs:{name}.mean"], moments[f"obs:{name}.var"]
            assert_equal_bits(((x - mean) / np.sqrt(var + 1e-3)).astype(np.float32), y)
            assert getattr(native.observation_spec(), name).dtype == np.float32


def test_images():
    plain = wrappers.NormalizeObservation(EnvPoolVectorEnv("Pong-v5", 2, seed=42))
    native = EnvPoolVectorEnv("Pong-v5", 2, seed=42, normalize_obs=True)
    with closing(plain), closing(native):
        actions = [np.full(2, t % 6) for t in range(12)]
        for expected, got in zip(steps_of(plain, actions), steps_of(native, actions), strict=True):
            assert_equal_bits(expected[0], got[0])


@pytest.mark.parametrize("task", ["CartPole-v1", "HalfCheetah-v5"])
def test_threads_do_not_matter(task):
    seen = []
    for num_threads in (1, 2, 4):
        with envpool.make_gymnasium(task, num_envs=64, num_threads=num_threads, **NORMALIZED, clip_obs=3) as pool:
            rng = np.random.default_rng(2)
            results = [pool.reset()[0]]
            for _ in range(30):
                obs, reward, *_ = pool.step(pool.sample_actions(rng))
                results += [obs, reward]
            seen.append([r.tobytes() for r in results])
    assert seen[0] == seen[1] == seen[2]


def test_other_parameters():
    plain = wrapped(EnvPoolVectorEnv("CartPole-v1", 4, seed=42), obs=False, gamma=0.5, epsilon=0.25)
    native = EnvPoolVectorEnv(
        "CartPole-v1",
        4,
        seed=42,
        scale_reward=0.3,
        normalize_reward={"gamma": 0.5, "epsilon": 0.25},
        reward_clip=(-0.5, 1.5),
    )
    with closing(plain), closing(native):
        actions = [np.ones(4, np.int64)] * 40
        for expected, got in zip(steps_of(plain, actions), steps_of(native, actions), strict=True):
            if got[1] is not None:
                assert_equal_bits(expected[1].astype(np.float32), got[1])


def test_episode_statistics_count_raw_rewards():
    options = {"num_envs": 3, "max_episode_steps": 10, "episode_statistics": True}
    with envpool.make_gymnasium("CartPole-v1", **options, normalize_reward=True, reward_clip=0.1) as pool:
        pool.reset()
        for _ in range(12):
            _, reward, _, _, info = pool.step(np.arange(3) % 2)
            assert reward.max() <= np.float32(0.1)
            if "episode" in info:
                ended = info["_episode"]
                assert (info["episode"]["r"][ended] == info["episode"]["l"][ended]).all()
        assert pool.stats().episodes


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({"obs.mean": np.full(4, 1e39)}, r"obs.mean must be between -1e\+18 and 1e\+18, .* got 1e\+39"),
        ({"reward.mean": -1e19}, "reward.mean must be between"),
        ({"reward.discounted": [0, 1e30]}, "reward.discounted must be between"),
        ({"reward.discounted": [0] * 4}, r"discounted must have the shape \(2,\), got \(4,\): leave it out"),
        ({"obs.var": np.full(4, 1e39)}, r"obs.var times obs.count must be at most 1e\+38"),
        ({"reward.var": 1e30, "reward.count": 1e9}, "reward.var times reward.count must be at most"),
        ({"obs.count": 1e300}, r"obs.count must be greater than 0 and at most 1e\+38, got 1e\+300"),
        ({"obs.mean": np.full(4, 1 + 1j)}, r"obs.mean must have numbers, .*\(1\+1j\) of dtype complex128"),
    ],
)
def test_values_that_would_become_nan(entries, text):
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, normalize_obs=True, normalize_reward=True) as pool:
        pool.reset()
        before = pool.normalization.get()
        with pytest.raises(ConfigError, match=text):
            pool.normalization.set(before | entries)
        for name, value in pool.normalization.get().items():
            assert np.array_equal(value, before[name])
        pool.normalization.set(before | {"obs.mean": np.full(4, 1e18), "obs.var": np.full(4, 1e30), "obs.count": 1e8})
        for _ in range(20):
            obs, reward, *_ = pool.step(np.ones(2, int))
        assert np.isfinite(obs).all() and np.isfinite(reward).all()


def test_states_of_no_environments():
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, normalize_reward=True) as pool:
        pool.reset()
        pool.step(np.ones(2, int))
        before = pool.normalization.get()["reward.discounted"].tolist()
        pool.copy_state([], [])
        pool.set_state(pool.get_state([]), [])
        assert pool.normalization.get()["reward.discounted"].tolist() == before


def test_statistics_are_copied_not_assigned():
    a, b = (envpool.make_gymnasium("CartPole-v1", num_envs=2, normalize_obs=True) for _ in range(2))
    with a, b:
        kept = b.normalization
        with pytest.raises(AttributeError, match=r"pool.normalization.set\(other.normalization.get\(\)\)"):
            b.normalization = a.normalization
        assert b.normalization is kept
        for values in (None, 3):
            with pytest.raises(
                TypeError, match=r"values must be what get\(\) of a pool returns, a mapping of arrays, got"
            ):
                b.normalization.set(values)
