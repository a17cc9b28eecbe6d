"""A build guided by a training run, ENVPOOL_PGO=1."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.python import ROOT, environment

#: The families besides Atari are left out, to be quick.
PARTS = ["setup.py", "pyproject.toml", "README.md", "LICENSE", "scripts", "include", "tests"]
FAMILIES = {path.relative_to(ROOT / "envpool").parts[0] for path in ROOT.glob("envpool/*/**/registration.py")}

PLAY = """
import hashlib, numpy as np, envpool, envpool.atari.env
steps = hashlib.sha256()
with envpool.make_gymnasium("Breakout-v5", num_envs=3, seed=7) as pool:
    pool.reset()
    for k in range(300):
        obs, reward, terminated, truncated, info = pool.step(np.full(3, k % 4, np.int32))
        steps.update(obs.tobytes() + reward.tobytes() + terminated.tobytes() + info["ram"].tobytes())
print(envpool.atari.env.__file__)
print(steps.hexdigest())
"""


@pytest.mark.slow
def test_plays_as_the_plain_build_and_ale_py_do(tmp_path: Path) -> None:
    """A pool plays as the plain build does; its core plays all games as ale_py does, frame by frame."""
    ignore = shutil.ignore_patterns("__pycache__", "*.so")
    rooms = {path.parent.name for path in ROOT.glob("envpool/*/__init__.py")} - FAMILIES | {"atari"}
    for part in [*PARTS, *(f"envpool/{room}" for room in rooms)]:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, tmp_path / part, **({"ignore": ignore} if copy is shutil.copytree else {}))
    for module in (ROOT / "envpool").glob("*.*"):
        shutil.copy(module, tmp_path / "envpool")
    command = [sys.executable, "setup.py", "build_ext", "--inplace"]
    build = subprocess.run(command, cwd=tmp_path, env=os.environ | {"ENVPOOL_PGO": "1"}, capture_output=True, text=True)
    assert build.returncode == 0 and "left out" not in build.stdout + build.stderr, build.stderr[-4000:]
    (mine, expected), (guided, got) = (
        subprocess.check_output([sys.executable, "-c", PLAY], env=env, text=True, cwd=tmp_path.parent).split()
        for env in (environment(), environment(tmp_path))
    )
    assert Path(guided).is_relative_to(tmp_path) and not Path(mine).is_relative_to(tmp_path)
    assert got == expected
    games = [sys.executable, "-m", "pytest", "-m", "not slow", "-p", "no:cacheprovider", "tests/atari/test_core.py"]
    core = subprocess.run(games, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert core.returncode == 0, core.stdout[-4000:]
