"""Options of transforms: values that are not allowed, specs in every API style, and where options come from."""

import ast
import pickle
import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import envpool
from envpool._core.definition import Field
from envpool.cli.spec import sections, spec_of
from envpool.config.options import TRANSFORM_DEFAULTS
from envpool.errors import ConfigError
from envpool.mujoco.presets import PRESETS
from envpool.transforms.observations import transform_fields
from tests.support import plugin


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"clip_obs": 0}, "clip_obs must be a positive number c"),
        ({"clip_obs": (1, 1)}, "low < high"),
        ({"clip_obs": (np.nan, 1)}, "low < high"),
        ({"clip_obs": (-1e39, 1e39)}, "clip_obs must have bounds that float32 can hold"),
        ({"clip_obs": (1, 1 + 1e-9)}, "and tell apart"),
        ({"reward_clip": 1e-60}, "reward_clip must have bounds that float32 can hold"),
        ({"reward_clip": (1, 2, 3)}, "reward_clip must be a positive number c"),
        ({"reward_clip": -1}, "reward_clip must be a positive number c"),
        ({"scale_reward": np.inf}, "scale_reward must be finite"),
        ({"scale_reward": 1e39}, "float32 can hold"),
        ({"scale_reward": 1e-60}, "float32 can hold"),
        ({"normalize_obs": {"epsilon": 0}}, r"normalize_obs\['epsilon'\] must be positive, got 0"),
        ({"normalize_obs": {"gamma": 1}}, "normalize_obs has no parameter 'gamma'; its parameters are epsilon"),
        ({"normalize_reward": {"gamma": 1.5}}, r"normalize_reward\['gamma'\] must be between 0 and 1, got 1.5"),
        ({"normalize_reward": {"gamma": np.nan}}, "must be finite"),
        ({"frame_stack": 0}, "frame_stack must be between 1 and 1024, got 0"),
        ({"time_aware": "steps"}, "time_aware must be True"),
        ({"clip_action": True}, "clip_action needs actions that are floats, but array 'action' has dtype int32"),
        ({"rescale_action": True}, "rescale_action needs actions that are floats"),
        ({"rescale_action": (1, 0)}, "rescale_action must have low < high"),
        ({"rescale_action": (0, np.inf)}, "rescale_action must have finite bounds"),
        ({"rescale_action": 1}, "rescale_action must be a pair"),
    ],
)
def test_values_that_are_not_allowed(options, text):
    with pytest.raises(ConfigError, match=text):
        envpool.make_gymnasium("CartPole-v1", num_envs=2, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"clip_obs": "1"},
        {"clip_obs": True},
        {"scale_reward": "2"},
        {"scale_reward": True},
        {"scale_reward": [1, 2]},
        {"normalize_obs": 1.5},
        {"normalize_reward": {"gamma": "0.9"}},
        {"frame_stack": 1.5},
        {"frame_stack": True},
        {"clip_action": "yes"},
        {"float32_obs": "float32"},
        {"rescale_action": ("a", "b")},
    ],
)
def test_values_of_wrong_types(options):
    name = next(iter(options))
    with pytest.raises(TypeError, match=name):
        envpool.make_gymnasium("Pendulum-v1", num_envs=2, **options)


@pytest.mark.parametrize(
    ("task", "options", "text"),
    [
        (
            "FrozenLake-v1",
            {"normalize_obs": True},
            "normalize_obs needs observations whose space is a Box, but array 'obs'",
        ),
        ("Pong-v5", {"clip_obs": 1}, "clip_obs needs floats, but array 'obs' of the observation has dtype uint8"),
        ("Pong-v5", {"time_aware": True}, "time_aware needs an observation that is one array of floats"),
        ("CheetahRun-v1", {"time_aware": True}, "is one of 2"),
        (
            "CartPole-v1",
            {"time_aware": "normalized", "max_episode_steps": 2**31 - 1},
            "time_aware='normalized' needs a time limit",
        ),
        *(
            (task, {"rescale_action": pair}, f"rescale_action=.* cannot be computed in {dtype}")
            for task, dtype in (("Pendulum-v1", "float32"), ("CheetahRun-v1", "float64"))
            for pair in ((-1e308, 1e308), (0, 5e-324 if dtype == "float64" else 1e-320))
        ),
        ("Pendulum-v1", {"rescale_action": (1e10, 1e10 + 1)}, "cannot be computed in float32"),
        ("HalfCheetah-v5", {"rescale_action": ([0, 0], 1)}, r"arrays of the shape \(6,\) of the actions, got"),
        ("HalfCheetah-v5", {"normalise_obs": True}, "did you mean 'normalize_obs'"),
    ],
)
def test_tasks_that_do_not_allow_a_transform(task, options, text):
    with pytest.raises((ConfigError, TypeError), match=text):
        envpool.make_gymnasium(task, num_envs=2, **options)


def test_single_bits_are_not_normalised():
    """The space of an array of bools is a Box if it has at least two dimensions, and MultiBinary otherwise."""
    options = TRANSFORM_DEFAULTS | {"normalize_obs": {"epsilon": 1e-8}}
    boards, bits = Field("obs", np.dtype(np.bool_), (4, 4)), Field("obs", np.dtype(np.bool_), (4,))
    assert transform_fields((boards,), options, 100).fields[0].dtype == np.float32
    with pytest.raises(ConfigError, match=r"a Box, but array 'obs' .* dtype bool and shape \(4,\): leave it out"):
        transform_fields((bits,), options, 100)


