"""The check before a build: one sentence about what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import toolchain  # noqa: E402


def test_this_machine_has_everything():
    assert toolchain.missing() == []
    toolchain.check()


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (["CC"], "needs a C compiler; on Debian and Ubuntu: apt-get install gcc libc6-dev"),
        (["CXX"], "needs a C++ compiler; on Debian and Ubuntu: apt-get install g++"),
        (
            ["CC", "CXX"],
            "needs a C compiler and a C++ compiler; on Debian and Ubuntu: apt-get install gcc libc6-dev g++",
        ),
    ],
)
def test_a_build_without_a_compiler_stops_at_once(broken, text):
    env = os.environ | dict.fromkeys(broken, "/nowhere/cc")
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext"], capture_output=True, text=True, env=env, cwd=ROOT, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"a build of envpool {text}"
    assert "Cythonizing" not in done.stdout


def test_missing_headers(monkeypatch):
    monkeypatch.setattr(toolchain, "NEEDS", (*toolchain.NEEDS, ("c", "#include <missing.h>", "libmissing-dev", "it")))
    with pytest.raises(SystemExit, match="needs it; on Debian and Ubuntu: apt-get install libmissing-dev"):
        toolchain.check()


def test_ccache(monkeypatch, tmp_path):
    (tmp_path / "ccache").write_text('#!/bin/sh\nexec "$@"\n')
    (tmp_path / "ccache").chmod(0o755)
    monkeypatch.setenv("CC", "")  # undone after the test, whatever use_ccache() has set
    monkeypatch.setenv("CXX", "")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    before = toolchain.command_of("c")
    toolchain.use_ccache()
    assert toolchain.command_of("c") == ["ccache", *before]
    monkeypatch.setenv("CC", "clang")
    toolchain.use_ccache()
    assert toolchain.command_of("c") == ["clang"]
