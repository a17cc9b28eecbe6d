"""`envpool.make_vec` of Python environments: the results of gymnasium's own vector environment."""

from contextlib import closing
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import envpool
from envpool.errors import ConfigError, UnknownTaskError
from envpool.python_envs.vector_env import PythonVectorEnv
from envpool.vector_env import EnvPoolVectorEnv
from tests.support.python_envs import SPACES, FaultyEnv, SpaceEnv

N = 3


def assert_same(ours, theirs):
    """Two results have equal values and types, apart from rewards, which are float32 here."""
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if len(ours) == 5 and k == 1:
            assert a.dtype == np.float32 and np.array_equal(a, b.astype(np.float32))
        else:
            assert data_equivalence(a, b, exact=True), (a, b)


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("observation", SPACES)
def test_equals_sync_vector_env(observation, mode):
    make = partial(SpaceEnv, observation, "dict")
    modes = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP}
    theirs = SyncVectorEnv([make] * N, autoreset_mode=modes[mode])
    with closing(envpool.make_vec(make, N, autoreset_mode=mode)) as ours:
        assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
        assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
        theirs.action_space.seed(1)
        assert_same(ours.reset(seed=4), theirs.reset(seed=4))
        for _ in range(25):
            actions = theirs.action_space.sample()
            results = ours.step(actions), theirs.step(actions)
            assert_same(*results)
            assert results[0][0] in ours.observation_space


def test_equals_sync_vector_env_with_processes():
    make = partial(SpaceEnv, "mixed", "tuple")
    theirs = SyncVectorEnv([make] * N, autoreset_mode=AutoresetMode.SAME_STEP)
    options = {"workers": "process", "num_workers": 2, "autoreset_mode": "same_step"}
    with closing(envpool.make_vec([make] * N, **options)) as ours:
        assert ours.num_envs == N
        assert_same(ours.reset(seed=4), theirs.reset(seed=4))
        for _ in range(15):
            actions = theirs.action_space.sample()
            assert_same(ours.step(actions), theirs.step(actions))


@pytest.mark.parametrize("observation", ["box", "tuple", "mixed"])
def test_reset_with_a_mask(observation):
    make = partial(SpaceEnv, observation)
    theirs, mask = SyncVectorEnv([make] * N), np.array([True, False, True])
    with closing(envpool.make_vec(make, N)) as ours:
        assert_same(ours.reset(seed=4), theirs.reset(seed=4))
        options = {"reset_mask": mask}
        assert_same(ours.reset(seed=[8, None, 9], options=options), theirs.reset(seed=[8, None, 9], options=options))


def test_ids(caplog, monkeypatch):
    task = "tests/Faulty-v0"
    monkeypatch.setitem(gymnasium.registry, task, gymnasium.envs.registration.EnvSpec(task, entry_point=FaultyEnv))
    with closing(envpool.make_vec("Catch-v0")) as native, closing(envpool.make_vec(task, num_threads=1)) as python:
        assert type(native) is EnvPoolVectorEnv and type(python) is PythonVectorEnv
        assert native.num_envs == python.num_envs == 1
    assert "tests/Faulty-v0 has no native version" in caplog.messages[0]
    with pytest.raises(UnknownTaskError, match="NoSuchTask"):
        envpool.make_vec("NoSuchTask-v0")
    with pytest.raises(ConfigError, match="num_threads is not an option"):
        envpool.make_vec(FaultyEnv, num_threads=2)
    with pytest.raises(ConfigError, match="a VectorEnv steps all"):
        envpool.make_vec(FaultyEnv, 4, batch_size=2)


def test_render_and_access():
    options = {"render_mode": "rgb_array", "env_kwargs": {"render_mode": "rgb_array"}}
    with closing(envpool.make_vec(FaultyEnv, N, **options)) as envs:
        envs.reset()
        envs.step(np.zeros(N, int))
        frames = envs.render()
        assert len(frames) == N and frames[0].shape == (6, 5, 3) and (frames[2] == 1).all()
        assert envs.call("square", 3) == (9,) * N
        envs.set_attr("extra", [1, 2, 3])
        assert envs.get_attr("extra") == (1, 2, 3)


def test_wrappers_of_gymnasium():
    with closing(RecordEpisodeStatistics(envpool.make_vec("Pendulum-v1", N, max_episode_steps=3))) as native:
        assert native.reset()[0].shape == (N, 3)
    with closing(RecordEpisodeStatistics(envpool.make_vec(FaultyEnv, N, max_episode_steps=3))) as envs:
        envs.reset()
        for _ in range(3):
            *_, infos = envs.step(np.zeros(N, int))
        assert infos["episode"]["l"].tolist() == [3] * N
