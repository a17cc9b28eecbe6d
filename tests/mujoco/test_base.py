"""The common base: the version of MuJoCo, errors of MuJoCo, sharing, memory."""

from __future__ import annotations

import gc
import os
import runpy
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

import envpool
import envpool.mujoco.base as base
from envpool.errors import ConfigError, EnvStepError
from envpool.mujoco.base.built import text_of
from envpool.mujoco.base.model import load_text
from envpool.mujoco.gym.options import ASSETS
from tests.mujoco.gym.upstream import unstable_cheetah
from tests.support.process import resident
from tests.support.python import ROOT, output_of, run_python


def test_other_version_of_mujoco(tmp_path: Path) -> None:
    """An ImportError names both versions; tasks of other families still work."""
    (tmp_path / "mujoco").mkdir()
    (tmp_path / "mujoco" / "__init__.py").touch()
    (tmp_path / "mujoco" / "libmujoco.so.3.6.0").touch()
    (tmp_path / "mujoco-3.6.0.dist-info").mkdir()
    (tmp_path / "mujoco-3.6.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mujoco\nVersion: 3.6.0\n"
    )
    code = "import envpool; envpool.make_gymnasium('CartPole-v1').reset(); print(len(envpool.list_all_envs()))\n"
    done = run_python(code + "envpool.make_gymnasium('Ant-v5')", tmp_path)
    assert int(done.stdout) > 33
    text = f"ImportError: the MuJoCo tasks need mujoco {base.MUJOCO_VERSION}, but mujoco 3.6.0 is installed; run: "
    assert text + "pip install 'envpool-cython[mujoco]', or build the package" in done.stderr
    assert "ENVPOOL_MUJOCO=3.6.0 pip install " in done.stderr


def test_no_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(base, "package_folder", lambda: None)
    monkeypatch.setattr(base, "version", missing)
    with pytest.raises(ImportError, match=r"but mujoco is not installed; run: pip install [^ ]*$"):
        base.load_library()


def test_the_version_is_that_of_the_headers() -> None:
    assert mujoco.__version__ == base.MUJOCO_VERSION
    assert [text_of(number) for number in (330, 337, 3014000, 3017002)] == ["3.3.0", "3.3.7", "3.14.0", "3.17.2"]


def test_a_build_with_pip_requires_the_version_that_it_installs_for_itself() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (required,) = project["project"]["optional-dependencies"]["mujoco"]
    assert required in project["build-system"]["requires"]


@pytest.fixture
def needs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return build_needs.py as a module."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.delenv("ENVPOOL_MUJOCO", raising=False)
    return SimpleNamespace(**runpy.run_path(str(ROOT / "envpool/mujoco/build_needs.py")))


