"""What single terms compute, against NumPy, MuJoCo's bindings and dm_control."""

import math

import numpy as np
import pytest

import envpool
from envpool.errors import ConfigError, EnvStepError
from envpool.mujoco import declared as d
from envpool.mujoco.base.model import import_with_bindings
from tests.mujoco.declared.models import ARM, PENDULUMS

mujoco = import_with_bindings("mujoco")
TIP = d.SitePosition("tip")


def observed(*terms, steps=3, seed=3, frame_skip=2, conventions="gymnasium", **more):
    """Return the observations of the first steps of one environment, and the actions."""
    arguments = {"reset": [d.UniformNoise(d.Qpos(), 0.5), d.NormalNoise(d.Qvel(), 1)]} | more
    env = envpool.make_mujoco(
        ARM, {f"t{k}": [term] for k, term in enumerate(terms)}, frame_skip=frame_skip, seed=seed,
        conventions=conventions, env_type="gymnasium", **arguments
    )  # fmt: skip
    rows, actions = [env.reset()[0]], np.random.default_rng(0).uniform(-2, 2, (steps, 1, env.action_space.shape[0]))
    for action in actions:
        rows.append(env.step(action)[0])
    env.close()
    if len(terms) == 1:
        return np.stack([np.asarray(row)[0] for row in rows]), actions[:, 0]
    return {k: np.stack([row[k][0] for row in rows]) for k in rows[0]}, actions[:, 0]


def replay(actions, conventions, seed=3, frame_skip=2):
    """Yield the MjData of the bindings after the reset and after each step."""
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    data.qpos[:] = [q + rng.uniform(-0.5, 0.5) for q in model.qpos0]
    data.qvel[:] = [0.0 + rng.standard_normal() for _ in range(model.nv)]
    mujoco.mj_forward(model, data)
    yield model, data
    for action in actions:
        data.ctrl[:] = action
        mujoco.mj_step(model, data, nstep=frame_skip)
        yield model, data


QUANTITIES = {
    d.Qpos(): lambda m, x: x.qpos,
    d.Qpos("elbow"): lambda m, x: x.qpos[1],
    d.Qvel(("elbow", "shoulder")): lambda m, x: x.qvel[::-1],
    d.Qacc(): lambda m, x: x.qacc,
    d.Sensor("tip_velocity"): lambda m, x: x.sensordata,
    d.Ctrl("elbow_motor"): lambda m, x: x.ctrl[1],
    d.ActuatorForce(): lambda m, x: x.actuator_force,
    d.QfrcActuator(): lambda m, x: x.qfrc_actuator,
    d.BodyPosition(("lower", "target"), ("z", 0)): lambda m, x: x.xpos[[2, 3]][:, [2, 0]].ravel(),
    d.BodyRotation("lower"): lambda m, x: x.xmat[2],
    d.BodyQuaternion(skip=2): lambda m, x: x.xquat[2:].ravel(),
    d.BodyCom("lower", ("x", "y")): lambda m, x: x.xipos[2, :2],
    d.SubtreeCom("upper"): lambda m, x: x.subtree_com[1],
    d.GeomPosition("lower_link"): lambda m, x: x.geom_xpos[2],
    d.GeomRotation("lower_link", "zz"): lambda m, x: x.geom_xmat[2, 8],
    d.SiteRotation("tip"): lambda m, x: x.site_xmat[0],
    d.MocapPosition("target"): lambda m, x: x.mocap_pos[0],
    d.Time(): lambda m, x: x.time,
    d.SiteVelocity("tip", local=True): lambda m, x: object_velocity(m, x, "SITE", 0, 1),
    d.BodyVelocity("lower"): lambda m, x: object_velocity(m, x, "BODY", 2, 0),
    d.JointMargin(): lambda m, x: min(x.qpos[0] - m.jnt_range[0, 0], m.jnt_range[0, 1] - x.qpos[0]),
    d.CenterOfMass(): lambda m, x: sum(m.body_mass[:, None] * x.xipos) / m.body_mass.sum(),
}


def object_velocity(model, data, kind, number, local):
    """Return the velocity of an object from the bindings."""
    found = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), number, found, local)
    return found


