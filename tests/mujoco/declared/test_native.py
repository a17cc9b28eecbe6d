"""Native terms of other modules: what they compute, how they fail, and which are refused."""

import ctypes
import pickle
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import envpool
from envpool.mujoco import declared as d
from envpool.mujoco.base.model import import_with_bindings
from tests.mujoco.declared.models import ARM
from tests.support.builds import build_extension
from tests.support.definitions import api, new_capsule

EXAMPLE = Path(__file__).parents[3] / "examples" / "native_term"
X, TIP = d.Qpos(), d.SitePosition("tip")
TERM = ctypes.c_char_p(b"envpool.mujoco_term")  # a capsule keeps the pointer


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory):
    """Build the terms of the tests and of the example."""
    folders = [
        str(build_extension(source, tmp_path_factory.mktemp("terms")))
        for source in (Path(__file__).parent / "native", EXAMPLE)
    ]
    sys.path[:0] = folders
    yield
    for folder in folders:
        sys.path.remove(folder)


def make(observation=(X,), num_envs=4, **more):
    return envpool.make_mujoco(
        ARM, list(observation), reset=[d.UniformNoise(X, 0.5), d.NormalNoise(d.Qvel(), 2)], num_envs=num_envs, seed=3,
        **more
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"num_threads": 2}, {"conventions": "dm_control"}])
def test_terms_are_like_others(options):
    pose, ratio = d.Native("native_terms:pose"), d.Native("native_terms:ratio", (d.Constant(2.0), d.Square(X)))
    env = make(
        [X, pose, 2 * pose[1:], d.Previous(ratio), ratio, TIP],
        reward=[d.Reward(ratio, 0.5, "share"), d.control_cost(0.1)],
        termination=[d.Terminate(d.Native("native_terms:pose")[0], -0.3, 0.3, name="angle")],
        info={"tip_share": d.Native("native_terms:ratio", TIP)},
        terms=True,
        **options,
    )
    obs, info = env.reset()
    began, before, reward, terminated, episodes = np.ones(4, bool), obs[:, 8], None, None, 0
    for step in range(20):
        np.testing.assert_array_equal(obs[:, 2:4], obs[:, :2])
        np.testing.assert_array_equal(obs[:, 4], began)
        np.testing.assert_array_equal(obs[:, 5:7], np.stack([2 * obs[:, 1], 2 * began], axis=1))
        np.testing.assert_array_equal(obs[:, 7], np.where(began, obs[:, 8], before))
        np.testing.assert_array_equal(obs[:, 8], 2 / (2 + obs[:, 0] ** 2 + obs[:, 1] ** 2))
        x, y, z = obs[:, 9:].T
        np.testing.assert_array_equal(info["tip_share"], x / (0 + x + y + z))
        before, ended = obs[:, 8], ~began & (abs(obs[:, 0]) > 0.3)
        if step:
            np.testing.assert_array_equal(info["terms"]["share"], np.where(began, 0, 0.5 * obs[:, 8]))
            np.testing.assert_array_equal(reward, np.where(began, 0, 0.5 * obs[:, 8] - 0.2).astype(np.float32))
            np.testing.assert_array_equal(terminated, ended)
        obs, reward, terminated, _, info = env.step(np.ones((4, 2)))
        began = ended
        episodes += ended.sum()
    assert episodes
    env.close()


def test_a_term_may_call_mujoco():
    """In dm_control's conventions, the positions of bodies are those of the observed joints."""
    mujoco = import_with_bindings("mujoco")
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    with make([X, d.Qvel(), d.Native("native_terms:momentum")], conventions="dm_control") as env:
        env.reset()
        for row in env.step(np.ones((4, 2)))[0]:
            data.qpos[:], data.qvel[:] = row[:2], row[2:4]
            mujoco.mj_forward(model, data)
            mujoco.mj_subtreeVel(model, data)
            np.testing.assert_allclose(row[4:], data.subtree_linvel[1], rtol=1e-12, atol=1e-12)
            assert abs(row[4:]).max() > 0.01


