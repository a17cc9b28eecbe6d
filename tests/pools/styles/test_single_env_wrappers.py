"""Gymnasium's wrappers for single environments do not accept pools; those of clients and of old gym do."""

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers

import envpool
from envpool.gymnasium_api.vector_env import EnvPoolVectorEnv

#: Wrappers with their arguments. They read a space when they are constructed, so that they can be refused there.
AT_CONSTRUCTION = {
    "FlattenObservation": {},
    "NormalizeObservation": {},
    "FrameStackObservation": {"stack_size": 2},
    "ClipAction": {},
    "RescaleAction": {"min_action": -1.0, "max_action": 1.0},
    "TimeAwareObservation": {},
    "DtypeObservation": {"dtype": np.float64},
}
AT_RESET = {
    "TimeLimit": {"max_episode_steps": 10},
    "RecordEpisodeStatistics": {},
    "NormalizeReward": {},
    "ClipReward": {"max_reward": 1.0},
    "Autoreset": {},
    "OrderEnforcing": {},
    "PassiveEnvChecker": {},
}


@pytest.fixture
def pool():
    with envpool.make_gymnasium("Pendulum-v1", num_envs=4) as pool:
        yield pool


def message(name):
    return rf"gymnasium\.wrappers\.{name} is for a single environment.*batches of 4: use .*gymnasium\.wrappers\.vector"


@pytest.mark.parametrize("name", AT_CONSTRUCTION)
def test_refused_at_construction(pool, name):
    with pytest.raises(TypeError, match=message(name)):
        getattr(wrappers, name)(pool, **AT_CONSTRUCTION[name])
    assert pool.reset()[0].shape == (4, 3)


@pytest.mark.parametrize("name", AT_RESET)
@pytest.mark.parametrize("kind", [gymnasium.Wrapper, None])
def test_refused_at_the_first_use(pool, name, kind):
    inner = pool if kind is None else kind(pool)
    with pytest.raises(TypeError, match=message(name)):
        getattr(wrappers, name)(inner, **AT_RESET[name]).reset(seed=3)
    assert pool.reset()[0].shape == (4, 3)


def test_a_class_derived_from_such_a_wrapper(pool):
    class Mine(wrappers.TransformReward):
        pass

    with pytest.raises(TypeError, match=r"Mine is for a single environment"):
        Mine(pool, lambda reward: reward).reset()


def test_the_error_names_the_way_out(pool):
    with pytest.raises(TypeError, match=r"wrappers\.vector\.FlattenObservation on gymnasium\.make_vec\('envpool/Pendu"):
        wrappers.FlattenObservation(pool)
    envs = wrappers.vector.FlattenObservation(EnvPoolVectorEnv("Pendulum-v1", 4))
    assert envs.reset()[0].shape == (4, 3)
    envs.close()


def test_wrappers_of_clients_work(pool):
    """sample-factory derives from ``gymnasium.Wrapper`` and knows that its environment is a pool."""

    class OfClient(gymnasium.Wrapper):
        def __init__(self, env):
            super().__init__(env)
            self.size = env.observation_space.shape

        def reset(self, **kwargs):
            return super().reset(**kwargs)

    env = OfClient(pool)
    assert isinstance(pool, gymnasium.Env) and env.size == (3,)
    obs, _ = env.reset(seed=1)
    assert env.step(pool.sample_actions())[0].shape == obs.shape == (4, 3)


def test_spaces_can_be_set(pool):
    pool.action_space = pool.single_action_space
    assert pool.action_space is pool.single_action_space


def test_stable_baselines3_is_told_of_the_adapter(pool):
    """Its DummyVecEnv reads a space in its constructor, through a Monitor or directly."""

    def __init__(self, env):
        self.observation_space = env.observation_space

    dummy = type(
        "DummyVecEnv", (), {"__init__": __init__, "__module__": "stable_baselines3.common.vec_env.dummy_vec_env"}
    )
    monitor = type("Monitor", (gymnasium.Wrapper,), {"__module__": "stable_baselines3.common.monitor"})
    for env in (pool, monitor(pool)):
        with pytest.raises(TypeError, match=r"pass envpool\.adapters\.sb3\.VecEnv\(pool\) instead of the pool"):
            dummy(env)
    with pytest.raises(TypeError, match=r"this pool of 4 environments for a single one"):
        monitor(pool).reset()
    own = type("DummyVecEnv", (), {"__init__": __init__, "__module__": "mine"})
    assert own(pool).observation_space == pool.observation_space