def test_quantities_equal_the_bindings():
    ours, actions = observed(*QUANTITIES)
    for step, (model, data) in enumerate(replay(actions, "gymnasium")):
        for k, (quantity, get) in enumerate(QUANTITIES.items()):
            expected = np.asarray(get(model, data), np.float64)
            assert ours[f"t{k}"][step].tobytes() == expected.tobytes(), (step, quantity)


X, Y = d.Qpos(), d.Qvel()
FUNCTIONS = {
    X + Y: lambda x, y: x + y,
    X - 1: lambda x, y: x - 1,
    2 - X: lambda x, y: 2 - x,
    -X * Y / 3: lambda x, y: -x * y / 3,
    1 / Y: lambda x, y: 1 / y,
    X[0] * Y: lambda x, y: x[0] * y,
    X + np.array([1.5, -2]): lambda x, y: x + np.array([1.5, -2]),
    d.Square(X): lambda x, y: x**2,
    d.Square(Y[1]): lambda x, y: y[1] ** 2,
    d.Cos(X): lambda x, y: np.cos(x),
    d.Sin(X)[1]: lambda x, y: np.sin(x)[1],
    d.Exp(Y): lambda x, y: np.exp(y),
    d.Sqrt(d.Abs(Y)): lambda x, y: np.sqrt(np.abs(y)),
    d.Clip(Y, -0.5, 0.25): lambda x, y: np.clip(y, -0.5, 0.25),
    d.Sum(Y): lambda x, y: np.sum(y),
    d.Mean(Y): lambda x, y: np.mean(y),
    d.Min(Y) + d.Max(X): lambda x, y: np.min(y) + np.max(x),
    d.Norm(Y): lambda x, y: np.linalg.norm(y),
    d.minimum(X, Y): lambda x, y: np.minimum(x, y),
    d.maximum(X, 0.1): lambda x, y: np.maximum(x, 0.1),
    d.within(X, -0.2, 0.2): lambda x, y: ((x >= -0.2) & (x <= 0.2)).astype(float),
}


def test_functions_equal_numpy():
    ours, _ = observed(X, Y, *FUNCTIONS)
    for step in range(4):
        for k, (expression, function) in enumerate(FUNCTIONS.items(), 2):
            expected = np.asarray(function(ours["t0"][step], ours["t1"][step]))
            assert ours[f"t{k}"][step].tobytes() == expected.tobytes(), (step, expression)


@pytest.mark.parametrize("sigmoid", ["gaussian", "linear", "quadratic", "long_tail", "reciprocal"])
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_tolerance_equals_dm_control(sigmoid, margin):
    rewards = import_with_bindings("dm_control.utils.rewards")
    kwargs = {"bounds": (-0.1, 0.2), "margin": margin, "value_at_margin": 0.3, "sigmoid": sigmoid}
    ours, _ = observed(Y, d.Tolerance(Y, **kwargs), d.Tolerance(Y[1], **kwargs), steps=10)
    for y, vector, scalar in zip(*ours.values(), strict=True):
        assert vector.tobytes() == np.asarray(rewards.tolerance(y, **kwargs), np.float64).tobytes()
        assert scalar.tobytes() == np.asarray(rewards.tolerance(y[1], **kwargs), np.float64).tobytes()


def test_values_of_the_step_before():
    ours, actions = observed(X, d.Previous(X), d.rate(X), d.Action(), d.Previous(d.Action()))
    x, previous, speed, action, action_before = ours.values()
    np.testing.assert_array_equal(previous, [x[0], *x[:-1]])
    np.testing.assert_array_equal(speed, (x - previous) / 0.02)
    np.testing.assert_array_equal(action, [[0, 0], *actions])
    np.testing.assert_array_equal(action_before, [[0, 0], [0, 0], *actions[:-1]])


def test_contacts():
    falls = [d.Assign(d.Qpos(), (0.5, 0.0))]
    ours, _ = observed(d.Contacts("lower", "floor"), d.Contacts(), d.Contacts("ball"), steps=60, reset=falls)
    touching, everything, ball = ours.values()
    assert touching[0] == 0 and touching.any()
    np.testing.assert_array_equal(touching, everything)
    assert not ball.any()


