"""dm_control's suite without dm_control: what ``envpool fetch-dmc`` downloads."""

import hashlib
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

import dm_control
import pytest

from envpool.cli.main import main
from envpool.mujoco.dmc import fetch, suite
from tests.support.python import output_of

HERE = Path(dm_control.__file__).parent

#: Hides the installed dm_control from a process.
HIDE = """
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
def find_spec(name, path=None, target=None):
    return find(name, [p for p in sys.path if "site-packages" not in p] if name == "dm_control" else path, target)
PathFinder.find_spec = find_spec
"""
#: Plays a task, and prints which dm_control was imported, and rewards.
PLAY = """
import envpool
with envpool.make_dm({task!r}, num_envs=2, seed=3) as pool:
    pool.reset()
    rewards = [pool.step(pool.sample_actions()).reward.tolist() for _ in range(3)]
import dm_control
print(dm_control.__file__, rewards)
"""
#: Prints the error of a task that cannot be made.
FAIL = """
import envpool
try:
    envpool.make_spec("CheetahRun-v1")
except ImportError as error:
    print(error)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder into which the command writes."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share" / "envpool" / suite.FOLDER


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """Return a wheel with the files of the installed package, which counts as the real one."""
    path = tmp_path / "dm_control.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in HERE.rglob("*"):
            name = str(file.relative_to(HERE.parent))
            if file.is_file() and any(fnmatchcase(name, glob) for glob in [*fetch.MEMBERS, "dm_control/viewer/*.py"]):
                archive.write(file, name)
    monkeypatch.setattr(fetch, "HASH", hashlib.sha256(path.read_bytes()).hexdigest())
    return path


def test_the_suite_alone_is_fetched_and_played(folder, wheel, capsys):
    assert main(["fetch-dmc", "--wheel", str(wheel)]) == 0
    assert capsys.readouterr().out == f"dm_control's suite is installed in {folder}\n"
    assert not (folder / "dm_control/viewer").exists()
    for task in ("CheetahRun-v1", "SwimmerSwimmer6-v1"):
        (fetched, rewards), (installed, expected) = (
            output_of(hidden + PLAY.format(task=task)).split(maxsplit=1) for hidden in (HIDE, "")
        )
        assert Path(fetched).is_relative_to(folder) and Path(installed).is_relative_to(HERE)
        assert rewards == expected


def test_without_it_the_error_says_what_to_run(folder):
    text = output_of(HIDE + FAIL)
    assert "pip install 'envpool-cython[dmc]'; with Python 3.13 or later also: envpool fetch-dmc" in text


def test_what_is_installed_takes_precedence(folder):
    (folder / "dm_control").mkdir(parents=True)
    assert suite.load("dm_control.suite").__file__ == str(HERE / "suite/__init__.py")
