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
from envpool.errors import ConfigError, EnvIdError, EnvStepError, PoolStateError, UnknownTaskError
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv
from envpool.python_envs.vector_env import PythonVectorEnv
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


class WithInfo(FaultyEnv):
    """Returns the same info with every call."""

    def __init__(self, info):
        super().__init__()
        self.info = info

    def reset(self, **kwargs):
        return super().reset(**kwargs)[0], self.info

    def step(self, action):
        return *super().step(action)[:4], self.info


def test_odd_keys_of_infos():
    """Keys that are no str, or that are the name of the mask of another one."""
    makers = [partial(WithInfo, {1: 2, "x": {1: 2}, "a": 1, "_a": 5}), partial(WithInfo, {"b": 3})]
    theirs = SyncVectorEnv(makers)
    with closing(envpool.make_vec(makers)) as ours:
        assert_same(ours.reset(seed=4), theirs.reset(seed=4))
        assert_same(ours.step(np.zeros(2, int)), theirs.step(np.zeros(2, int)))


def test_equals_sync_vector_env_with_processes():
    make = partial(SpaceEnv, "mixed", "tuple")
    theirs = SyncVectorEnv([make] * N, autoreset_mode=AutoresetMode.SAME_STEP)
    options = {"workers": "process", "num_threads": 2, "autoreset_mode": "same_step"}
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
    with closing(envpool.make_vec(FaultyEnv, 2, workers="thread", num_threads=2)) as envs:
        assert envs.pool.config["num_threads"] == 2
    with pytest.raises(ConfigError, match="in a VectorEnv, which steps all envs"):
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


class Screen(FaultyEnv):
    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 9, "own": 1}

    def render(self):
        return super().render() if self.render_mode == "rgb_array" else f"{self.render_mode} {self.count}"


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_the_render_mode_of_functions(workers):
    makers = [partial(Screen, "rgb_array")] * 2
    theirs = SyncVectorEnv(makers)
    with closing(envpool.make_vec(makers, workers=workers)) as ours:
        assert ours.render_mode == theirs.render_mode == "rgb_array"
        assert ours.metadata == theirs.metadata
        for envs in (ours, theirs):
            envs.reset(seed=1)
            envs.step(np.array([0, 0]))
        assert_same(ours.render(), theirs.render())
    with closing(envpool.make_vec(partial(Screen, "ansi"), 2, workers=workers)) as ours:
        ours.reset()
        assert ours.render() == ("ansi 0", "ansi 0")
    with closing(envpool.make_vec(Screen, 2, workers=workers)) as ours:
        ours.reset()
        assert ours.render_mode is None
        with pytest.raises(PoolStateError, match="needs a render mode"):
            ours.render()


def test_lists_of_frames():
    options = {"render_mode": "rgb_array_list", "env_kwargs": {"render_mode": "rgb_array"}}
    with closing(envpool.make_vec(FaultyEnv, 2, **options)) as envs:
        envs.reset()
        envs.step(np.zeros(2, int))
        assert [[frame[0, 0, 0] for frame in frames] for frames in envs.render()] == [[0, 1]] * 2
        assert envs.render() == ([], [])
        envs.step(np.zeros(2, int))
        assert [[frame[0, 0, 0] for frame in frames] for frames in envs.call("render")] == [[2]] * 2


# ---- options of resets -----------------------------------------------------------------------------------------------


class NoDefaults(gymnasium.Env):
    """Its reset() has no defaults; the info says what it got."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, seed, options):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(2, np.float32), {"got": repr((seed, options))}

    def step(self, action):
        self.count += 1
        return np.zeros(2, np.float32), 0.0, self.count == 2, False, {}


class Defaults(NoDefaults):
    def reset(self, seed=None, options=None):
        return super().reset(seed, options)


class NoBaseClass:
    observation_space, action_space = NoDefaults.observation_space, NoDefaults.action_space

    def reset(self, seed, options):
        self.count = 0
        return np.zeros(2, np.float32), {"got": repr((seed, options))}

    step = NoDefaults.step


WORKERS = ["inline", "thread", "process"]


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("env", [NoDefaults, Defaults, NoBaseClass])
def test_options_reach_environments(env, workers):
    options = {"level": [1, {"deep": "er"}]}
    with closing(envpool.make_vec(env, 2, workers=workers, seed=3)) as envs:
        assert list(envs.reset()[1]["got"]) == ["(3, None)", "(4, None)"]
        assert list(envs.reset(seed=[7, None], options=options)[1]["got"]) == [f"(7, {options})", f"(None, {options})"]
        mask = {"reset_mask": np.array([False, True])}
        assert list(envs.reset(options=options | mask)[1]["got"]) == [None, f"(None, {options})"]
        assert set(mask) == {"reset_mask"}
        assert list(envs.reset(options={})[1]["got"]) == ["(None, {})"] * 2
        assert list(envs.reset()[1]["got"]) == ["(None, None)"] * 2
        envs.reset(options=options)
        actions = np.zeros(2, int)
        infos = [envs.step(actions)[-1] for _ in range(3)]
        assert list(infos[2]["got"]) == ["(None, None)"] * 2  # automatic resets have no options


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("batch_size", [3, 2])
def test_options_of_single_environments_of_a_pool(workers, batch_size):
    with envpool.make_python(NoDefaults, 3, batch_size, workers=workers) as pool:
        pool.async_reset()
        ids = [pool.recv()[-1]["env_id"] for _ in range(6 // batch_size // 2 or 1)]
        left = 3 - sum(map(len, ids))
        if left:
            pool.recv(min_ready=left)
        _, info = pool.reset([2, 0], seed=[5, None], options=[{"a": 1}, None])
        assert list(info["got"]) == ["(5, {'a': 1})", "(None, None)"]
        _, info = pool.reset([1], options={"b": 2})
        assert list(info["got"]) == ["(None, {'b': 2})"]
        for bad in ([{}], "x", [1, 2], 3):
            with pytest.raises(ConfigError, match=r"reset\(options=...\) must"):
                pool.reset([0, 1], options=bad)
        with pytest.raises(EnvIdError):
            pool.reset([0, 0], options={"c": 3})
        _, info = pool.reset([0, 1])
        assert list(info["got"]) == ["(None, None)"] * 2


def test_options_that_cannot_be_passed_to_a_process():
    with envpool.make_python(NoDefaults, 2, workers="process") as pool:
        with pytest.raises(ConfigError, match="must be picklable"):
            pool.reset(options={"x": (n for n in range(3))})
        with pytest.raises(ConfigError, match="bytes when pickled"):
            pool.reset(options={"x": bytes(2**21)})
        assert list(pool.reset(options={"x": 1})[1]["got"]) == ["(42, {'x': 1})", "(43, {'x': 1})"]


@pytest.mark.parametrize("workers", ["inline", "process"])
def test_an_environment_that_takes_no_options(workers):
    with closing(envpool.make_vec(NoOptions, 2, workers=workers)) as envs:
        envs.reset(seed=1)
        with pytest.raises(EnvStepError, match="unexpected keyword argument 'options'"):
            envs.reset(options={"a": 1})
        envs.reset()


class NoOptions(FaultyEnv):
    def reset(self, *, seed=None):
        return super().reset(seed=seed)
