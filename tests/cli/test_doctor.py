"""``envpool doctor``."""

import json
import subprocess
import sys

import numpy as np
import pytest

import envpool
from envpool._support.diagnosis import NOTE, OK, PROBLEM, Finding, run_python
from envpool._support.requirements import Requirement, parse, requirements
from envpool.atari import health as rom_health
from envpool.cli.doctor import command, extras, imports, machine, packages, self_test
from envpool.cli.main import main
from envpool.errors import EnvStepError
from envpool.mujoco import health as gl_health
from envpool.registration import registry
from envpool.tasks.entries import family_of
from tests.cli.command import COMMAND, ENVIRONMENT
from tests.support.process import PATIENCE
from tests.support.python import output_of

FAMILIES = {family_of(entry) for entry in registry.tasks.values() if entry.import_path.startswith("envpool.")}


def one_line(text):
    return " ".join(text.split())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder on the path of this process and of its children."""
    monkeypatch.syspath_prepend(tmp_path)
    imports.import_error.cache_clear()
    yield tmp_path
    imports.import_error.cache_clear()


def install(folder, name, version, module, code=""):
    """Write a distribution of one module into a folder."""
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "top_level.txt").write_text(f"{module}\n")


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_installation_of_the_tests_is_well(tmp_path):
    path = tmp_path / "report.json"
    done = subprocess.run(
        [*COMMAND, "doctor", "--json", str(path)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT | {"XDG_DATA_HOME": str(tmp_path)},  # without what the user has fetched
        timeout=10 * PATIENCE,
    )
    report = json.loads(path.read_text())
    found = {title: {f["name"]: f for f in findings} for title, findings in report["sections"].items()}
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert report["is_well"] is True and report["envpool"] == envpool.__version__
    lines = done.stdout.splitlines()
    assert lines[-1] == "everything installed works"
    assert not [line for line in lines if line.startswith("!")]
    of_families = ["ROMs", "OpenGL", "NetHack", "Procgen", "ViZDoom"]
    assert list(found) == ["packages", "machine", "extras", *of_families, "self-test"]
    assert found["self-test"].keys() == FAMILIES
    for finding in found["self-test"].values():
        assert finding["state"] == "ok" and "two runs agree over 20 steps" in finding["text"], finding
    assert all(f"{4 * count} frames" in found["self-test"][n]["text"] for n, count in (("box2d", 3), ("atari", 1)))
    assert found["packages"]["numpy"]["text"] == np.__version__
    assert found["ROMs"]["games"]["text"].startswith("104 of 104 in ")
    assert found["NetHack"]["library"]["text"].startswith("nle 1.3.0, ")
    assert found["Procgen"]["library"]["text"].startswith("procgen-mirror 0.10.7, ")
    assert found["ViZDoom"]["engine"]["text"].startswith("vizdoom 1.3.2, ")
    assert found["extras"]["verify"]["text"].startswith("mujoco 3.17.0, gymnasium 1.4.0, ale-py")
    assert found["OpenGL"].keys() == {"glfw", "egl", "osmesa", "frames"}
    for title, findings in found.items():
        assert title in lines
        width = max(map(len, findings))
        for name, finding in findings.items():
            assert any(line.startswith(f"{command.MARKS[finding['state']]} {name:<{width}}  ") for line in lines)


def a_section(monkeypatch, *findings):
    """Let the command have one section."""

    class Module:
        TITLE = "things"

        @staticmethod
        def findings():
            return list(findings)

    monkeypatch.setitem(sys.modules, "things", Module)
    monkeypatch.setattr(command, "modules", lambda: ["things"])


def test_a_problem_gives_status_1_and_names_the_way_out(monkeypatch, capsys, tmp_path):
    good, absent = Finding("good", "1.0"), Finding("absent", "not installed", NOTE, "pip install absent")
    bad = Finding("a bad one", "word " * 30, PROBLEM, "pip install " + "thing " * 20)
    a_section(monkeypatch, good, absent, bad)
    path = tmp_path / "report.json"
    assert main(["doctor", "--json", str(path)]) == 1
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[:4] == [
        "things",
        "  good       1.0",
        "- absent     not installed",
        "             -> pip install absent",
    ]
    assert lines[4].startswith("! a bad one  word word")
    assert one_line(out[out.index("1 problem\n") :]) == one_line(f"1 problem ! a bad one {bad.text} -> {bad.remedy}")
    assert max(map(len, lines)) <= 80
    assert all(len(line) - len(line.lstrip()) in (0, 2, 13, 16) for line in lines)
    report = json.loads(path.read_text())
    assert report["is_well"] is False
    assert report["sections"]["things"][1] == {
        "name": "absent",
        "text": "not installed",
        "state": "note",
        "remedy": "pip install absent",
    }


def test_an_absent_extra_is_no_failure(monkeypatch, capsys):
    a_section(monkeypatch, Finding("jax", "not installed", NOTE, "pip install 'envpool-cython[jax]'"))
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("\neverything installed works\n")


def test_a_section_that_fails_is_a_problem_and_the_others_go_on(monkeypatch, capsys):
    a_section(monkeypatch, Finding("good", "1.0"))
    monkeypatch.setattr(command, "modules", lambda: ["no_such_module", "things"])
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "ModuleNotFoundError: No module named 'no_such_module'" in one_line(out)
    assert "  good  1.0" in out


@pytest.mark.parametrize(
    ("path", "text"), [("no/folder/a.json", "the directory no/folder does not exist"), (".", "it is a directory")]
)
def test_a_file_that_cannot_be_written(path, text, monkeypatch, capsys):
    a_section(monkeypatch)
    assert main(["doctor", "--json", path]) == 2
    captured = capsys.readouterr()
    assert text in captured.err and captured.out == ""


# ---- packages and extras ---------------------------------------------------------------------------------------------


def test_requirements_are_read():
    lines = ["numpy>=2.0", 'ray[rllib]<3,>=2.60; extra == "rllib"', "tqdm ; extra == 'examples'", "a.b-c==1"]
    assert parse(lines) == {
        "": [Requirement("numpy", ">=2.0"), Requirement("a.b-c", "==1")],
        "rllib": [Requirement("ray", "<3,>=2.60")],
        "examples": [Requirement("tqdm")],
    }


def test_an_extra_has_what_its_other_extras_require():
    lines = [
        'envpool-cython[b,c]; extra == "a"',
        'x; extra == "b"',
        'old; python_version < "3" and extra == "b"',
        'y==1; extra == "c"',
        'envpool-cython[b]; extra == "c"',
    ]
    x, y = Requirement("x"), Requirement("y", "==1")
    assert parse(lines) == {"": [], "a": [x, y], "b": [x], "c": [y, x]}


def test_the_metadata_of_a_distribution_gives_the_same_requirements(monkeypatch, folder):
    project = requirements()
    lines = [f'{r}; extra == "{e}"' if e else str(r) for e, rows in project.items() for r in rows]
    monkeypatch.setattr("envpool._support.requirements.source_tree", lambda: None)
    monkeypatch.setattr("importlib.metadata.requires", lambda name: lines)
    assert {"dmc", "render", "verify", ""} <= project.keys()
    assert requirements() == project


@pytest.mark.parametrize(
    ("versions", "version", "is_allowed"),
    [
        ("", "0.1", True),
        ("==3.17.0", "3.17.0", True),
        ("==3.17.0", "3.17", True),
        ("==3.17.0", "3.17.1", False),
        ("==2.13.0", "2.13.0+cpu", True),
        (">=2.9,<3", "2.10.1", True),
        (">=2.9,<3", "2.8.9", False),
        (">=2.9,<3", "3.0", False),
    ],
)
def test_versions(versions, version, is_allowed):
    assert Requirement("x", versions).allows(version) == is_allowed


def test_extras_that_are_absent_incomplete_or_of_another_version(folder):
    install(folder, "thing-one", "1.5", "thing_one")
    rows = {
        "none": [Requirement("thing-two")],
        "some": [Requirement("thing-one"), Requirement("thing-two")],
        "other": [Requirement("thing-one", ">=2")],
        "good": [Requirement("thing-one", ">=1,<2")],
    }
    found = {name: extras.extra(name, required, {"thing-one": ""}) for name, required in rows.items()}
    assert found == {
        "none": Finding("none", "not installed", NOTE, "pip install 'envpool-cython[none]'"),
        "some": Finding("some", "incomplete, without thing-two", NOTE, "pip install 'envpool-cython[some]'"),
        "other": Finding(
            "other", "thing-one 1.5, where thing-one>=2 is required", NOTE, "pip install 'envpool-cython[other]'"
        ),
        "good": Finding("good", "thing-one 1.5"),
    }


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise OSError('libthing.so.2: cannot open shared object file')", "OSError: libthing.so.2: cannot open"),
        ("import os; os.abort()", "the process crashed (SIGABRT)"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_an_extra_that_is_installed_and_broken(code, reason, folder, monkeypatch):
    install(folder, "broken-thing", "2.0", "broken_thing", code)
    monkeypatch.setattr(extras, "requirements", lambda: {"": [], "x": [Requirement("broken-thing", ">=1")]})
    broken, windows = extras.findings()
    assert (broken.name, broken.state) == ("x", PROBLEM)
    assert broken.text.startswith(f"broken-thing 2.0 cannot be imported: {reason}")
    assert broken.remedy == "pip install --force-reinstall 'broken-thing>=1'"
    assert windows.name == "windows"


def test_dependencies_that_are_missing_wrong_or_broken(folder):
    install(folder, "thing-one", "1.5", "thing_one")
    missing = packages.dependency(Requirement("thing-two", "==1"), "")
    wrong = packages.dependency(Requirement("thing-one", "==1.6"), "")
    broken = packages.dependency(Requirement("thing-one"), "ImportError: no")
    assert {f.state for f in (missing, wrong, broken)} == {PROBLEM}
    assert missing.text == "not installed; envpool requires thing-two==1"
    assert (wrong.text, wrong.remedy) == ("1.5; envpool requires thing-one==1.6", "pip install 'thing-one==1.6'")
    assert broken.remedy == "pip install --force-reinstall 'thing-one'"
    assert packages.dependency(Requirement("thing-one", "==1.5"), "") == Finding("thing-one", "1.5")


@pytest.mark.parametrize(
    ("name", "version", "text"),
    [
        ("other-pool", "3.1", "the distribution other-pool 3.1 installs a package of the same name"),
        ("envpool", "1.2.5", "the distribution envpool 1.2.5 installs a package of the same name"),
        ("envpool-cython", "3.1", "the installed distribution is envpool-cython 3.1, but version 0.1.0 is imported"),
    ],
)
def test_a_distribution_with_a_package_of_the_same_name(name, version, text, folder):
    assert packages.distributions() == []
    install(folder, name, version, "envpool")
    (folder / "envpool.py").unlink()
    (conflict,) = packages.distributions()
    assert (conflict.state, conflict.text) == (PROBLEM, text)
    assert conflict.remedy.startswith(f"pip uninstall {name}; pip install ")


# ---- machine ---------------------------------------------------------------------------------------------------------


def test_cpu_features(tmp_path):
    assert machine.cpu_flags(tmp_path) is None
    (tmp_path / "cpuinfo").write_text("processor : 0\nflags\t\t: fpu avx2 avx512bw\nflags : fpu\n")
    assert machine.cpu_flags(tmp_path) == {"fpu", "avx2", "avx512bw"}
    texts = [finding.text.split()[0] for finding in machine.features({"avx2", "avx512bw"})]
    assert texts == ["yes", "no,"]
    assert len(machine.features(None)) == 1


@pytest.mark.parametrize(("cpus", "text"), [({0}, "0"), ({0, 1, 2, 3, 8}, "0-3,8"), ({1, 3, 5, 6}, "1,3,5-6")])
def test_ranges_of_cpus(cpus, text):
    assert machine.ranges(cpus) == text


def test_a_quota_of_cpus_is_shown(monkeypatch):
    monkeypatch.setattr(machine, "process_cpus", lambda: {0, 1, 2, 3})
    monkeypatch.setattr(machine, "cpu_limit", lambda proc: 2)
    found = {finding.name: finding.text for finding in machine.findings()}
    assert found["control group"] == "2 CPUs"
    assert found["CPUs"].endswith("for this process: 0-3")
    assert found["threads"].startswith("2 by default")


# ---- families --------------------------------------------------------------------------------------------------------


def test_roms_that_are_missing(monkeypatch, tmp_path):
    monkeypatch.setattr("envpool.atari.roms.rom_folder", lambda: tmp_path)
    (games,) = rom_health.findings()
    assert games.state == PROBLEM and games.text.startswith("0 of 104 in ")
    assert "pip install 'envpool-cython[atari]'" in games.remedy


def test_packages_of_extras_that_are_not_installed_are_no_problem():
    hidden = """
