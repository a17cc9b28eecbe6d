"""The extensions of the benchmarks, which use the core's Cython interface, can be compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in sorted((ROOT / "benchmarks").glob("*.pyx"))])
def test_extensions_compile(tmp_path, name):
    command = [sys.executable, "extension.py", name, str(tmp_path)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT / "benchmarks", env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(tmp_path.glob(f"{name}.*.so"))
