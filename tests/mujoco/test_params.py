"""Parameters of MuJoCo's tasks: what they are, when they apply, where they are kept, and which values are refused.

Trajectories are compared with upstream by the conformance tests, see `tests.mujoco.params`.
"""

from __future__ import annotations

import ctypes
import struct
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError, StateError
from envpool.mujoco.dmc import upstream as dmc
from envpool.pools.states import EnvStates
from tests.mujoco.gym.upstream import upstream_of
from tests.mujoco.params import field, varied
from tests.support.saved import body_of, make, sealed

ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
#: Tasks of both families whose envs share a model, and tasks that change their models.
TASKS = ["Ant-v5", "Humanoid-v4", "CheetahRun-v1", "FingerSpin-v1", "LqrLqr62-v1"]


def changed(pool: Any, seed: int = 0) -> dict[str, np.ndarray]:
    """Return values of all parameters for all envs of a pool."""
    params = pool.spec.param_spec
    return varied(params, list(params), pool.num_envs, seed)


def actions_of(pool: Any, seed: int = 0) -> np.ndarray:
    """Return the same random action for all envs."""
    space = pool.action_space
    action = np.random.default_rng(seed).uniform(np.maximum(space.low, -1), np.minimum(space.high, 1))
    return np.broadcast_to(action, (pool.num_envs, *space.shape))


def flat(pool: Any, steps: int = 20) -> np.ndarray:
    """Return the observations of equal actions, (steps, num_envs, numbers)."""
    found = []
    for k in range(steps):
        obs = pool.step(actions_of(pool, k))[0]
        arrays = list(obs.values()) if isinstance(obs, dict) else [obs]
        found.append(np.concatenate([np.reshape(a, (pool.num_envs, -1)) for a in arrays], axis=1))
    return np.array(found)


# ---- what they are ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task_id", ["Ant-v5", "Humanoid-v4", "Pusher-v5", "Swimmer-v5", "FingerSpin-v1", "FishSwim-v1"]
)
def test_defaults_are_those_of_the_model(task_id: str) -> None:
    is_suite = task_id in dmc.suite_tasks()
    env: Any = dmc.load(task_id, 0, 10).physics if is_suite else upstream_of(task_id).make().unwrapped
    params = envpool.make_spec(task_id).param_spec
    assert len(params) == 12
    for name, param in params.items():
        np.testing.assert_array_equal(np.asarray(param.default), field(env.model, name), err_msg=name)


def test_names() -> None:
    spec = envpool.make_spec("Ant-v5")
    params = spec.param_spec
    model: Any = upstream_of("Ant-v5").make().unwrapped
    model = model.model
    assert params["body_mass"].index("torso") == model.body("torso").id == 1
    assert params["geom_friction"].index("floor") == model.geom("floor").id
    assert params["dof_damping"].index("root") == slice(0, 6)
    assert params["dof_damping"].index("hip_1") == model.joint("hip_1").dofadr
    assert params["jnt_stiffness"].index("hip_1") == model.joint("hip_1").id
    assert params["gravity"].index("z") == 2
    assert [p.names for p in params.values()][2:4] == [(), ()]
    with pytest.raises(ConfigError, match="there is no entry 'tors'; did you mean 'torso'"):
        params["body_mass"].index("tors")
    for name in ("", "motor"):  # the actuators of this model have no names
        with pytest.raises(ConfigError, match="the entries have no names"):
            params["actuator_gain"].index(name)


