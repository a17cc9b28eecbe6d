"""``--import MODULE`` and the entry points of the group ``envpool.envs``: tasks of other packages."""

import subprocess
import sys

import pytest

from envpool.cli.main import main
from tests.support.process import PATIENCE
from tests.support.python import environment

MODULE = """
import envpool

def register():
    envpool.register("Theirs-v0", "envpool.classic_control.cartpole", env="CartPole", max_episode_steps=7)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "theirs.py").write_text(MODULE)
    (tmp_path / "theirs_at_once.py").write_text(MODULE + "\nregister()\n")
    return tmp_path


def announce(folder, value):
    """Write the metadata of an installed package with an entry point."""
    info = folder / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[envpool.envs]\ntheirs = {value}\n")


def run(folder, *arguments, installed=True):
    """Run a command in a folder, which is also on the path if a package is installed there."""
    paths = [folder] if installed else []
    command = [sys.executable, "-m", "envpool", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(*paths), capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.mark.parametrize("arguments", [["list", "theirs"], ["spec", "Theirs-v0"]])
def test_import(folder, arguments):
    done = run(folder, *arguments, "--import", "theirs_at_once", installed=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Theirs-v0" in done.stdout and "7" in done.stdout


def test_bench_and_watch_know_imported_tasks(folder):
    done = run(folder, "bench", "Theirs-v0", "--import", "theirs_at_once", "--num-envs", "2", "--seconds", "0.1")
    assert done.returncode == 0 and "Theirs-v0" in done.stdout, done.stderr
    options = ["--import", "theirs_at_once", "--num-envs", "1", "--steps", "2", "--out", "frame.png"]
    done = run(folder, "watch", "Theirs-v0", *options)
    assert done.returncode == 0 and (folder / "frame.png").exists(), done.stderr


def test_a_module_that_is_missing(capsys):
    assert main(["spec", "CartPole-v1", "--import", "no_such_module"]) == 2
    assert capsys.readouterr().err == (
        "envpool spec: error: --import no_such_module: ModuleNotFoundError: No module named 'no_such_module'\n"
    )


def test_a_module_that_ends_the_program(folder):
    (folder / "bye.py").write_text("import sys\nsys.exit(0)\n")
    done = run(folder, "list", "--import", "bye", installed=False)
    assert (done.returncode, done.stderr) == (2, "envpool list: error: --import bye: SystemExit: 0\n")


@pytest.mark.parametrize("value", ["theirs:register", "theirs_at_once"])
def test_entry_point(folder, value):
    announce(folder, value)
    done = run(folder, "list", "Theirs")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Theirs-v0" in done.stdout
    code = "import envpool; print(envpool.make_spec('Theirs-v0').max_episode_steps)"
    python = subprocess.run([sys.executable, "-c", code], env=environment(folder), capture_output=True, text=True)
    assert python.stdout == "7\n", python.stderr


def test_importing_and_making_load_no_entry_point(folder):
    announce(folder, "theirs_at_once")
    code = "import sys, envpool, gymnasium; envpool.make_spec('CartPole-v1'); print('theirs_at_once' in sys.modules)"
    python = subprocess.run([sys.executable, "-c", code], env=environment(folder), capture_output=True, text=True)
    assert python.stdout == "False\n", python.stderr
