"""``from_pixels=True``: frames are the observations."""

from __future__ import annotations

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError
from envpool.sampling.sequences import make_actions
from tests.mujoco.dmc.upstream import Suite
from tests.mujoco.gym.cases import make_rendered

SEED = 5
SIZE = {"render_height": 20, "render_width": 24}


def stacked(frames, starts, depth):
    """Return the observations: the last frames of the episode, oldest first; the first frame fills the stack."""
    rows, history = [], []
    for frame, is_start in zip(frames, starts, strict=True):
        planes = frame.transpose(2, 0, 1)
        history = [planes] * depth if is_start else [*history[1:], planes]
        rows.append(np.concatenate(history))
    return rows


@pytest.mark.parametrize(("task_id", "upstream"), [("InvertedPendulum-v5", make_rendered), ("PointMassEasy-v1", Suite)])
@pytest.mark.parametrize("depth", [1, 3])
def test_observations_equal_upstreams_frames(task_id, upstream, depth):
    env = upstream(task_id, (20, 24))
    frames, starts, observed = [], [], []
    with envpool.make_gymnasium(task_id, seed=SEED, from_pixels=True, frame_stack=depth, **SIZE) as pool:
        assert pool.observation_space.shape == (3 * depth, 20, 24)
        for action in make_actions(pool.action_space, "random", 5, 1):
            obs, *_, info = pool.step(action) if observed else pool.reset()
            starts.append(info["elapsed_step"][0] == 0)
            observed.append(obs[0])
            if starts[-1]:
                env.reset(seed=None if frames else SEED)
            else:
                env.step(action[0])
            frames.append(env.render())
    env.close()
    for mine, expected in zip(observed, stacked(frames, starts, depth), strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_episodes_and_threads(autoreset):
    """The stack starts anew with each episode; the last observation of an episode arrives with its end."""
    options = {"num_envs": 3, "seed": 1, "max_episode_steps": 3, "frame_stack": 2, "autoreset_mode": autoreset}
    plain = envpool.make_gymnasium("Reacher-v5", render_mode="rgb_array", **options, **SIZE)
    pool = envpool.make_gymnasium("Reacher-v5", from_pixels=True, num_threads=2, **options, **SIZE)
    actions = make_actions(pool.action_space, "random", 8, 3)
    with plain, pool:
        plain.reset()
        obs, _ = pool.reset()
        newest = plain.render(range(3)).transpose(0, 3, 1, 2)
        np.testing.assert_array_equal(obs, np.concatenate([newest, newest], axis=1))
        ends = 0
        for t in range(8):
            before = newest
            _, reward, *flags, info = plain.step(actions[t])
            obs, other_reward, *other_flags, other_info = pool.step(actions[t])
            np.testing.assert_array_equal(other_reward, reward)
            np.testing.assert_array_equal(other_flags, flags)
            np.testing.assert_array_equal(other_info["reward_dist"], info["reward_dist"])
            newest = plain.render(range(3)).transpose(0, 3, 1, 2)
            is_start = info["elapsed_step"][0] == 0 or (autoreset == "same_step" and flags[1].all())
            np.testing.assert_array_equal(obs, np.concatenate([newest if is_start else before, newest], axis=1))
            if autoreset == "same_step" and flags[1].all():
                ends += 1
                final = np.stack(list(other_info["final_obs"]))
                np.testing.assert_array_equal(final[:, :3], before)
                assert final.shape == obs.shape
                assert (final[:, 3:] != before).any()
                assert (final[:, 3:] != newest).any()
        assert ends == (2 if autoreset == "same_step" else 0)


def test_styles():
    with envpool.make_dm("PointMassEasy-v1", from_pixels=True) as pool:
        pixels = pool.reset().observation.pixels
        assert (pixels.shape, pixels.dtype) == ((1, 3, 84, 84), np.uint8)
    with envpool.make_gymnasium("PointMassEasy-v1", from_pixels=True, render_mode="rgb_array") as pool:
        obs, info = pool.reset()
        np.testing.assert_array_equal(pool.render()[0].transpose(2, 0, 1), obs[0])
    assert set(info) == {"env_id", "players", "elapsed_step"}


def test_spec():
    spec = envpool.make_spec("Ant-v5", from_pixels=True, frame_stack=4, render_width=100)
    assert (spec.observation_space.shape, spec.observation_space.dtype) == ((12, 84, 100), np.uint8)
    assert (spec.observation_space.low.min(), spec.observation_space.high.max()) == (0, 255)
    assert spec.observation_spec().pixels.shape == (12, 84, 100)
    assert "info:x_position" in spec.state_array_spec
    assert spec.frame_size == (84, 100)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"render_width": 0}, "render_width must be between 1 and .*, got 0"),
        ({"render_height": 20000}, "render_height must be .*, got 20000"),
        ({"render_camera_id": 1}, "render_camera_id must be between -1 and 0.*, got 1"),
    ],
)
def test_bad_options(options, text):
    with pytest.raises(ConfigError, match=text):
        envpool.make_gymnasium("Ant-v5", from_pixels=True, **options)


def test_other_families():
    with pytest.raises(ValueError, match="from_pixels=True is only available for MuJoCo tasks; 'CartPole-v1' is not"):
        envpool.make_spec("CartPole-v1", from_pixels=True)
