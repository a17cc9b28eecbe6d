"""The dm style: time steps, named tuples and specs."""

import dm_env
import gymnasium
import numpy as np
import pytest
from dm_env import specs
from gymnasium.spaces import Discrete

import envpool
from envpool.errors import ConfigError
from tests.support import plugin
from tests.support.results import assert_owned, assert_same, forms

FORM = {
    "step_type": ("int32", (2,)),
    "reward": ("float32", (2,)),
    "discount": ("float32", (2,)),
    "observation.env_id": ("int32", (2,)),
    "observation.players.env_id": ("int32", (2,)),
    "observation.obs": ("float32", (2, 4)),
}
ACTION = np.array([0, 1])


@pytest.fixture
def pool():
    with envpool.make_dm("CartPole-v1", num_envs=2, seed=7, max_episode_steps=3) as pool:
        yield pool


def test_type_and_attributes(pool):
    assert isinstance(pool, dm_env.Environment)
    assert isinstance(pool, envpool.DMEnvPool)
    assert isinstance(pool, envpool.EnvPool)
    assert repr(pool).startswith("CartPole-v1: CartPoleDMEnvPool(num_envs=2")
    assert len(pool) == pool.num_envs == 2
    assert pool.all_env_ids.tolist() == [0, 1]
    assert pool.config["num_envs"] == 2
    assert pool.is_async is False


def test_forms(pool):
    reset, step = pool.reset(), pool.step(ACTION)
    for timestep in (reset, step):
        assert type(timestep) is dm_env.TimeStep
        assert forms(timestep) == FORM
        assert type(timestep.observation).__name__ == "State"
        assert timestep.observation._fields == ("env_id", "players", "obs")
        assert type(timestep.observation.players).__name__ == "players"
    assert_owned(step, reset)


def test_observations_are_those_of_the_other_styles(pool):
    with envpool.make_gymnasium("CartPole-v1", num_envs=2, seed=7, max_episode_steps=3) as other:
        assert pool.reset().observation.obs.tobytes() == other.reset()[0].tobytes()
        for _ in range(30):
            timestep, (obs, reward, terminated, truncated, info) = pool.step(ACTION), other.step(ACTION)
            assert timestep.observation.obs.tobytes() == obs.tobytes()
            assert timestep.reward.tobytes() == reward.tobytes()
            assert timestep.observation.env_id.tobytes() == info["env_id"].tobytes()
            assert timestep.last().tolist() == (terminated | truncated).tolist()


def test_a_whole_episode(pool):
    first = pool.reset()
    assert first.step_type.tolist() == [dm_env.StepType.FIRST] * 2
    assert first.reward.tolist() == [0, 0]
    assert first.discount.tolist() == [1, 1]
    for _ in range(2):
        middle = pool.step(ACTION)
        assert middle.step_type.tolist() == [dm_env.StepType.MID] * 2
        assert middle.reward.tolist() == middle.discount.tolist() == [1, 1]
    last = pool.step(ACTION)
    assert last.step_type.tolist() == [dm_env.StepType.LAST] * 2
    assert last.reward.tolist() == [1, 1]
    assert last.discount.tolist() == [0, 0]
    again = pool.step(ACTION)
    assert again.step_type.tolist() == [dm_env.StepType.FIRST] * 2
    assert again.reward.tolist() == [0, 0]
    assert again.discount.tolist() == [1, 1]


def test_partial_calls(pool):
    pool.reset()
    assert pool.reset(np.array([1])).observation.env_id.tolist() == [1]
    order = np.array([1, 0])
    assert pool.step(ACTION, order).observation.players.env_id.tolist() == [1, 0]
    given = {"action": ACTION.astype(np.int32), "env_id": order, "players": {"env_id": order}}
    assert pool.step(given).observation.env_id.tolist() == [1, 0]
    assert forms(pool.reset(np.zeros(0, int)))["observation.obs"] == ("float32", (0, 4))


def test_async():
    with envpool.make_dm("CartPole-v1", num_envs=6, batch_size=2, num_threads=2) as pool:
        pool.async_reset()
        for _ in range(60):
            timestep = pool.recv()
            assert forms(timestep) == FORM
            pool.send(ACTION, timestep.observation.env_id)


def test_recv_with_reset_is_the_same(pool):
    with envpool.make_dm("CartPole-v1", num_envs=2, seed=7, max_episode_steps=3) as other:
        pool.send(ACTION)
        other.send(ACTION)
        assert_same(pool.recv(), other.recv(reset=True))


def test_specs(pool):
    observation = pool.observation_spec()
    assert type(observation).__name__ == "State"
    assert observation._fields == ("env_id", "players", "obs")
    assert observation.env_id == specs.BoundedArray((), np.int32, -(2**31), 2**31 - 1, name="env_id")
    assert observation.players.env_id == observation.env_id
    assert observation.obs.shape == (4,)
    assert observation.obs.dtype == np.float32
    assert pool.action_spec() == specs.DiscreteArray(2, dtype=np.int32, name="action")
    step = pool.reset()
    assert pool.reward_spec().validate(step.reward[0]).dtype == np.float32
    assert pool.discount_spec().validate(step.discount[0]).dtype == np.float32
    for row in pool.reset().observation.obs:
        observation.obs.validate(row)


def test_nested_state():
    with plugin.make("dm", num_envs=2, layout="rich") as pool:
        state = pool.reset().observation
        assert state._fields == ("env_id", "players", "a", "b", "calls", "draws", "push", "mode", "count")
        assert state.b._fields == ("c", "d", "e")
        assert forms(state)["b.c"] == ("float32", (2, 2, 3))
        spec = pool.observation_spec()
        assert spec._fields == state._fields
        assert spec.b.e.dtype == np.bool_
        assert pool.action_spec()._fields == ("env_id", "players", "action")
        assert pool.action_spec().action.push.shape == (2,)


def test_same_step_has_the_final_observation():
    with envpool.make_dm("CartPole-v1", num_envs=2, max_episode_steps=3, autoreset_mode="same_step") as pool:
        pool.reset()
        for _ in range(2):
            assert not pool.step(ACTION).observation.final.mask.any()
        last = pool.step(ACTION)
        assert last.last().all()
        assert last.observation.final.mask.all()
        assert last.observation.final.elapsed_step.tolist() == [3, 3]
        assert (last.observation.final.obs != last.observation.obs).any()


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("env_id", {}),
        ("players", {}),
        ("infos", {}),
        ("final", {"autoreset_mode": "same_step"}),
        ("error", {"on_error": "restart"}),
        ("episode", {"episode_statistics": True}),
    ],
)
def test_an_observation_with_the_name_of_another_entry_is_refused(key, options):
    class Named(gymnasium.Env):
        observation_space = gymnasium.spaces.Dict({key: gymnasium.spaces.Box(-1, 1, (2,)), "z": Discrete(2)})
        action_space = Discrete(2)

    with pytest.raises(ConfigError, match=f"observations must not be named '{key}' in the dm style"):
        envpool.make_python(Named, 2, env_type="dm", **options)
    envpool.make_python(Named, 2, **options).close()