@pytest.mark.parametrize("version", ["3.3.0", "3.14.0", "3.17.1"])
def test_a_build_can_ask_for_a_version(needs: Any, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("ENVPOOL_MUJOCO", version)
    assert needs.wanted_version() == version and needs.pins() == {"mujoco": version}


@pytest.mark.parametrize("version", ["3.2.7", "4.0.0", "3.17", "latest"])
def test_other_versions_stop_the_build(needs: Any, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("ENVPOOL_MUJOCO", version)
    with pytest.raises(SystemExit, match=f"ENVPOOL_MUJOCO must be a version from 3.3.0 on .*, got '{version}'"):
        needs.wanted_version()


def test_the_build_takes_the_installed_version(needs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert needs.wanted_version() == mujoco.__version__
    assert needs.folder_of(mujoco.__version__) == Path(mujoco.__file__).parent
    scope = needs.wanted_version.__globals__
    (tmp_path / "libmujoco.so.3.2.7").touch()
    monkeypatch.setitem(scope, "package_folder", lambda name: tmp_path)
    with pytest.raises(scope["Unavailable"], match=r"mujoco 3\.2\.7 is installed; set ENVPOOL_MUJOCO="):
        needs.wanted_version()
    monkeypatch.setitem(scope, "package_folder", lambda name: None)
    with pytest.raises(scope["Unavailable"], match=r"mujoco is not installed; set ENVPOOL_MUJOCO="):
        needs.wanted_version()
    assert needs.pins() == {}


def test_another_version_makes_all_products_old(needs: Any, tmp_path: Path) -> None:
    build = SimpleNamespace(folder=tmp_path)
    mark = needs.mark_of("3.14.0", build)
    os.utime(mark, (1, 1))
    assert needs.mark_of("3.14.0", build).stat().st_mtime == 1
    assert needs.mark_of("3.17.0", build).stat().st_mtime > 1


def test_tasks_are_not_linked_with_libmujoco() -> None:
    """Otherwise an ImportError of the dynamic linker would precede the ImportError of the base."""
    tasks = [p for p in Path(base.__file__).parents[1].rglob("*.so") if p.parent != Path(base.__file__).parent]
    assert len(tasks) >= 12
    assert [p.name for p in tasks if base.LIBRARY.encode() in p.read_bytes()] == []


def test_listing_and_other_families_do_not_load_mujoco() -> None:
    code = "import envpool, sys; envpool.list_all_envs(); envpool.make_gymnasium('CartPole-v1').reset()\n"
    code += "print([m for m in sys.modules if 'mujoco' in m and not m.startswith('envpool.')]); "
    code += "print('libmujoco' in open('/proc/self/maps').read())"
    assert output_of(code) == "[]\nFalse\n"


@pytest.fixture
def small_ant(tmp_path: Path) -> str:
    """Write a model whose memory suffices in the air, and not when the ant touches the ground."""
    text = (ASSETS / "ant.xml").read_text()
    path = tmp_path / "small_ant.xml"
    path.write_text(text.replace("<option", '<size memory="12K"/><option', 1))
    return str(path)


@pytest.mark.parametrize("autoreset_mode", ["next_step", "same_step"])
def test_error_in_one_env(
    small_ant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, autoreset_mode: str
) -> None:
    """recv raises for the env, which starts a new episode; the others continue, and nothing is printed or written."""
    monkeypatch.chdir(tmp_path)
    options = {"num_envs": 4, "seed": 1, "xml_file": small_ant, "autoreset_mode": autoreset_mode, "num_threads": 2}
    actions = np.random.default_rng(0).uniform(-1, 1, (60, 4, 8))
    failures: list[int] = []
    with envpool.make_gymnasium("Ant-v5", **options) as pool:
        pool.reset()
        for action in actions:
            try:
                obs, _, _, truncated, info = pool.step(action)
            except EnvStepError as error:
                failures.append(len(error.failures))
                for text in error.failures.values():
                    assert text.startswith("MuJoCo: mj_stackAlloc: out of memory, stack overflow")
                    assert "\n" not in text
                obs, _, _, truncated, info = pool.recv()
                failed = list(error.failures)
                assert truncated[failed].all()
                others = np.setdiff1d(np.arange(4), failed)
                assert (obs[others] != 0).any(axis=1).all()
                if autoreset_mode == "same_step":
                    assert (info["elapsed_step"][failed] == 0).all()
                    assert (obs[failed] != 0).any(axis=1).all()
                else:
                    assert (obs[failed] == 0).all()
        assert len(failures) >= 5
        assert min(failures) < 4
        obs, _ = pool.reset(seed=1)
    with envpool.make_gymnasium("Ant-v5", **options) as pool:
        np.testing.assert_array_equal(pool.reset()[0], obs)
    assert capfd.readouterr() == ("", "")
    assert [p.name for p in tmp_path.iterdir()] == ["small_ant.xml"]


def test_error_in_a_reset(small_ant: str) -> None:
    """Resets place the ant randomly, sometimes into the ground: these resets fail, and the others succeed."""
    outcomes = set()
    with envpool.make_gymnasium("Ant-v5", num_envs=4, xml_file=small_ant, reset_noise_scale=0.5) as pool:
        for _ in range(8):
            try:
                obs, _ = pool.reset()
                outcomes.add("all well")
            except EnvStepError as error:
                obs, _, _, truncated, _ = pool.recv()
                assert truncated.tolist() == [i in error.failures for i in range(4)]
                outcomes.add("some failed")
            outcomes |= {"zero" if not row.any() else "row" for row in obs}
    assert outcomes >= {"some failed", "zero", "row"}


BODY = "<worldbody><body><freejoint/><geom size='1'/></body></worldbody>"
MESH = "<asset><mesh name='m' file='nothing.stl'/></asset><worldbody><geom type='mesh' mesh='m'/></worldbody>"
BROKEN = [
    ("<mujoco><worldbody>", r"MuJoCo cannot load xml_file '.*model\.xml': .*XML"),
    ("", r"MuJoCo cannot load xml_file '.*model\.xml': "),
    (f"<mujoco>{MESH}</mujoco>", r"MuJoCo cannot load xml_file '.*model\.xml': .*nothing\.stl"),
    ("<mujoco><include file='gone.xml'/></mujoco>", r"MuJoCo cannot load .*model\.xml': .*gone\.xml"),
    (f"<mujoco>{BODY}</mujoco>", r"xml_file '.*model\.xml' has no actuators"),
    ("<mujoco/>", r"xml_file '.*model\.xml' has 0 positions \(nq\), this task needs at least 3"),
]


@pytest.mark.parametrize(("xml", "text"), BROKEN)
def test_broken_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, xml: str, text: str) -> None:
    """A ConfigError names the option, the file and MuJoCo's error, and nothing else happens."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.xml"
    path.write_text(xml)
    with pytest.raises(ConfigError, match=text):
        envpool.make_gymnasium("Ant-v5", xml_file=str(path), main_body=1)
    assert capfd.readouterr() == ("", "")
    assert [p.name for p in tmp_path.iterdir()] == ["model.xml"]


def test_python_callbacks_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """dm_control installs a Python function for warnings; a pool's threads must not wait for the GIL to call it."""
    monkeypatch.chdir(tmp_path)
    path = unstable_cheetah(tmp_path)
    heard: list[str] = []
    mujoco.set_mju_user_warning(heard.append)
    try:
        with pytest.warns(UserWarning, match=r"xml_file '.*cheetah\.xml': .*'settotalmass' is deprecated"):
            pool = envpool.make_gymnasium("HalfCheetah-v5", num_envs=2, num_threads=2, xml_file=path)
        with pool:
            pool.reset()
            heard.clear()
            steps = [pool.step(np.ones((2, 6))) for _ in range(30)]
        assert max(abs(info["x_velocity"]).max() for *_, info in steps) > 100
        assert heard == []
        model = mujoco.MjModel.from_xml_path(path)
        data = mujoco.MjData(model)
        data.qvel[:] = 1e20
        mujoco.mj_step(model, data)
        assert "Nan, Inf or huge value in QVEL" in heard[-1]
    finally:
        mujoco.set_mju_user_warning(None)


def test_memory_of_an_env() -> None:
    """The model is shared, and the arena of mjData stays virtual."""
    envpool.make_gymnasium("Ant-v5").reset()
    gc.collect()
    before = resident()
    with envpool.make_gymnasium("Ant-v5", num_envs=128, num_threads=2) as pool:
        pool.reset()
        for _ in range(30):
            pool.step(np.zeros((128, 8)))
        assert (resident() - before) / 128 < 400 * 1024


BALL = '<body pos="0 0.5 1.5"><freejoint/><geom size="0.1"/></body>'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/>\n", "/>\n"),
        ("</worldbody>", f"{BALL}</worldbody>"),
        ("<option ", '<option><flag sleep="enable"/></option><option '),
        ("<option ", '<option><flag island="disable"/></option><option '),
    ],
    ids=["one_tree", "two_trees", "sleep", "no_islands"],
)
def test_constraints_of_a_model_are_solved_as_upstream(tmp_path: Path, old: str, new: str) -> None:
    """With one tree there is no search for islands, unless bodies may sleep: neither changes a bit."""
    path = tmp_path / "ant.xml"
    text = (ASSETS / "ant.xml").read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    options = {"xml_file": str(path), "terminate_when_unhealthy": False}
    upstream = gymnasium.make("Ant-v5", **options)
    with envpool.make_gymnasium("Ant-v5", num_envs=1, seed=5, **options) as pool:
        assert pool.reset()[0][0].tobytes() == upstream.reset(seed=5)[0].tobytes()
        for _ in range(200):
            action = pool.sample_actions()
            obs, reward, *_ = pool.step(action)
            expected = upstream.step(action[0])
            assert (obs[0].tobytes(), float(reward[0])) == (expected[0].tobytes(), np.float32(expected[1]))
    upstream.close()


