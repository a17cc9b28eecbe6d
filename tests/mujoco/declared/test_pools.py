"""Everything that pools have works with declared tasks."""

import pickle

import numpy as np
import pytest

import envpool
from envpool.mujoco import declared as d
from envpool.mujoco.declared.task import Declared, DeclaredSuite
from tests.mujoco.declared.models import ARM

TIP = d.SitePosition("tip")
TASK = {
    "xml": ARM,
    "observation": [d.Qpos(), d.Qvel(), d.Previous(d.Action()), d.Goal("place", 3), d.rate(TIP)],
    "reward": [d.distance_cost(TIP, d.Goal("place", 3)), d.control_cost(0.01)],
    "termination": [d.contact("lower", "floor"), d.joint_range()],
    "reset": [
        d.UniformNoise(d.Qpos(), 0.2),
        d.Uniform(d.Goal("place", 3), (0.2, 0, 0.2), (0.4, 0, 0.6)),
        d.NormalNoise(d.Qvel(), 0.1),
    ],
    "frame_skip": 2,
    "max_episode_steps": 15,
}
CONVENTIONS = ["gymnasium", "dm_control"]


def make(num_envs=3, **options):
    return envpool.make_mujoco(**TASK | {"num_envs": num_envs, "seed": 5} | options)


def run(env, steps, seed=0):
    """Return the results of some steps."""
    rng = np.random.default_rng(seed)
    return [env.step(rng.uniform(-2, 2, (env.num_envs, 2)))[:4] for _ in range(steps)]


