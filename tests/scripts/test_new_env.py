"""scripts/new_env writes an environment into a family. What it writes is built by the test of `envpool new-env`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import envpool

ROOT = Path(__file__).parents[2]


def run(*command, folder):
    """Run a command in a folder with this envpool, and return its result."""
    paths = [str(Path(envpool.__file__).parents[1]), os.environ.get("PYTHONPATH")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def new_env(root, *arguments, folder):
    return run(sys.executable, str(root / "scripts" / "new_env"), *arguments, folder=folder)


#: The family that gets a new environment, and the one that is the model of new families.
FAMILIES = ("classic_control", "minatar")


@pytest.fixture
def tree(tmp_path):
    """Return a copy of the parts of this repository that the script reads, besides the module of `envpool new-env`."""
    families = [f"envpool/{family}/{file}.py" for family in FAMILIES for file in ("__init__", "registration")]
    for name in ("scripts/new_env", *families):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_family_gets_a_file_a_row_and_a_test(tree):
    table = tree / "envpool" / "classic_control" / "registration.py"
    before = table.read_text()
    assert new_env(tree, "GridRace", "--family", "classic_control", folder=tree).returncode == 0
    row = 'register("GridRace-v0", "envpool.classic_control.grid_race", env="GridRace", max_episode_steps=100)\n'
    assert table.read_text() == before + row
    source = (tree / "envpool" / "classic_control" / "grid_race.pyx").read_text()
    assert "class GridRace(EnvDefinition):" in source and "register" not in source and "RandomWalk" not in source
    assert "import grid_race" not in (tree / "tests" / "classic_control" / "test_grid_race.py").read_text()


def test_a_new_folder_makes_a_family(tree):
    assert new_env(tree, "GridRace", "--family", "my/games", folder=tree).returncode == 0
    folder = tree / "envpool" / "my" / "games"
    assert "classes_of(__name__)" in (folder / "__init__.py").read_text()
    assert '"envpool.my.games.grid_race"' in (folder / "registration.py").read_text()
    for name in ("envpool/my/__init__.py", "tests/my/__init__.py", "tests/my/games/__init__.py"):
        assert (tree / name).exists(), name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gridRace", "--family", "games"], "NAME must be CamelCase"),
        (["GridRace"], "the following arguments are required: --family"),
        (["GridRace", "--family", "../games"], "--family must be a folder in envpool/"),
        (["CartPole", "--family", "games"], "the task CartPole-v0 is already registered"),
        (["Registration", "--family", "taken"], "already exists"),
    ],
)
def test_mistakes_write_nothing(tree, arguments, message):
    (tree / "envpool" / "taken").mkdir()
    (tree / "envpool" / "taken" / "registration.pyx").touch()
    before = sorted(tree.rglob("*"))
    result = new_env(tree, *arguments, folder=tree)
    assert result.returncode != 0 and message in result.stderr
    assert sorted(tree.rglob("*")) == before
