"""The spaces of pools of Python environments under transforms, and transforms that some observations do not allow."""

from contextlib import closing
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers

import envpool
from envpool.errors import ConfigError
from tests.support.python_envs import SPACES, SpaceEnv

WRAPPERS = {
    "frame_stack": (3, lambda env: wrappers.FrameStackObservation(env, 3)),
    "rescale_action": (True, lambda env: wrappers.RescaleAction(env, np.float32(-1), np.float32(1))),
    "clip_action": (True, wrappers.ClipAction),
    "time_aware": (True, wrappers.TimeAwareObservation),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_spaces_are_those_of_the_wrappers(name):
    value, wrap = WRAPPERS[name]
    make = partial(gymnasium.make, "Pendulum-v1")
    theirs = wrap(make())
    expected = theirs.observation_space, theirs.action_space
    with (
        envpool.make_python("Pendulum-v1", 2, **{name: value}) as pool,
        closing(envpool.make_vec(make, 2, max_episode_steps=200, **{name: value})) as vector,
    ):
        for envs in (pool, vector):
            for got, space in zip((envs.single_observation_space, envs.single_action_space), expected, strict=True):
                assert got.shape == space.shape
                assert np.allclose(got.low, space.low) and np.allclose(got.high, space.high)
        assert vector.observation_space.contains(vector.reset()[0]) and vector.action_space.shape == (2, 1)


@pytest.mark.parametrize("observation", ["dict", "tuple"])
def test_spaces_of_several_arrays(observation):
    options = {"float32_obs": True, "frame_stack": 2, "clip_obs": 5}
    with closing(envpool.make_vec(partial(SpaceEnv, observation), 2, **options)) as envs:
        assert envs.observation_space.contains(envs.reset()[0])
        assert type(envs.single_observation_space) is type(SPACES[observation])
        assert envs.single_action_space == SPACES["discrete"]


@pytest.mark.parametrize("observation", ["float16", "mixed"])
def test_transforms_of_objects_are_refused(observation):
    name = "obs:text" if observation == "mixed" else "obs"
    for option in ({"frame_stack": 2}, {"clip_obs": 5}, {"normalize_obs": True}, {"float32_obs": True}):
        with pytest.raises(ConfigError, match=f"^{next(iter(option))} needs .* '{name}' has .*: leave it out, or wrap"):
            envpool.make_python(partial(SpaceEnv, observation), 2, **option)
    with envpool.make_python(partial(SpaceEnv, observation), 2, normalize_reward=True) as pool:
        assert pool.observation_space == SPACES[observation]