def test_nan_is_treated_as_in_other_terms():
    share = d.Native("native_terms:ratio", d.Constant((0.0, 0.0, 0.0)))
    env = make([share], reward=[d.Reward(share)], termination=[d.non_finite(share)])
    assert np.isnan(env.reset()[0]).all()
    obs, reward, terminated, *_ = env.step(np.zeros((4, 2)))
    assert np.isnan(obs).all() and np.isnan(reward).all() and terminated.all()
    env.close()


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (d.Native("native_terms:limited", d.Action()[0] + 0.5), "the native term 'limited' failed: 1.5 is too large"),
        (d.Native("native_terms:limited", -2 * d.Action()[0]), "the native term 'limited' failed: code 7"),
        (d.Native("native_terms:broken"), "MuJoCo: out of luck"),
    ],
)
def test_environments_fail_one_by_one(term, text):
    env = make(reward=[d.Reward(term)], num_threads=1, on_error="restart")
    env.reset()
    actions = np.zeros((4, 2))
    actions[2] = 1
    errors = env.step(actions)[-1]["error"]
    if "limited" in term.term:
        assert [bool(error) for error in errors] == [False, False, True, False]
    assert text in errors[2]
    assert np.isfinite(env.step(np.zeros((4, 2)))[0]).all()
    env.close()


def test_a_failure_in_a_reset():
    env = make([d.Native("native_terms:limited", d.Constant(3.0))])
    with pytest.raises(envpool.errors.EnvStepError, match=r"'limited' failed: 3\.0 is too large"):
        env.reset()
    env.close()


def test_states_and_pickles():
    term = d.Native("native_terms:ratio", [TIP])
    declaration = d.declare(ARM, [term], [d.Reward(term, name="share")])
    copy = pickle.loads(pickle.dumps(declaration))
    assert copy == declaration and hash(copy) == hash(declaration)
    assert "Native(term='native_terms:ratio', inputs=(SitePosition(of='tip', columns=None, skip=0),))" in repr(copy)
    with make([term]) as env:
        env.reset()
        env.step(np.ones((4, 2)))
        with pickle.loads(pickle.dumps(env)) as other:
            np.testing.assert_array_equal(other.step(np.ones((4, 2)))[0], env.step(np.ones((4, 2)))[0])


def test_the_example():
    power, limited = (d.Native("my_terms:excess_power", limit) for limit in (0.0, 2.0))
    env = make([power, limited, d.Sum(d.Abs(d.QfrcActuator() * d.Qvel()))], num_envs=8)
    env.reset()
    obs = env.step(np.ones((8, 2)))[0]
    np.testing.assert_array_equal(obs[:, 0], obs[:, 2])
    np.testing.assert_array_equal(obs[:, 1], np.maximum(obs[:, 2] - 2, 0))
    assert obs[:, 1].any() and not obs[:, 1].all()
    env.close()


def test_terms_of_terms():
    """As deep as other expressions, see envpool/mujoco/declared/sizes.py."""
    value = d.Time()
    for _ in range(199):
        value = d.Native("my_terms:excess_power", [value])
    with make([value]) as env:
        assert env.reset()[0].shape == (4, 1)
    with pytest.raises(envpool.errors.ConfigError, match="observation has an expression that is nested more than 200"):
        make([d.Native("my_terms:excess_power", [value])])


def test_the_page_shows_the_example():
    page = (EXAMPLE.parents[1] / "docs" / "own_mujoco.md").read_text()
    quotes = [block.split("```")[0] for block in page.split("```c\n")[1:]]
    assert quotes and all(quote in (EXAMPLE / "my_terms.c").read_text() for quote in quotes)


# ---- terms that are refused ------------------------------------------------------------------------------------------