def test_resets():
    reset = [
        d.Keyframe("bent"),
        d.Uniform(d.Qpos("elbow"), -0.4, -0.3),
        d.Normal(d.Qvel(), (5, 7), 0.001),
        d.Uniform(d.Goal("place", 3), (0, 1, 2), (1, 2, 3)),
        d.Disc(d.MocapPosition("target", ("x", "y")), 0.1),
    ]
    terms = (X, Y, d.Goal("place", 3), d.MocapPosition("target"))
    rows = [observed(*terms, reset=reset, seed=seed, steps=1)[0] for seed in range(5)]
    for row in rows:
        qpos, qvel, goal, mocap = row.values()
        assert qpos[0, 0] == 0.1 and -0.4 <= qpos[0, 1] <= -0.3
        np.testing.assert_allclose(qvel[0], (5, 7), atol=0.01)
        assert (goal[0] >= (0, 1, 2)).all() and (goal[0] <= (1, 2, 3)).all()
        np.testing.assert_array_equal(goal[1], goal[0])
        assert np.hypot(*mocap[0, :2]) < 0.1 and mocap[0, 2] == 0.2
    assert len({row["t2"].tobytes() for row in rows}) == 5


@pytest.mark.parametrize("conventions", ["gymnasium", "dm_control"])
def test_keyframes_and_ranges_are_drawn(conventions):
    found = {observed(X, reset=[d.Keyframe()], seed=k, steps=0, conventions=conventions)[0][0, 0] for k in range(12)}
    assert found == {0.1, 0.2}
    drawn = [observed(X, reset=[d.JointRanges()], seed=k, steps=0, conventions=conventions)[0] for k in range(12)]
    assert np.ptp([row[0, 0] for row in drawn]) > 0.5
    assert all(abs(row[0, 0]) <= math.pi / 2 and row[0, 1] == 0 for row in drawn)


def test_settling():
    still, moved = (
        observed(X, d.Time(), reset=[d.Assign(X, (0.5, 0)), *more], steps=0)[0] for more in ([], [d.Settle(20)])
    )
    assert moved["t0"][0, 0] != still["t0"][0, 0]
    assert moved["t1"][0] == 0


def test_actions_of_actuators():
    ours, actions = observed(d.Ctrl(), d.Action(), action=d.Actuators(("elbow_motor", "shoulder_motor")))
    np.testing.assert_array_equal(ours["t0"][1:], actions[:, ::-1])
    np.testing.assert_array_equal(ours["t1"][1:], actions)
    ours, actions = observed(d.Ctrl(), d.Action(), action=d.Actuators("shoulder_motor", normalized=True))
    np.testing.assert_array_equal(ours["t0"][1:, 0], 1 + 3 * actions[:, 0])
    assert not ours["t0"][:, 1].any()


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "nout"), reason="actuators have one force each")
def test_actuators_with_several_forces():
    """Names stand for the forces of an actuator, and the controls for its range."""
    terms = [d.ActuatorForce(), d.ActuatorForce("turn"), d.ActuatorForce("left_motor"), d.ActuatorForce("right_motor")]
    with envpool.make_mujoco(PENDULUMS, {f"t{k}": [term] for k, term in enumerate(terms)}) as env:
        env.reset()
        forces = [row[0] for row in env.step(np.array([[0.1, 0.2, 0.3, 0.7, 0.9]]))[0].values()]
    np.testing.assert_array_equal(forces[1], forces[0][:3])
    assert forces[2:] == [0.7, 0.9] == forces[0][3:].tolist()
    actuators = d.Actuators(("left_motor", "right_motor"), normalized=True)
    with pytest.raises(ConfigError, match='<actuator name="right_motor"> has no ctrlrange'):
        envpool.make_mujoco(PENDULUMS, [X], action=actuators)


