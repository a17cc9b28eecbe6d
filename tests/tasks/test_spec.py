"""EnvSpec and ArraySpec: configuration, array specs, spaces, dm specs."""

import contextlib
import copy
import math
import pickle

import gymnasium
import numpy as np
import pytest
from dm_env import specs
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary

import envpool
from envpool.config.spaces import ArraySpec, dict_space, named, nested, to_dm_spec, to_space
from envpool.errors import ConfigError
from tests.support import plugin

CORE_STATE = {
    "info:env_id": ("int32", [], -(2**31), 2**31 - 1),
    "info:players.env_id": ("int32", [-1], -(2**31), 2**31 - 1),
    "elapsed_step": ("int32", [], -(2**31), 2**31 - 1),
    "done": ("bool", [], False, True),
    "reward": ("float32", [-1], -np.inf, np.inf),
    "discount": ("float32", [-1], 0.0, 1.0),
    "step_type": ("int32", [], -(2**31), 2**31 - 1),
    "trunc": ("bool", [], False, True),
}


@pytest.fixture
def spec():
    return envpool.make_spec("CartPole-v1", num_envs=4, batch_size=2, seed=3)


def test_config(spec):
    assert type(spec).__name__ == "CartPoleEnvSpec"
    assert isinstance(spec, envpool.EnvSpec)
    assert spec.config._fields[:7] == (
        "num_envs",
        "batch_size",
        "num_threads",
        "max_num_players",
        "thread_affinity_offset",
        "seed",
        "env_seed",
    )
    assert (spec.config.num_envs, spec.config.batch_size, spec.config.seed) == (4, 2, 3)
    assert type(spec.config) is spec.gen_config


def test_parameter_without_a_value():
    """The configuration says what was given; the environments have the default."""
    with envpool.make_gymnasium("CartPole-v1", gravity=None, masspole=0.2) as pool:
        assert (pool.spec.config.gravity, pool.spec.config.masspole) == (None, 0.2)
        assert pool.get_params(in_force=True)["gravity"].tolist() == [9.8]


def test_defaults():
    config = envpool.make_spec("CartPole-v1").config
    assert config._asdict() == {
        "num_envs": 1,
        "batch_size": 1,
        "num_threads": 0,
        "max_num_players": 1,
        "thread_affinity_offset": -1,
        "seed": 42,
        "env_seed": [],
        "gym_reset_return_info": True,
        "autoreset_mode": "next_step",
        "max_episode_steps": 500,
        "numa": False,
        "on_error": "raise",
        "step_timeout": None,
        "episode_statistics": False,
        "finished_episodes": False,
        "require_finite_actions": False,
        "players": None,
        "observe": None,
        "illegal_actions": None,
        "randomize": None,
        "reward_threshold": 475.0,
        "sutton_barto_reward": False,
        "gravity": 9.8,
        "masscart": 1.0,
        "masspole": 0.1,
        "length": 0.5,
        "force_mag": 10.0,
        "tau": 0.02,
        "theta_threshold_radians": 12 * 2 * math.pi / 360,
        "x_threshold": 2.4,
        "time_aware": False,
        "frame_stack": 1,
        "float32_obs": False,
        "normalize_obs": False,
        "clip_obs": None,
        "scale_reward": 1.0,
        "normalize_reward": False,
        "reward_clip": None,
        "clip_action": False,
        "rescale_action": None,
    }


def test_gen_config(spec):
    config = type(spec).gen_config(num_envs=7)
    assert (config.num_envs, config.batch_size, config.max_episode_steps) == (7, 0, 2**31 - 1)
    assert type(spec)(config).config.batch_size == 7
    with pytest.raises(TypeError):
        type(spec).gen_config(zzz=1)
    with pytest.raises(ValueError, match=r"batch_size must be .* got 3"):
        type(spec)(type(spec).gen_config(num_envs=2, batch_size=3))


def test_specs_share_nothing_that_can_be_written():
    first, second = envpool.make_spec("CartPole-v1"), envpool.make_spec("CartPole-v1")
    first.config.env_seed.append(3)
    assert second.config.env_seed == []
    assert envpool.make_spec("CartPole-v1").config.env_seed == []


def test_id(spec):
    assert spec.id == spec.task_id == "CartPole-v1"


