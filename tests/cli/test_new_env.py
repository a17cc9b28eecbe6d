"""``envpool new-env`` writes a project that builds, runs in every API style and passes the test written with it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import envpool
from envpool.cli.main import main
from envpool.cli.new_env import USED, source_text


def run(*command, folder):
    """Run a command in a folder with this envpool, and return its result."""
    paths = [str(Path(envpool.__file__).parents[1]), os.environ.get("PYTHONPATH")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def test_a_project_builds_and_passes_its_test(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new-env", "GridRace"]) == 0
    project = tmp_path / "grid_race"
    names = {"grid_race.pyx", "test_grid_race.py", "setup.py", "pyproject.toml"}
    assert {path.name for path in project.iterdir()} == names
    assert not any("RandomWalk" in path.read_text() or "random_walk" in path.read_text() for path in project.iterdir())
    assert "  cd grid_race && python setup.py build_ext --inplace && python -m pytest" in capsys.readouterr().out
    built = run(sys.executable, "setup.py", "build_ext", "--inplace", folder=project)
    assert built.returncode == 0, built.stderr
    tested = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=project)
    assert tested.returncode == 0, tested.stdout
    assert "8 passed" in tested.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gridRace", "NAME must be CamelCase"),
        ("Random", "NAME must not be Random: another module is called random"),
        ("Setup", "NAME must not be Setup"),
        ("Np", "NAME must not be Np: another module is called np"),
        ("Walker", "NAME must not be Walker: the project's code has another Walker"),
        ("Config", "NAME must not be Config"),
        ("Field", "NAME must not be Field"),
        ("WALKERS", "NAME must not be WALKERS: the project's code has another WALKERS"),
        ("Gymnasium", "NAME must not be Gymnasium: another module is called gymnasium"),
        ("Libc", "NAME must not be Libc"),
    ],
)
def test_names_are_checked(name, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["new-env", name])
    assert stopped.value.code == 2 and text in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path, capsys):
    assert main(["new-env", "CartPole", str(tmp_path)]) == 2
    assert "the task CartPole-v0 is already registered" in capsys.readouterr().err
    (tmp_path / "setup.py").write_text("mine")
    assert main(["new-env", "GridRace", str(tmp_path)]) == 2
    assert "already exists: choose another name or folder" in capsys.readouterr().err
    assert main(["new-env", "GridRace", str(tmp_path / "setup.py")]) == 2
    assert f"FOLDER must be a folder, got the file {tmp_path}/setup.py" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["setup.py"]


def test_names_of_the_code_are_refused():
    """A class of the project's name must not hide what the code of the example uses."""
    text = source_text()
    used = re.findall(r"(?m)^cdef \w+ ([A-Z][A-Za-z0-9]*)\b", text)
    used += [
        n for names in re.findall(r"(?m)^from [\w.]+ import (.*)", text) for n in names.split(", ") if n[0].isupper()
    ]
    assert set(used) == USED