def test_goals_begin_at_zero():
    """Noise on a goal is not added to the goal of the episode before."""
    noise = [d.UniformNoise(d.Goal("g", 2), 1.0), d.NormalNoise(d.Goal("g", 2)[0], 1.0)]
    with envpool.make_mujoco(ARM, [d.Goal("g", 2)], reset=noise) as env:
        first, second = env.reset(seed=1)[0], env.reset(seed=1)[0]
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("conventions", ["gymnasium", "dm_control"])
def test_subtrees_with_other_masses(conventions):
    """The centre of mass of a leaf stays that of its body, and that of the whole model is the weighted mean."""
    terms = [d.SubtreeCom("lower"), d.BodyCom("lower"), d.SubtreeCom("world"), d.CenterOfMass()]
    masses = [(0, 1, 5, 0), (0, 1, 1, 1)]
    with envpool.make_mujoco(
        ARM, {f"t{k}": [term] for k, term in enumerate(terms)}, num_envs=2, body_mass=masses, conventions=conventions
    ) as env:
        leaf, body, whole, mean = env.reset()[0].values()
        np.testing.assert_allclose(leaf, body)
        np.testing.assert_allclose(whole, mean)
        env.set_params({"body_mass": (0, 2, 1, 0)})
        leaf, body, whole, mean = env.reset()[0].values()
        np.testing.assert_allclose(leaf, body)
        np.testing.assert_allclose(whole, mean)


def test_constants_of_other_bits():
    """Zeros of either sign are different constants."""
    ours, _ = observed(1 / d.Constant(0.0), 1 / d.Constant(-0.0), 1 / d.Constant([0.0]), steps=0)
    assert [row.item() for row in ours.values()] == [math.inf, -math.inf, math.inf]


def test_unstable_physics_fails_the_environment():
    """MuJoCo puts an unstable simulation back into its initial state, which is no result of the step."""
    reset = [d.Assign(d.Qvel(), 1e11)]
    env = envpool.make_mujoco(ARM, [X, Y], reset=reset)
    env.reset()
    with pytest.raises(EnvStepError, match="use a smaller timestep"):
        env.step(np.zeros((1, 2)))
    env.close()
    with pytest.raises(EnvStepError, match="the simulation is unstable"):
        envpool.make_mujoco(ARM, [X, Y], reset=[*reset, d.Settle(1)]).reset()
    text = ARM.replace("<worldbody>", '<option><flag autoreset="disable"/></option><worldbody>')
    env = envpool.make_mujoco(text, [X, Y], reset=reset, termination=[d.Terminate(Y, high=1e10)])
    env.reset()
    assert env.step(np.zeros((1, 2)))[2].all()
    env.close()


def test_rewards_are_summed_before_costs_are_subtracted():
    reward = [d.Cost(X[0], 0.3, "c"), d.Reward(Y[0], 0.7, "a"), d.Cost(X[1], name="d"), d.Reward(TIP[2], name="b")]
    ends = [d.Terminate(X[0], -0.1, 0.1, name="away"), d.joint_range("shoulder"), d.non_finite(Y)]
    env = envpool.make_mujoco(
        ARM, [X, Y, TIP], reward, ends, [d.UniformNoise(X, 0.5)], terms=True, num_envs=8, info={"z": TIP[2], "tip": TIP}
    )
    _, info = env.reset()
    assert set(info["terms"]) == {"a", "b", "c", "d", "away", "joint_range", "non_finite"}
    assert not any(array.any() for array in info["terms"].values())
    obs, rewards, terminated, _, info = env.step(np.zeros((8, 2)))
    a, b, c, e = 0.7 * obs[:, 2], obs[:, 6], 0.3 * obs[:, 0], obs[:, 1]
    np.testing.assert_array_equal(rewards, ((a + b) - (c + e)).astype(np.float32))
    for name, expected in zip("abcd", (a, b, -c, -e), strict=True):
        np.testing.assert_array_equal(info["terms"][name], expected)
    away = abs(obs[:, 0]) > 0.1
    assert 0 < away.sum() < 8
    np.testing.assert_array_equal(info["terms"]["away"], away)
    np.testing.assert_array_equal(terminated, away)
    np.testing.assert_array_equal(info["z"], obs[:, 6])
    np.testing.assert_array_equal(info["tip"], obs[:, 4:])
    env.close()