def test_reward_threshold(spec):
    assert spec.reward_threshold == 475.0
    assert envpool.make_spec("CartPole-v0").reward_threshold == 195.0
    plugin.load()
    assert envpool.make_spec("Synthetic-v0").reward_threshold is None


def test_repr_equality_hash(spec):
    assert repr(spec) == "CartPole-v1: CartPoleEnvSpec(num_envs=4, batch_size=2, seed=3)"
    assert repr(pickle.loads(pickle.dumps(envpool.make_spec("Pong-v5")))) == "Pong-v5: AtariEnvSpec()"
    assert repr(type(spec)(type(spec).gen_config(num_envs=2))) == "CartPoleEnvSpec(num_envs=2)"
    assert repr(envpool.make_spec("CartPole-v1", num_envs=9, seed=range(9))).endswith(
        "env_seed=<values of shape (9,)>)"
    )
    same = envpool.make_spec("CartPole-v1", num_envs=4, batch_size=2, seed=3)
    assert spec == same and hash(spec) == hash(same)
    assert spec != envpool.make_spec("CartPole-v1", num_envs=4)
    assert spec != spec.config


def test_state_array_spec(spec):
    state = spec.state_array_spec
    assert list(state) == [*CORE_STATE, "obs"]
    for name, (dtype, shape, low, high) in CORE_STATE.items():
        array = state[name]
        assert (array.dtype, array.shape, array.minimum, array.maximum) == (np.dtype(dtype), shape, low, high), name
    assert state["obs"].shape == [4]
    assert state["obs"].dtype == np.float32
    assert state["obs"].maximum[1] == np.inf


def test_action_array_spec(spec):
    action = spec.action_array_spec
    assert list(action) == ["env_id", "players.env_id", "action"]
    assert (action["action"].shape, action["action"].minimum, action["action"].maximum) == ([-1], 0, 1)
    assert action["action"].is_discrete
    assert action["players.env_id"].shape == [-1]


def test_spaces(spec):
    upstream = gymnasium.make("CartPole-v1")
    assert spec.observation_space == spec.gymnasium_observation_space == upstream.observation_space
    assert spec.action_space == spec.gymnasium_action_space == upstream.action_space


def test_real_observations_lie_in_their_space():
    with envpool.make_gymnasium("CartPole-v1", num_envs=8) as pool:
        for k in range(100):
            for row in pool.step(np.full(8, k % 2))[0]:
                assert pool.single_observation_space.contains(row)


def test_dm_specs(spec):
    assert spec.observation_spec()._fields == ("env_id", "players", "obs")
    assert spec.action_spec().num_values == 2


def test_nested_specs():
    plugin.load()
    spec = envpool.make_spec("Synthetic-v0", layout="rich")
    assert [k for k in spec.state_array_spec if k.startswith("obs")] == ["obs:a", "obs:b.c", "obs:b.d", "obs:b.e"]
    assert isinstance(spec.observation_space, Dict)
    assert spec.observation_space["b"]["c"] == Box(-np.inf, np.inf, (2, 3), np.float32)
    assert spec.observation_space["b"]["d"] == Box(0, 255, (6,), np.uint8)
    assert spec.action_space["action"]["move"] == Discrete(100)
    assert spec.action_space["action"]["push"] == Box(-1, 1, (2,), np.float32)
    assert spec.action_space["action"]["mode"] == Box(np.array([0, 0, -5]), np.array([1, 2, 5]), (3,), np.int8)