def test_configuration_says_what_was_given() -> None:
    spec = envpool.make_spec("Ant-v5", gravity=(0, 0, -5))
    assert (spec.config.gravity, spec.config.body_mass) == ((0.0, 0.0, -5.0), None)
    assert len(repr(envpool.make_spec("DogRun-v1"))) < 2000


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("body_mass", -np.ones(14), r"body_mass\[0\] must be a finite number of at least 0 .*, got -1.0"),
        ("body_inertia", np.full((14, 3), np.nan), r"body_inertia\[0, 0\] must be .*, got nan"),
        ("density", -1.0, "density must .*, got -1.0"),
        ("gravity", (0, 0, np.inf), r"gravity\[2\] must .*, got inf"),
        ("gravity", (0, 0, -1e11), "at least -1e\\+10"),
        ("gravity", -9.81, r"gravity must have the shape \(3,\), or \(2, 3\)"),
        ("geom_friction", np.ones(14), r"geom_friction must have the shape \(14, 3\)"),
    ],
)
def test_values_that_are_refused(name: str, value: Any, text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        envpool.make_spec("Ant-v5", num_envs=2, **{name: value})
    with make("Ant-v5", 2) as pool, pytest.raises(ConfigError, match=text):
        pool.set_params({name: value})


def test_bounds_contain_the_model_of_the_user(tmp_path: Path) -> None:
    """A model that works without parameters keeps working."""
    text = (ASSETS / "inverted_pendulum.xml").read_text()
    assert 'damping="1"' in text
    (tmp_path / "own.xml").write_text(text.replace('damping="1"', 'damping="-0.5"'))
    with make("InvertedPendulum-v5", 1, xml_file=str(tmp_path / "own.xml")) as pool:
        assert pool.spec.param_spec["dof_damping"].low == -0.5
        pool.set_params(pool.get_params())
        assert np.isfinite(flat(pool, 3)).all()


def test_model_without_geoms(tmp_path: Path) -> None:
    body = '<body{}><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><joint name="{}" type="{}"/>'
    (tmp_path / "own.xml").write_text(
        f"<mujoco><worldbody>{body.format('', 'slider', 'slide')}{body.format('', 'hinge', 'hinge')}</body></body>"
        '</worldbody><actuator><motor joint="slider" ctrlrange="-1 1"/></actuator></mujoco>'
    )
    options = {"xml_file": str(tmp_path / "own.xml")}
    assert "geom_friction" not in envpool.make_spec("InvertedPendulum-v5", **options).param_spec
    with pytest.raises(
        ConfigError, match=r"geom_friction was given, but xml_file '.*own\.xml' has nothing of this kind"
    ):
        envpool.make_spec("InvertedPendulum-v5", geom_friction=[], **options)


def test_compilers_remarks_come_once() -> None:
    """The model is compiled once for a spec, although its definition is built twice."""
    path = ASSETS / "half_cheetah.xml"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        envpool.make_spec("HalfCheetah-v5", xml_file=f"{path.parent}/./{path.name}", gravity=(0, 0, -3))
        envpool.make_spec("HalfCheetah-v5", xml_file=f"{path.parent}/../assets/{path.name}")
    assert len([w for w in found if "settotalmass" in str(w.message)]) == 1  # the first path is gymnasium's folder


# ---- when they apply -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_id", TASKS)
def test_values_apply_at_the_next_reset(task_id: str) -> None:
    with make(task_id, 2, max_episode_steps=10) as pool, make(task_id, 2, max_episode_steps=10) as other:
        pool.reset()
        other.reset()
        before, values = pool.get_params(in_force=True), changed(pool)
        pool.set_params(values)
        np.testing.assert_array_equal(flat(pool, 10), flat(other, 10))
        assert_same(pool.get_params(in_force=True), before)
        assert_same(pool.get_params(), values)
        assert (flat(pool, 5) != flat(other, 5)).any()
        assert_same(pool.get_params(in_force=True), values, ignored=of_the_task(task_id))


def of_the_task(task_id: str) -> tuple[str, ...]:
    """Return the parameters of which a task sets a part itself: FingerSpin, the damping of its hinge."""
    return ("dof_damping",) if task_id.startswith("Finger") else ()


def assert_same(found: dict[str, Any], expected: dict[str, Any], ignored: tuple[str, ...] = ()) -> None:
    assert found.keys() == expected.keys()
    for name, value in found.items():
        if name not in ignored:
            np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize("task_id", TASKS)
def test_envs_do_not_share_what_is_changed(task_id: str) -> None:
    with make(task_id, 3, seed=5) as pool, make(task_id, 3, seed=5) as other:
        pool.set_params({k: v[:1] for k, v in changed(pool).items()}, 1)
        pool.reset()
        other.reset()
        ours, theirs = flat(pool), flat(other)
        assert (ours[:, [0, 2]] == theirs[:, [0, 2]]).all()
        assert (ours[-1, 1] != theirs[-1, 1]).any()


@pytest.mark.parametrize("task_id", TASKS)
def test_options_are_the_same_as_set_params(task_id: str) -> None:
    """One value for all envs, one for each env, and values that are set before the first reset."""
    with make(task_id, 2) as pool:
        values = changed(pool)
        pool.set_params(values)
        pool.reset()
        expected = flat(pool)
    with make(task_id, 2, **values) as pool:
        pool.reset()
        np.testing.assert_array_equal(flat(pool), expected)
    with make(task_id, 2, **{name: value[1] for name, value in values.items()}) as pool:
        assert_same(pool.get_params(in_force=True), {n: np.stack([v[1]] * 2) for n, v in values.items()})
        pool.reset()
        np.testing.assert_array_equal(flat(pool)[:, 1], expected[:, 1])


@pytest.mark.parametrize("task_id", TASKS)
def test_new_seeds_keep_parameters(task_id: str) -> None:
    with make(task_id, 2, seed=1) as pool:
        values = changed(pool)
        pool.set_params(values)
        pool.reset()
        first = flat(pool)
        pool.reset(seed=4)
        assert_same(pool.get_params(), values, ignored=of_the_task(task_id))
        assert (flat(pool) != first).any()
        pool.reset(seed=1)
        np.testing.assert_array_equal(flat(pool), first)


@pytest.mark.parametrize("task_id", TASKS)
def test_defaults_undo_all_changes(task_id: str) -> None:
    with make(task_id, 2, seed=1) as pool, make(task_id, 2, seed=1) as other:
        pool.set_params(changed(pool))
        pool.reset()
        flat(pool)
        pool.set_params({name: param.default for name, param in pool.spec.param_spec.items()})
        for each in (pool, other):
            each.reset(seed=3)
        np.testing.assert_array_equal(flat(pool), flat(other))


# ---- where they are kept ---------------------------------------------------------------------------------------------


class Mallinfo(ctypes.Structure):
    """``struct mallinfo2`` of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "1", "2", "3", "hblkhd", "5", "6", "uordblks", "fordblks", "keepcost")
    ]


def used_bytes() -> int:
    """Return the bytes that malloc() has handed out in this process."""
    mallinfo2: Any = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo
    info = mallinfo2()
    return int(info.uordblks + info.hblkhd)


def test_memory() -> None:
    """Envs with changed parameters take at most 64 KiB more, and others nothing."""
    with make("Ant-v5", 200, num_threads=1) as pool:
        pool.reset()
        values, defaults = changed(pool), {k: p.default for k, p in pool.spec.param_spec.items()}
        pool.set_params(defaults)
        pool.reset()
        before = used_bytes()
        pool.set_params(values)
        pool.reset()
        own = (used_bytes() - before) / 200
        assert 5000 < own <= 64 * 1024
        pool.set_params(defaults)
        pool.reset()
        assert abs(used_bytes() - before) < 200 * 500


# ---- states ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task_id", TASKS)
def test_states_contain_parameters(task_id: str) -> None:
    limit = {"max_episode_steps": 25}
    with make(task_id, 3, **limit) as pool, make(task_id, 3, **limit) as other:
        pool.set_params({k: v[:2] for k, v in changed(pool).items()}, [0, 1])
        pool.reset()
        flat(pool, 10)
        states, params = pool.get_state(), pool.get_params(in_force=True)
        other.set_params(changed(other, seed=7), [0, 1, 2])
        other.reset()
        flat(other, 3)
        other.set_state(states)
        assert_same(other.get_params(in_force=True), params)
        assert other.get_state() == states
        expected = flat(pool, 60)
        np.testing.assert_array_equal(flat(other, 60), expected)
        other.set_state(EnvStates([states.states[2], states.states[0], states.states[1]]), [0, 1, 2])
        np.testing.assert_array_equal(flat(other, 10)[:, [1, 2, 0]], expected[:10])


@pytest.mark.parametrize("task_id", TASKS)
def test_copies_contain_parameters(task_id: str) -> None:
    with make(task_id, 4, max_episode_steps=25) as pool:
        pool.set_params({k: v[:2] for k, v in changed(pool).items()}, [0, 1])
        pool.reset()
        flat(pool, 10)
        pool.copy_state([0, 3], [2, 1])
        params = pool.get_params(in_force=True)
        for value in params.values():
            np.testing.assert_array_equal(value[[0, 3]], value[[2, 1]])
        found = flat(pool, 60)
        np.testing.assert_array_equal(found[:, [0, 3]], found[:, [2, 1]])


def test_states_of_default_parameters_have_none() -> None:
    with make("Ant-v5", 2) as pool:
        pool.set_params({"gravity": (0, 0, -5)}, 0)
        pool.reset()
        numbers = sum(np.size(p.default) for p in pool.spec.param_spec.values())
        assert pool.get_state(0).nbytes - pool.get_state(1).nbytes == 8 * numbers
        assert pool.get_state(0).nbytes <= 16 * 1024


@pytest.mark.parametrize("task_id", ["Ant-v5", "FingerSpin-v1"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 1e300])
@pytest.mark.parametrize("name", ["body_mass", "geom_friction", "dof_damping", "density"])
def test_forged_parameters(task_id: str, name: str, value: float) -> None:
    with make(task_id, 2) as pool:
        pool.set_params({"gravity": (0, 0, -5)})
        pool.reset()
        before = pool.get_state()
        sizes = {key: np.size(param.default) for key, param in pool.spec.param_spec.items()}
        names = list(sizes)
        body = body_of(pool.get_state(1))
        at = len(body) - 8 * sum(sizes[key] for key in names[names.index(name) :])
        body[at : at + 8] = struct.pack("<d", value)
        with pytest.raises(StateError, match="it has values that get_state"):
            pool.set_state(sealed(body), 1)
        assert pool.get_state() == before
        assert np.isfinite(flat(pool, 3)).all()


# ---- values that no simulation survives ------------------------------------------------------------------------------


def test_unstable_simulations_fail_as_upstream() -> None:
    with make("CheetahRun-v1", 2) as pool:
        pool.set_params({"actuator_gain": [1e10] * 6}, 1)
        pool.reset(0)
        with pytest.raises(EnvStepError, match="mjWARN_BAD") as error:
            pool.reset(1)
            for _ in range(20):
                pool.step(actions_of(pool))
        assert list(error.value.failures) == [1]
        pool.recv()
        pool.set_params({"actuator_gain": pool.spec.param_spec["actuator_gain"].default}, 1)
        pool.reset()
        assert np.isfinite(flat(pool, 5)).all()


@pytest.mark.slow
@pytest.mark.parametrize("task_id", ["Ant-v5", "Humanoid-v5", "CheetahRun-v1", "FishSwim-v1", "QuadrupedWalk-v1"])
def test_extreme_values(task_id: str) -> None:
    """Every value within the bounds is safe, whether the simulation survives it or not."""
    rng = np.random.default_rng(0)
    with make(task_id, 4, num_threads=1, on_error="restart", max_episode_steps=5) as pool:
        params = pool.spec.param_spec
        for _ in range(6):
            for i in range(4):
                values = {}
                for name in rng.choice(list(params), 3, replace=False):
                    low, high = params[name].low, params[name].high
                    choice = rng.choice([0, 0, 1e-300, 1e-12, 1, 1e5, low, high], np.shape(params[name].default))
                    values[name] = np.clip(choice, low, high)
                pool.set_params(values, i)
            pool.reset()
            for _ in range(6):
                pool.step(actions_of(pool))
        pool.set_params({name: param.default for name, param in params.items()})
        pool.reset()
        assert np.isfinite(flat(pool, 5)).all()
