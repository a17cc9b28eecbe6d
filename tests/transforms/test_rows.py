"""Transforms of single rows: frame_stack, time_aware, dtype, clip_action and rescale_action, against gymnasium's."""

from contextlib import closing

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import vector as wrappers

import envpool
from envpool.errors import StateError
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from tests.support import plugin
from tests.support.checked_pool import FAIL

MODES = ["next_step", "same_step", "disabled"]


def assert_equal_bits(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def gymnasium_episodes(wrap, task, seed, actions):
    """Yield the observations of a single gymnasium environment, and whether each begins an episode."""
    env = wrap(gymnasium.make(task))
    obs, _ = env.reset(seed=seed)
    yield obs
    done = False
    for action in actions:
        if done:
            obs, done = env.reset()[0], False
        else:
            obs, _, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
        yield obs


@pytest.mark.parametrize(
    ("options", "wrap"),
    [
        ({"frame_stack": 3}, lambda env: gymnasium.wrappers.FrameStackObservation(env, 3)),
        ({"time_aware": True}, gymnasium.wrappers.TimeAwareObservation),
        (
            {"time_aware": "normalized"},
            lambda env: gymnasium.wrappers.TimeAwareObservation(env, normalize_time=True),
        ),
        (
            {"time_aware": True, "frame_stack": 2},
            lambda env: gymnasium.wrappers.FrameStackObservation(gymnasium.wrappers.TimeAwareObservation(env), 2),
        ),
    ],
)
def test_bits_of_gymnasium(options, wrap):
    rng = np.random.default_rng(0)
    actions = rng.integers(2, size=(80, 5))
    oracles = [gymnasium_episodes(wrap, "CartPole-v1", 7 + i, actions[:, i]) for i in range(5)]
    with envpool.make_gymnasium("CartPole-v1", num_envs=5, seed=7, num_threads=2, **options) as pool:
        for t in range(81):
            obs = pool.reset()[0] if t == 0 else pool.step(actions[t - 1])[0]
            expected = np.stack([next(oracle) for oracle in oracles])
            # gymnasium's flattened time is float64 next to float32 observations.
            assert_equal_bits(expected.astype(np.float32), obs)
            for row in obs:
                assert row in pool.observation_space


@pytest.mark.parametrize("mode", MODES)
def test_stacks_begin_anew_with_each_episode(mode):
    options = {"num_envs": 4, "autoreset_mode": mode, "max_episode_steps": 5, "num_threads": 2}
    with (
        envpool.make_gymnasium("Pendulum-v1", **options) as plain,
        envpool.make_gymnasium("Pendulum-v1", **options, frame_stack=3) as native,
    ):
        first = plain.reset()[0]
        stack = np.repeat(first[:, None], 3, axis=1)
        assert_equal_bits(stack, native.reset()[0])
        for t in range(20):
            action = plain.sample_actions(t)
            (raw, _, _, ended, info), got = plain.step(action), native.step(action)
            begins = info["elapsed_step"] == 0
            stack = np.concatenate([stack[:, 1:], raw[:, None]], axis=1)
            if mode == "same_step" and ended.any():
                final = np.concatenate([stack[:, :-1], info["final_obs"][:, None]], axis=1)
                assert_equal_bits(final, got[4]["final_obs"])
            stack[begins] = raw[begins][:, None]
            assert_equal_bits(stack, got[0])
            if mode == "disabled" and ended.any():
                ids = np.flatnonzero(ended)
                stack[ids] = plain.reset(ids)[0][:, None]
                assert_equal_bits(stack[ids], native.reset(ids)[0])


def test_float32_obs_casts_every_array():
    with (
        envpool.make_dm("CheetahRun-v1", num_envs=3) as plain,
        envpool.make_dm("CheetahRun-v1", num_envs=3, float32_obs=True) as native,
        envpool.make_gymnasium("Taxi-v4", num_envs=3, float32_obs=True) as discrete,
    ):
        raw, got = plain.reset().observation, native.reset().observation
        for name in ("position", "velocity"):
            assert_equal_bits(getattr(raw, name).astype(np.float32), getattr(got, name))
        assert native.observation_spec().position.dtype == np.float32
        obs = discrete.reset()[0]
        assert obs.dtype == np.float32 and obs.shape == (3,) and obs[0] in discrete.observation_space


@pytest.mark.parametrize("task", ["HalfCheetah-v5", "Pendulum-v1", "BipedalWalker-v3"])
@pytest.mark.parametrize(
    ("options", "wrap"),
    [
        ({"clip_action": True}, wrappers.ClipAction),
        ({"rescale_action": (-0.5, 3)}, lambda env: wrappers.RescaleAction(env, -0.5, 3.0)),
        (
            {"rescale_action": True, "clip_action": True},
            lambda env: wrappers.ClipAction(wrappers.RescaleAction(env, -1.0, 1.0)),
        ),
    ],
)
def test_actions(task, options, wrap):
    plain = wrap(EnvPoolVectorEnv(task, 4, seed=3))
    native = EnvPoolVectorEnv(task, 4, seed=3, **options)
    rng = np.random.default_rng(0)
    with closing(plain), closing(native):
        assert native.single_action_space == plain.single_action_space
        plain.reset()
        native.reset()
        limit = 4 if options.get("clip_action") else 0.5
        for _ in range(20):
            action = rng.uniform(-limit, limit, native.action_space.shape).astype(native.action_space.dtype)
            for expected, got in zip(plain.step(action)[:2], native.step(action)[:2], strict=True):
                assert_equal_bits(expected, got)


def test_rescaling_of_single_elements():
    low, high = [-1, -2, -3, -4, -5, -6], [1, 2, 3, 4, 5, 6]
    plain = wrappers.RescaleAction(
        EnvPoolVectorEnv("HalfCheetah-v5", 2, seed=42), np.asarray(low, np.float64), np.asarray(high, np.float64)
    )
    native = EnvPoolVectorEnv("HalfCheetah-v5", 2, seed=42, rescale_action=(low, np.array(high)))
    with closing(plain), closing(native):
        plain.reset()
        native.reset()
        for t in range(5):
            action = native.pool.sample_actions(t)
            assert_equal_bits(plain.step(action)[0], native.step(action)[0])


def batches(pool, num_steps, **options):
    """Return the observations of an async pool by env: a list per env."""
    seen = [[] for _ in range(pool.num_envs)]
    pool.async_reset()
    for _ in range(num_steps):
        obs, *_, info = pool.recv(**options)
        for row, env in zip(obs, info["env_id"], strict=True):
            seen[env].append(row.copy())
        pool.send(np.zeros((len(obs), 1), np.float32), info["env_id"])
    return seen


@pytest.mark.parametrize("options", [{}, {"min_ready": 2}])
def test_async_and_partial_batches(options):
    """Rows of an environment do not depend on the batches in which they come."""
    transforms = {"frame_stack": 3, "time_aware": True, "float32_obs": True, "max_episode_steps": 9}
    with envpool.make_gymnasium("Pendulum-v1", num_envs=6, **transforms) as pool:
        expected = [pool.reset()[0].copy()]
        expected += [pool.step(np.zeros((6, 1), np.float32))[0].copy() for _ in range(60)]
    with envpool.make_gymnasium("Pendulum-v1", num_envs=6, batch_size=3, num_threads=2, **transforms) as pool:
        for env, rows in enumerate(batches(pool, 50, **options)):
            assert rows
            for t, row in enumerate(rows):
                assert_equal_bits(expected[t][env], row)


def test_states_contain_stacks_and_time():
    options = {"num_envs": 4, "frame_stack": 3, "time_aware": True, "max_episode_steps": 9}
    with envpool.make_gymnasium("Pendulum-v1", **options) as pool:
        pool.reset()
        for t in range(5):
            pool.step(pool.sample_actions(t))
        states = pool.get_state()
        expected = [pool.step(pool.sample_actions(t))[0] for t in range(8)]
        pool.set_state(states)
        for t in range(8):
            assert_equal_bits(expected[t], pool.step(pool.sample_actions(t))[0])
        pool.copy_state(0, 3)
        obs = pool.step(np.zeros((4, 1), np.float32))[0]
        assert_equal_bits(obs[0], obs[3])
        with envpool.make_gymnasium("Pendulum-v1", **options | {"num_envs": 2}) as other:
            other.set_state(states[1:3])
            assert_equal_bits(expected[0][1:3], other.step(pool.sample_actions(0)[1:3])[0])
        with (
            envpool.make_gymnasium("Pendulum-v1", num_envs=4, max_episode_steps=9) as other,
            pytest.raises(StateError),
        ):
            other.set_state(states)


def test_options_that_do_not_concern_states_leave_them_valid():
    with (
        envpool.make_gymnasium("Pendulum-v1", num_envs=2) as plain,
        envpool.make_gymnasium("Pendulum-v1", num_envs=2, normalize_obs=True, reward_clip=1, float32_obs=True) as other,
    ):
        plain.reset()
        other.set_state(plain.get_state())
        plain.set_state(other.get_state())


@pytest.mark.parametrize("task", ["CartPole-v1", "HalfCheetah-v5", "Pong-v5"])
def test_rendering_and_parameters_are_passed_on(task):
    with (
        envpool.make_gymnasium(task, num_envs=2, render_mode="rgb_array") as plain,
        envpool.make_gymnasium(task, num_envs=2, render_mode="rgb_array", float32_obs=True) as native,
    ):
        raw, got = plain.reset()[0], native.reset()[0]
        assert_equal_bits(raw.astype(np.float32), got)
        assert_equal_bits(plain.render([0, 1]), native.render([0, 1]))
        assert plain.get_params().keys() == native.get_params().keys()


@pytest.mark.parametrize("mode", MODES)
def test_stacks_of_failed_environments_begin_anew(mode):
    options = {"num_envs": 3, "autoreset_mode": mode, "on_error": "restart"}
    with plugin.make(**options) as plain, plugin.make(**options, frame_stack=3, float32_obs=True) as native:
        first, fail = np.zeros(3), np.array([0, FAIL, 0])
        stack = np.repeat(values(plain.reset()[0])[:, None], 3, axis=1)
        native.reset()
        seen = 0
        for action in [first, first, fail, first, fail, fail, first, first]:
            raw, got = plain.step(action), native.step(action)
            seen += "error" in raw[4]
            assert ("error" in raw[4]) == ("error" in got[4])
            if "error" in raw[4]:
                assert raw[4]["error"].tolist() == got[4]["error"].tolist()
            begins = raw[4]["elapsed_step"] == 0
            failed = np.zeros(3, bool) if "_error" not in raw[4] else raw[4]["_error"]
            stack = np.concatenate([stack[:, 1:], values(raw[0])[:, None]], axis=1)
            stack[begins] = values(raw[0])[begins][:, None]
            if mode != "same_step":
                stack[failed] = 0
            assert_equal_bits(stack.astype(np.float32), values(got[0]))
            ids = np.flatnonzero(raw[2] | raw[3])
            if mode == "disabled" and ids.size:
                stack[ids] = values(plain.reset(ids)[0])[:, None]
                assert_equal_bits(stack[ids].astype(np.float32), values(native.reset(ids)[0]))
        assert seen >= 2


def values(obs):
    """Return the first array of an observation."""
    return values(next(iter(obs.values()))) if isinstance(obs, dict) else obs