# ---- one array -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "space"),
    [
        (ArraySpec(np.int32, [], 0, 4), Discrete(5)),
        (ArraySpec(np.int32, [-1], 0, 4), Discrete(5)),
        (ArraySpec(np.int64, [1], -2, 4), Discrete(7, start=-2)),
        (ArraySpec(np.int32, [], 0, 2**20), Box(0, 2**20, (), np.int32)),
        (ArraySpec(np.int32, []), Box(-(2**31), 2**31 - 1, (), np.int32)),
        (ArraySpec(np.int32, [2], 0, 4), Box(0, 4, (2,), np.int32)),
        (ArraySpec(np.bool_, [3]), MultiBinary([3])),
        (ArraySpec(np.bool_, [2, 3]), Box(0, 1, (2, 3), np.bool_)),
        (ArraySpec(np.float32, [-1, 2], -1, 1), Box(-1, 1, (2,), np.float32)),
        (ArraySpec(np.float64, []), Box(-np.inf, np.inf, (), np.float64)),
        (ArraySpec(np.uint8, [4, 84, 84]), Box(0, 255, (4, 84, 84), np.uint8)),
        (ArraySpec(np.float32, [2], [0, -1], [1, 2]), Box(np.float32([0, -1]), np.float32([1, 2]), (2,), np.float32)),
    ],
)
def test_to_space(array, space):
    assert to_space(array, gymnasium.spaces) == space
    assert array.is_discrete == isinstance(space, Discrete)
    if isinstance(space, Box):
        assert to_space(array, gymnasium.spaces).dtype == array.dtype


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (ArraySpec(np.int32, [-1], 0, 4), specs.DiscreteArray(5, dtype=np.int32, name="x")),
        (ArraySpec(np.int32, [], 1, 4), specs.BoundedArray((), np.int32, 1, 4, name="x")),
        (ArraySpec(np.bool_, []), specs.BoundedArray((), np.bool_, False, True, name="x")),
        (ArraySpec(np.float32, [-1, 2], -1, 1), specs.BoundedArray((2,), np.float32, -1, 1, name="x")),
        (ArraySpec(np.float64, [2]), specs.BoundedArray((2,), np.float64, -np.inf, np.inf, name="x")),
    ],
)
def test_to_dm_spec(array, expected):
    spec = to_dm_spec("x", array)
    assert type(spec) is type(expected)
    assert spec == expected


def test_array_spec_equality_and_repr():
    array = ArraySpec(np.float32, [2], [0, -1], 1)
    assert array == ArraySpec(np.float32, (2,), np.array([0, -1.0]), 1)
    assert array != ArraySpec(np.float32, [2], [0, -2], 1)
    assert array != ArraySpec(np.float64, [2], [0, -1], 1)
    assert array != "array"
    assert repr(ArraySpec(np.int32, [-1], 0, 4)) == "ArraySpec(shape=[-1], dtype=int32, minimum=0, maximum=4)"


def test_nests():
    assert nested({"a.b": 1, "c": 2, "a.d": 3}) == {"a": {"b": 1, "d": 3}, "c": 2}
    space = dict_space({"a": {"b": Discrete(2)}, "c": Discrete(3)}, gymnasium.spaces)
    assert space == Dict({"a": Dict({"b": Discrete(2)}), "c": Discrete(3)})
    state = named("State", {"a": {"b": 1}, "class": 2, "x y": 3, "x-y": 4})
    assert state._fields == ("a", "field_class", "x_y", "x_y_1")
    assert type(state.a).__name__ == "a"
    assert state.a.b == 1


def test_named_tuples_can_be_pickled_and_copied():
    with envpool.make_dm("Ant-v5", num_envs=2, episode_statistics=True) as pool:
        step, spec = pool.reset(), pool.spec
    for made in (spec.config, pool.observation_spec(), step):
        for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
            assert type(again).__name__ == type(made).__name__ and repr(again) == repr(made)
    assert type(spec)(pickle.loads(pickle.dumps(spec.config))) == spec


def test_the_id_may_be_replaced():
    with envpool.make_gymnasium("CartPole-v1") as pool:
        pool.spec.id = "My CartPole"
        assert (pool.spec.id, pool.spec.task_id) == ("My CartPole", "CartPole-v1")
        pool.set_state(pool.get_state())
        assert pickle.loads(pickle.dumps(pool.spec)).id == "CartPole-v1"
    assert envpool.make_spec("CartPole-v1").id == "CartPole-v1"


# ---- words for options, and specs in place of ids --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "given", "options"),
    [
        ("CartPole-v1", {"num_workers": 3}, {"num_threads": 3}),
        ("Pong-v5", {"num_workers": 3, "frame_stack": 2}, {"num_threads": 3, "stack_num": 2}),
        ("Pong-v5", {"clip_reward": True}, {"reward_clip": True}),
        ("CartPole-v1", {"stack_num": 2, "clip_reward": 3}, {"frame_stack": 2, "reward_clip": 3}),
        ("HalfCheetah-v5", {"stack_num": 2}, {"frame_stack": 2}),
        ("Pong-v5", {"preset": "dqn", "frame_stack": 2}, {"preset": "dqn", "stack_num": 2}),
    ],
)
def test_other_words(task, given, options):
    assert envpool.make_spec(task, **given) == envpool.make_spec(task, **options)
    assert not {"num_workers", "clip_reward"} & set(envpool.make_spec(task).config._fields)