def test_specs_show_the_transforms():
    options = {"frame_stack": 2, "normalize_obs": True, "clip_obs": 5, "clip_action": True, "reward_clip": (0, 1)}
    spec = envpool.make_spec("Pendulum-v1", **options)
    assert spec.observation_space == gymnasium.spaces.Box(-5, 5, (2, 3), np.float32)
    assert spec.action_space == gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)
    assert spec.state_array_spec["reward"].maximum == 1
    assert list(spec.state_array_spec)[-1] == "obs"
    observation = spec.observation_spec().obs
    assert observation.shape == (2, 3) and (observation.maximum == 5).all()
    with envpool.make_dm("Pendulum-v1", **options) as dm, envpool.make_gym("Pendulum-v1", **options) as gym:
        assert dm.observation_spec().obs.shape == gym.observation_space.shape == (2, 3)
        assert dm.action_spec().minimum == -np.inf and dm.reset().observation.obs.shape == (1, 2, 3)
    given = {"normalize_obs": "True", "clip_obs": "(-5, 5)"}
    text = "\n".join(sections(spec_of("HalfCheetah-v5", given.items()), given))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert any(line.startswith("normalize_obs bool or dict True (default False) ") for line in lines)
    assert any(" (-5.0, 5.0) (default None) " in line for line in lines)
    assert not any(line.startswith("raw") for line in lines)
    assert "Box(-5.0, 5.0, (17,), float32)" in text


def test_bounds_of_arrays_that_are_cast_or_have_the_time():
    spec = envpool.make_spec("CartPole-v1", time_aware=True, frame_stack=2, max_episode_steps=50)
    space = spec.observation_space
    assert space.shape == (2, 5) and (space.high[:, 4] == 50).all() and (space.low[:, 4] == 0).all()
    spec = envpool.make_spec("Pong-v5", float32_obs=True)
    assert spec.observation_space == gymnasium.spaces.Box(0, 255, (4, 84, 84), np.float32)


def test_options_of_environments_come_first():
    """MuJoCo tasks have a frame_stack of their own, whose stacks have shapes of their own."""
    spec = envpool.make_spec("CheetahRun-v1", frame_stack=3, from_pixels=True)
    assert spec.transforms.options.keys() == TRANSFORM_DEFAULTS.keys() - {"frame_stack"}
    assert spec.observation_space.shape[0] == 9


def test_the_page_lists_every_option():
    page = (Path(__file__).parents[2] / "docs" / "transforms.md").read_text()
    table = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| .*\|$", page[: page.index("## Equivalent wrappers")], re.MULTILINE)
    assert [name for name, _ in table] == list(TRANSFORM_DEFAULTS)
    assert {name: default for name, default in table} == {n: repr(v) for n, v in TRANSFORM_DEFAULTS.items()}
    preset = page[page.index("## The preset") :]
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|$", preset, re.MULTILINE))
    assert {name: ast.literal_eval(value) for name, value in rows.items()} == PRESETS["ppo-continuous"]


def test_specs_can_be_pickled_and_compared():
    options = {"rescale_action": (np.zeros(6), 1), "normalize_obs": {"epsilon": 1e-3}, "clip_obs": np.float32(2)}
    spec = envpool.make_spec("HalfCheetah-v5", **options)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec != envpool.make_spec("HalfCheetah-v5")


@pytest.mark.parametrize("name", ["normalize_obs", "normalize_reward"])
def test_an_empty_dict_stands_for_the_defaults(name):
    spec = envpool.make_spec("Hopper-v5", **{name: {}}, clip_obs=10)
    assert spec == envpool.make_spec("Hopper-v5", **{name: True}, clip_obs=10)
    assert spec != envpool.make_spec("Hopper-v5", clip_obs=10)


def test_make_vec():
    env = gymnasium.make_vec("envpool/Pendulum-v1", 3, frame_stack=2, normalize_obs=True)
    assert env.reset(seed=1)[0].shape == (3, 2, 3) and env.single_observation_space.dtype == np.float32
    env.close()


def test_environments_outside_of_this_package():
    plugin.load()
    with (
        envpool.make_gymnasium("Synthetic-v0", num_envs=3) as plain,
        envpool.make_gymnasium("Synthetic-v0", num_envs=3, float32_obs=True, frame_stack=2) as native,
    ):
        raw, got = plain.reset()[0], native.reset()[0]
        raw, got = (next(iter(o.values())) if isinstance(o, dict) else o for o in (raw, got))
        assert got.dtype == np.float32
        assert np.array_equal(np.repeat(raw[:, None], 2, axis=1).astype(np.float32), got)


def test_true_clips_rewards_to_one():
    assert envpool.make_spec("Pendulum-v1", reward_clip=True).config.reward_clip == (-1, 1)
    for value in (False, None):
        assert envpool.make_spec("Pendulum-v1", reward_clip=value).config.reward_clip is None


def test_flags_of_environments_leave_other_values_to_the_transform():
    """Atari's own reward_clip is True or False, as in EnvPool; bounds are those of the transform."""
    own = envpool.make_spec("Pong-v5", reward_clip=True)
    assert "reward_clip" not in own.transforms.options and own.common_config.reward_clip is True
    spec = envpool.make_spec("Pong-v5", reward_clip=(-2, 3))
    assert spec.transforms.options["reward_clip"] == spec.config.reward_clip == (-2, 3)
    assert spec.common_config.reward_clip is False and spec.state_array_spec["reward"].maximum == 3
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(TypeError, match="reward_clip must be a number or a pair"):
        envpool.make_spec("Pong-v5", reward_clip="sign")
