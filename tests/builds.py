"""Building extensions in tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import envpool


def build_extension(source, folder, python=sys.executable, env=None):
    """Build a copy of a folder with a setup.py, and return the folder that holds the built modules.

    Parameters
    ----------
    source : Path
        Folder with setup.py.
    folder : Path
        Empty folder to work in.
    python : str
        The interpreter; its envpool is the one built against.
    env : dict, optional
        The environment; by default this one, with this envpool.
    """
    if env is None:
        path = os.pathsep.join([str(Path(envpool.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        env = os.environ | {"PYTHONPATH": path}
    copy, built = Path(folder, "source"), Path(folder, "built")
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", "*.so", "*.egg-info", "__pycache__"))
    done = subprocess.run(
        [python, "setup.py", "build", f"--build-base={folder}/temp", f"--build-lib={built}"],
        cwd=copy,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return built