def test_a_task_has_one_word_for_an_option():
    assert "stack_num" in envpool.make_spec("Pong-v5").config._fields
    assert "frame_stack" not in envpool.make_spec("Pong-v5").config._fields
    assert "stack_num" not in envpool.make_spec("CartPole-v1").config._fields


@pytest.mark.parametrize(
    ("task", "options", "name"),
    [
        ("CartPole-v1", {"num_threads": 1, "num_workers": 1}, "num_threads"),
        ("Pong-v5", {"frame_stack": 1, "stack_num": 1}, "stack_num"),
        ("Pendulum-v1", {"reward_clip": 1, "clip_reward": 1}, "reward_clip"),
    ],
)
def test_two_words_for_one_option(task, options, name):
    first, second = options
    with pytest.raises(TypeError, match=f"{first} and {second} are two names of the option {name}: pass only one"):
        envpool.make_spec(task, **options)
    with pytest.raises(TypeError, match="num_workers and num_threads are two names of"):
        envpool.make_python("CartPole-v1", num_threads=1, num_workers=1)


def test_pools_of_specs():
    spec = envpool.make_spec("CartPole-v1", num_envs=3, gravity=3.0, max_episode_steps=9, render_mode="rgb_array")
    with envpool.make(spec, "gymnasium") as pool, envpool.make_gymnasium("CartPole-v1", num_envs=3, gravity=3) as other:
        assert pool.spec == spec and pool.spec.task_id == "CartPole-v1" and pool.render_mode == "rgb_array"
        assert pool.reset()[0].tobytes() == other.reset()[0].tobytes()
    with envpool.make_dm(spec, num_envs=5, max_episode_steps=20, render_mode=None) as pool:
        assert (pool.num_envs, pool.config["batch_size"], pool.config["max_episode_steps"]) == (5, 5, 20)
        assert pool.config["gravity"] == 3.0 and pool.render_mode is None
    assert envpool.make_spec(spec) == envpool.make_spec(pickle.loads(pickle.dumps(spec))) == spec
    assert envpool.make_spec(spec, seed=3).config.seed == 3
    with pytest.raises(TypeError, match="task 'CartPole-v1' has no option 'foo'"):
        envpool.make_gym(spec, foo=3)


def test_seeds_beside_a_spec_replace_its_seeds():
    spec = envpool.make_spec("CartPole-v1", num_envs=2, seed=[5, 9])
    assert envpool.make_spec(spec).config.env_seed == [5, 9]
    assert envpool.make_spec(spec, seed=1).seeds().tolist() == [1, 2]
    assert envpool.make_spec(spec, env_seed=[3, 4]).config.env_seed == [3, 4]
    with pytest.raises(ConfigError, match="env_seed must have one entry for each of the 3 environments"):
        envpool.make_spec(spec, num_envs=3)


def test_presets_beside_a_spec():
    spec = envpool.make_spec("Pong-v5", frame_skip=3, stack_num=2)
    config = envpool.make_spec(spec, preset="dqn", stack_num=5).config
    assert config == envpool.make_spec("Pong-v5", preset="dqn", stack_num=5).config


def test_vector_environments_of_specs():
    spec = envpool.make_spec("CartPole-v1", num_envs=3, seed=7)
    with contextlib.closing(envpool.make_vec(spec)) as env, contextlib.closing(envpool.make_vec(spec, 2)) as two:
        assert (env.num_envs, env.np_random_seed, two.num_envs) == (3, (7, 8, 9), 2)
        assert env.pool.spec == spec


def test_specs_that_were_made_from_their_class():
    from envpool.classic_control import CartPoleEnvSpec

    spec = CartPoleEnvSpec(CartPoleEnvSpec.gen_config(num_envs=2, gravity=3.0))
    with envpool.make(spec, "gymnasium", num_envs=3) as pool:
        assert (pool.num_envs, pool.config["gravity"], pool.spec.task_id) == (3, 3.0, None)


def test_specs_of_python_environments_have_one_pool():
    with envpool.make_python("CartPole-v1", 2) as pool:
        with pytest.raises(ConfigError, match=r"belongs to the pool that it was made for: call envpool\.make_python"):
            envpool.make(pool.spec, "gymnasium")
        pool.reset()
