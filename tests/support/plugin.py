"""The synthetic plug-in: built in a temporary folder on first use, and loaded."""

import atexit
import functools
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import envpool
from tests.support.builds import build_extension

HERE = Path(__file__).resolve().parent / "synthetic"
#: Folder of a plug-in that is already built; set for child processes.
FOLDER = "ENVPOOL_SYNTHETIC"


def build(folder):
    """Build the plug-in in an empty folder; return the folder to put on sys.path."""
    return str(build_extension(HERE, folder))


@functools.cache
def load():
    """Return the module envpool_synthetic, which registers its tasks."""
    if FOLDER not in os.environ:
        folder = tempfile.mkdtemp(prefix="envpool-synthetic-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[FOLDER] = build(folder)
    sys.path.insert(0, os.environ[FOLDER])
    return importlib.import_module("envpool_synthetic")


def make(env_type="gymnasium", **options):
    """Return a pool of synthetic envs; see the options of envpool_synthetic.Synthetic."""
    return make_task("Synthetic-v0", env_type, **options)


def make_task(task_id, env_type="gymnasium", **options):
    """Return a pool of a task of the plug-in."""
    load()
    return envpool.make(task_id, env_type, **options)


def rich_action(**changes):
    """Return a valid action for two envs with the layout "rich", with entries replaced; None drops one."""
    parts = {
        "move": np.array([1, 2], np.int32),
        "push": np.array([[0.5, -0.5], [1, -1]], np.float32),
        "mode": np.array([[0, 1, -5], [1, 2, 5]], np.int8),
        "count": np.array([-(2**60), 2**60]),
    }
    parts |= changes
    return {"action": {k: v for k, v in parts.items() if v is not None}}