class CTerm(ctypes.Structure):
    """envpool_mujoco_term of include/envpool/mujoco_term.h."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("struct_size", ctypes.c_uint32),
        ("mujoco_version", ctypes.c_int32),
        ("size", ctypes.c_int32),
        ("model_size", ctypes.c_uint64),
        ("data_size", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("compute", ctypes.c_void_p),
        ("num_inputs", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


@pytest.fixture
def changed(monkeypatch):
    """Return a function that puts a changed copy of a good term into the module `changed_terms`."""
    import native_terms

    copy = CTerm.from_buffer_copy(CTerm.from_address(api.PyCapsule_GetPointer(native_terms.pose, TERM)))
    module = ModuleType("changed_terms")
    monkeypatch.setitem(sys.modules, "changed_terms", module)

    def change(capsule_name=TERM, **members):
        for member, value in members.items():
            setattr(copy, member, value)
        module.term, module.copy, module.number = new_capsule(ctypes.addressof(copy), capsule_name), copy, 3

    return change


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (
            {"version": 2},
            r"compiled for version 2 of native terms \(56 bytes\), .*: upgrade envpool, or compile it again",
        ),
        ({"version": 0}, r"this envpool has version 1 \(56 bytes\): compile it again with envpool.get_include\(\)"),
        ({"struct_size": 48}, r"version 1 of native terms \(48 bytes\)"),
        ({"mujoco_version": 3016000}, r"mjVERSION_HEADER is 3016000, that of this envpool is 3017000.*mujoco==3.17.0"),
        ({"model_size": 8}, r"an mjModel of 8 and an mjData of \d+ bytes, but those of this envpool have"),
        ({"data_size": 9}, r"an mjData of 9 bytes, .*: compile it again with the unchanged headers of mujoco==3"),
        ({"name": None}, r"name and compute must not be NULL: set them with envpool_mujoco_term_init\(\)"),
        ({"compute": None}, "name and compute must not be NULL"),
        ({"size": -1}, "size and num_inputs must be at least 0, got -1 and 0"),
        ({"num_inputs": -2}, "size and num_inputs must be at least 0, got 3 and -2"),
    ],
)
def test_structs_that_are_refused(changed, members, text):
    changed(**members)
    with pytest.raises(envpool.errors.ConfigError, match=f"cost 'bad': the native term 'changed_terms:term' .*{text}"):
        make(reward=[d.Cost(d.Native("changed_terms:term"), name="bad")])


def test_the_largest_sizes(changed):
    changed(size=2**31 - 1)
    with pytest.raises(envpool.errors.ConfigError, match=r"termination 'big': .* more than 1000000 numbers"):
        make(termination=[d.non_finite(d.Native("changed_terms:term"), name="big")])
    changed(size=0, num_inputs=2**31 - 1)
    with pytest.raises(envpool.errors.ConfigError, match="'changed_terms:term' needs 2147483647 numbers as inputs"):
        make([d.Native("changed_terms:term", X)])


def test_a_larger_struct_of_a_later_header_is_taken(changed):
    changed(struct_size=64)
    with make([d.Native("changed_terms:term")]) as env:
        assert env.reset()[0].shape == (4, 3)


@pytest.mark.parametrize(
    ("term", "inputs", "text"),
    [
        (
            "changed_terms:term",
            (),
            r"it must be a PyCapsule named 'envpool.mujoco_term', got <capsule object \"other\"",
        ),
        ("changed_terms:number", (), "it must be a PyCapsule named 'envpool.mujoco_term', got 3"),
        ("changed_terms:none", (), "the module changed_terms has no 'none'"),
        ("native_terms:ratio", (X,), "the native term 'native_terms:ratio' needs 3 numbers as inputs, got 2"),
        ("native_terms:pose", (X,), "needs 0 numbers as inputs, got 2"),
        ("native_terms:limited", (d.Qpos("wrist"),), '<joint name="wrist">'),
        ("no_such_module:term", (), r"cannot be imported \(ModuleNotFoundError: .*no_such_module.*sys.path"),
        ("native_terms", (), "the native term must be a text such as 'module:attribute', got 'native_terms'"),
        (":pose", (), "the native term must be a text .*, got ':pose'"),
        (3, (), "the native term must be a text .*, got 3"),
    ],
)
def test_references_that_are_refused(changed, term, inputs, text):
    changed(capsule_name=ctypes.c_char_p(b"other"))
    with pytest.raises(envpool.errors.ConfigError, match=f"reward 'bad': .*{text}"):
        make(reward=[d.Reward(d.Native(term, inputs), name="bad")])


def test_inputs_of_wrong_types():
    with pytest.raises(TypeError, match="must be an expression or numbers, got 'x'"):
        d.Native("native_terms:pose", ["x"])