LARGE = """
import resource
import envpool
from envpool.errors import ConfigError
from envpool.mujoco import declared

XML = '''<mujoco>%s<worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="j"/></actuator></mujoco>'''
FIELD = '<asset><hfield name="h" nrow="20000" ncol="20000" size="1 1 1 1"/></asset>'

def declare(xml, **options):
    return envpool.make_mujoco(xml, num_threads=1, observation=[declared.Qpos()], **options)

declare(XML % "").close()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, resource.RLIM_INFINITY))
with open("model.xml", "w") as file:
    file.write(XML % FIELD)
for make in (
    lambda: declare(XML % FIELD),
    lambda: declare(XML % "<include file='large.txt'/>", assets={"large.txt": bytes(3 * 2**28)}),
    lambda: declare(XML % '<size memory="100G"/>'),
    lambda: envpool.make_gymnasium("Ant-v5", num_threads=1, xml_file="./model.xml"),
) * 2:
    try:
        make()
    except (ConfigError, MemoryError) as error:
        print(" ".join(str(error).split()))
with declare(XML % "") as pool:
    pool.reset()
"""


@pytest.mark.memory_limit
def test_models_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_python(LARGE)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and [path.name for path in tmp_path.iterdir()] == ["model.xml"]
    lines = done.stdout.splitlines()
    assert len(lines) == 8 and all(" memory" in line for line in lines), lines


# ---- files of models -------------------------------------------------------------------------------------------------

#: A pyramid as a binary STL file: a header, the number of triangles, and for each a normal, three corners and a number.
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)[
    [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
]
MESH = bytes(80) + bytes([4, 0, 0, 0]) + b"".join(bytes(12) + corners.tobytes() + bytes(2) for corners in CORNERS)


@pytest.mark.parametrize("name", ["Pyramid.stl", "pyramid.stl", "Some_Folder/Pyramid.stl", "./Pyramid.stl"])
def test_files_are_found_under_the_names_that_mujocos_bindings_find(name: str) -> None:
    """dm_control gives the meshes of Dog without the folder that the model names."""
    xml = """<mujoco>
        <compiler meshdir="Some_Folder/"/>
        <asset><mesh name="mesh" file="Pyramid.stl"/></asset>
        <worldbody><geom type="mesh" mesh="mesh"/></worldbody>
    </mujoco>"""
    mujoco.MjModel.from_xml_string(xml, {name: MESH})
    assert load_text(xml, {name: MESH}, "the model").remarks == ""