def assert_same(left, right):
    for ours, theirs in zip(left, right, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("conventions", CONVENTIONS)
def test_results_do_not_depend_on_the_schedule(conventions):
    """Asynchronous pools, several threads and single environments return the same episodes."""
    env = make(num_threads=1, conventions=conventions)
    first, rows = env.reset()[0], run(env, 40)
    env.close()
    for seed in range(3):
        single = make(num_envs=1, seed=5 + seed, conventions=conventions)
        np.testing.assert_array_equal(single.reset()[0][0], first[seed])
        rng = np.random.default_rng(0)
        for obs, reward, terminated, truncated in rows:
            result = single.step(rng.uniform(-2, 2, (3, 2))[seed : seed + 1])
            for ours, theirs in zip(result, (obs, reward, terminated, truncated), strict=False):
                np.testing.assert_array_equal(ours[0], theirs[seed])
        single.close()
    pool = make(num_threads=2, batch_size=1, conventions=conventions)
    pool.async_reset()
    found = {k: [] for k in range(3)}
    noise = np.random.default_rng(0).uniform(-2, 2, (41, 3, 2))
    for _ in range(3 * 41):
        obs, _, _, _, info = pool.recv()
        k = int(info["env_id"][0])
        found[k].append(obs[0])
        pool.send(noise[len(found[k]) - 1][[k]], info["env_id"]) if len(found[k]) < 41 else None
    for k in range(3):
        np.testing.assert_array_equal(found[k], [first[k], *(row[0][k] for row in rows)])
    pool.close()


def test_api_styles():
    gym, dm = make(env_type="gym"), make(env_type="dm")
    obs = gym.reset()[0]
    np.testing.assert_array_equal(dm.reset().observation.obs, obs)
    gym.close(), dm.close()
    env = make(env_type="dm", conventions="dm_control", observation={"a": [TIP], "b": [d.Qpos(0)]}, termination=())
    step = env.reset()
    assert (step.observation.a.shape, step.observation.b.shape) == ((3, 3), (3,))
    for _ in range(15):
        step = env.step(np.zeros((3, 2)))
    np.testing.assert_array_equal(step.discount, 1)  # at the time limit, as in dm_control
    env.close()


@pytest.mark.parametrize("conventions", CONVENTIONS)
def test_states(conventions):
    env, other = make(conventions=conventions), make(conventions=conventions, seed=99)
    env.reset(), other.reset()
    run(env, 7)
    states = env.get_state()
    expected = run(env, 30, seed=1)
    other.set_state(states)
    assert_same(run(other, 30, seed=1), expected)
    copy = pickle.loads(pickle.dumps(env))
    assert_same(run(copy, 20, seed=2), run(env, 20, seed=2))
    for pool in (env, other, copy):
        pool.close()


def test_states_of_another_declaration_are_refused():
    env, other = make(), make(reward=[d.control_cost(0.02)])
    env.reset()
    with pytest.raises(envpool.errors.StateError):
        other.set_state(env.get_state())
    env.close(), other.close()


def test_states_of_another_file_are_refused(tmp_path):
    """A file is known by its contents and by those of the files that it names."""
    path, part = tmp_path / "arm.xml", tmp_path / "part.xml"
    path.write_text(ARM.replace("<worldbody>", '<include file="part.xml"/><worldbody>'))
    part.write_text('<mujocoinclude><option gravity="0 0 -1"/></mujocoinclude>')
    env = make(xml=path)
    env.reset()
    states = env.get_state()
    with make(xml=path) as same:
        same.set_state(states)
    part.write_text('<mujocoinclude><option gravity="0 0 -2"/></mujocoinclude>')
    with make(xml=path) as other, pytest.raises(envpool.errors.StateError, match="the files of its model differ"):
        other.set_state(states)
    env.set_state(states)
    env.close()


def test_parameters_of_the_model():
    heavy = make(num_envs=2, gravity=[(0, 0, -9.81), (0, 0, -1.0)], seed=[5, 5])
    rows = heavy.reset()[0]
    np.testing.assert_array_equal(rows[0], rows[1])
    assert (heavy.step(np.zeros((2, 2)))[0][0] != heavy.step(np.zeros((2, 2)))[0][1]).any()
    assert heavy.spec.param_spec["body_mass"].index("lower") == 2
    heavy.close()


def test_frames_and_pixels():
    env = make(num_envs=1, render_mode="rgb_array", render_width=32, render_height=24)
    env.reset()
    assert env.render().shape == (1, 24, 32, 3)
    env.close()
    env = make(num_envs=1, from_pixels=True, frame_stack=2)
    obs, _ = env.reset()
    assert obs.shape == (1, 6, 84, 84) and obs.any()
    env.close()


def test_frame_stack():
    env, stacked = make(num_envs=1), make(num_envs=1, frame_stack=2)
    first, second = env.reset()[0], env.step(np.ones((1, 2)))[0]
    stacked.reset()
    np.testing.assert_array_equal(stacked.step(np.ones((1, 2)))[0][0], [first[0], second[0]])
    env.close(), stacked.close()


def test_a_declaration_is_a_value():
    arguments = {key: TASK[key] for key in ("xml", "observation", "reward", "termination", "reset")}
    declaration = d.declare(**arguments)
    copy = pickle.loads(pickle.dumps(declaration))
    assert copy == declaration and hash(copy) == hash(declaration) and repr(copy) == repr(declaration)
    assert declaration != d.declare(**arguments | {"reward": [d.control_cost(0.02)]})
    text = repr(d.declare("arm.xml", [d.Qpos("elbow"), 2 * d.Qvel()[1:]], [d.control_cost(0.1)]))
    assert "Observe(value=(Constant(value=2.0) * Qvel(of=None)[1:]), weight=1.0, name='observation_1')" in text
    assert "Cost(value=Sum(value=Square(value=Action())), weight=0.1, name='control')" in text
    assets = [d.declare("<mujoco/>", [d.Qpos()], assets={"a.png": data}) for data in (b"1", b"2")]
    assert assets[0] != assets[1] and repr(assets[0]) != repr(assets[1]) and "b'1'" not in repr(assets[0])


def test_lists_stand_for_tuples():
    written, kept = (
        d.declare(
            ARM,
            [d.Qpos(kind(["elbow"])), d.Tolerance(d.Time(), kind([0, 1])), d.BodyPosition(None, kind(["x"]))],
            termination=[d.contact(kind(["lower"]), kind(["floor"]))],
            reset=[d.Assign(d.Qpos(), kind([0, 0.1])), d.Uniform(d.Qvel(), kind([0, 0]), kind([1, 2]))],
            action=d.Actuators(kind([1, 0])),
        )
        for kind in (list, tuple)
    )
    assert written == kept and hash(written) == hash(kept) and repr(written) == repr(kept)


def test_numpys_numbers_stand_for_pythons():
    one, numbers = np.int64(1), np.array([0, 0.5])
    written = [d.Qpos(one), d.Qpos()[one], d.Qpos()[:one], d.Goal("a", one), d.Settle(one), d.Assign(d.Qpos(), numbers)]
    kept = [d.Qpos(1), d.Qpos()[1], d.Qpos()[:1], d.Goal("a", 1), d.Settle(1), d.Assign(d.Qpos(), (0.0, 0.5))]
    assert list(map(repr, written)) == list(map(repr, kept))


def test_the_definition_needs_a_declaration():
    from envpool.tasks.spec import spec_class

    cls = spec_class(Declared)
    with pytest.raises(envpool.errors.ConfigError, match=r"use envpool.make_mujoco"):
        cls(cls.gen_config())


@pytest.mark.parametrize(("base", "other"), [(Declared, "dm_control"), (DeclaredSuite, "gymnasium")])
def test_the_class_has_the_conventions_of_the_declaration(base, other):
    from envpool.tasks.spec import spec_class

    cls = spec_class(base)
    with pytest.raises(envpool.errors.ConfigError, match=f"conventions of this declaration must be .*, got '{other}'"):
        cls(cls.gen_config(declaration=d.declare(ARM, [d.Qpos()], conventions=other)))


def test_nan_is_refused_as_in_the_conventions():
    env = make(num_envs=1)
    env.reset()
    with pytest.raises(envpool.errors.ActionError, match=r"(?i)nan"):
        env.step(np.full((1, 2), np.nan))
    env.close()
    env = make(num_envs=1, conventions="dm_control", on_error="restart")
    env.reset()
    assert "mjWARN_BADCTRL" in env.step(np.full((1, 2), np.nan))[-1]["error"][0]
    assert np.isfinite(env.step(np.zeros((1, 2)))[0]).all()
    env.close()
