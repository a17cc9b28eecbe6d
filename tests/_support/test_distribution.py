"""The name of the distribution, and the warning about another one that installs the same package."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import envpool
from envpool._support.packages import NAME, install

ROOT = Path(envpool.__file__).parents[1]
CODE = "import warnings; warnings.simplefilter('error'); import envpool; print(envpool.__file__)"


def test_the_name_in_the_metadata():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == NAME


def test_commands_name_extras_that_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    used = [line for path in (ROOT / "envpool").rglob("*.py") for line in path.read_text().split("install(")[1:]]
    names = {line[1:].partition(line[0])[0] for line in used if line[0] in "'\""}
    assert {"render", "verify", "jax"} <= names <= set(extras)
    assert install("jax") == "pip install 'envpool-cython[jax]'"


@pytest.mark.parametrize(
    ("folder", "warns"),
    [("envpool-1.2.5.dist-info", True), ("envpool_cython-0.1.0.dist-info", False), ("envpool_more-1.dist-info", False)],
)
def test_a_distribution_that_overwrites_files(tmp_path, folder, warns):
    (tmp_path / "envpool").symlink_to(ROOT / "envpool")
    (tmp_path / folder).mkdir()
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=env, cwd=tmp_path)
    assert (done.returncode != 0) == warns
    if warns:
        assert "the distributions envpool 1.2.5 and envpool-cython, and both install the package envpool" in done.stderr
        assert "pip uninstall envpool; pip install --force-reinstall --no-deps envpool-cython" in done.stderr