from importlib.machinery import PathFinder
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.partition(".")[0] in ("ale_py", "mujoco") else find(name, *rest)
from envpool.cli.doctor.command import section
for name in ("envpool.atari.health", "envpool.mujoco.health"):
    print([(finding.text, finding.state) for finding in section(name)[1]])
"""
    assert output_of(hidden).splitlines() == [str([("not available", NOTE)])] * 2


@pytest.mark.parametrize(("works", "remedy"), [(["egl"], "export MUJOCO_GL=egl"), ([], "apt-get install")])
def test_opengl_that_is_not_chosen_or_not_there(works, remedy, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "vulkan" if works else "osmesa")
    monkeypatch.setattr(gl_health, "back_end", lambda kind: Finding(kind, "", OK if kind in works else NOTE))
    if not works:
        text = "ImportError: rendering needs an OpenGL library: apt-get install one"
        monkeypatch.setattr(gl_health, "run_python", lambda code: (False, text))
    frames = gl_health.findings()[-1]
    assert (frames.name, frames.state) == ("frames", NOTE)
    assert remedy in frames.remedy


def test_a_back_end_that_crashes(monkeypatch):
    monkeypatch.setattr(gl_health, "LOAD", "import os; os.abort()")
    assert gl_health.back_end("egl").state == PROBLEM


# ---- self-test -------------------------------------------------------------------------------------------------------


def test_every_family_is_tested():
    chosen = self_test.tasks()
    assert chosen.keys() == FAMILIES
    assert all(1 <= len(task_ids) <= 3 for task_ids in chosen.values())


def test_a_family_that_works():
    found = self_test.test_family("toy_text", ["Catch-v0", "FrozenLake-v1"])
    assert found == Finding("toy_text", "two runs agree over 20 steps: Catch-v0, FrozenLake-v1; 8 frames")


def test_families_with_players_and_turns():
    assert self_test.test_family("mpe", ["MPE/simple_tag-v3"]).text.endswith("MPE/simple_tag-v3; 4 frames")
    assert self_test.test_family("board_games", ["ConnectFour-v0"]).text.endswith("ConnectFour-v0; 4 frames")


def test_runs_that_differ(monkeypatch):
    real, calls = self_test.run, []

    def run(task_id, **options):
        records = real(task_id, **options)
        calls.append(task_id)
        if len(calls) == 2:
            records[5]["obs"].view(np.uint32)[3, 1] ^= 1
        return records

    monkeypatch.setattr(self_test, "run", run)
    found = self_test.test_family("classic_control", ["CartPole-v1"])
    assert found.state == PROBLEM and "envpool verify" in found.remedy
    assert found.text == ("CartPole-v1: DisagreementError: obs differs in two runs with the same seed, first at step 5")


def test_an_environment_that_fails(monkeypatch):
    def run(task_id, **options):
        raise EnvStepError({3: "its simulator failed"})

    monkeypatch.setattr(self_test, "run", run)
    found = self_test.test_family("classic_control", ["CartPole-v1"])
    assert found.state == PROBLEM and "env 3: its simulator failed" in found.text


def test_frames_that_cannot_be_rendered_are_no_problem(monkeypatch):
    real = self_test.run

    def run(task_id, **options):
        if options:
            raise ImportError("rendering needs a library: pip install it")
        return real(task_id)

    monkeypatch.setattr(self_test, "run", run)
    found = self_test.test_family("classic_control", ["CartPole-v1"])
    assert found.state == NOTE and found.remedy == "rendering needs a library: pip install it"
    assert found.text.endswith("CartPole-v1; frames cannot be rendered")


def test_a_family_that_is_not_in_this_build(monkeypatch):
    def make_spec(task_id):
        raise ImportError("envpool.x is not in this build of envpool: run pip")

    monkeypatch.setattr(self_test, "make_spec", make_spec)
    found = self_test.test_family("x", ["X-v0"])
    assert found == Finding("x", "not available", NOTE, "envpool.x is not in this build of envpool: run pip")


@pytest.mark.parametrize(
    ("code", "text"),
    [("import os; os.abort()", "the process crashed (SIGABRT)"), ("raise SystemExit(3)", "exit status 3")],
)
def test_a_family_that_ends_its_process(code, text, monkeypatch):
    monkeypatch.setattr(self_test, "CHILD", code)
    found = self_test.test_in_child("toy_text")
    assert (found.state, found.text) == (PROBLEM, text) and found.remedy


def test_a_process_that_does_not_answer(monkeypatch):
    monkeypatch.setattr("envpool._support.diagnosis.TIMEOUT", 0.2)
    assert run_python("import time; time.sleep(60)") == (False, "no answer within 0.2 seconds")
