"""Building and loading the synthetic plug-in, on first use, into a temporary folder."""

import atexit
import functools
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import envpool

HERE = Path(__file__).resolve().parent
SOURCES = ("setup.py", "synthetic.c", "envpool_synthetic.py")
#: Folder of a plug-in that is already built; set for child processes.
FOLDER = "ENVPOOL_SYNTHETIC"


def build(folder):
    """Build the plug-in from a copy of its sources; return the folder to put on sys.path.

    Parameters
    ----------
    folder : str or Path
        Where to build; CFLAGS and LDFLAGS of the environment are honoured.
    """
    folder = Path(folder).resolve()
    source, built = folder / "source", folder / "built"
    source.mkdir(parents=True)
    for name in SOURCES:
        shutil.copy(HERE / name, source)
    command = [sys.executable, "setup.py", "build", f"--build-base={folder}/temp", f"--build-lib={built}"]
    path = os.pathsep.join([str(Path(envpool.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(command, cwd=source, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the plug-in did not build:\n{done.stdout}\n{done.stderr}")
    return str(built)


@functools.cache
def load():
    """Return the module envpool_synthetic; its tasks are registered then."""
    if FOLDER not in os.environ:
        folder = tempfile.mkdtemp(prefix="envpool-synthetic-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[FOLDER] = build(folder)
    sys.path.insert(0, os.environ[FOLDER])
    return importlib.import_module("envpool_synthetic")


def make(env_type="gymnasium", **options):
    """Return a pool of synthetic envs; see the options of envpool_synthetic.Synthetic."""
    load()
    return envpool.make("Synthetic-v0", env_type, **options)
