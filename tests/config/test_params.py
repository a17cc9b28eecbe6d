"""Parameters of single environments: options of make, set_params, get_params, and saved states."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import envpool
from envpool.cli.spec import value_text
from envpool.errors import ConfigError, StateError
from envpool.native import Param
from envpool.registration import registry
from tests.support.results import assert_same
from tests.support.saved import body_of, core_at, make, play, sealed

#: Task -> values of parameters for three environments.
OWN = {
    "CartPole-v1": {"gravity": [9.8, 3.0, -1.0], "length": [0.5, 1.5, 0.2], "x_threshold": [2.4, 1.0, 0.3]},
    "Pendulum-v1": {"m": [0.5, 1, 2], "l": [1, 0.5, 2], "max_torque": [1, 2, 1.5]},
    "MountainCar-v0": {
        "min_position": [-1.2, -0.7, -1.0],
        "max_position": [0.6, 0.3, 0.5],
        "force": [0.001, 0.003, 0.01],
    },
    "MountainCarContinuous-v0": {"min_position": [-1.2, -0.7, -1.0], "power": [0.001, 0.003, 0.01]},
    "Acrobot-v1": {"LINK_LENGTH_1": [1, 2, 0.5], "AVAIL_TORQUE": [[-1, 0, 1], [-3, 0, 3], [0, 0, 0]]},
    "NChain-v0": {"slip": [0.0, 0.5, 1.0], "small": [1.0, 2.0, -3.0], "large": [10.0, 0.1, 1e30]},
    "FrozenLake-v1": {
        "desc": [["SFF", "FHG"], ["FSH", "FFG"], ["SSS", "HHH"]],
        "success_rate": [0.1, 0.5, 1.0],
    },
    "Taxi-v4": {"rainy_probability": [0.1, 0.5, 1.0]},
    "ApplePicker-v0": {"num_objects": [1, 20, 300], "default_reward": [0.0, -0.1, 0.3]},
}
OPTIONS = {"Taxi-v4": {"is_rainy": True}}
#: Tasks with frames that depend on parameters.
DRAWN = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1", "FrozenLake-v1", "ApplePicker-v0"]
#: Every task of the families with parameters; those of the large families are slow but for one of each.
TASKS = [
    pytest.param(
        task_id,
        marks=pytest.mark.slow
        if family in ("mujoco", "atari") and task_id not in ("Ant-v5", "CheetahRun-v1", "Pong-v5")
        else (),
    )
    for task_id, entry in registry.tasks.items()
    if (family := entry.import_path.split(".")[1])
    in ("classic_control", "toy_text", "box2d", "mujoco", "atari", "rlib")
]


@pytest.mark.parametrize("task_id", OWN)
@pytest.mark.parametrize("sets", [False, True])
def test_environments_with_values_of_their_own(task_id, sets):
    """Each environment is as in a pool of which it is the only one, also if others have other values."""
    options = OPTIONS.get(task_id, {}) | ({"render_mode": "rgb_array"} if task_id in DRAWN else {})
    own = OWN[task_id]
    singles = [make(task_id, 1, seed=7 + i, **options, **{k: v[i] for k, v in own.items()}) for i in range(3)]
    shape = {"desc": own["desc"][0]} if "desc" in own else {}
    with make(task_id, seed=7, **options, **(shape if sets else own)) as pool:
        if sets:
            pool.set_params(own)
        space = pool.spec.action_space
        space.seed(1)
        found = [pool.reset()] + [pool.step(np.array([space.sample()] * 3)) for _ in range(60)]
        frames = pool.render(range(3)) if task_id in DRAWN else None
        for i, single in enumerate(singles):
            with single:
                space.seed(1)
                expected = [single.reset()] + [single.step(np.array([space.sample()])) for _ in range(60)]
                for ours, theirs in zip(found, expected, strict=True):
                    assert_same(tuple(x[i] for x in ours[:-1]), tuple(x[0] for x in theirs[:-1]))
                if frames is not None:
                    assert np.array_equal(frames[i], single.render()[0])
                    assert not np.array_equal(frames[i], frames[i - 1])


@pytest.mark.parametrize("task_id", TASKS)
def test_defaults_change_nothing(task_id):
    """Setting every parameter to its default gives the same bits as not setting it."""
    params = envpool.make_spec(task_id).param_spec
    if not params:
        return
    with make(task_id, seed=3) as plain, make(task_id, seed=3) as pool:
        pool.set_params({name: param.default for name, param in params.items()})
        assert_same(plain.reset(), pool.reset())
        assert play(plain) == play(pool)
        for name, values in pool.get_params(in_force=True).items():
            if (task_id, name) != ("FingerSpin-v1", "dof_damping"):  # the task chooses the damping of its hinge
                assert np.array_equal(values, [params[name].default] * 3)


@pytest.mark.parametrize("params", [5, None, [("gravity", 1)]])
def test_set_params_needs_a_dict(params):
    with (
        envpool.make_gymnasium("CartPole-v1") as pool,
        pytest.raises(TypeError, match="params must be a dict from names of parameters to values, got"),
    ):
        pool.set_params(params)


def test_set_params_keeps_the_episode():
    with make(seed=1) as pool, make(seed=1) as plain:
        pool.reset()
        plain.reset()
        pool.set_params({"gravity": 30}, [0, 2])
        assert play(pool, 6) == play(plain, 6)
        assert pool.get_params()["gravity"].tolist() == [30, 9.8, 30]
        assert pool.get_params(in_force=True)["gravity"].tolist() == [9.8] * 3
        pool.reset([0])
        assert pool.get_params(in_force=True)["gravity"].tolist() == [30, 9.8, 9.8]


def test_names():
    with make() as pool:
        with pytest.raises(ConfigError, match="CartPole-v1 has no parameter 'gravty'; did you mean 'gravity'"):
            pool.set_params({"gravty": 1})
        with pytest.raises(ConfigError, match="no parameter 'x'; its parameters are gravity, masscart"):
            pool.set_params({"masscart": 2, "x": 1})
        assert pool.get_params()["masscart"].tolist() == [1, 1, 1]
    with (
        make("Blackjack-v1") as pool,
        pytest.raises(ConfigError, match="Blackjack-v1 has no parameters, but 'natural'"),
    ):
        pool.set_params({"natural": 1})


def test_param_spec():
    spec = envpool.make_spec("CartPole-v1", gravity=[1.0, 2.0], num_envs=2)
    assert spec.config.gravity == (1.0, 2.0)
    param = spec.param_spec["gravity"]
    assert isinstance(param, Param)
    assert (param.default, param.dtype, param.shape, param.unit) == (9.8, np.float64, (), "m/s^2")
    assert envpool.make_spec("CartPole-v1", masscart=np.float32(2)).config.masscart == 2.0
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_the_representation_shows_changed_parameters_only():
    spec = envpool.make_spec("CartPole-v1", num_envs=100, length=np.linspace(0.1, 1, 100), gravity=3)
    assert "gravity=3.0" in repr(spec)
    assert "length=<values of shape (100,)>" in repr(spec)
    assert "masscart" not in repr(spec)
    with make() as pool:
        assert "gravity" not in repr(pool)


def test_spaces_contain_the_values_of_all_environments():
    spec = envpool.make_spec("MountainCar-v0", num_envs=2, min_position=[-2.0, -1.0], max_position=[0.5, 0.9])
    assert spec.observation_space.low[0] == -2
    assert spec.observation_space.high[0] == np.float32(0.9)
    spec = envpool.make_spec("Pendulum-v1", num_envs=2, max_torque=[1, 5])
    assert spec.action_space.high.tolist() == [5]


def test_angles_that_become_too_large_fail_the_environment():
    """Upstream would wrap such an angle forever."""
    params = {"dt": 10.0, "LINK_MOI": 1e-6, "LINK_MASS_1": 1e-6, "LINK_MASS_2": 1e-6, "AVAIL_TORQUE": (1e3,) * 3}
    with make("Acrobot-v1", **params) as pool:
        pool.reset()
        with pytest.raises(envpool.errors.EnvStepError, match="more than 100000 turns in one step: use larger masses"):
            for _ in range(50):
                pool.step(np.zeros(3, np.int32))


def test_frames_that_need_too_much_memory():
    with make("Pendulum-v1", 1, max_torque=100, render_mode="rgb_array", render_height=4000, render_width=4000) as pool:
        pool.reset()
        pool.step(np.full((1, 1), 100, np.float32))
        with pytest.raises(envpool.errors.RenderError, match="not enough memory to draw its frame"):
            pool.render()


# ---- saved states ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task_id", [pytest.param(t, marks=pytest.mark.slow if t == "ApplePicker-v0" else ()) for t in OWN]
)
def test_parameters_are_part_of_a_state(task_id):
    """Parameters in force and pending ones follow an environment to pools with other parameters."""
    options, own = OPTIONS.get(task_id, {}), OWN[task_id]
    shape = {"desc": own["desc"][0]} if "desc" in own else {}
    with make(task_id, **options, **own) as pool, make(task_id, seed=5, **options, **shape) as other:
        pool.reset()
        play(pool)
        name = next(iter(own))
        pool.set_params({name: own[name][1]}, 2)
        states = pool.get_state()
        expected = play(pool, 200)
        for one in (other, pool):
            one.set_state(states)
            assert_same(one.get_params(), pool.get_params())
            assert play(one, 200) == expected
        assert_same(other.get_params(in_force=True), pool.get_params(in_force=True))
        other.set_state(states)
        other.copy_state([2], [1])
        assert bytes(other.get_state([1, 2])) == bytes(states[[2, 2]])


def test_pools_pickle_with_their_parameters():
    with make("FrozenLake-v1", **OWN["FrozenLake-v1"]) as pool:
        pool.reset()
        pool.set_params({"success_rate": 0.25}, [1])
        for again in (pickle.loads(pickle.dumps(pool)), copy.deepcopy(pool)):
            with again:
                assert_same(again.get_params(), pool.get_params())
                assert_same(again.get_params(in_force=True), pool.get_params(in_force=True))
                assert play(again) == play(again.__class__.__reduce__(pool)[0](*pool.__reduce__()[1]))


def test_maps_of_other_shapes_are_refused():
    with make("FrozenLake-v1", desc=["SFF", "FFG"]) as pool, make("FrozenLake-v1", desc=["SF", "FF", "FG"]) as other:
        pool.reset()
        with pytest.raises(StateError, match="other options"):
            other.set_state(pool.get_state())
        with pytest.raises(ConfigError, match=r"desc must have the shape \(2, 3\), or \(3, 2, 3\)"):
            pool.set_params({"desc": ["SF", "FF", "FG"]})


def test_forged_parameters():
    """Whoever forges a state knows its checksum; values out of bounds are refused, and other bytes do no harm."""
    rng = np.random.default_rng(0)
    for task_id in ("FrozenLake-v1", "Acrobot-v1", "CartPole-v1", "Pendulum-v1", "Taxi-v4", "MountainCarContinuous-v0"):
        with make(task_id, 1, render_mode="rgb_array", on_error="restart", **OPTIONS.get(task_id, {})) as pool:
            pool.reset()
            pool.set_params({name: param.default for name, param in pool.spec.param_spec.items()})
            body, core, accepted = body_of(pool.get_state()), core_at(pool.get_state()), 0
            for k in range(400):
                forged = bytearray(body)
                at = rng.integers(core + 32, len(body))
                size = min(int(rng.choice([1, 4, 8])), len(body) - at)
                forged[at : at + size] = rng.bytes(size)
                try:
                    pool.set_state(sealed(forged))
                except StateError:
                    continue
                accepted += 1
                action = np.full((1, *pool.action_space.shape), 1, pool.action_space.dtype)
                pool.step(action)
                if k % 20 == 0:
                    pool.render()
                pool.reset()
            assert 0 < accepted < 400


def test_forged_map_without_a_start():
    with make("FrozenLake-v1", 1, desc=["SF", "FG"]) as pool:
        pool.reset()
        pool.set_params({"desc": ["FS", "FG"]})
        body = body_of(pool.get_state())
        at = bytes(body).rindex(b"FSFG")
        body[at : at + 4] = b"FFFG"
        pool.set_state(sealed(body))
        with pytest.raises(envpool.errors.EnvStepError, match="at least one S: set another map"):
            pool.reset()
        pool.recv()
        pool.set_params({"desc": ["FS", "FG"]})
        assert pool.reset()[0].tolist() == [1]


# ---- the tables of parameters on the pages ---------------------------------------------------------------------------


def table(page, heading):
    """Return the cells of the rows about parameters below a heading of a page."""
    text = (Path(envpool.__file__).parents[1] / "docs" / f"{page}.md").read_text()
    section = re.split(r"\n##+ ", text.split(f"# {heading}\n")[1])[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]


def documented_rows(task_id):
    """Return the cells that the table of a task should have."""
    for name, param in envpool.make_spec(task_id).param_spec.items():
        yield [f"`{name}`", f"{value_text(param.default)} {param.unit}".rstrip(), param.bounds(), param.text]


def test_documented_parameters_of_atari():
    """The modes and difficulties that are allowed depend on the game."""
    assert [[name, default, text] for name, default, _, text in table("atari", "Parameters")] == [
        [name, default, text] for name, default, _, text in documented_rows("Pong-v5")
    ]


def test_documented_parameters_of_mujoco():
    """Shapes and defaults depend on the model."""
    assert [[name, unit, text] for name, _, unit, text in table("mujoco", "Parameters")] == [
        [f"`{name}`", param.unit, param.text] for name, param in envpool.make_spec("Ant-v5").param_spec.items()
    ]
