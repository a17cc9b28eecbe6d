"""Acme's EnvironmentLoop on one environment of a pool."""

import acme
import dm_env
import numpy as np
import pytest
import tree
from acme import specs

import envpool
from envpool.adapters.single import SingleEnvironment
from envpool.errors import ConfigError


class Recorder(acme.Actor):
    """Acts randomly, checks observations against the spec, and counts its calls."""

    def __init__(self, spec):
        self.spec, self.rng = spec, np.random.default_rng(0)
        self.rewards, self.firsts, self.lasts, self.updates = [], 0, 0, 0

    def select_action(self, observation):
        tree.map_structure(lambda spec, value: spec.validate(value), self.spec.observations, observation)
        spec = self.spec.actions
        if isinstance(spec, dm_env.specs.DiscreteArray):
            return self.rng.integers(spec.num_values, dtype=spec.dtype)
        return self.rng.uniform(spec.minimum, spec.maximum).astype(spec.dtype)

    def observe_first(self, timestep):
        self.firsts += timestep.first()

    def observe(self, action, next_timestep):
        self.rewards.append(next_timestep.reward)
        self.lasts += next_timestep.last()

    def update(self, wait=False):
        self.updates += 1


@pytest.mark.parametrize("task", ["CheetahRun-v1", "Catch-v0", "CartPole-v1"])
def test_environment_loop(task):
    with SingleEnvironment(task, max_episode_steps=8, seed=3) as environment:
        actor = Recorder(acme.make_environment_spec(environment))
        loop = acme.EnvironmentLoop(environment, actor)
        results = [loop.run_episode() for _ in range(4)]
        assert actor.firsts == actor.lasts == 4
        assert actor.updates == sum(r["episode_length"] for r in results) == len(actor.rewards)
        assert sum(float(r["episode_return"]) for r in results) == pytest.approx(sum(actor.rewards))
        loop.run(num_steps=20)
        assert len(actor.rewards) >= 20


def test_observations_are_named_tuples_that_meet_their_spec():
    environment = SingleEnvironment("CheetahRun-v1")
    assert isinstance(environment, dm_env.Environment)
    for step in environment.reset(), environment.step(np.zeros(6)):
        assert step.observation._fields == ("env_id", "players", "position", "velocity")
        tree.map_structure(lambda spec, value: spec.validate(value), environment.observation_spec(), step.observation)
    assert step.mid() and isinstance(step.reward, float) and step.discount == 1.0


def test_steps_are_those_of_the_pool():
    with envpool.make_dm("CheetahRun-v1", seed=5) as pool, SingleEnvironment("CheetahRun-v1", seed=5) as environment:
        ours, theirs = environment.reset(), pool.reset()
        rng = np.random.default_rng(0)
        for _ in range(20):
            assert ours.observation.position.tobytes() == theirs.observation.position.tobytes()
            assert (ours.reward or 0.0) == theirs.reward[0]
            action = rng.uniform(-1, 1, 6)
            ours, theirs = environment.step(action), pool.step(action[None])


def test_a_pool_is_an_environment_by_type():
    """Batched time steps contain arrays, which a loop for batches adds up itself."""
    with envpool.make_dm("CartPole-v1", num_envs=2) as pool:
        assert isinstance(pool, dm_env.Environment)
        spec = specs.make_environment_spec(pool)
        assert spec.actions.num_values == 2
        assert pool.reset().first().all()


def test_mistakes():
    with pytest.raises(ConfigError, match="num_envs must be 1 for a single environment, got 2"):
        SingleEnvironment("CartPole-v1", num_envs=2)
    with pytest.raises(TypeError, match=r"envpool\.make_dm, got CartPoleGymnasiumEnvPool"):
        SingleEnvironment(envpool.make_gymnasium("CartPole-v1"))
    with pytest.raises(TypeError, match="seed: a pool takes no options"):
        SingleEnvironment(envpool.make_dm("CartPole-v1"), seed=1)
