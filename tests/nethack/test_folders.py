"""The folders of games: none is left, however a pool or a process ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import envpool
from envpool._support import locks, wheels
from envpool.nethack import files, folders
from tests.support.process import PATIENCE
from tests.support.python import environment, run_python

MAKE = """
import os, signal, sys, envpool
from envpool.nethack import folders
folders.MEMORY = __import__("pathlib").Path(sys.argv[1])
pool = envpool.make_gymnasium("NetHackScore-v0", num_envs=3, num_threads=2, observation_keys=("glyphs",))
pool.reset()
(process,) = os.listdir(sys.argv[1])
assert sorted(os.listdir(f"{sys.argv[1]}/{process}")) == ["0", "1", "2"]
"""


def run(folder: Path, end: str) -> subprocess.CompletedProcess[str]:
    """Make a pool in a new process, whose folders are in `folder`, and run code after that."""
    command = [sys.executable, "-c", MAKE + end, str(folder)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize(
    "end",
    [
        "pool.send(__import__('numpy').zeros(3, 'int32'))",
        *(
            pytest.param(end, marks=pytest.mark.slow)
            for end in (
                "pool.close(); assert os.listdir(f'{sys.argv[1]}/{process}') == []",
                "",
                "sys.exit(3)",
                "raise RuntimeError",
                "if os.fork() == 0: sys.exit(0)\nos.wait(); assert os.listdir(sys.argv[1]) == [process]",
            )
        ),
    ],
)
def test_nothing_is_left_when_a_process_exits(tmp_path: Path, end: str) -> None:
    done = run(tmp_path, end)
    assert done.returncode == {"sys.exit(3)": 3, "raise RuntimeError": 1}.get(end, 0), done.stderr
    assert os.listdir(tmp_path) == []


CHILD = """
import multiprocessing
def play():
    pool = envpool.make_gymnasium("NetHackScore-v0", observation_keys=("glyphs",))
    pool.reset()
    assert len(os.listdir(sys.argv[1])) == 2
    globals()["kept"] = pool
child = multiprocessing.get_context("fork").Process(target=play)
child.start()
child.join()
assert child.exitcode == 0 and os.listdir(sys.argv[1]) == [process]
"""


@pytest.mark.slow
def test_nothing_is_left_when_a_child_of_multiprocessing_exits(tmp_path: Path) -> None:
    done = run(tmp_path, CHILD)
    assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_the_folder_of_a_killed_process_is_removed_by_the_next_one(tmp_path: Path) -> None:
    assert run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)").returncode == -signal.SIGKILL
    (abandoned,) = os.listdir(tmp_path)
    done = run(tmp_path, "print(process)".replace("process", "os.listdir(sys.argv[1])"))
    assert done.returncode == 0, done.stderr
    assert abandoned not in done.stdout
    assert os.listdir(tmp_path) == []


def test_the_folder_of_a_living_process_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MEMORY", tmp_path)
    mine = folders.new_process_folder()
    other = folders.new_process_folder()
    assert mine.is_dir() and other.is_dir() and mine != other
    for lock in folders._locks[-2:]:
        os.close(lock)
    del folders._locks[-2:]
    third = folders.new_process_folder()
    assert not mine.exists() and not other.exists() and third.is_dir()


def test_without_memory_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MEMORY", tmp_path / "missing")
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(tmp_path))
    assert folders.new_process_folder().parent == tmp_path


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(folders, "MEMORY", tmp_path)
    monkeypatch.setattr(locks.fcntl, "flock", refuse)
    with pytest.raises(OSError, match=f"no folder in {tmp_path} can be locked.*set the environment variable TMPDIR"):
        folders.new_process_folder()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_another_process_removes_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = []

    def lock_late(folder: Path) -> int | None:
        if not removed:
            removed.append(folder)
            folder.rmdir()
            return os.open(tmp_path, os.O_RDONLY)
        return try_lock(folder)

    try_lock = folders.try_lock
    monkeypatch.setattr(folders, "MEMORY", tmp_path)
    monkeypatch.setattr(folders, "try_lock", lock_late)
    files = len(os.listdir("/proc/self/fd"))
    made = folders.new_process_folder()
    assert os.listdir(tmp_path) == [made.name] != [removed[0].name]
    os.close(folders._locks.pop())
    assert len(os.listdir("/proc/self/fd")) == files


@pytest.mark.slow
def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """The environments fail, and the pool closes as usual."""
    end = """
pool.close()
__import__('shutil').rmtree(f'{sys.argv[1]}/{process}')
pool = envpool.make_gymnasium("NetHackScore-v0", num_envs=2)
try:
    pool.reset()
except envpool.errors.EnvStepError as error:
    assert "making its folder failed: No such file or directory" in str(error), error
    pool.close()
    print("refused")
"""
    done = run(tmp_path, end)
    assert done.stdout == "refused\n", done.stderr


# ---- the library -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nle_is_not_imported_by_a_pool() -> None:
    code = "import envpool, sys; envpool.make_gymnasium('NetHack-v0').reset(); print('nle' in sys.modules)"
    assert run_python(code).stdout == "False\n"


def test_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "find", lambda name: None)
    monkeypatch.setattr(files.Loaded, "files", None)
    with pytest.raises(ImportError, match=r"nle 1\.3\.0, but nle is not installed: pip install .*\[nle\]"):
        envpool.make_gymnasium("NetHack-v0")
    assert envpool.make_spec("NetHack-v0").action_space.n == 86


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    code = f"""
import envpool, pathlib
from envpool.nethack import files
path = pathlib.Path({str(tmp_path)!r})
(path / "libnethack.so").write_bytes(b"not a library")
(path / "nhdat").write_bytes(b"")
files.find_files = lambda: files.Files(path / "libnethack.so", path / "nhdat")
with envpool.make_gymnasium("NetHack-v0") as pool:
    try:
        pool.reset()
    except envpool.errors.EnvStepError as error:
        print(error)
"""
    done = run_python(code)
    assert "loading libnethack.so failed: " in done.stdout, done.stderr
